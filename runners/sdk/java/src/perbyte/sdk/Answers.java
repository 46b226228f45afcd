package perbyte.sdk;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;

/** What the verbs do, and the handles. Each method fills the answer; a refusal is thrown. */
final class Answers implements Verbs {
    private static final int SHOWN_WHOLE = 1 << 16; // signatures among them, so that others can verify them
    private static final int SHOWN_HEAD = 64;
    private static final int WARM_BYTES = 1 << 16;
    private static final int TALKS = 250;
    private static final long TALK_NS = (long) (WarmUp.LIMIT_S / 15 * 1e9);
    private static final String[] ARRAYS = {
        "start", "ticks", "clock_before", "clock_after", "contention_before", "contention_after", "cycles", "flags", "core",
    };

    private final Library library;
    private final Map<Long, Case> cases = new HashMap<>();
    private final Map<Long, Boolean> warm = new HashMap<>();
    private final Burst burst = new Burst();
    private long lastHandle;
    private boolean fluent;

    Answers(Library library) {
        this.library = library;
    }

    @Override
    public boolean act(String verb, Request request, JsonObject answer) throws Refusal {
        switch (verb) {
            case "hello": hello(request, answer); return true;
            case "prepare": prepare(request, answer); return true;
            case "check": check(request, answer); return true;
            case "calibrate": calibrate(request, answer); return true;
            case "measure": measure(request, answer); return true;
            case "audit": audit(request, answer); return true;
            case "release": release(request); return true;
            case "quit": return false;
            default:
                throw new Refusal("unknown-verb", "verbs: hello, prepare, check, calibrate, measure, audit, release, quit");
        }
    }

    private void hello(Request request, JsonObject answer) throws Refusal {
        request.integer("protocol");
        answer.addProperty("protocol", Server.PROTOCOL);
        answer.addProperty("runner", library.runner());
        answer.addProperty("sdk", "java/1");
        answer.addProperty("library", library.name());
        answer.addProperty("library_version", library.version());
        answer.addProperty("license", library.license());
        answer.addProperty("compiler", System.getProperty("java.vm.name") + " "
                + System.getProperty("java.vm.version") + ", " + System.getProperty("java.vm.vendor"));
        answer.addProperty("flags", String.join(" ", ManagementFactory.getRuntimeMXBean().getInputArguments()));
        answer.addProperty("object", library.object());
        answer.addProperty("cpu_features", library.cpuFeatures());
        String tier = System.getenv("PERBYTE_CPU");
        answer.addProperty("tier", tier == null || tier.isEmpty() ? "full" : tier);
        JsonArray operations = new JsonArray();
        for (Row row : library.rows()) {
            if (row.offered) {
                operations.add(describe(row));
            }
        }
        answer.add("operations", operations);
    }

    private static JsonObject describe(Row row) {
        JsonObject operation = new JsonObject();
        operation.addProperty("algorithm", row.algorithm);
        operation.addProperty("operation", row.operation);
        operation.addProperty("contract", row.contract);
        operation.addProperty("calls", row.calls);
        return operation;
    }

    private void prepare(Request request, JsonObject answer) throws Refusal {
        String algorithm = request.text("algorithm");
        String operation = request.text("operation");
        String contract = request.text("contract");
        long size = request.count("size_bytes");
        long seed = request.unsigned("seed");
        long offset = request.count("offset");
        String path = request.has("input_path") ? request.text("input_path") : null;
        Row row = library.row(algorithm, operation, contract);
        if (offset >= Material.PAGE) {
            throw Refusal.badSize("an offset is less than a page");
        }
        Case made = Case.prepare(library, row, null, size, seed, (int) offset, path);
        if (size <= WARM_BYTES && !made.loop.takeAndShow(1)) {
            throw Refusal.library(made.loop.failure());
        }
        cases.put(++lastHandle, made);
        answer.addProperty("handle", lastHandle);
    }

