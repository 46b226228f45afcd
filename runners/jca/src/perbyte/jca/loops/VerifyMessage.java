package perbyte.jca.loops;

import java.security.GeneralSecurityException;
import java.security.Signature;
import java.util.Arrays;
import perbyte.jca.Engines;
import perbyte.sdk.Case;
import perbyte.sdk.Gauge;
import perbyte.sdk.Loop;

/** {@code Signature.update} and {@code verify} of a whole message. */
public final class VerifyMessage extends Loop {
    private Signature signature;

    @Override
    public void open(Case work) throws Exception {
        this.work = work;
        signature = Engines.signature(work);
        signature.initVerify(Engines.seededPair(work).getPublic());
    }

    @Override
    public void run(int n) {
        Signature signature = this.signature;
        byte[] message = Arrays.copyOf(work.in, work.size);
        byte[] given = Arrays.copyOfRange(work.in, work.size, work.in.length);
        boolean good = true;
        Gauge.before();
        try {
            for (int i = 0; i < n; i++) {
                signature.update(message);
                good &= signature.verify(given);
            }
        } catch (GeneralSecurityException | RuntimeException error) {
            failed(error);
        }
        Gauge.after();
        if (!good) {
            failed("the signature was refused");
        }
    }
}
