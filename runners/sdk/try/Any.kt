/* The same as Any.java, for the compiler of Kotlin. */
import java.security.MessageDigest

object Any {
    fun any(data: ByteArray, n: Int): ByteArray {
        for (turn in 0 until n) data[turn and 7] = (data[turn and 7].toInt() xor turn).toByte()
        return MessageDigest.getInstance("SHA-256").digest(data)
    }
}
