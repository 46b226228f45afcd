package perbyte.jca.loops;

import java.security.GeneralSecurityException;
import java.security.Key;
import java.security.spec.AlgorithmParameterSpec;
import javax.crypto.Cipher;
import perbyte.jca.Engines;
import perbyte.sdk.Case;
import perbyte.sdk.Gauge;
import perbyte.sdk.Loop;

/** {@code Cipher.init} with nonce 0, {@code updateAAD}, {@code doFinal}: the plaintext, or a refusal. */
public final class Open extends Loop {
    private Cipher cipher;
    private Key key;
    private AlgorithmParameterSpec spec;

    @Override
    public void open(Case work) throws Exception {
        this.work = work;
        cipher = Engines.cipher(work);
        key = Engines.key(work, 0);
        spec = Engines.spec(work);
    }

    @Override
    public void begin() throws Exception {
        Engines.leave(cipher, work);
    }

    @Override
    public void renew() {
        spec = Engines.spec(work); // which is used once, so that none has to be left before
    }

    @Override
    public void run(int n) {
        Cipher cipher = this.cipher;
        Key key = this.key;
        AlgorithmParameterSpec spec = this.spec;
        byte[] in = work.in;
        byte[] out = work.out;
        byte[] aad = work.aad;
        int size = work.in.length;
        int done = 0;
        Gauge.before();
        try {
            for (int i = 0; i < n; i++) {
                cipher.init(Cipher.DECRYPT_MODE, key, spec);
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
