/* A class of a few lines, compiled once so that a compiler's own classes are kept in an archive. */
final class Any {
    static byte[] any(byte[] data, int n) throws Exception {
        for (int turn = 0; turn < n; turn++) data[turn & 7] ^= (byte) turn;
        return java.security.MessageDigest.getInstance("SHA-256").digest(data);
    }
}