    private void check(Request request, JsonObject answer) throws Refusal {
        Case work = find(request);
        if (request.truth("round_trip") || request.truth("forgery")) {
            String seen = request.truth("forgery") ? work.forgery() : work.roundTrip();
            answer.addProperty("passed", !seen.startsWith("!"));
            answer.addProperty("detail", seen.startsWith("!") ? seen.substring(1) : seen);
        } else if (request.has("vector")) {
            Request given = request.object("vector");
            Case.Vector vector = new Case.Vector();
            vector.key = given.hex("key");
            vector.nonce = given.hex("nonce");
            vector.aad = given.hex("aad");
            vector.input = given.hex("input");
            if (request.has("changes")) {
                change(work, vector, request, answer);
            } else {
                show(work.on(vector).loop, 1, answer);
            }
        } else if (request.has("changes")) {
            change(work, null, request, answer);
        } else {
            long calls = request.count("calls");
            if (calls < 1 || calls > Integer.MAX_VALUE) {
                throw Request.malformed("calls must be from 1 to 2147483647");
            }
            show(work.loop, (int) calls, answer);
        }
    }

    private static void change(Case work, Case.Vector vector, Request request, JsonObject answer) throws Refusal {
        byte[] input = vector == null ? work.in : vector.input;
        answer.addProperty("input_length", input == null ? 0 : input.length);
        answer.add("outcomes", new Changes(work, vector).outcomes(request.text("changes")));
    }

    private static void show(Loop loop, int calls, JsonObject answer) throws Refusal {
        if (!loop.takeAndShow(calls)) {
            throw Refusal.library(loop.failure());
        }
        answer.addProperty("length", loop.length());
        answer.addProperty("digest", hex(Material.digest(loop.result(), loop.length())));
        answer.addProperty("head", hex(loop.result(), Math.min(SHOWN_HEAD, loop.length())));
        if (loop.length() <= SHOWN_WHOLE) {
            answer.addProperty("output", hex(loop.result(), loop.length()));
        }
    }

    private void calibrate(Request request, JsonObject answer) throws Refusal {
        Gauge.look(
                Math.min(request.quantity("limit_ms"), 10_000),
                request.has("patience_ms") ? Math.min(request.quantity("patience_ms"), 60_000) : 0,
                request.has("contention_window") ? request.text("contention_window") : "",
                request.has("contention_floor") ? request.quantity("contention_floor") : 0,
                request.has("contention_shared") ? request.quantity("contention_shared") : 0,
                request.has("cores") ? request.text("cores") : "");
        answer.addProperty("cycle_source", Gauge.source);
        answer.addProperty("reason", Gauge.reason);
        answer.addProperty("tick_hz", Gauge.tickHz);
        answer.addProperty("tick_quantum", (long) Gauge.tickQuantum);
        answer.addProperty("probe_cycles", Gauge.probeCycles);
        answer.addProperty("contention_floor", Gauge.contentionFloor);
        answer.addProperty("fixed_ticks", Gauge.fixedTicks);
        answer.addProperty("contention_probe", Gauge.detector);
        answer.addProperty("contention_window", Gauge.contentionWindow);
        answer.addProperty("contention_length", Gauge.contentionLength);
        answer.addProperty("contention_shared", Gauge.contentionShared);
        answer.addProperty("contention_limit", Gauge.contentionLimit);
        answer.addProperty("waited_ms", Gauge.waitedMs);
        answer.addProperty("alone", Gauge.alone);
        JsonObject selfcheck = new JsonObject();
        selfcheck.addProperty("add", Gauge.checkAdd);
        selfcheck.addProperty("rotate", Gauge.checkRotate);
        answer.add("selfcheck", selfcheck);
    }

    private void audit(Request request, JsonObject answer) throws Refusal {
        Case work = find(request);
        long seed = request.unsigned("seed");
        long calls = request.count("calls");
        if (calls < 1 || calls > Integer.MAX_VALUE) {
            throw Request.malformed("calls must be from 1 to 2147483647");
        }
        if (!Chain.fits(work)) {
            throw Refusal.unsupported("calls of this operation cannot be chained");
        }
        long repeat = request.has("repeat") ? request.count("repeat") : 0;
        Chain chain = Chain.of(work, seed, calls, request.truth("control"), repeat);
        answer.addProperty("length", chain.length);
        answer.addProperty("digest", hex(chain.digest()));
        answer.addProperty("failures", chain.failures);
        answer.addProperty("forged", chain.forged);
        answer.addProperty("refused", chain.refused);
        answer.addProperty("control", request.truth("control"));
        answer.addProperty("repeat", repeat);
    }

