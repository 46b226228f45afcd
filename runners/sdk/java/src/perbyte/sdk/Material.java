package perbyte.sdk;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.ref.WeakReference;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;

/** The bytes of protocol/SPEC.md, section 3, and the buffers they live in. Nothing here is fit for secrets. */
final class Material {
    static final int RING = 16;
    static final int AAD = 16;
    static final int PAGE = 4096;
    private static final long BASIS = 0xcbf29ce484222325L;
    private static final long PRIME = 0x100000001b3L;
    private static final VarHandle WORDS =
            MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

    /** Inputs and outputs by what they hold, shared by all cases that are alive, as large ones must be. */
    private static final Map<String, WeakReference<byte[]>> SHARED = new HashMap<>();

    private Material() {}

    /** FNV-1a with 64 bits. */
    static long fnv1a(byte[] bytes, int length) {
        long hash = BASIS;
        for (int i = 0; i < length; i++) {
            hash = (hash ^ (bytes[i] & 0xff)) * PRIME;
        }
        return hash;
    }

    /** The digest of an output. */
    static long digest(byte[] bytes, int length) {
        return words(BASIS, bytes, 0, length);
    }

    /** FNV-1a begun with {@code hash}, over words of 64 bits and then over the bytes that are left before {@code to}. */
    static long words(long hash, byte[] bytes, int from, int to) {
        int at = from;
        for (; to - at >= Long.BYTES; at += Long.BYTES) {
            hash = (hash ^ (long) WORDS.get(bytes, at)) * PRIME;
        }
        for (; at < to; at++) {
            hash = (hash ^ (bytes[at] & 0xff)) * PRIME;
        }
        return hash;
    }

    /** What distinguishes a stream from others with the same seed. */
    static long label(String name) {
        byte[] bytes = name.getBytes(StandardCharsets.US_ASCII);
        return fnv1a(bytes, bytes.length);
    }

    /** The first {@code length} bytes of the stream {@code label}. */
    static byte[] stream(long seed, String label, int length) {
        byte[] bytes = new byte[length];
        stream(seed, label(label), bytes);
        return bytes;
    }

    /** Fill {@code bytes} with the stream of a {@link #label}: SplitMix64 (Steele, Lea, Flood 2014). */
    static void stream(long seed, long label, byte[] bytes) {
        long state = seed ^ label;
        for (int at = 0; at < bytes.length; at += Long.BYTES) {
            state += 0x9e3779b97f4a7c15L;
            long z = (state ^ state >>> 30) * 0xbf58476d1ce4e5b9L;
            z = (z ^ z >>> 27) * 0x94d049bb133111ebL;
            z ^= z >>> 31;
            if (bytes.length - at >= Long.BYTES) {
                WORDS.set(bytes, at, z);
            } else {
                for (int i = at; i < bytes.length; i++, z >>>= 8) {
                    bytes[i] = (byte) z;
                }
            }
        }
    }

    /** The data of a run, from the seed or from a file. Shared: nobody may write to it. */
    static byte[] input(long seed, String path, int size, int offset) throws Refusal {
        String name = "in/" + size + "/" + offset + "/" + (path == null ? "seed " + seed : "file " + path);
        byte[] known = find(name);
        if (known != null) {
            return known;
        }
        return keep(name, path == null ? stream(seed, "input", size) : fromFile(path, size));
    }

    /** Room for the output of a call. Shared: only the case whose turn it is uses it. */
    static byte[] output(int size, int offset) {
        String name = "out/" + size + "/" + offset;
        byte[] known = find(name);
        return known != null ? known : keep(name, new byte[size]);
    }

    /** The data of an audit. Shared: only the chain that is being made uses it. */
    static byte[] scratch(int size) {
        String name = "scratch/" + size;
        byte[] known = find(name);
        return known != null ? known : keep(name, new byte[size]);
    }

    private static byte[] find(String name) {
        WeakReference<byte[]> kept = SHARED.get(name);
        return kept == null ? null : kept.get();
    }

    private static byte[] keep(String name, byte[] bytes) {
        SHARED.values().removeIf(kept -> kept.get() == null);
        SHARED.put(name, new WeakReference<>(bytes));
        return bytes;
    }

    private static byte[] fromFile(String path, int size) throws Refusal {
        byte[] bytes = new byte[size];
        try (InputStream file = Files.newInputStream(Path.of(path))) {
            if (file.readNBytes(bytes, 0, size) < size) {
                throw new EOFException("shorter than the size asked for");
            }
            return bytes;
        } catch (IOException | InvalidPathException error) {
            throw new Refusal("input", path + ": " + Refusal.words(error));
        }
    }
}
