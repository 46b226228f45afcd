package perbyte.sdk;

import java.util.Arrays;

/**
 * The gauge of runners/sdk/c by native calls. {@link Loop#run} puts {@code before} and {@code after} around its
 * calls; both do nothing unless a sample is being taken.
 */
public final class Gauge {
    static final int START = 0;
    static final int TICKS = 1;
    static final int CYCLES = 6;
    static final int FLAGS = 7;
    static final int CORE = 8;
    static final int FIELDS = 9;
    private static final long EMPTY_WARM_NS = 40_000_000; // the compiler works in the background
    private static final int EMPTY_SAMPLES = 120;

    /** What the process found out about its clock; see protocol/SPEC.md, section 6. */
    static String source;
    static String detector;
    static String reason;
    static double tickHz;
    static double tickQuantum;
    static double probeCycles;
    static double contentionFloor;
    static long contentionLength;
    static double contentionShared;
    static double contentionLimit;
    static String contentionWindow = "";
    static double waitedMs;
    static double alone;
    static double checkAdd;
    static double checkRotate;
    static double fixedTicks;
    static boolean pmu;
    static boolean calibrated;

    static {
        System.load(System.getProperty("perbyte.gauge"));
    }

    private Gauge() {}

    public static native void before();

    public static native void after();

    static native void arm(boolean on);

    /** From now on each sample reads {@code to} from the file first (null: no longer). Returns what is wrong, or null. */
    static native String disk(String path, byte[] to);

    /** The two ends of a burst, between which the kernel is not asked about each sample: kernel.h. */
    static native void begin();

    static native int end();

    static native long ticks();

    static native void read(long[] fields);

    static native int await(double floor, double tolerance, int patience);

    static native boolean clean(double floor, double tolerance, double clockTolerance, int flags);

    private static native String calibrate(
            double limitMs,
            double patienceMs,
            String window,
            double floor,
            double shared,
            String cores,
            double[] facts);

    /**
     * Look at the clock for about so long, and at what a sample costs in which nothing is called. The thread may use
     * {@code cores} from then on (empty: the one it is on); the rest is as in protocol/SPEC.md, section 6.
     */
    static void look(
            double limitMs, double patienceMs, String window, double floor, double shared, String cores) {
        double[] facts = new double[12];
        String[] words =
                calibrate(limitMs, patienceMs, window, floor, shared, cores, facts).split("\n", 4);
        source = words[0];
        detector = words[1];
        contentionWindow = words[2];
        reason = words[3];
        tickHz = facts[0];
        tickQuantum = facts[1];
        probeCycles = facts[2];
        contentionFloor = facts[3];
        checkAdd = facts[4];
        checkRotate = facts[5];
        pmu = facts[6] != 0;
        contentionLength = (long) facts[7];
        contentionShared = facts[8];
        waitedMs = facts[9];
        alone = facts[10];
        contentionLimit = facts[11];
        fixedTicks = emptySample();
        calibrated = true;
    }

    /** Mean of the lower half of empty samples, as the gauge itself does it: contention can only add. */
    private static double emptySample() {
        Loop loop = FreshClass.instance(EmptyLoop.class);
        for (long start = System.nanoTime(); System.nanoTime() - start < EMPTY_WARM_NS; ) {
            loop.run(1);
        }
        double[] ticks = new double[EMPTY_SAMPLES];
        long[] fields = new long[FIELDS];
        arm(true);
        for (int i = 0; i < EMPTY_SAMPLES; i++) {
            loop.run(1);
            read(fields);
            ticks[i] = fields[TICKS];
        }
        arm(false);
        Arrays.sort(ticks);
        return Arrays.stream(ticks, EMPTY_SAMPLES / 20, EMPTY_SAMPLES / 2).average().orElse(0);
    }
}
