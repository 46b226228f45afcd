package perbyte.jca;

import com.sun.management.HotSpotDiagnosticMXBean;
import java.lang.management.ManagementFactory;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.security.CodeSource;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.Provider;
import java.security.Signature;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.StringJoiner;
import javax.crypto.Cipher;
import javax.crypto.KeyAgreement;
import javax.crypto.Mac;
import perbyte.sdk.Case;
import perbyte.sdk.Library;
import perbyte.sdk.Row;

/** One vendor's providers as a library: which algorithms they have is found out by asking for each and using it. */
final class JcaLibrary extends Library {
    private static final String[] VM_FLAGS = {
        "UseAES", "UseAESIntrinsics", "UseAESCTRIntrinsics", "UseGHASHIntrinsics", "UseSHA", "UseSHA1Intrinsics",
        "UseSHA256Intrinsics", "UseSHA512Intrinsics", "UseSHA3Intrinsics", "UseMD5Intrinsics",
        "UseChaCha20Intrinsics", "UsePoly1305Intrinsics", "UseAVX", "UseSSE",
    };

    private static final int LARGE_RSA = 2048 / 8;

    private final Vendor vendor;
    private final List<Provider> providers;
    private final Map<String, List<Row>> rows = new HashMap<>();

    JcaLibrary(Vendor vendor) {
        this.vendor = vendor;
        this.providers = vendor.providers();
    }

    @Override
    public List<Row> rows() {
        List<Row> all = new ArrayList<>();
        for (String algorithm : new LinkedHashSet<>(Algorithms.ids())) {
            all.addAll(rows(algorithm));
        }
        all.addAll(new ProbeLibrary().rows());
        return all;
    }

    @Override
    public List<Row> rows(String algorithm) {
        List<Row> found = rows.get(algorithm);
        if (found == null) {
            found = new ArrayList<>(ProbeLibrary.probes(algorithm));
            rows.put(algorithm, found);
            for (Algorithms.Entry entry : Algorithms.all()) {
                if (entry.id.equals(algorithm) && find(entry, found)) {
                    break;
                }
            }
        }
        return found;
    }

    /** Add the rows of an algorithm as the first provider has it; false if none has. */
    private boolean find(Algorithms.Entry entry, List<Row> rows) {
        for (Provider provider : providers) {
            for (String name : entry.names) {
                if (!has(entry.family, name, provider)) {
                    continue;
                }
                Recipe recipe = new Recipe(provider, name, entry.keyName, entry.parameters, entry.rounds);
                List<Row> found = entry.family.rows(entry.id, recipe);
                for (Row row : found) {
                    row.lengths(entry.key, entry.nonce, entry.multiple, entry.output);
                    row.anyKey = entry.family == Family.MAC;
                }
                rows.addAll(found);
                tryOut(rows);
                if (!rows.isEmpty()) {
                    return true;
                }
            }
        }
        return false;
    }

    /**
     * Take away operations that do not work, and offer none that works only once with the same nonce. One row of each
     * is tried, so that the list takes no seconds to make.
     */
    private void tryOut(List<Row> rows) {
        Map<String, Integer> calls = new HashMap<>();
        for (Row row : List.copyOf(rows)) {
            String tried = row.contract.equals("pk/1") ? "sign" : row.operation;
            int working = calls.computeIfAbsent(tried, unused -> workingCalls(row));
            row.offered = working > 1;
            if (working == 0) {
                rows.remove(row);
            }
        }
    }

    private int workingCalls(Row row) {
        if (row.contract.equals("pk/1")) {
            // to set a large key takes a third of a second; what is refused by some providers are small ones
            boolean large = row.algorithm.startsWith("rsa-") && row.key >= LARGE_RSA;
            return large || Case.works(this, row, 1) ? 2 : 0;
        }
        return Case.works(this, row, 2) ? 2 : Case.works(this, row, 1) ? 1 : 0;
    }

    private static boolean has(Family family, String name, Provider provider) {
        try {
            switch (family) {
                case DIGEST: MessageDigest.getInstance(name, provider); break;
                case MAC: Mac.getInstance(name, provider); break;
                case SIGNATURE:
                case MESSAGE_SIGNATURE: Signature.getInstance(name, provider); break;
                case AGREEMENT: KeyAgreement.getInstance(name, provider); break;
                case KEM: return Family.hasKem() && provider.getService("KEM", name) != null;
                default: Cipher.getInstance(name, provider);
            }
            return true;
        } catch (GeneralSecurityException | RuntimeException error) {
            return false;
        }
    }

    @Override
    public String runner() {
        return vendor.runner;
    }

    @Override
    public String name() {
        return vendor.library;
    }

    @Override
    public String version() {
        return vendor.version(providers.get(0)) + " on " + System.getProperty("java.vm.version");
    }

    @Override
    public String license() {
        return vendor.license;
    }

    @Override
    public String object() {
        CodeSource source = providers.get(0).getClass().getProtectionDomain().getCodeSource();
        try {
            if (source != null && source.getLocation() != null && source.getLocation().getProtocol().equals("file")) {
                return Path.of(source.getLocation().toURI()).toRealPath().toString();
            }
        } catch (URISyntaxException | java.io.IOException | RuntimeException error) {
            return "";
        }
        return Path.of(System.getProperty("java.home"), "lib", "modules").toString();
    }

    /** The flags by which the virtual machine tells which instructions its compilers use. */
    @Override
    public String cpuFeatures() {
        if (vendor.foreign) {
            return "";
        }
        StringJoiner features = new StringJoiner(" ");
        for (String flag : VM_FLAGS) {
            String value = flag(flag);
            if (!value.isEmpty() && !value.equals("false")) {
                features.add(value.equals("true") ? flag : flag + "=" + value);
            }
        }
        return features.toString();
    }

    /** The value of a flag of the virtual machine; empty if it does not know the flag. */
    static String flag(String name) {
        try {
            return ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class).getVMOption(name).getValue();
        } catch (RuntimeException error) {
            return "";
        }
    }
}
