package perbyte.sdk;

import java.util.Arrays;
import java.util.List;

/**
 * One prepared operation: material, buffers, and the loop that makes the calls. Arrays lie where the virtual
 * machine puts them; {@code offset} can only shift them against what was allocated before.
 */
public final class Case {
    private static final int ROOM = 1024;
    private static final int TRIED = 32;
    private static final List<String> ON_DATA = List.of("encrypt", "decrypt", "seal", "digest", "mac");

    public final Row row;
    public final int size;
    public final byte[][] key = new byte[Material.RING][];
    public final byte[][] nonce = new byte[Material.RING][];
    public byte[] aad;
    /** The data; for open and verify followed by the tag or the signature, for decapsulate the ciphertext. */
    public byte[] in;
    /** What sign works on: message 0 is the data, the others are streams of their own. */
    public final byte[][] message = new byte[Material.RING][];
    /** True while the input is a vector's. */
    public boolean given;
    public byte[] out;

    final Loop loop;
    final Class<? extends Loop> type;
    private final Library library;
    private final long seed;
    private final int offset;
    private final String path;
    private byte[] own;
    private Case sealer; // made the input of open
    private byte[][] blocks;
    private final byte[][] spare = new byte[2][];
    private int spared;
    @SuppressWarnings("unused") // only has to be there
    private final byte[] filler;

    /** Material given in a check instead of the seeded one; null stands for what is not given. */
    static final class Vector {
        byte[] key;
        byte[] nonce;
        byte[] aad;
        byte[] input;
    }

    private Case(Library library, Row row, Class<? extends Loop> type, long size, long seed, int offset,
            String path) throws Refusal {
        if (size > Integer.MAX_VALUE - ROOM - row.output) {
            throw Refusal.badSize("a Java array does not hold " + size + " bytes");
        }
        if (size % row.multiple != 0) {
            throw Refusal.badSize("size " + size + " is no multiple of " + row.multiple + " bytes");
        }
        this.library = library;
        this.row = row;
        this.size = (int) size;
        this.seed = seed;
        this.offset = offset;
        this.path = path;
        this.type = type == null ? FreshClass.of(row.loop) : type;
        this.loop = FreshClass.instance(this.type);
        this.filler = new byte[offset];
    }

    /** Prepare an operation. {@code type}: the class of a case that this one shares its code with, or null. */
    static Case prepare(Library library, Row row, Class<? extends Loop> type, long size, long seed, int offset,
            String path) throws Refusal {
        Case made = new Case(library, row, type, size, seed, offset, path);
        try {
            made.layOut(null);
            made.in = Material.input(seed, path, made.size, offset);
            if (row.producer() != null) {
                made.produce();
            }
            made.open();
        } catch (OutOfMemoryError error) {
            throw Refusal.badSize("no memory for " + size + " bytes");
        }
        return made;
    }

    /** True if calls of the row, on a block or two of data, go well and give the same when begun anew. */
    public static boolean works(Library library, Row row, int calls) {
        try {
            Loop loop = prepare(library, row, row.loop, TRIED, 1, 0, null).loop;
            if (!loop.takeAndShow(calls)) {
                return false;
            }
            long first = Material.digest(loop.result(), loop.length());
            return row.operation.equals("sign") || row.operation.equals("encapsulate")
                    || loop.takeAndShow(calls) && Material.digest(loop.result(), loop.length()) == first;
        } catch (Refusal refused) {
            return false;
        }
    }

    /** Prepare an operation on exactly the material of {@code vector}. */
    private static Case of(Library library, Row row, Class<? extends Loop> type, long seed, Vector vector)
            throws Refusal {
        byte[] input = vector.input == null ? new byte[0] : vector.input;
        fits("key", vector.key, row.key, row.anyKey);
        fits("nonce", vector.nonce, row.nonce, false);
        boolean tagged = row.producer() != null && !row.operation.equals("decapsulate");
        int size = tagged ? input.length - row.output : input.length;
        if (size < 0 || size % row.multiple != 0) {
            throw Refusal.unsupported("an input of " + input.length + " bytes does not fit");
        }
        Case made = new Case(library, row, type, size, seed, 0, null);
        made.layOut(vector);
        made.given = true;
        made.in = made.own = input.clone();
        made.open();
        return made;
    }

