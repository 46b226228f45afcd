package perbyte.jca;

import java.io.IOException;
import java.io.InputStream;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyPair;
import java.security.Provider;
import java.security.spec.DSAPrivateKeySpec;
import java.security.spec.DSAPublicKeySpec;
import java.security.spec.RSAPrivateCrtKeySpec;
import java.security.spec.RSAPublicKeySpec;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The fixed keys of the signature rows: those of the OpenSSL runner, read from its own table (key_numbers.h, which
 * the build puts beside the classes), so that both sign with the same keys. They protect nothing.
 */
final class KeyNumbers {
    private static final BigInteger E = BigInteger.valueOf(65537);
    private static final Pattern ENTRY =
            Pattern.compile("\\{((?:\"[^\"]*\"|NULL)(?:\\s*,?\\s*(?:\"[^\"]*\"|NULL))*)\\s*\\}");
    private static final Pattern FIELD = Pattern.compile("((?:\"[^\"]*\"\\s*)+|NULL)(?:,|$)");
    private static final Map<String, BigInteger[]> NUMBERS = new HashMap<>();

    private KeyNumbers() {}

    /** The key of a row such as "rsa-2048". */
    static KeyPair pair(String row, String kind, Provider provider) throws GeneralSecurityException {
        BigInteger[] numbers = numbers().get(row);
        if (numbers == null) {
            throw new GeneralSecurityException("no key numbers for " + row);
        }
        // SunJCE has an RSA cipher, but the keys for it come from SunRsaSign
        KeyFactory factory = provider.getService("KeyFactory", kind) == null ? KeyFactory.getInstance(kind)
                : KeyFactory.getInstance(kind, provider);
        return kind.equals("RSA") ? rsa(factory, numbers[0], numbers[1])
                : dsa(factory, numbers[0], numbers[1], numbers[2]);
    }

    private static KeyPair rsa(KeyFactory factory, BigInteger p, BigInteger q) throws GeneralSecurityException {
        BigInteger n = p.multiply(q);
        BigInteger p1 = p.subtract(BigInteger.ONE);
        BigInteger q1 = q.subtract(BigInteger.ONE);
        BigInteger d = E.modInverse(p1.multiply(q1));
        return new KeyPair(factory.generatePublic(new RSAPublicKeySpec(n, E)),
                factory.generatePrivate(new RSAPrivateCrtKeySpec(n, E, d, p, q, d.mod(p1), d.mod(q1), q.modInverse(p))));
    }

    private static KeyPair dsa(KeyFactory factory, BigInteger p, BigInteger q, BigInteger x)
            throws GeneralSecurityException {
        BigInteger g = BigInteger.TWO.modPow(p.subtract(BigInteger.ONE).divide(q), p);
        return new KeyPair(factory.generatePublic(new DSAPublicKeySpec(g.modPow(x, p), p, q, g)),
                factory.generatePrivate(new DSAPrivateKeySpec(x, p, q, g)));
    }

    private static synchronized Map<String, BigInteger[]> numbers() {
        if (NUMBERS.isEmpty()) {
            Matcher entry = ENTRY.matcher(table());
            while (entry.find()) {
                List<String> fields = new ArrayList<>();
                Matcher field = FIELD.matcher(entry.group(1));
                while (field.find()) {
                    fields.add(field.group(1).replaceAll("[\"\\s]", ""));
                }
                if (!fields.get(0).equals("NULL")) {
                    NUMBERS.put(fields.get(0), fields.stream().skip(1).filter(text -> !text.equals("NULL"))
                            .map(text -> new BigInteger(text, 16)).toArray(BigInteger[]::new));
                }
            }
        }
        return NUMBERS;
    }

    private static String table() {
        try (InputStream file = KeyNumbers.class.getResourceAsStream("/key_numbers.h")) {
            if (file == null) {
                throw new IllegalStateException("key_numbers.h is not in the jar");
            }
            return new String(file.readAllBytes(), StandardCharsets.US_ASCII);
        } catch (IOException error) {
            throw new IllegalStateException("key_numbers.h cannot be read", error);
        }
    }
}
