package perbyte.sdk;

import java.util.Arrays;

/**
 * Runs a case until the virtual machine has compiled it and its pace is steady, for a bounded time (1.5 seconds, or
 * what the property perbyte.warm_s says). First many calls on little data, so that the methods of the library are
 * called often enough to be compiled even where a single call takes milliseconds; then chains of an audit, which share
 * its code; then the case as it is.
 */
final class WarmUp {
    private static final int SMALL = 1024;
    private static final int MOST_TURNS = 32;
    private static final int ENOUGH_CALLS = 40_000;
    static final double LIMIT_S = Double.parseDouble(System.getProperty("perbyte.warm_s", "1.5"));
    private static final double SMALL_S = LIMIT_S / 4;
    private static final double CHAINS_S = LIMIT_S / 30;
    private static final int LINKS = 16;
    private static final int ENOUGH_LINKS = 2000; // the compiler begins at 200 and is late
    private static final double RUSH_S = 0.002;
    private static final double CHUNK_S = 0.002;
    private static final int CHUNKS = 10;
    private static final int STEADY_WINDOWS = 3;
    private static final double STEADY = 0.004;
    private static final int MAX_CALLS = 1 << 24;

    private WarmUp() {}

    /** Warm the case up; its handle has not been timed before. */
    static void warm(Case work) {
        long start = System.nanoTime();
        rush(quick(work), start);
        chain(work);
        settle(work.loop, start);
    }

    /** The loop itself, or one of the same class with less to do. */
    private static Loop quick(Case work) {
        try {
            return work.size > 4 * SMALL ? work.smaller(SMALL).loop : work.loop;
        } catch (Refusal refused) {
            return work.loop; // it works; it is only warmed up more slowly
        }
    }

    private static double since(long start) {
        return (System.nanoTime() - start) * 1e-9;
    }

    /** Many short samples: what makes the compiler begin is the number of calls. */
    private static void rush(Loop loop, long start) {
        int turns = 1;
        for (int calls = 0; calls < ENOUGH_CALLS && since(start) < SMALL_S; calls += turns) {
            long begun = System.nanoTime();
            loop.take(turns);
            turns = since(begun) < RUSH_S ? Math.min(MOST_TURNS, 2 * turns) : 1;
        }
    }

    /** Forgeries among them, so that a refusal in an audit finds no code that was compiled without one. */
    private static void chain(Case work) {
        long start = System.nanoTime();
        for (int made = 0; Chain.fits(work) && made < ENOUGH_LINKS && since(start) < CHAINS_S; made += LINKS) {
            Chain.of(work, made, LINKS, false, 0);
            Chain.of(work, made, LINKS, true, 0);
        }
    }

    /** Windows of chunks of some milliseconds, until the quick ones of a window are as quick as before. */
    private static void settle(Loop loop, long start) {
        double[] window = new double[CHUNKS];
        double last = 0;
        int calls = 1;
        for (int steady = 0; steady < STEADY_WINDOWS; ) {
            for (int i = 0; i < CHUNKS; i++) {
                if (since(start) > LIMIT_S) {
                    return;
                }
                long begun = System.nanoTime();
                loop.take(calls);
                window[i] = since(begun) / calls;
            }
            Arrays.sort(window);
            double quick = window[CHUNKS / 4];
            steady = Math.abs(quick - last) <= STEADY * quick ? steady + 1 : 0;
            last = quick;
            calls = (int) Math.max(1, Math.min(MAX_CALLS, CHUNK_S / quick));
        }
    }
}
