// Functions of Kotlin as a user has them: outside of a class, or in an object.
package mine.own

import java.security.MessageDigest
import javax.crypto.Mac
import javax.crypto.spec.SecretKeySpec

fun digest(data: ByteArray): ByteArray = MessageDigest.getInstance("SHA-256").digest(data)

object Keyed {
    fun tag(key: ByteArray, message: ByteArray): ByteArray {
        val mac = Mac.getInstance("HmacSHA256")
        mac.init(SecretKeySpec(key, "HmacSHA256"))
        return mac.doFinal(message)
    }
}

class Made {
    fun ofObject(data: ByteArray) = data
}
