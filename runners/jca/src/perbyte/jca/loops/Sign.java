package perbyte.jca.loops;

import java.security.GeneralSecurityException;
import java.security.Signature;
import perbyte.jca.Engines;
import perbyte.sdk.Case;
import perbyte.sdk.Gauge;
import perbyte.sdk.Loop;

/** {@code Signature.update} and {@code sign}, without a hash: the data are a digest that was computed beforehand. */
public final class Sign extends Loop {
    private Signature signature;

    @Override
    public void open(Case work) throws Exception {
        this.work = work;
        signature = Engines.signature(work);
        signature.initSign(Engines.keyPair(work).getPrivate());
    }

    @Override
    public void run(int n) {
        Signature signature = this.signature;
        byte[] in = Engines.signedData(work);
        byte[] last = result;
        Gauge.before();
        try {
            for (int i = 0; i < n; i++) {
                signature.update(in);
                last = signature.sign();
            }
        } catch (GeneralSecurityException | RuntimeException error) {
            failed(error);
        }
        Gauge.after();
        result = last;
        length = last.length;
    }

    /** A DSA signature in DER has no fixed length: zeros in front make it as long as the longest one. */
    @Override
    public void show() {
        byte[] aligned = new byte[Math.max(work.row.output, length)];
        System.arraycopy(result, 0, aligned, aligned.length - length, length);
        result = aligned;
        length = aligned.length;
    }
}
