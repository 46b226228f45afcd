package perbyte.jca.loops;

import perbyte.sdk.Case;
import perbyte.sdk.Gauge;
import perbyte.sdk.Loop;

/** {@code size} steps of a chain of 64-bit multiplications, each waiting for the one before it, also across calls. */
public final class ProbeImul extends Loop {
    private long value;

    @Override
    public void open(Case work) {
        this.work = work;
        result = new byte[Long.BYTES];
        length = result.length;
    }

    @Override
    public void begin() {
        value = 3; // odd, or the chain would end at zero
    }

    @Override
    public void run(int n) {
        long x = value;
        int size = work.size;
        Gauge.before();
        for (int i = 0; i < n; i++) {
            for (int step = 0; step < size; step++) {
                x *= x;
            }
        }
        Gauge.after();
        value = x;
    }

    @Override
    public void show() {
        for (int i = 0; i < length; i++) {
            result[i] = (byte) (value >>> 8 * i);
        }
    }
}
