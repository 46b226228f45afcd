package perbyte.jca;

import java.util.ArrayList;
import java.util.List;
import perbyte.jca.loops.CipherMessage;
import perbyte.jca.loops.CipherRekey;
import perbyte.jca.loops.CipherSetup;
import perbyte.jca.loops.CipherStream;
import perbyte.jca.loops.Derive;
import perbyte.jca.loops.DigestOneshot;
import perbyte.jca.loops.DigestStream;
import perbyte.jca.loops.EcbMessage;
import perbyte.jca.loops.MacMessage;
import perbyte.jca.loops.MacRekey;
import perbyte.jca.loops.MacStream;
import perbyte.jca.loops.Open;
import perbyte.jca.loops.OpenRekey;
import perbyte.jca.loops.RawSign;
import perbyte.jca.loops.RawVerify;
import perbyte.jca.loops.Seal;
import perbyte.jca.loops.SealRekey;
import perbyte.jca.loops.Sign;
import perbyte.jca.loops.SignMessage;
import perbyte.jca.loops.Verify;
import perbyte.jca.loops.VerifyMessage;
import perbyte.sdk.Loop;
import perbyte.sdk.Row;

/** Operations and contracts that algorithms have in common, with the calls that they time. */
enum Family {
    DIGEST, MAC, CIPHER, ECB, KEYSTREAM, AEAD, SIGNATURE, RAW_RSA, MESSAGE_SIGNATURE, AGREEMENT, KEM;

    private static final String KEY = "new SecretKeySpec, ";

    /** The rows of one algorithm, still without lengths. */
    List<Row> rows(String algorithm, Recipe recipe) {
        List<Row> rows = new ArrayList<>();
        switch (this) {
            case DIGEST:
                add(rows, algorithm, recipe, "digest", "oneshot/1", "MessageDigest.digest(byte[])", DigestOneshot.class);
                add(rows, algorithm, recipe, "digest", "stream/1", "MessageDigest.update(byte[])", DigestStream.class);
                break;
            case MAC:
                add(rows, algorithm, recipe, "mac", "message/1", "Mac.doFinal(byte[])", MacMessage.class);
                add(rows, algorithm, recipe, "mac", "rekey/1", KEY + "Mac.init, Mac.doFinal(byte[])", MacRekey.class);
                add(rows, algorithm, recipe, "mac", "stream/1", "Mac.update(byte[])", MacStream.class);
                break;
            case AEAD:
                add(rows, algorithm, recipe, "seal", "message/1",
                        "Cipher.init(key, nonce), Cipher.updateAAD, Cipher.doFinal", Seal.class);
                add(rows, algorithm, recipe, "seal", "rekey/1",
                        KEY + "Cipher.init(key, nonce), Cipher.updateAAD, Cipher.doFinal", SealRekey.class);
                add(rows, algorithm, recipe, "open", "message/1",
                        "Cipher.init(key, nonce), Cipher.updateAAD, Cipher.doFinal", Open.class);
                add(rows, algorithm, recipe, "open", "rekey/1",
                        KEY + "Cipher.init(key, nonce), Cipher.updateAAD, Cipher.doFinal", OpenRekey.class);
                break;
            case SIGNATURE:
                add(rows, algorithm, recipe, "sign", "pk/1", recipe.name + ": Signature.update, sign", Sign.class);
                add(rows, algorithm, recipe, "verify", "pk/1", recipe.name + ": Signature.update, verify", Verify.class);
                break;
            case MESSAGE_SIGNATURE:
                add(rows, algorithm, recipe, "sign", "pk/1", "Signature.update, sign", SignMessage.class);
                add(rows, algorithm, recipe, "verify", "pk/1", "Signature.update, verify", VerifyMessage.class);
                break;
            case AGREEMENT:
                add(rows, algorithm, recipe, "derive", "pk/1", "KeyAgreement.init, doPhase, generateSecret", Derive.class);
                break;
            case KEM:
                add(rows, algorithm, recipe, "encapsulate", "pk/1", "KEM.Encapsulator.encapsulate", kemLoop("Encapsulate"));
                add(rows, algorithm, recipe, "decapsulate", "pk/1", "KEM.Decapsulator.decapsulate", kemLoop("Decapsulate"));
                break;
            case RAW_RSA:
                add(rows, algorithm, recipe, "sign", "pk/1", recipe.name + ": Cipher.doFinal, private key", RawSign.class);
                add(rows, algorithm, recipe, "verify", "pk/1",
                        recipe.name + ": Cipher.doFinal, public key; comparison", RawVerify.class);
                break;
            default:
                ciphers(rows, algorithm, recipe, "encrypt");
                ciphers(rows, algorithm, recipe, "decrypt");
        }
        return rows;
    }

    /** True where the runner was built by a JDK that has javax.crypto.KEM (21), and runs on one. */
    static boolean hasKem() {
        try {
            Class.forName("javax.crypto.KEM");
            return kemLoop("Encapsulate") != null;
        } catch (ClassNotFoundException | LinkageError error) {
            return false;
        }
    }

    private static Class<? extends Loop> kemLoop(String name) {
        try {
            return Class.forName("perbyte.jca.loops." + name).asSubclass(Loop.class);
        } catch (ClassNotFoundException error) {
            throw new LinkageError(name, error);
        }
    }

    private void ciphers(List<Row> rows, String algorithm, Recipe recipe, String operation) {
        String init = this == CIPHER ? "Cipher.init(key, iv)" : "Cipher.init(key)";
        add(rows, algorithm, recipe, operation, "stream/1", "Cipher.update", CipherStream.class);
        if (this == CIPHER) {
            add(rows, algorithm, recipe, operation, "message/1", init + ", Cipher.doFinal", CipherMessage.class);
        } else if (this == ECB) {
            add(rows, algorithm, recipe, operation, "message/1", "Cipher.doFinal", EcbMessage.class);
        }
        add(rows, algorithm, recipe, operation, "rekey/1", KEY + init + ", Cipher.doFinal", CipherRekey.class);
        add(rows, algorithm, recipe, operation, "setup/1", KEY + init, CipherSetup.class);
    }

    private static void add(List<Row> rows, String algorithm, Recipe recipe, String operation, String contract,
            String calls, Class<? extends Loop> loop) {
        rows.add(new Row(algorithm, operation, contract, calls, loop, recipe));
    }
}