    private static void fits(String name, byte[] given, int wanted, boolean any) throws Refusal {
        if (given != null && given.length > 0 && given.length != wanted && !any) {
            throw Refusal.unsupported("a " + name + " of " + given.length + " bytes; this row takes " + wanted);
        }
    }

    private void layOut(Vector vector) {
        for (int i = 0; i < Material.RING; i++) {
            key[i] = given(vector == null ? null : vector.key, "key/" + i, row.key);
            nonce[i] = given(vector == null ? null : vector.nonce, "nonce/" + i, row.nonce);
        }
        for (int i = 0; i < spare.length; i++) {
            spare[i] = Material.stream(seed, "nonce/" + (Material.RING + i), row.nonce);
        }
        aad = vector == null ? Material.stream(seed, "aad", Material.AAD)
                : vector.aad == null ? new byte[0] : vector.aad.clone();
        out = Material.output(size + row.output + ROOM, offset);
    }

    private byte[] given(byte[] bytes, String label, int length) {
        return bytes != null && bytes.length > 0 ? bytes.clone() : Material.stream(seed, label, length);
    }

    /** Open the loop, also again: an engine that threw keeps what it was given. */
    void open() throws Refusal {
        boolean many = row.operation.equals("sign") && !given;
        for (int i = 0; i < Material.RING; i++) {
            message[i] = many && i > 0 ? Material.stream(seed, "message/" + i, size) : in;
        }
        try {
            loop.open(this);
        } catch (Exception error) {
            throw Refusal.library(error);
        }
    }

    /** Make the input of open and verify: what the producing operation gives for call 0. */
    private void produce() throws Refusal {
        Case other = prepare(library, library.row(row.algorithm, row.producer(), row.contract), null, size, seed,
                offset, path);
        if (!other.loop.takeAndShow(1)) {
            throw Refusal.library(other.loop.failure());
        }
        int front = row.producer().equals("sign") ? size : 0;
        int made = other.loop.length() - (row.operation.equals("decapsulate") ? row.output : 0);
        sealer = row.operation.equals("open") ? other : null;
        own = new byte[front + made];
        System.arraycopy(in, 0, own, 0, front);
        System.arraycopy(other.loop.result(), 0, own, front, made);
        in = own;
    }

    /** From now on each call takes the next bytes of the first {@code bytes} of the data (0: the same for all). */
    void walk(long bytes) throws Refusal {
        if (bytes > 0 && !(loop.walks() && size > 0)) {
            throw new Refusal("input", "each call cannot be given data of its own here");
        }
        int count = size > 0 ? (int) Math.min(Math.max(1, bytes / size), Integer.MAX_VALUE / size) : 0;
        if (bytes > 0 && (blocks == null || blocks.length != count)) {
            byte[] area = Material.input(seed, path, count * size, offset);
            blocks = new byte[count][];
            for (int i = 0; i < count; i++) {
                blocks[i] = Arrays.copyOfRange(area, i * size, (i + 1) * size);
            }
        }
        loop.blocks = bytes > 0 ? blocks : null;
    }

    /** From now on each sample reads the data from the file first; a call is one sample then. */
    void readFromDisk() throws Refusal {
        if (path == null) {
            throw new Refusal("input", "data that is read from the disk needs a file (--input)");
        }
        String wrong = size > 0 && own == null && ON_DATA.contains(row.operation)
                ? Gauge.disk(path, in)
                : "each call cannot be given data of its own here";
        if (wrong != null) {
            throw new Refusal("input", wrong);
        }
    }

    /** A nonce of no call, and not the one of the last time: libraries refuse to begin twice with the same. */
    public byte[] spareNonce() {
        return spare[spared ^= 1];
    }

    /** What makes the input of open; null for all others. */
    Case sealer() {
        return sealer;
    }

