package perbyte.jca.loops;

import java.security.GeneralSecurityException;
import java.security.Key;
import java.security.spec.AlgorithmParameterSpec;
import javax.crypto.Cipher;
import perbyte.jca.Engines;
import perbyte.sdk.Case;
import perbyte.sdk.Gauge;
import perbyte.sdk.Loop;

/**
 * {@code Cipher.init} with the same key object and a new nonce, {@code Cipher.doFinal}: a whole message. JCA has
 * no call that sets a nonce alone; what {@code init} does with a key it has seen is the provider's affair.
 */
public final class CipherMessage extends Loop {
    private Cipher cipher;
    private int mode;
    private Key key;
    private AlgorithmParameterSpec[] specs;

    @Override
    public void open(Case work) throws Exception {
        this.work = work;
        cipher = Engines.cipher(work);
        mode = Engines.mode(work);
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
        int mode = this.mode;
        Key key = this.key;
        AlgorithmParameterSpec[] specs = this.specs;
        byte[] in = work.in;
        byte[] out = work.out;
        int size = work.size;
        int done = 0;
        Gauge.before();
        try {
            for (int i = 0; i < n; i++) {
                cipher.init(mode, key, specs[i & 15]);
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
