package perbyte.jca;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** The algorithms of the catalogue that JCA providers may have, with the names they may go by. */
final class Algorithms {
    /** One algorithm: names are tried in turn. Lengths in bytes, as in the catalogue. */
    static final class Entry {
        final Family family;
        final String id;
        final String[] names;
        final String keyName;
        final Recipe.Parameters parameters;
        final int rounds;
        int key;
        int nonce;
        int multiple = 1;
        int output;

        Entry(Family family, String id, String keyName, Recipe.Parameters parameters, int rounds, String... names) {
            this.family = family;
            this.id = id;
            this.keyName = keyName;
            this.parameters = parameters;
            this.rounds = rounds;
            this.names = names;
        }
    }

    private final List<Entry> entries = new ArrayList<>();

    private Algorithms() {}

    private static final List<Entry> ALL = collect();

    /** All entries; several with the same id are ways to ask for the same algorithm, tried in turn. */
    static List<Entry> all() {
        return ALL;
    }

    static List<String> ids() {
        return ALL.stream().map(entry -> entry.id).collect(Collectors.toList());
    }

    private static List<Entry> collect() {
        Algorithms all = new Algorithms();
        all.digests();
        all.macs();
        all.blockCiphers();
        all.streamCiphers();
        all.signatures();
        all.seeded();
        return all.entries;
    }

    private Entry add(Family family, String id, String keyName, Recipe.Parameters parameters, int rounds,
            String... names) {
        Entry entry = new Entry(family, id, keyName, parameters, rounds, names);
        entries.add(entry);
        return entry;
    }

    private void digests() {
        digest("md2", 16, "MD2");
        digest("md4", 16, "MD4");
        digest("md5", 16, "MD5");
        digest("sha-1", 20, "SHA-1");
        digest("sha-224", 28, "SHA-224");
        digest("sha-256", 32, "SHA-256");
        digest("sha-384", 48, "SHA-384");
        digest("sha-512", 64, "SHA-512");
        digest("sha3-224", 28, "SHA3-224");
        digest("sha3-256", 32, "SHA3-256");
        digest("sha3-384", 48, "SHA3-384");
        digest("sha3-512", 64, "SHA3-512");
        digest("ripemd-128", 16, "RIPEMD128");
        digest("ripemd-160", 20, "RIPEMD160");
        digest("ripemd-256", 32, "RIPEMD256");
        digest("ripemd-320", 40, "RIPEMD320");
        digest("tiger", 24, "Tiger");
        digest("whirlpool", 64, "Whirlpool");
        digest("gost-94", 32, "GOST3411");
    }

    private void digest(String id, int length, String... names) {
        add(Family.DIGEST, id, "", Recipe.Parameters.NONE, 0, names).output = length;
    }

    private void macs() {
        mac("hmac-md5", 16, "HmacMD5");
        mac("hmac-sha-1", 20, "HmacSHA1");
        mac("hmac-sha-256", 32, "HmacSHA256");
        mac("hmac-sha-384", 48, "HmacSHA384");
        mac("hmac-sha-512", 64, "HmacSHA512");
    }

    private void mac(String id, int length, String name) {
        Entry entry = add(Family.MAC, id, name, Recipe.Parameters.NONE, 0, name);
        entry.key = length;
        entry.output = length;
    }

    private void blockCiphers() {
        for (int bits = 128; bits <= 256; bits += 64) {
            modes("aes-" + bits, "AES", bits / 8, 16, "ecb", "cbc", "ctr", "ofb", "cfb");
            modes("camellia-" + bits, "Camellia", bits / 8, 16, "ecb", "cbc", "ctr");
            aead("aes-" + bits + "-gcm", "AES", bits / 8, Recipe.Parameters.GCM, "AES/GCM/NoPadding");
        }
        for (int bits = 128; bits <= 256; bits += 128) {
            modes("serpent-" + bits, "Serpent", bits / 8, 16, "ecb", "cbc", "ctr");
            modes("twofish-" + bits, "Twofish", bits / 8, 16, "ecb", "cbc", "ctr");
        }
        modes("des", "DES", 8, 8, "ecb", "cbc", "ctr", "ofb", "cfb");
        modes("des-ede3", "DESede", 24, 8, "ecb", "cbc", "ctr", "ofb", "cfb");
        modes("blowfish", "Blowfish", 16, 8, "ecb", "cbc", "ofb");
        modes("blowfish-64", "Blowfish", 8, 8, "ecb");
        modes("rc2", "RC2", 16, 8, "ecb", "cbc", "ofb");
        modes("cast5", "CAST5", 16, 8, "ecb", "cbc");
        modes("idea", "IDEA", 16, 8, "ecb", "cbc");
        modes("seed", "SEED", 16, 16, "ecb", "cbc");
        modes("gost28147", "GOST28147", 32, 8, "ecb");
        rc5("rc5-32-12-ecb", Family.ECB, "RC5/ECB/NoPadding", 16, 12, 0);
        rc5("rc5-32-12-cbc", Family.CIPHER, "RC5/CBC/NoPadding", 16, 12, 8);
        rc5("rc5-32-32-ecb", Family.ECB, "RC5/ECB/NoPadding", 20, 32, 0);
    }

