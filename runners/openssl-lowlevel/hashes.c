/* MD4_*, MD5_*, SHA*_*, RIPEMD160_*, WHIRLPOOL_*; MD2_* and MDC2_* where the build has them. Unlike the
 * ciphers these run the same code as EVP does, SHA instructions included. */
#include "tables.h"

#include <openssl/md4.h>
#include <openssl/md5.h>
#include <openssl/ripemd.h>
#include <openssl/sha.h>
#include <openssl/whrlpool.h>

#ifndef OPENSSL_NO_MD2
#include <openssl/md2.h>
#endif
#ifndef OPENSSL_NO_MDC2
#include <openssl/mdc2.h>
#endif

#define HASH(ID, STATE, NAME)                                                                                \
	static inline void ID##_finish(uint8_t *out, STATE *state, size_t length)                            \
	{                                                                                                    \
		(void)length;                                                                                \
		NAME##_Final(out, state);                                                                    \
	}                                                                                                    \
	PB_DIRECT_HASH(ID, STATE, NAME##_Init, NAME##_Init, NAME##_Update, ID##_finish,                      \
		       #NAME "_Init, " #NAME "_Update, " #NAME "_Final", #NAME "_Update")

HASH(md4, MD4_CTX, MD4)
HASH(md5, MD5_CTX, MD5)
HASH(sha1, SHA_CTX, SHA1)
HASH(sha224, SHA256_CTX, SHA224)
HASH(sha256, SHA256_CTX, SHA256)
HASH(sha384, SHA512_CTX, SHA384)
HASH(sha512, SHA512_CTX, SHA512)
HASH(ripemd160, RIPEMD160_CTX, RIPEMD160)
HASH(whirlpool, WHIRLPOOL_CTX, WHIRLPOOL)
#ifndef OPENSSL_NO_MD2
HASH(md2, MD2_CTX, MD2)
#endif
#ifndef OPENSSL_NO_MDC2
HASH(mdc2, MDC2_CTX, MDC2)
#endif

#define ROW(ID, FAMILY, LENGTH)                                                                              \
	{                                                                                                    \
		ID, &FAMILY##_family, NULL, 0, 0, 1, LENGTH                                                  \
	}

const pb_row hash_rows[] = {
	ROW("md4", md4, 16),
	ROW("md5", md5, 16),
	ROW("sha-1", sha1, 20),
	ROW("sha-224", sha224, 28),
	ROW("sha-256", sha256, 32),
	ROW("sha-384", sha384, 48),
	ROW("sha-512", sha512, 64),
	ROW("ripemd-160", ripemd160, 20),
	ROW("whirlpool", whirlpool, 64),
#ifndef OPENSSL_NO_MD2
	ROW("md2", md2, 16),
#endif
#ifndef OPENSSL_NO_MDC2
	ROW("mdc2", mdc2, 16),
#endif
	PB_END_OF_ROWS,
};
