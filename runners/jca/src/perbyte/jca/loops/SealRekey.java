package perbyte.jca.loops;

import java.security.GeneralSecurityException;
import java.security.spec.AlgorithmParameterSpec;
import javax.crypto.Cipher;
import javax.crypto.spec.SecretKeySpec;
import perbyte.jca.Engines;
import perbyte.sdk.Case;
import perbyte.sdk.Gauge;
import perbyte.sdk.Loop;

/** A new {@code SecretKeySpec}, {@code Cipher.init}, {@code updateAAD}, {@code doFinal}: ciphertext and tag of a message. */
public final class SealRekey extends Loop {
    private Cipher cipher;
    private String keyName;
    private AlgorithmParameterSpec[] specs;

    @Override
    public void open(Case work) throws Exception {
        this.work = work;
        cipher = Engines.cipher(work);
        keyName = Engines.keyName(work);
        specs = Engines.specs(work);
    }

    @Override
    public void begin() throws Exception {
        Engines.leave(cipher, work);
    }

    @Override
    public void renew() {
        specs[0] = Engines.spec(work); // which is used once, so that none has to be left before
    }

    @Override
    public void run(int n) {
        Cipher cipher = this.cipher;
        byte[][] key = work.key;
        String keyName = this.keyName;
        AlgorithmParameterSpec[] specs = this.specs;
        byte[] in = work.in;
        byte[] out = work.out;
        byte[] aad = work.aad;
        int size = work.size;
        int done = 0;
        Gauge.before();
        try {
            for (int i = 0; i < n; i++) {
                cipher.init(Cipher.ENCRYPT_MODE, new SecretKeySpec(key[i & 15], keyName), specs[i & 15]);
                cipher.updateAAD(aad);
                done = cipher.doFinal(in, 0, size, out, 0);
            }
        } catch (GeneralSecurityException | RuntimeException error) {
            failed(error);
        }
        Gauge.after();
        result = out;
        length = done;
    }
}
