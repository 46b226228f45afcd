package perbyte.jca.loops;

import java.security.GeneralSecurityException;
import javax.crypto.Cipher;
import perbyte.jca.Engines;
import perbyte.sdk.Case;
import perbyte.sdk.Gauge;
import perbyte.sdk.Loop;

/** {@code Cipher.update} into a buffer that is there: the next bytes of an endless message. */
public final class CipherStream extends Loop {
    private Cipher cipher;

    @Override
    public void open(Case work) throws Exception {
        this.work = work;
        cipher = Engines.cipher(work);
        begin();
    }

    @Override
    public void begin() throws Exception {
        Engines.restart(cipher, work);
    }

    @Override
    public void renew() throws Exception {
        Engines.begin(cipher, work);
    }

    @Override
    public void run(int n) {
        Cipher cipher = this.cipher;
        byte[] in = work.in;
        byte[] out = work.out;
        int size = work.size;
        int done = 0;
        Gauge.before();
        try {
            for (int i = 0; i < n; i++) {
                done = cipher.update(in, 0, size, out, 0);
            }
        } catch (GeneralSecurityException | RuntimeException error) {
            failed(error);
        }
        Gauge.after();
        result = out;
        length = done;
        if (done != size) {
            failed("update gave " + done + " bytes for " + size);
        }
    }
}
