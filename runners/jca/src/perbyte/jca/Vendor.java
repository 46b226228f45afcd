package perbyte.jca;

import com.amazon.corretto.crypto.provider.AmazonCorrettoCryptoProvider;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.Provider;
import java.security.Security;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.conscrypt.Conscrypt;

/** The four libraries. Each is named by its runner; a provider's classes are loaded only when it is chosen. */
enum Vendor {
    SUN("jca-sun", "OpenJDK (SUN, SunJCE, SunRsaSign)", "GPL-2.0-only WITH Classpath-exception-2.0", false),
    BC("jca-bc", "Bouncy Castle", "MIT", false),
    CONSCRYPT("jca-conscrypt", "Conscrypt", "Apache-2.0", true),
    ACCP("jca-accp", "Amazon Corretto Crypto Provider", "Apache-2.0", true);

    final String runner;
    final String library;
    final String license;
    /** True where the work is done by native code inside the jar, which the virtual machine's flags do not reach. */
    final boolean foreign;

    Vendor(String runner, String library, String license, boolean foreign) {
        this.runner = runner;
        this.library = library;
        this.license = license;
        this.foreign = foreign;
    }

    static Vendor named(String runner) {
        for (Vendor vendor : values()) {
            if (vendor.runner.equals(runner)) {
                return vendor;
            }
        }
        return null;
    }

    /** The providers, asked for an algorithm in this order. */
    List<Provider> providers() {
        switch (this) {
            case BC: return List.of((Provider) PlainJar.instance(besides("bcprov"),
                    "org.bouncycastle.jce.provider.BouncyCastleProvider"));
            case CONSCRYPT: return List.of(Conscrypt.newProvider());
            case ACCP: {
                AmazonCorrettoCryptoProvider.INSTANCE.assertHealthy();
                return List.of(AmazonCorrettoCryptoProvider.INSTANCE);
            }
            default: {
                List<Provider> found = new ArrayList<>();
                for (String name : new String[] {"SUN", "SunJCE", "SunRsaSign", "SunEC"}) {
                    Provider provider = Security.getProvider(name);
                    if (provider != null) {
                        found.add(provider);
                    }
                }
                return found;
            }
        }
    }

    /** The jar in lib/ beside this program's whose name begins so. */
    private static Path besides(String name) {
        Path lib = Path.of(System.getProperty("java.class.path")).toAbsolutePath().resolveSibling("lib");
        try (Stream<Path> jars = Files.list(lib)) {
            return jars.filter(jar -> jar.getFileName().toString().startsWith(name)).findFirst().orElseThrow();
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
    }

    /** The library's own version; Conscrypt's provider object says 1.0 in all versions. */
    String version(Provider provider) {
        if (this == CONSCRYPT) {
            Conscrypt.Version version = Conscrypt.version();
            return version.major() + "." + version.minor() + "." + version.patch();
        }
        return this == SUN ? System.getProperty("java.version") : provider.getVersionStr();
    }
}
