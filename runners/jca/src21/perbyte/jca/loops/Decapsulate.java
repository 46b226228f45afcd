package perbyte.jca.loops;

import java.security.GeneralSecurityException;
import javax.crypto.KEM;
import javax.crypto.SecretKey;
import perbyte.jca.Engines;
import perbyte.sdk.Case;
import perbyte.sdk.Gauge;
import perbyte.sdk.Loop;

/** {@code KEM.Decapsulator.decapsulate}: the secret as a key object. */
public final class Decapsulate extends Loop {
    private KEM.Decapsulator decapsulator;
    private SecretKey last;

    @Override
    public void open(Case work) throws Exception {
        this.work = work;
        decapsulator = KEM.getInstance(Engines.name(work), Engines.provider(work))
                .newDecapsulator(Engines.seededPair(work).getPrivate());
    }

    @Override
    public void run(int n) {
        KEM.Decapsulator decapsulator = this.decapsulator;
        byte[] in = work.in;
        SecretKey last = null;
        Gauge.before();
        try {
            for (int i = 0; i < n; i++) {
                last = decapsulator.decapsulate(in);
            }
        } catch (GeneralSecurityException | RuntimeException error) {
            failed(error);
        }
        Gauge.after();
        this.last = last;
    }

    @Override
    public void show() {
        result = last.getEncoded();
        length = result.length;
    }
}
