package perbyte.sdk;

/** An answer with {@code ok: false}: an error code of protocol/SPEC.md, section 9, and words for people. */
public final class Refusal extends Exception {
    private static final long serialVersionUID = 1L;

    final String code;

    public Refusal(String code, String message) {
        super(message, null, false, false);
        this.code = code;
    }

    /** The library itself reported an error. */
    static Refusal library(Throwable error) {
        return new Refusal("library", words(error));
    }

    static Refusal unsupported(String message) {
        return new Refusal("unsupported", message);
    }

    static Refusal badSize(String message) {
        return new Refusal("bad-size", message);
    }

    static String words(Throwable error) {
        String text = error.getMessage();
        return error.getClass().getSimpleName() + (text == null ? "" : ": " + text);
    }
}
