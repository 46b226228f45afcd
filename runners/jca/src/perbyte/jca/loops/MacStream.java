package perbyte.jca.loops;

import javax.crypto.Mac;
import perbyte.jca.Engines;
import perbyte.sdk.Case;
import perbyte.sdk.Gauge;
import perbyte.sdk.Loop;

/** {@code Mac.update(byte[])}: the next bytes of an endless message. */
public final class MacStream extends Loop {
    private Mac mac;

    @Override
    public void open(Case work) throws Exception {
        this.work = work;
        mac = Engines.mac(work);
        mac.init(Engines.key(work, 0));
    }

    /** Not by {@code reset}: in ACCP 2.5.0 that loses the key once more data came than its buffer holds. */
    @Override
    public void begin() {
        mac.doFinal();
    }

    @Override
    public void run(int n) {
        Mac mac = this.mac;
        byte[] in = work.in;
        Gauge.before();
        try {
            for (int i = 0; i < n; i++) {
                mac.update(in);
            }
        } catch (RuntimeException error) {
            failed(error);
        }
        Gauge.after();
    }

    @Override
    public void show() {
        result = mac.doFinal();
        length = result.length;
    }
}
