package perbyte.jca.loops;

import java.security.MessageDigest;
import perbyte.jca.Engines;
import perbyte.sdk.Case;
import perbyte.sdk.Gauge;
import perbyte.sdk.Loop;

/** {@code MessageDigest.update(byte[])}: the next bytes of an endless message. */
public final class DigestStream extends Loop {
    private MessageDigest digest;

    @Override
    public void open(Case work) throws Exception {
        this.work = work;
        digest = Engines.digest(work);
    }

    @Override
    public void begin() {
        digest.reset();
    }

    @Override
    public void run(int n) {
        MessageDigest digest = this.digest;
        byte[] in = work.in;
        Gauge.before();
        try {
            for (int i = 0; i < n; i++) {
                digest.update(in);
            }
        } catch (RuntimeException error) {
            failed(error);
        }
        Gauge.after();
    }

    @Override
    public void show() {
        result = digest.digest();
        length = result.length;
    }
}
