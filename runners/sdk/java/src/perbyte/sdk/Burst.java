package perbyte.sdk;

import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.util.List;

/** Consecutive samples of one case: protocol/SPEC.md, section 7. */
final class Burst {
    static final int MAX_SAMPLES = 4096;
    private static final int COLLECTED = 8;
    private static final int FAILED = 16;
    private static final int MAX_CALLS = 1 << 24;
    private static final int TRIES = 3;
    private static final List<GarbageCollectorMXBean> COLLECTORS = ManagementFactory.getGarbageCollectorMXBeans();

    /** What was asked for. */
    static final class Order {
        long samples;
        long clean;
        double limitMs;
        long calls;
        double sampleUs;
        double warmUs; // of calls before the first sample; unasked, none may be made that is not timed
        double floor;
        double tolerance;
        double clockTolerance;
        int patience;
    }

    final long[][] samples = new long[Gauge.FIELDS][MAX_SAMPLES];
    int count;
    int calls;
    long waits;
    long digest;

    void take(Case work, Order order) throws Refusal {
        if (order.calls > Integer.MAX_VALUE) {
            throw Refusal.unsupported("at most 2147483647 calls in a sample");
        }
        Loop loop = work.loop;
        calls = order.calls > 0 ? (int) order.calls : chooseCalls(loop, order.sampleUs);
        Gauge.begin();
        long start = System.nanoTime();
        if (calls > 1 && order.warmUs > 0) { // caches and predictors saw other cells meanwhile
            long until = start + (long) (order.warmUs * 1000);
            do {
                loop.take(calls);
                start = System.nanoTime();
            } while (start < until);
        }
        long clean = 0;
        count = 0;
        waits = 0;
        do {
            waits += Gauge.await(order.floor, order.tolerance, order.patience);
            clean += sample(loop, order) ? 1 : 0;
        } while (count < order.samples && count < MAX_SAMPLES && !(order.clean > 0 && clean >= order.clean)
                && (System.nanoTime() - start) * 1e-6 < order.limitMs);
        int disturbed = Gauge.end();
        for (int i = 0; i < count; i++) {
            samples[Gauge.FLAGS][i] |= disturbed;
        }
        try {
            loop.show();
        } catch (Exception error) {
            samples[Gauge.FLAGS][count - 1] |= FAILED;
        }
        digest = Material.digest(loop.result(), loop.length());
    }

    private boolean sample(Loop loop, Order order) {
        long[] fields = new long[Gauge.FIELDS];
        long collections = collections();
        Gauge.arm(true);
        boolean good = loop.take(calls);
        Gauge.arm(false);
        Gauge.read(fields);
        if (!good) {
            fields[Gauge.FLAGS] |= FAILED;
        }
        if (collections() != collections) {
            fields[Gauge.FLAGS] |= COLLECTED;
        }
        for (int i = 0; i < Gauge.FIELDS; i++) {
            samples[i][count] = fields[i];
        }
        count++;
        return Gauge.clean(order.floor, order.tolerance, order.clockTolerance, (int) fields[Gauge.FLAGS]);
    }

    private static long collections() {
        long sum = 0;
        for (GarbageCollectorMXBean collector : COLLECTORS) {
            sum += collector.getCollectionCount();
        }
        return sum;
    }

    /** As the SDK for C does it: double until a quarter of the time is reached, then scale by the quickest try. */
    private static int chooseCalls(Loop loop, double sampleUs) {
        double goal = sampleUs * 1000;
        int calls = 1;
        double took = nanoseconds(loop, 1);
        if (took > goal && took < 20 * goal) {
            took = nanoseconds(loop, 1); // the first call of all is often the slowest
        }
        while (took < goal / 4 && calls < MAX_CALLS) {
            calls *= 2;
            took = nanoseconds(loop, calls);
        }
        for (int i = 0; i < TRIES && took < 20 * goal; i++) {
            took = Math.min(took, nanoseconds(loop, calls));
        }
        return (int) Math.max(1, Math.min(Integer.MAX_VALUE, Math.round(calls * goal / took)));
    }

    private static double nanoseconds(Loop loop, int calls) {
        long start = System.nanoTime();
        loop.take(calls);
        return Math.max(1, System.nanoTime() - start);
    }
}
