package perbyte.jca.loops;

import java.security.GeneralSecurityException;
import java.security.Signature;
import perbyte.jca.Engines;
import perbyte.sdk.Case;
import perbyte.sdk.Gauge;
import perbyte.sdk.Loop;

/** {@code Signature.update} and {@code verify}, without a hash. */
public final class Verify extends Loop {
    private Signature signature;

    @Override
    public void open(Case work) throws Exception {
        this.work = work;
        signature = Engines.signature(work);
        signature.initVerify(Engines.keyPair(work).getPublic());
    }

    @Override
    public void run(int n) {
        Signature signature = this.signature;
        byte[] in = Engines.signedData(work);
        byte[] given = Engines.signatureBehind(work);
        boolean good = true;
        Gauge.before();
        try {
            for (int i = 0; i < n; i++) {
                signature.update(in);
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
