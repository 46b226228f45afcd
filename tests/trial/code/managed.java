// Functions of Java as a user has them: static, in a class.
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import javax.crypto.Cipher;
import javax.crypto.Mac;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.IvParameterSpec;
import javax.crypto.spec.SecretKeySpec;

final class Managed {
    static byte[] digest(byte[] data) throws GeneralSecurityException {
        return MessageDigest.getInstance("SHA-256").digest(data);
    }

    static void digestInto(byte[] out, byte[] data) throws GeneralSecurityException {
        System.arraycopy(digest(data), 0, out, 0, out.length);
    }

    byte[] ofObject(byte[] data) {
        return data;
    }

    static final class Keyed {
        static byte[] tag(byte[] key, byte[] message) throws GeneralSecurityException {
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(new SecretKeySpec(key, "HmacSHA256"));
            return mac.doFinal(message);
        }
    }

    static byte[] ctr(byte[] message, byte[] key, byte[] nonce) throws GeneralSecurityException {
        Cipher cipher = Cipher.getInstance("AES/CTR/NoPadding");
        cipher.init(Cipher.ENCRYPT_MODE, new SecretKeySpec(key, "AES"), new IvParameterSpec(nonce));
        return cipher.doFinal(message);
    }

    private static Cipher gcm(int mode, byte[] key, byte[] nonce, byte[] aad) throws GeneralSecurityException {
        Cipher cipher = Cipher.getInstance("AES/GCM/NoPadding");
        cipher.init(mode, new SecretKeySpec(key, "AES"), new GCMParameterSpec(128, nonce));
        cipher.updateAAD(aad);
        return cipher;
    }

    // a new object each time: SunJCE refuses to seal twice with one nonce
    static byte[] seal(byte[] key, byte[] nonce, byte[] plaintext, byte[] aad) throws GeneralSecurityException {
        return gcm(Cipher.ENCRYPT_MODE, key, nonce, aad).doFinal(plaintext);
    }

    static byte[] unseal(byte[] key, byte[] nonce, byte[] ciphertext, byte[] aad) throws GeneralSecurityException {
        return gcm(Cipher.DECRYPT_MODE, key, nonce, aad).doFinal(ciphertext);
    }
}
