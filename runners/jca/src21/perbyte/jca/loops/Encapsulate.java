package perbyte.jca.loops;

import java.util.Arrays;
import javax.crypto.KEM;
import perbyte.jca.Engines;
import perbyte.sdk.Case;
import perbyte.sdk.Gauge;
import perbyte.sdk.Loop;

/** {@code KEM.Encapsulator.encapsulate}, with the random numbers of the provider. */
public final class Encapsulate extends Loop {
    private KEM.Encapsulator encapsulator;
    private KEM.Encapsulated last;

    @Override
    public void open(Case work) throws Exception {
        this.work = work;
        encapsulator = KEM.getInstance(Engines.name(work), Engines.provider(work))
                .newEncapsulator(Engines.seededPair(work).getPublic());
    }

    @Override
    public void run(int n) {
        KEM.Encapsulator encapsulator = this.encapsulator;
        KEM.Encapsulated last = null;
        Gauge.before();
        try {
            for (int i = 0; i < n; i++) {
                last = encapsulator.encapsulate();
            }
        } catch (RuntimeException error) {
            failed(error);
        }
        Gauge.after();
        this.last = last;
    }

    @Override
    public void show() {
        byte[] sent = last.encapsulation();
        byte[] secret = last.key().getEncoded();
        length = sent.length + secret.length;
        result = Arrays.copyOf(sent, length);
        System.arraycopy(secret, 0, result, sent.length, secret.length);
    }
}
