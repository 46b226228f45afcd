package perbyte.jca;

import java.io.IOException;
import java.io.InputStream;
import java.net.MalformedURLException;
import java.net.URI;
import java.net.URL;
import java.nio.file.Path;
import java.security.CodeSource;
import java.security.ProtectionDomain;
import java.security.cert.Certificate;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.zip.ZipFile;

/**
 * Loads a signed jar without checking its signatures, which takes a third of a second at every start and is of no use
 * here: what is measured is the file that the build put there, and its SHA-256 is recorded with the figures.
 */
final class PlainJar extends ClassLoader {
    private final JarFile jar;
    private final URL url;
    private final ProtectionDomain domain;

    private PlainJar(Path file) throws IOException {
        super(PlainJar.class.getClassLoader());
        jar = new JarFile(file.toFile(), false, ZipFile.OPEN_READ, JarFile.runtimeVersion());
        url = file.toUri().toURL();
        domain = new ProtectionDomain(new CodeSource(url, (Certificate[]) null), null, this, null);
    }

    /** An instance of a class of the jar, by its constructor without parameters. */
    static Object instance(Path file, String name) {
        try {
            return new PlainJar(file).loadClass(name).getConstructor().newInstance();
        } catch (IOException | ReflectiveOperationException error) {
            throw new IllegalStateException(file + ": " + error, error);
        }
    }

    @Override
    protected Class<?> findClass(String name) throws ClassNotFoundException {
        JarEntry entry = jar.getJarEntry(name.replace('.', '/') + ".class");
        if (entry == null) {
            throw new ClassNotFoundException(name);
        }
        try (InputStream code = jar.getInputStream(entry)) {
            byte[] bytes = code.readAllBytes();
            return defineClass(name, bytes, 0, bytes.length, domain);
        } catch (IOException error) {
            throw new ClassNotFoundException(name, error);
        }
    }

    @Override
    protected URL findResource(String name) {
        JarEntry entry = jar.getJarEntry(name);
        try {
            return entry == null ? null : URI.create("jar:" + url + "!/" + entry.getRealName()).toURL();
        } catch (MalformedURLException | IllegalArgumentException error) {
            return null;
        }
    }
}
