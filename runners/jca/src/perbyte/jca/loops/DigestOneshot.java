package perbyte.jca.loops;

import java.security.MessageDigest;
import perbyte.jca.Engines;
import perbyte.sdk.Case;
import perbyte.sdk.Gauge;
import perbyte.sdk.Loop;

/** {@code MessageDigest.digest(byte[])}: a whole digest. */
public final class DigestOneshot extends Loop {
    private MessageDigest digest;

    @Override
    public void open(Case work) throws Exception {
        this.work = work;
        digest = Engines.digest(work);
    }

    @Override
    public void run(int n) {
        MessageDigest digest = this.digest;
        byte[] in = work.in;
        byte[] last = result;
        Gauge.before();
        try {
            for (int i = 0; i < n; i++) {
                last = digest.digest(in);
            }
        } catch (RuntimeException error) {
            failed(error);
        }
        Gauge.after();
        result = last;
        length = last.length;
    }
}
