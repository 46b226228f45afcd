package perbyte.jca.loops;

import javax.crypto.Mac;
import perbyte.jca.Engines;
import perbyte.sdk.Case;
import perbyte.sdk.Gauge;
import perbyte.sdk.Loop;

/** {@code Mac.doFinal(byte[])}: a whole message under the key that is set. */
public final class MacMessage extends Loop {
    private Mac mac;

    @Override
    public void open(Case work) throws Exception {
        this.work = work;
        mac = Engines.mac(work);
        mac.init(Engines.key(work, 0));
    }

    @Override
    public void run(int n) {
        Mac mac = this.mac;
        byte[] in = work.in;
        byte[] last = result;
        Gauge.before();
        try {
            for (int i = 0; i < n; i++) {
                last = mac.doFinal(in);
            }
        } catch (RuntimeException error) {
            failed(error);
        }
        Gauge.after();
        result = last;
        length = last.length;
    }
}
