package perbyte.sdk;

/** A sample in which nothing is called: what remains is the way out of and into the native calls. */
public final class EmptyLoop extends Loop {
    private int turns;

    @Override
    public void open(Case work) {}

    @Override
    public void run(int n) {
        int count = 0;
        Gauge.before();
        for (int i = 0; i < n; i++) {
            count++;
        }
        Gauge.after();
        turns = count;
    }

    @Override
    public void show() {
        length = turns;
    }
}
