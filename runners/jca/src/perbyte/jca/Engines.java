package perbyte.jca;

import java.security.GeneralSecurityException;
import java.security.Key;
import java.security.KeyPair;
import java.security.MessageDigest;
import java.security.Provider;
import java.security.PublicKey;
import java.security.Signature;
import java.security.spec.AlgorithmParameterSpec;
import java.util.Arrays;
import javax.crypto.Cipher;
import javax.crypto.KeyAgreement;
import javax.crypto.Mac;
import javax.crypto.spec.ChaCha20ParameterSpec;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.IvParameterSpec;
import javax.crypto.spec.RC5ParameterSpec;
import javax.crypto.spec.SecretKeySpec;
import perbyte.sdk.Case;

/** What the loops need of JCA before and after the timed calls. Nothing here is ever timed. */
public final class Engines {
    private static final int TAG_BITS = 128;
    private static final int WORD_BITS = 32;
    private static final int DER_FRAME = 2 + 2 * 3;

    private Engines() {}

    private static Recipe recipe(Case work) {
        return (Recipe) work.row.param;
    }

    public static MessageDigest digest(Case work) throws GeneralSecurityException {
        return MessageDigest.getInstance(recipe(work).name, recipe(work).provider);
    }

    public static Mac mac(Case work) throws GeneralSecurityException {
        return Mac.getInstance(recipe(work).name, recipe(work).provider);
    }

    public static Cipher cipher(Case work) throws GeneralSecurityException {
        return Cipher.getInstance(recipe(work).name, recipe(work).provider);
    }

    public static Signature signature(Case work) throws GeneralSecurityException {
        return Signature.getInstance(recipe(work).name, recipe(work).provider);
    }

    public static String keyName(Case work) {
        return recipe(work).keyName;
    }

    public static Key key(Case work, int number) {
        return new SecretKeySpec(work.key[number], recipe(work).keyName);
    }

    public static KeyPair keyPair(Case work) throws GeneralSecurityException {
        return KeyNumbers.pair(work.row.algorithm, recipe(work).keyName, recipe(work).provider);
    }

    /** The key pair that comes from key 0 as its seed. */
    public static KeyPair seededPair(Case work) throws GeneralSecurityException {
        return SeededPair.of(work.key[0], recipe(work).keyName, recipe(work).provider);
    }

    /** The public key of the other party: the vector's, or the one of the private key that is nonce 0. */
    public static PublicKey peer(Case work) throws GeneralSecurityException {
        String name = recipe(work).keyName;
        return work.given ? SeededPair.publicKey(work.in, name, recipe(work).provider)
                : SeededPair.of(work.nonce[0], name, recipe(work).provider).getPublic();
    }

    public static KeyAgreement agreement(Case work) throws GeneralSecurityException {
        return KeyAgreement.getInstance(recipe(work).name, recipe(work).provider);
    }

    public static Provider provider(Case work) {
        return recipe(work).provider;
    }

    public static String name(Case work) {
        return recipe(work).name;
    }

    public static int mode(Case work) {
        return work.row.operation.equals("decrypt") || work.row.operation.equals("open")
                ? Cipher.DECRYPT_MODE : Cipher.ENCRYPT_MODE;
    }

    /** The parameters of all nonces; nulls where the mode takes none. */
    public static AlgorithmParameterSpec[] specs(Case work) {
        AlgorithmParameterSpec[] specs = new AlgorithmParameterSpec[work.nonce.length];
        for (int i = 0; i < specs.length; i++) {
            specs[i] = spec(work, work.nonce[i]);
        }
        return specs;
    }

    /** The parameters of nonce 0. */
    public static AlgorithmParameterSpec spec(Case work) {
        return spec(work, work.nonce[0]);
    }

    private static AlgorithmParameterSpec spec(Case work, byte[] nonce) {
        switch (recipe(work).parameters) {
            case IV: return new IvParameterSpec(nonce);
            case GCM: return new GCMParameterSpec(TAG_BITS, nonce);
            case CHACHA: return new ChaCha20ParameterSpec(nonce, 0);
            case RC5: {
                int rounds = recipe(work).rounds;
                return nonce.length == 0 ? new RC5ParameterSpec(0, rounds, WORD_BITS)
                        : new RC5ParameterSpec(0, rounds, WORD_BITS, nonce);
            }
            default: return null;
        }
    }

    /** Begin with key 0 and nonce 0, also where the engine refuses the nonce that it was begun with before. */
    public static void restart(Cipher cipher, Case work) throws GeneralSecurityException {
        finish(cipher);
        leave(cipher, work);
        cipher.init(mode(work), key(work, 0), spec(work));
    }

    /** The same where it was begun with another nonce before. */
    public static void begin(Cipher cipher, Case work) throws GeneralSecurityException {
        finish(cipher);
        cipher.init(mode(work), key(work, 0), spec(work));
    }

    /** Conscrypt's ChaCha20 goes on with the old key stream after init alone. */
    private static void finish(Cipher cipher) {
        try {
            cipher.doFinal();
        } catch (GeneralSecurityException | IllegalStateException error) {
            // there was nothing to finish
        }
    }

    /** Take the engine away from any nonce that the calls use: some refuse the same key and nonce twice running. */
    public static void leave(Cipher cipher, Case work) throws GeneralSecurityException {
        if (work.row.nonce > 0) {
            cipher.init(mode(work), key(work, 0), spec(work, work.spareNonce()));
        }
    }

    /** The digest that is signed: DSA takes as many bytes as its q has, and not every provider cuts it itself. */
    public static byte[] signedData(Case work) {
        boolean dsa = recipe(work).keyName.equals("DSA");
        int longest = dsa ? (work.row.output - DER_FRAME) / 2 : work.size;
        return Arrays.copyOf(work.in, Math.min(longest, work.size));
    }

    /** The signature behind the data, without the zeros in front of one in DER. */
    public static byte[] signatureBehind(Case work) {
        int from = work.size;
        while (from < work.in.length - 1 && work.in[from] == 0 && recipe(work).keyName.equals("DSA")) {
            from++;
        }
        return Arrays.copyOfRange(work.in, from, work.in.length);
    }
}
