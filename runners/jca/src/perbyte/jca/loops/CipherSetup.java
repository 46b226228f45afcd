package perbyte.jca.loops;

import java.security.GeneralSecurityException;
import java.security.spec.AlgorithmParameterSpec;
import javax.crypto.Cipher;
import javax.crypto.spec.SecretKeySpec;
import perbyte.jca.Engines;
import perbyte.sdk.Case;
import perbyte.sdk.Gauge;
import perbyte.sdk.Loop;

/** A new {@code SecretKeySpec} and {@code Cipher.init}: the key schedule alone. */
public final class CipherSetup extends Loop {
    private static final int SHOWN = 16;
    private Cipher cipher;
    private int mode;
    private String keyName;
    private AlgorithmParameterSpec spec;

    @Override
    public void open(Case work) throws Exception {
        this.work = work;
        cipher = Engines.cipher(work);
        mode = Engines.mode(work);
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
        int mode = this.mode;
        byte[][] key = work.key;
        String keyName = this.keyName;
        AlgorithmParameterSpec spec = this.spec;
        Gauge.before();
        try {
            for (int i = 0; i < n; i++) {
                cipher.init(mode, new SecretKeySpec(key[i & 15], keyName), spec);
            }
        } catch (GeneralSecurityException | RuntimeException error) {
            failed(error);
        }
        Gauge.after();
    }

    @Override
    public void show() throws Exception {
        result = work.out;
        length = cipher.doFinal(work.in, 0, Math.min(SHOWN, work.size), work.out, 0);
    }
}
