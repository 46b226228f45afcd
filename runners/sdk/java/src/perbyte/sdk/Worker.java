package perbyte.sdk;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** A virtual machine behind the front. If it breaks off, so does the front, with its exit status. */
final class Worker {
    /** Algorithms that run here; more than one only when there is no memory for a machine of each. */
    final Set<String> algorithms = new HashSet<>();
    private final Process process;
    private final OutputStream in;
    private final BufferedReader out;

    Worker(List<String> command) {
        try {
            process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
        in = process.getOutputStream();
        out = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
    }

    /** Put a request to the worker and take its answer over; a refusal is thrown. */
    JsonObject ask(JsonObject request) throws Refusal {
        JsonObject answer;
        try {
            in.write((request + "\n").getBytes(StandardCharsets.UTF_8));
            in.flush();
            String line = out.readLine();
            if (line == null) {
                throw new IOException("end of its output");
            }
            answer = JsonParser.parseString(line).getAsJsonObject();
        } catch (IOException error) {
            throw breakOff(error);
        }
        if (!answer.get("ok").getAsBoolean()) {
            throw new Refusal(answer.get("error").getAsString(), answer.get("message").getAsString());
        }
        return answer;
    }

    private Error breakOff(IOException error) {
        int status = 1;
        try {
            status = process.waitFor();
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
        System.err.println("the virtual machine of " + algorithms + " broke off with status " + status + ": "
                + error.getMessage());
        Runtime.getRuntime().halt(status == 0 ? 1 : status);
        return new AssertionError(error);
    }

    void end() {
        process.destroyForcibly();
    }
}
