package perbyte.sdk;

/**
 * The timed calls of one row. A subclass makes the calls of its library and nothing else. Each handle gets the
 * subclass loaded anew ({@link FreshClass}), with its own code and its own profile: the JIT compiler then sees
 * one kind of receiver at every call in it, as in a program that does this one thing.
 */
public abstract class Loop {
    /** What the loop works on. */
    protected Case work;
    /** Bytes of the last call's output, and how many of them count. */
    protected byte[] result = new byte[0];
    protected int length;
    /** What calls take one after the other, beginning again, instead of the case's data; null: the same for all. */
    protected byte[][] blocks;
    private long failures;
    private Throwable failure;

    /** Make the engine and set key 0 and nonce 0. Untimed. */
    public abstract void open(Case work) throws Exception;

    /** Bring the operation into the state before call 0. Untimed, before every sample. */
    public void begin() throws Exception {}

    /**
     * Take key 0 and nonce 0 over, which are others than in the call before, and bring the operation into the state
     * before call 0. Untimed, in audits, which begin once.
     */
    public void renew() throws Exception {
        begin();
    }

    /** Gauge.before, n timed calls (the first of them call 0), Gauge.after. */
    public abstract void run(int n);

    /** True where {@link #run} heeds {@link #blocks}. */
    public boolean walks() {
        return false;
    }

    /** Bring the last call's output to {@link #result}. Untimed, after the loop. */
    public void show() throws Exception {}

    /** Note calls in which the library reported an error or refused a forgery. */
    protected final void failed(Throwable error) {
        failures++;
        failure = error;
    }

    protected final void failed(String words) {
        failed(new IllegalStateException(words));
    }

    /** Begin and make n calls; true if all went well. */
    final boolean take(int n) {
        begins();
        run(n);
        return failures == 0;
    }

    /** Begin, with no failures so far; true if all went well. */
    final boolean begins() {
        failures = 0;
        failure = null;
        try {
            begin();
        } catch (Exception error) {
            failed(error);
        }
        return failures == 0;
    }

    /** As {@link #take}, and show what came out. */
    final boolean takeAndShow(int n) {
        boolean good = take(n);
        try {
            show();
        } catch (Exception error) {
            failed(error);
            good = false;
        }
        return good;
    }

    /** Renew; true if that went well. */
    final boolean renews() {
        failures = 0;
        try {
            renew();
        } catch (Exception error) {
            failed(error);
        }
        return failures == 0;
    }

    /** Renew, make n calls, one or none, and show what came out; true if all went well. */
    final boolean takeAnew(int n) {
        if (!renews()) {
            return false;
        }
        run(n);
        try {
            show();
        } catch (Exception error) {
            failed(error);
        }
        return failures == 0;
    }

    final Throwable failure() {
        return failure;
    }

    final byte[] result() {
        return result;
    }

    final int length() {
        return length;
    }
}
