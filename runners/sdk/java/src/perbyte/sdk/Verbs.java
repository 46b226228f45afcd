package perbyte.sdk;

import com.google.gson.JsonObject;

/** What answers a request: this process itself ({@link Answers}), or a process behind it ({@link Front}). */
interface Verbs {
    /** Fill the answer to a verb, `id` and `ok` excepted. A refusal is thrown; false means that it was `quit`. */
    boolean act(String verb, Request request, JsonObject answer) throws Refusal;
}