    /** Providers hand out whole blocks in CTR, OFB and CFB, too: so the data is a multiple of the block. */
    private void modes(String id, String cipher, int key, int block, String... modes) {
        for (String mode : modes) {
            boolean ecb = mode.equals("ecb");
            Entry entry = add(ecb ? Family.ECB : Family.CIPHER, id + "-" + mode, cipher,
                    ecb ? Recipe.Parameters.NONE : Recipe.Parameters.IV, 0,
                    cipher + "/" + mode.toUpperCase(Locale.ROOT) + "/NoPadding");
            entry.key = key;
            entry.nonce = ecb ? 0 : block;
            entry.multiple = block;
        }
    }

    private void rc5(String id, Family family, String name, int key, int rounds, int nonce) {
        Entry entry = add(family, id, "RC5", Recipe.Parameters.RC5, rounds, name);
        entry.key = key;
        entry.nonce = nonce;
        entry.multiple = 8;
    }

    private void aead(String id, String keyName, int key, Recipe.Parameters parameters, String... names) {
        Entry entry = add(Family.AEAD, id, keyName, parameters, 0, names);
        entry.key = key;
        entry.nonce = 12;
        entry.output = 16;
    }

    private void streamCiphers() {
        add(Family.KEYSTREAM, "rc4", "RC4", Recipe.Parameters.NONE, 0, "ARCFOUR", "ARC4", "RC4").key = 16;
        chacha(Recipe.Parameters.CHACHA, "ChaCha20", "ChaCha20/NONE/NoPadding");
        chacha(Recipe.Parameters.IV, "ChaCha7539", "ChaCha20/NONE/NoPadding");
        aead("chacha20-poly1305", "ChaCha20", 32, Recipe.Parameters.IV, "ChaCha20-Poly1305",
                "ChaCha20/Poly1305/NoPadding");
    }

    private void chacha(Recipe.Parameters parameters, String... names) {
        Entry entry = add(Family.CIPHER, "chacha20", "ChaCha20", parameters, 0, names);
        entry.key = 32;
        entry.nonce = 12;
    }

    private void signatures() {
        for (int bits : new int[] {512, 1024, 2048, 4096}) {
            signature(Family.SIGNATURE, "rsa-" + bits, "RSA", bits / 8, bits / 8, "NONEwithRSA");
            signature(Family.RAW_RSA, "rsa-" + bits, "RSA", bits / 8, bits / 8, "RSA/ECB/PKCS1Padding");
        }
        // the longest DER: two numbers of the length of q, each with a sign byte, tag and length
        signature(Family.SIGNATURE, "dsa-512", "DSA", 64, 2 + 2 * (3 + 20), "NONEwithDSA");
        signature(Family.SIGNATURE, "dsa-1024", "DSA", 128, 2 + 2 * (3 + 20), "NONEwithDSA");
        signature(Family.SIGNATURE, "dsa-2048", "DSA", 256, 2 + 2 * (3 + 32), "NONEwithDSA");
    }

    /** Their key pairs come from a seed, which is the key of the catalogue. */
    private void seeded() {
        signature(Family.AGREEMENT, "x25519", "X25519", 32, 32, "X25519", "XDH").nonce = 32;
        signature(Family.AGREEMENT, "x448", "X448", 56, 56, "X448", "XDH").nonce = 56;
        signature(Family.MESSAGE_SIGNATURE, "ed25519", "Ed25519", 32, 64, "Ed25519");
        signature(Family.MESSAGE_SIGNATURE, "ed448", "Ed448", 57, 114, "Ed448");
        for (int[] set : new int[][] {{44, 2420}, {65, 3309}, {87, 4627}}) {
            signature(Family.MESSAGE_SIGNATURE, "ml-dsa-" + set[0], "ML-DSA-" + set[0], 32, set[1], "ML-DSA-" + set[0]);
        }
        for (int bits : new int[] {512, 768, 1024}) {
            signature(Family.KEM, "ml-kem-" + bits, "ML-KEM-" + bits, 64, 32, "ML-KEM-" + bits, "ML-KEM");
        }
    }

    private Entry signature(Family family, String id, String keyName, int key, int output, String... names) {
        Entry entry = add(family, id, keyName, Recipe.Parameters.NONE, 0, names);
        entry.key = key;
        entry.output = output;
        return entry;
    }
}
