package perbyte.jca.loops;

import perbyte.sdk.Case;
import perbyte.sdk.Gauge;
import perbyte.sdk.Loop;

/** A call that does nothing but store its number: a loop without any effect the compiler would leave out. */
public final class ProbeEmpty extends Loop {
    @Override
    public void open(Case work) {
        this.work = work;
    }

    @Override
    public void run(int n) {
        byte[] out = work.out;
        Gauge.before();
        for (int i = 0; i < n; i++) {
            out[i & 15] = (byte) i;
        }
        Gauge.after();
    }
}
