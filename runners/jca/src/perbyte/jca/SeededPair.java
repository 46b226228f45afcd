package perbyte.jca;

import java.math.BigInteger;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.Provider;
import java.security.PublicKey;
import java.security.SecureRandom;
import java.security.spec.NamedParameterSpec;
import java.security.spec.PKCS8EncodedKeySpec;
import java.security.spec.X509EncodedKeySpec;
import java.util.Arrays;

/**
 * Key pairs from a seed, for which JCA has no call: the generator is given the seed for random numbers, which is how the
 * standards define these key pairs. A generator that draws anything else is not believed.
 */
final class SeededPair {
    /** Hands out the seed, once. */
    private static final class Fixed extends SecureRandom {
        private final byte[] seed;
        private int at;

        Fixed(byte[] seed) {
            this.seed = seed;
        }

        @Override
        public void nextBytes(byte[] bytes) {
            if (bytes.length > seed.length - at) {
                throw new IllegalStateException("more than the seed was drawn");
            }
            System.arraycopy(seed, at, bytes, 0, bytes.length);
            at += bytes.length;
        }
    }

    private SeededPair() {}

    /** By the provider's own generator, or by the JDK's and the provider's key factory. */
    static KeyPair of(byte[] seed, String name, Provider provider) throws GeneralSecurityException {
        try {
            return generate(KeyPairGenerator.getInstance(name, provider), seed, name);
        } catch (GeneralSecurityException | RuntimeException error) {
            KeyPair made = generate(KeyPairGenerator.getInstance(name), seed, name);
            KeyFactory factory = factory(name, provider);
            return new KeyPair(factory.generatePublic(new X509EncodedKeySpec(made.getPublic().getEncoded())),
                    factory.generatePrivate(new PKCS8EncodedKeySpec(made.getPrivate().getEncoded())));
        }
    }

    private static KeyPair generate(KeyPairGenerator generator, byte[] seed, String name) throws GeneralSecurityException {
        Fixed random = new Fixed(seed);
        generator.initialize(new NamedParameterSpec(name), random);
        KeyPair made = generator.generateKeyPair();
        if (random.at != seed.length) {
            throw new GeneralSecurityException(generator.getProvider() + " does not make " + name + " keys of the seed alone");
        }
        return made;
    }

    private static KeyFactory factory(String name, Provider provider) throws GeneralSecurityException {
        return provider.getService("KeyFactory", name) == null && name.startsWith("X")
                ? KeyFactory.getInstance("XDH", provider) : KeyFactory.getInstance(name, provider);
    }

    /** The public key of X25519 or X448 with these bytes (RFC 8410, section 4). */
    static PublicKey publicKey(byte[] bytes, String name, Provider provider) throws GeneralSecurityException {
        byte[] front = new BigInteger(name.equals("X25519") ? "302a300506032b656e032100" : "3042300506032b656f033900", 16)
                .toByteArray();
        byte[] encoded = Arrays.copyOf(front, front.length + bytes.length);
        System.arraycopy(bytes, 0, encoded, front.length, bytes.length);
        return factory(name, provider).generatePublic(new X509EncodedKeySpec(encoded));
    }
}
