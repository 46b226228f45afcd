package perbyte.sdk;

import java.util.Set;

/** Calls on data that nobody could know before, each made from what the last one gave: protocol/SPEC.md, section 11. */
final class Chain {
    /** Operations whose output follows from key, nonce and data, or whose cost does. */
    private static final Set<String> KNOWN = Set.of(
            "encrypt", "decrypt", "seal", "open", "digest", "squeeze", "mac", "expand", "hash", "sign");
    private static final int TAIL = 64;
    private static final int FORGED_ONE_IN = 8;
    private static final long KEY = Material.label("key/0");
    private static final long NONCE = Material.label("nonce/0");

    private final Case work;
    private final Case sealer; // of what `open` takes; null for all others
    private final byte[] data; // of the next call
    private final byte[] sealed;
    private final byte[] key;
    private final byte[] nonce;
    private final boolean setsKey;
    private final int timed; // calls in a link: none where all that a chain takes besides is asked for
    private long value;
    int length; // of the last output; that of a forgery is empty
    long forged;
    long refused;
    long failures;

    private Chain(Case work, long seed, boolean control) {
        this.work = work;
        this.sealer = work.sealer();
        this.data = Material.scratch(work.size);
        this.sealed = sealer == null ? null : new byte[work.in.length];
        this.key = work.key[0].clone();
        this.nonce = new byte[work.nonce[0].length];
        this.setsKey = work.row.contract.equals("rekey/1") || work.row.contract.equals("setup/1");
        this.timed = control ? 0 : 1;
        this.value = seed;
        Material.stream(seed, Material.label("input"), data);
    }

    static boolean fits(Case work) {
        return KNOWN.contains(work.row.operation);
    }

    /** Make {@code calls} calls, or all but these. The case is afterwards as it was. */
    static Chain of(Case work, long seed, long calls, boolean control, long repeat) {
        Chain chain = new Chain(work, seed, control);
        Case taker = chain.sealer == null ? work : chain.sealer;
        byte[] in = work.in;
        byte[] taken = taker.in;
        byte[] key = work.key[0];
        byte[] nonce = work.nonce[0];
        work.loop.begins(); // the first nonce may be that of the call before
        taker.loop.begins();
        work.lend(chain.sealed, chain.key, chain.nonce);
        taker.lend(chain.data, chain.key, chain.nonce);
        try {
            byte[] first = repeat > 0 ? chain.data.clone() : null;
            for (long i = 0; i < calls; i++) {
                if (repeat > 0 && i % repeat == 0) {
                    chain.value = seed;
                    System.arraycopy(first, 0, chain.data, 0, first.length);
                }
                chain.link();
            }
        } finally {
            taker.lend(taken, key, nonce);
            work.lend(in, key, nonce);
            taker.loop.renews();
            work.loop.renews();
        }
        return chain;
    }

    /** That of the last output, begun with the value. */
    long digest() {
        return Material.words(value, work.loop.result(), 0, length);
    }

    private void link() {
        if (setsKey) {
            Material.stream(value, KEY, key);
        }
        Material.stream(value, NONCE, nonce);
        if (sealer == null) {
            failures += work.loop.takeAnew(timed) || timed == 0 ? 0 : 1;
            length = work.loop.length();
            goOn(work.loop.result(), length);
        } else {
            open();
        }
    }

    /** Seal, forge now and then, open. The sealed text is the data of the next call. */
    private void open() {
        long before = value;
        failures += sealer.loop.takeAnew(1) ? 0 : 1;
        System.arraycopy(sealer.loop.result(), 0, sealed, 0, sealed.length);
        goOn(sealed, sealed.length);
        boolean forge = timed > 0 && before % FORGED_ONE_IN == 0;
        if (forge) {
            sealed[(int) ((before >>> 8) % sealed.length)] ^= 1;
        }
        boolean good = work.loop.takeAnew(timed) || timed == 0;
        length = forge ? 0 : work.loop.length();
        if (forge) {
            forged++;
            refused += good ? 0 : 1;
        } else {
            failures += good ? 0 : 1;
            value = tail(work.loop.result(), length);
        }
    }

    private void goOn(byte[] output, int length) {
        System.arraycopy(output, 0, data, 0, Math.min(length, data.length));
        value = tail(output, length);
    }

    private long tail(byte[] output, int length) {
        return Material.words(value, output, Math.max(0, length - TAIL), length);
    }
}