    /** Put other material in the place of the data, key 0 and nonce 0. */
    void lend(byte[] in, byte[] key, byte[] nonce) {
        this.in = this.message[0] = in;
        this.key[0] = key;
        this.nonce[0] = nonce;
    }

    /** The same operation on exactly the material of {@code vector}. */
    Case on(Vector vector) throws Refusal {
        return of(library, row, null, seed, vector);
    }

    /** The same, with the code of this case. */
    Case alike(Vector vector) throws Refusal {
        return of(library, row, type, seed, vector);
    }

    /** What the producing operation made; null for all others. */
    byte[] ownInput() {
        return own;
    }

    /** A case of the same row with the same code, on at most {@code limit} bytes. */
    Case smaller(int limit) throws Refusal {
        return prepare(library, row, type, limit / row.multiple * row.multiple, seed, offset, null);
    }

    /** The operation and then its inverse; words about what was seen, beginning with "!" if it is wrong. */
    String roundTrip() throws Refusal {
        Row back = row.inverse() == null || row.contract.startsWith("setup/") ? null
                : library.find(row.algorithm, row.inverse(), row.contract);
        if (back == null) {
            throw Refusal.unsupported(row.operation + " has no inverse here");
        }
        if (!loop.takeAndShow(1)) {
            throw Refusal.library(loop.failure());
        }
        boolean signature = row.operation.equals("sign");
        int secret = row.operation.equals("encapsulate") ? row.output : 0;
        Vector vector = new Vector();
        vector.key = key[0];
        vector.nonce = nonce[0];
        vector.aad = aad;
        int front = signature ? size : 0;
        int made = loop.length() - secret;
        vector.input = new byte[front + made];
        System.arraycopy(in, 0, vector.input, 0, front);
        System.arraycopy(loop.result(), 0, vector.input, front, made);
        byte[] goal = secret > 0 ? Arrays.copyOfRange(loop.result(), made, loop.length()) : in;
        Case other = of(library, back, null, seed, vector);
        boolean good = other.loop.takeAndShow(1) && (signature || same(other.loop, goal));
        return (good ? "" : "!") + back.operation + " after " + row.operation
                + (good ? " gives " : " does not give ") + (secret > 0 ? "the secret" : "the input") + " back";
    }

    private static boolean same(Loop loop, byte[] goal) {
        return loop.length() == goal.length
                && Material.digest(loop.result(), loop.length()) == Material.digest(goal, goal.length);
    }

    /** One bit of the tag and then one of the data changed: words, beginning with "!" if one is accepted. */
    String forgery() throws Refusal {
        if (row.producer() == null || own == null) {
            throw Refusal.unsupported(row.operation + " checks no tag");
        }
        if (row.operation.equals("decapsulate")) {
            return implicitRejection();
        }
        boolean genuine = loop.take(1);
        boolean tag = refuses(own.length - 1);
        boolean data = size == 0 || refuses(0);
        loop.take(1);
        return (genuine && tag && data ? "" : "!") + "genuine input " + (genuine ? "accepted" : "REFUSED")
                + ", changed tag " + (tag ? "refused" : "ACCEPTED")
                + ", changed data " + (data ? "refused" : "ACCEPTED");
    }

    /** A KEM refuses nothing: a changed ciphertext must give another secret, and the same one each time. */
    private String implicitRejection() {
        boolean taken = loop.takeAndShow(1);
        long genuine = Material.digest(loop.result(), loop.length());
        own[0] ^= 1;
        taken &= loop.takeAndShow(1);
        long first = Material.digest(loop.result(), loop.length());
        taken &= loop.takeAndShow(1);
        boolean same = Material.digest(loop.result(), loop.length()) == first;
        own[0] ^= 1;
        loop.takeAndShow(1);
        return (taken && same && first != genuine ? "" : "!") + "changed ciphertext " + (taken ? "taken" : "REFUSED")
                + ", " + (first != genuine ? "another" : "THE SAME") + " secret, "
                + (same ? "the same" : "ANOTHER") + " in a second call";
    }

    private boolean refuses(int at) {
        own[at] ^= 1;
        boolean refused = !loop.take(1);
        own[at] ^= 1;
        return refused;
    }
}
