package perbyte.jca.loops;

import java.security.GeneralSecurityException;
import java.security.spec.AlgorithmParameterSpec;
import javax.crypto.Cipher;
import javax.crypto.spec.SecretKeySpec;
import perbyte.jca.Engines;
import perbyte.sdk.Case;
import perbyte.sdk.Gauge;
import perbyte.sdk.Loop;

/** A new {@code SecretKeySpec}, {@code Cipher.init}, {@code updateAAD}, {@code doFinal}: the plaintext, or a refusal. */
public final class OpenRekey extends Loop {
    private Cipher cipher;
    private String keyName;
    private AlgorithmParameterSpec spec;

    @Override
    public void open(Case work) throws Exception {
        this.work = work;
        cipher = Engines.cipher(work);
        keyName = Engines.keyName(work);
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
        byte[] key = work.key[0];
        String keyName = this.keyName;
        AlgorithmParameterSpec spec = this.spec;
        byte[] in = work.in;
        byte[] out = work.out;
        byte[] aad = work.aad;
        int size = work.in.length;
        int done = 0;
        Gauge.before();
        try {
            for (int i = 0; i < n; i++) {
                cipher.init(Cipher.DECRYPT_MODE, new SecretKeySpec(key, keyName), spec);
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
