package perbyte.sdk;

import com.google.gson.JsonArray;

/** Calls on changed material, outside any timing (SPEC section 5): what each gave, empty where it was refused. */
final class Changes {
    private final Case work;
    private final Case.Vector vector;

    /** {@code vector}: null where the run's own input is changed. */
    Changes(Case work, Case.Vector vector) {
        this.work = work;
        this.vector = vector;
    }

    JsonArray outcomes(String changes) throws Refusal {
        JsonArray outcomes = new JsonArray();
        outcomes.add(outcome(""));
        for (String change : changes.isEmpty() ? new String[0] : changes.split(" ")) {
            outcomes.add(outcome(change));
        }
        outcomes.add(outcome(""));
        return outcomes;
    }

    private String outcome(String change) throws Refusal {
        if (vector == null) {
            flip(work.ownInput(), change);
            String outcome = shown(work.loop);
            flip(work.ownInput(), change);
            if (outcome.isEmpty()) {
                work.open();
            }
            return outcome;
        }
        Case.Vector changed = new Case.Vector();
        changed.key = vector.key;
        changed.nonce = vector.nonce;
        changed.aad = vector.aad;
        changed.input = vector.input;
        for (String edit : change.isEmpty() ? new String[0] : change.split("\\+")) {
            byte[] there = place(changed, edit.charAt(0));
            set(changed, edit.charAt(0), edit.charAt(1) == '=' ? bytes(edit.substring(2)) : flipped(there, edit));
        }
        try {
            return shown(work.alike(changed).loop);
        } catch (Refusal refusal) {
            return "";
        }
    }

    private static String shown(Loop loop) {
        return loop.takeAndShow(1) ? Answers.hex(Material.digest(loop.result(), loop.length())) : "";
    }

    private static void flip(byte[] there, String change) throws Refusal {
        for (String edit : change.isEmpty() ? new String[0] : change.split("\\+")) {
            if (there == null || edit.charAt(0) != 'i' || edit.charAt(1) == '=') {
                throw Request.malformed("of the run's own material the input alone is changed");
            }
            System.arraycopy(flipped(there, edit), 0, there, 0, there.length);
        }
    }

    private static byte[] flipped(byte[] there, String edit) throws Refusal {
        try {
            int colon = edit.indexOf(':');
            int offset = Integer.parseInt(edit, 1, colon, 10);
            byte[] bits = bytes(edit.substring(colon + 1));
            byte[] changed = there.clone();
            for (int i = 0; i < bits.length; i++) {
                changed[offset + i] ^= bits[i];
            }
            return changed;
        } catch (IndexOutOfBoundsException | NumberFormatException | NullPointerException error) {
            throw Request.malformed("changes are letter, offset, colon and bits within the material");
        }
    }

    private static byte[] bytes(String digits) throws Refusal {
        return Request.bytes(digits, "a change");
    }

    private static byte[] place(Case.Vector vector, char letter) {
        switch (letter) {
            case 'k': return vector.key;
            case 'n': return vector.nonce;
            case 'a': return vector.aad;
            default: return vector.input;
        }
    }

    private static void set(Case.Vector vector, char letter, byte[] bytes) throws Refusal {
        switch (letter) {
            case 'k': vector.key = bytes; break;
            case 'n': vector.nonce = bytes; break;
            case 'a': vector.aad = bytes; break;
            case 'i': vector.input = bytes; break;
            default: throw Request.malformed("a change begins with k, n, a or i");
        }
    }
}
