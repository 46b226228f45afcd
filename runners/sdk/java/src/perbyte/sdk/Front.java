package perbyte.sdk;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Gives each algorithm a virtual machine of its own. The JIT compiler optimises code that algorithms share, such as
 * a mode of operation, for what it has seen there, so that in one machine the speed of a cipher would depend on
 * which others are measured beside it (by up to 5 % for the hashes of OpenJDK). The first machine answers what
 * concerns no algorithm: hello, calibrate.
 */
final class Front implements Verbs {
    private static final long WORKER_KIB = 200 << 10;
    private static final int FEWEST = 2;
    private static final int MOST = 48;

    /** Where a handle really is. */
    private static final class Place {
        final Worker worker;
        final JsonElement handle;

        Place(Worker worker, JsonElement handle) {
            this.worker = worker;
            this.handle = handle;
        }
    }

    private final List<String> command;
    private final Worker first;
    private final List<Worker> workers = new ArrayList<>();
    private final Map<Long, Place> places = new HashMap<>();
    private final Set<String> known = new HashSet<>();
    private final int most;
    private JsonObject calibration; // what every machine is asked before it measures; null before the first
    private long lastHandle;

    Front(List<String> command) {
        this.command = command;
        this.most = room();
        this.first = new Worker(command);
    }

    /** As many machines as half of the free memory holds, unless the property perbyte.machines says how many. */
    private static int room() {
        int asked = Integer.getInteger("perbyte.machines", 0);
        if (asked > 0) {
            return asked;
        }
        try {
            for (String line : Files.readAllLines(Path.of("/proc/meminfo"))) {
                if (line.startsWith("MemAvailable:")) {
                    long free = Long.parseLong(line.replaceAll("\\D", ""));
                    return (int) Math.max(FEWEST, Math.min(MOST, free / 2 / WORKER_KIB));
                }
            }
        } catch (IOException | NumberFormatException error) {
            System.err.println("/proc/meminfo: " + error);
        }
        return FEWEST;
    }

    @Override
    public boolean act(String verb, Request request, JsonObject answer) throws Refusal {
        switch (verb) {
            case "hello":
                fill(answer, hello(request.fields()));
                return true;
            case "prepare":
                prepare(request, answer);
                return true;
            case "check":
            case "measure":
            case "audit":
            case "release":
                pass(verb, request, answer);
                return true;
            case "quit":
                first.end();
                workers.forEach(Worker::end);
                return false;
            case "calibrate":
                fill(answer, first.ask(request.fields()));
                calibration = request.fields().deepCopy();
                for (String known : List.of("contention_window", "contention_floor", "contention_shared")) {
                    calibration.add(known, answer.get(known));
                }
                for (Worker worker : workers) {
                    worker.ask(calibration);
                }
                return true;
            default:
                fill(answer, first.ask(request.fields()));
                return true;
        }
    }

    private JsonObject hello(JsonObject request) throws Refusal {
        JsonObject answer = first.ask(request);
        for (JsonElement row : answer.getAsJsonArray("operations")) {
            known.add(name(row.getAsJsonObject()));
        }
        return answer;
    }

    private static String name(JsonObject row) {
        return row.get("algorithm") + " " + row.get("operation") + " " + row.get("contract");
    }

    private void prepare(Request request, JsonObject answer) throws Refusal {
        if (known.isEmpty()) {
            JsonObject question = new JsonObject();
            question.addProperty("verb", "hello");
            question.addProperty("id", 0);
            question.addProperty("protocol", Server.PROTOCOL);
            hello(question);
        }
        JsonObject fields = request.fields();
        // what is no row of ours is refused by the first, for its own reason
        Worker worker = known.contains(name(fields)) ? workerOf(request.text("algorithm")) : first;
        fill(answer, worker.ask(fields));
        places.put(++lastHandle, new Place(worker, answer.get("handle")));
        answer.addProperty("handle", lastHandle);
    }

    private Worker workerOf(String algorithm) throws Refusal {
        for (Worker worker : workers) {
            if (worker.algorithms.contains(algorithm)) {
                return worker;
            }
        }
        Worker chosen = null;
        if (workers.size() < most) {
            chosen = new Worker(command);
            workers.add(chosen);
            if (calibration != null) {
                chosen.ask(calibration);
            }
        } else {
            for (Worker worker : workers) {
                chosen = chosen == null || worker.algorithms.size() < chosen.algorithms.size() ? worker : chosen;
            }
        }
        chosen.algorithms.add(algorithm);
        return chosen;
    }

    private void pass(String verb, Request request, JsonObject answer) throws Refusal {
        long handle = request.integer("handle");
        Place place = places.get(handle);
        if (place == null) {
            throw new Refusal("bad-handle", "no such handle");
        }
        JsonObject fields = request.fields();
        fields.add("handle", place.handle);
        fill(answer, place.worker.ask(fields));
        if (verb.equals("release")) {
            places.remove(handle);
        }
    }

    private static void fill(JsonObject answer, JsonObject from) {
        for (Map.Entry<String, JsonElement> field : from.entrySet()) {
            if (!answer.has(field.getKey())) {
                answer.add(field.getKey(), field.getValue());
            }
        }
    }
}
