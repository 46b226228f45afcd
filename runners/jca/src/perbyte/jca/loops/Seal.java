package perbyte.jca.loops;

import java.security.GeneralSecurityException;
import java.security.Key;
import java.security.spec.AlgorithmParameterSpec;
import javax.crypto.Cipher;
import perbyte.jca.Engines;
import perbyte.sdk.Case;
import perbyte.sdk.Gauge;
import perbyte.sdk.Loop;

/** {@code Cipher.init} with a new nonce, {@code updateAAD}, {@code doFinal}: ciphertext and tag of a message. */
public final class Seal extends Loop {
    private Cipher cipher;
    private Key key;
    private AlgorithmParameterSpec[] specs;

    @Override
    public void open(Case work) throws Exception {
        this.work = work;
        cipher = Engines.cipher(work);
        key = Engines.key(work, 0);
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
        Key key = this.key;
        AlgorithmParameterSpec[] specs = this.specs;
        byte[] in = work.in;
        byte[] out = work.out;
        byte[] aad = work.aad;
        int size = work.size;
        int done = 0;
        Gauge.before();
        try {
            for (int i = 0; i < n; i++) {
                cipher.init(Cipher.ENCRYPT_MODE, key, specs[i & 15]);
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
