package perbyte.sdk;

/**
 * One operation of one algorithm under one contract: a line of {@code hello}, and what it takes to prepare it.
 * Lengths in bytes; {@code output} is the length of tag, digest or signature, 0 if the output is as long as the
 * data. {@code loop} must have a public constructor without parameters; each handle gets a class of its own.
 */
public final class Row {
    public final String algorithm;
    public final String operation;
    public final String contract;
    public final String calls;
    public final Class<? extends Loop> loop;
    public final Object param;
    public int key;
    public int nonce;
    public int multiple = 1;
    public int output;
    /** False where the library does not make the same call twice: then it serves round trips only. */
    public boolean offered = true;
    /** True where a known answer may come with a key of another length (HMAC). */
    public boolean anyKey;

    public Row(String algorithm, String operation, String contract, String calls,
            Class<? extends Loop> loop, Object param) {
        this.algorithm = algorithm;
        this.operation = operation;
        this.contract = contract;
        this.calls = calls;
        this.loop = loop;
        this.param = param;
    }

    /** Set the lengths of key and nonce, the granularity of the data, and the length of tag or digest. */
    public Row lengths(int key, int nonce, int multiple, int output) {
        this.key = key;
        this.nonce = nonce;
        this.multiple = multiple;
        this.output = output;
        return this;
    }

    boolean is(String algorithm, String operation, String contract) {
        return this.algorithm.equals(algorithm) && this.operation.equals(operation)
                && this.contract.equals(contract);
    }

    /** The operation that gives the data back, or null. */
    String inverse() {
        switch (operation) {
            case "encrypt": return "decrypt";
            case "decrypt": return "encrypt";
            case "seal": return "open";
            case "open": return "seal";
            case "sign": return "verify";
            case "encapsulate": return "decapsulate";
            default: return null;
        }
    }

    /** The operation that makes this one's input, or null if the seeded data will do. */
    String producer() {
        switch (operation) {
            case "open": return "seal";
            case "verify": return "sign";
            case "decapsulate": return "encapsulate";
            default: return null;
        }
    }
}
