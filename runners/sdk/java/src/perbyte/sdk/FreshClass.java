package perbyte.sdk;

import java.io.IOException;
import java.io.InputStream;

/**
 * Loads a class a second time, under the same name, as a class of its own. The virtual machine keeps profile and
 * compiled code by class; a copy per handle keeps what was learnt about one cipher out of the code for another.
 */
final class FreshClass extends ClassLoader {
    private final String name;

    private FreshClass(Class<?> template) {
        super(template.getClassLoader());
        this.name = template.getName();
    }

    /** A class with the code of {@code template}, on which nothing has run yet. */
    static Class<? extends Loop> of(Class<? extends Loop> template) {
        try {
            return new FreshClass(template).loadClass(template.getName()).asSubclass(Loop.class);
        } catch (ClassNotFoundException error) {
            throw new LinkageError(template.getName(), error);
        }
    }

    static Loop instance(Class<? extends Loop> type) {
        try {
            return type.getConstructor().newInstance();
        } catch (ReflectiveOperationException error) {
            throw new LinkageError(type.getName(), error);
        }
    }

    @Override
    protected Class<?> loadClass(String wanted, boolean resolve) throws ClassNotFoundException {
        synchronized (getClassLoadingLock(wanted)) {
            if (!wanted.equals(name)) {
                return super.loadClass(wanted, resolve);
            }
            Class<?> loaded = findLoadedClass(wanted);
            return loaded != null ? loaded : define(wanted);
        }
    }

    private Class<?> define(String wanted) throws ClassNotFoundException {
        try (InputStream file = getParent().getResourceAsStream(wanted.replace('.', '/') + ".class")) {
            if (file == null) {
                throw new ClassNotFoundException(wanted);
            }
            byte[] code = file.readAllBytes();
            return defineClass(wanted, code, 0, code.length);
        } catch (IOException error) {
            throw new ClassNotFoundException(wanted, error);
        }
    }
}
