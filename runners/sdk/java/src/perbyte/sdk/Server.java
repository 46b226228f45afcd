package perbyte.sdk;

import com.google.gson.JsonObject;
import java.io.BufferedInputStream;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** The conversation of protocol/SPEC.md: one request line in, exactly one answer line out. */
public final class Server {
    static final int PROTOCOL = 1;
    static final int LINE_LIMIT = 1 << 20;

    private final Verbs verbs;
    private final byte[] line = new byte[LINE_LIMIT + 1];
    private boolean ended;

    private Server(Verbs verbs) {
        this.verbs = verbs;
    }

    /** Answer from this process. */
    public static void serve(Library library) throws IOException {
        new Server(new Answers(library)).converse();
    }

    /** Answer through processes that are started by {@code command} and call {@link #serve}. */
    public static void front(List<String> command) throws IOException {
        new Server(new Front(command)).converse();
    }

    /** Answer until quit or the end of standard input. What a library prints goes to standard error. */
    private void converse() throws IOException {
        System.setOut(System.err);
        InputStream in = new BufferedInputStream(new FileInputStream(FileDescriptor.in), 1 << 16);
        OutputStream out = new FileOutputStream(FileDescriptor.out);
        for (int length = 0; !ended && (length = readLine(in)) >= 0; ) {
            out.write((answer(length) + "\n").getBytes(StandardCharsets.UTF_8));
        }
    }

    /** Read one line into {@link #line}: its length without the line feed, 0 if it was too long, -1 at the end. */
    private int readLine(InputStream in) throws IOException {
        int length = 0;
        for (int c = in.read(); c != '\n'; c = in.read()) {
            if (c < 0) {
                return length == 0 ? -1 : length;
            }
            if (length <= LINE_LIMIT) {
                line[Math.min(length++, LINE_LIMIT)] = (byte) c;
            }
        }
        return length < LINE_LIMIT ? length : 0;
    }

    private String answer(int length) {
        long id = 0;
        try {
            Request request = Request.parse(line, length);
            String verb = request.text("verb");
            id = request.integer("id");
            JsonObject answer = new JsonObject();
            answer.addProperty("id", id);
            answer.addProperty("ok", true);
            ended = !verbs.act(verb, request, answer);
            return answer.toString();
        } catch (Refusal refusal) {
            return refuse(id, refusal.code, refusal.getMessage());
        } catch (OutOfMemoryError error) {
            return refuse(id, "bad-size", "out of memory");
        } catch (RuntimeException | LinkageError error) {
            return refuse(id, "library", Refusal.words(error));
        }
    }

    private static String refuse(long id, String code, String message) {
        JsonObject answer = new JsonObject();
        answer.addProperty("id", id);
        answer.addProperty("ok", false);
        answer.addProperty("error", code);
        answer.addProperty("message", message == null ? "" : message);
        return answer.toString();
    }
}