    private void measure(Request request, JsonObject answer) throws Refusal {
        Case work = find(request);
        Burst.Order order = order(request);
        if (!Gauge.calibrated) {
            Gauge.look(20, 0, "", 0, 0, "");
        }
        boolean fromDisk = request.truth("from_disk");
        long walked = request.has("walk_bytes") ? request.count("walk_bytes") : 0;
        work.walk(walked);
        try {
            if (warm.putIfAbsent(request.integer("handle"), true) == null) {
                WarmUp.warm(work);
            }
            if (fromDisk) {
                work.readFromDisk();
            }
            burst.take(work, order);
        } finally {
            work.walk(0);
            Gauge.disk(null, null);
        }
        if (!fluent) {
            fluent = true;
            talk(request);
        }
        tell(answer);
        answer.addProperty("walk_bytes", walked);
        answer.addProperty("from_disk", fromDisk);
    }

    /** Read and answer a question until it is compiled, for what that takes stands beside the calls in an audit. */
    private void talk(Request request) throws Refusal {
        byte[] line = request.fields().toString().getBytes(StandardCharsets.UTF_8);
        long start = System.nanoTime();
        for (int i = 0; i < TALKS && System.nanoTime() - start < TALK_NS; i++) {
            order(Request.parse(line, line.length));
            JsonObject answer = new JsonObject();
            tell(answer);
            answer.toString();
        }
    }

    private static Burst.Order order(Request request) throws Refusal {
        Burst.Order order = new Burst.Order();
        order.samples = request.count("samples");
        order.clean = request.count("clean");
        order.limitMs = request.quantity("limit_ms");
        order.calls = request.count("calls");
        order.sampleUs = request.quantity("sample_us");
        order.warmUs = request.has("warm_us") ? Math.min(request.quantity("warm_us"), 1e6) : 0;
        order.floor = request.quantity("contention_floor");
        order.tolerance = request.quantity("contention_tolerance");
        order.clockTolerance = request.quantity("clock_tolerance");
        order.patience = (int) Math.min(request.count("patience"), Integer.MAX_VALUE);
        return order;
    }

    private void tell(JsonObject answer) {
        answer.addProperty("calls", burst.calls);
        answer.addProperty("waits", burst.waits);
        answer.addProperty("digest", hex(burst.digest));
        for (int field = 0; field < ARRAYS.length; field++) {
            JsonArray values = new JsonArray();
            for (int i = 0; i < burst.count && (field != Gauge.CYCLES || Gauge.pmu); i++) {
                values.add(burst.samples[field][i]);
            }
            answer.add(ARRAYS[field], values);
        }
    }

    private void release(Request request) throws Refusal {
        find(request);
        cases.remove(request.integer("handle"));
        warm.remove(request.integer("handle"));
    }

    private Case find(Request request) throws Refusal {
        Case found = cases.get(request.integer("handle"));
        if (found == null) {
            throw new Refusal("bad-handle", "no such handle");
        }
        return found;
    }

    static String hex(long value) {
        StringBuilder digits = new StringBuilder(16);
        for (int shift = 60; shift >= 0; shift -= 4) {
            digits.append(Character.forDigit((int) (value >>> shift) & 15, 16));
        }
        return digits.toString();
    }

    private static String hex(byte[] bytes, int length) {
        StringBuilder digits = new StringBuilder(2 * length);
        for (int i = 0; i < length; i++) {
            digits.append(Character.forDigit(bytes[i] >> 4 & 15, 16)).append(Character.forDigit(bytes[i] & 15, 16));
        }
        return digits.toString();
    }
}
