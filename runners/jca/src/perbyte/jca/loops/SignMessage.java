package perbyte.jca.loops;

import java.security.GeneralSecurityException;
import java.security.Signature;
import perbyte.jca.Engines;
import perbyte.sdk.Case;
import perbyte.sdk.Gauge;
import perbyte.sdk.Loop;

/** {@code Signature.update} and {@code sign} of whole messages, which take turns. */
public final class SignMessage extends Loop {
    private Signature signature;

    @Override
    public void open(Case work) throws Exception {
        this.work = work;
        signature = Engines.signature(work);
        signature.initSign(Engines.seededPair(work).getPrivate());
    }

    @Override
    public void run(int n) {
        Signature signature = this.signature;
        byte[][] message = work.message;
        byte[] last = result;
        Gauge.before();
        try {
            for (int i = 0; i < n; i++) {
                signature.update(message[i & 15]);
                last = signature.sign();
            }
        } catch (GeneralSecurityException | RuntimeException error) {
            failed(error);
        }
        Gauge.after();
        result = last;
        length = last.length;
    }
}
