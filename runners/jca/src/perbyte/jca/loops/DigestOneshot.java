package perbyte.jca.loops;

import java.security.MessageDigest;
import perbyte.jca.Engines;
import perbyte.sdk.Case;
import perbyte.sdk.Gauge;
import perbyte.sdk.Loop;

/** {@code MessageDigest.digest(byte[])}: a whole digest. */
public final class DigestOneshot extends Loop {
    private MessageDigest digest;
    private int at; // of the blocks

    @Override
    public void open(Case work) throws Exception {
        this.work = work;
        digest = Engines.digest(work);
    }

    @Override
    public boolean walks() {
        return true;
    }

    @Override
    public void run(int n) {
        MessageDigest digest = this.digest;
        byte[] in = work.in;
        byte[][] blocks = this.blocks;
        int at = this.at;
        byte[] last = result;
        Gauge.before();
        try {
            if (blocks == null) {
                for (int i = 0; i < n; i++) {
                    last = digest.digest(in);
                }
            } else {
                for (int i = 0; i < n; i++) {
                    at = at < blocks.length ? at : 0;
                    last = digest.digest(blocks[at++]);
                }
            }
        } catch (RuntimeException error) {
            failed(error);
        }
        Gauge.after();
        result = last;
        length = last.length;
        this.at = at;
    }
}
