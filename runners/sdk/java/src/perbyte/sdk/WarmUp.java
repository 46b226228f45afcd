package perbyte.sdk;

import java.util.Arrays;

/**
 * Runs a case until the virtual machine has compiled it and its pace is steady, for a bounded time. First on
 * little data, so that the methods of the library are called often enough to be compiled even where a single
 * call takes milliseconds; then on the case's own.
 */
final class WarmUp {
    private static final int SMALL = 1024;
    private static final int TURNS = 16;
    private static final int ENOUGH_CALLS = 40_000;
    private static final double SMALL_S = 0.35;
    private static final double LIMIT_S = 1.5;
    private static final double CHUNK_S = 0.002;
    private static final int CHUNKS = 10;
    private static final int STEADY_WINDOWS = 3;
    private static final double STEADY = 0.004;
    private static final int MAX_CALLS = 1 << 24;

    private WarmUp() {}

    /** Warm the case up; its handle has not been timed before. */
    static void warm(Case work) {
        long start = System.nanoTime();
        if (work.size > 4 * SMALL) {
            try {
                rush(work.smaller(SMALL).loop, start);
            } catch (Refusal refused) {
                // the case itself works; it is only warmed up more slowly
            }
        }
        rush(work.loop, start);
        settle(work.loop, start);
    }

    private static double since(long start) {
        return (System.nanoTime() - start) * 1e-9;
    }

    /** Many short samples: what the compiler counts are calls, and turns of loops. */
    private static void rush(Loop loop, long start) {
        for (int calls = 0; calls < ENOUGH_CALLS && since(start) < SMALL_S; calls += TURNS) {
            loop.take(since(start) < SMALL_S / 4 ? TURNS : 2 * TURNS);
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
