/* Hashes. NAME_digest starts the state afresh when it has written the digest, so a further message needs no
 * NAME_init: one timed call initialises, updates and finishes exactly once. */
#include "tables.h"

#include <nettle/gosthash94.h>
#include <nettle/md2.h>
#include <nettle/md4.h>
#include <nettle/md5.h>
#include <nettle/ripemd160.h>
#include <nettle/sha1.h>
#include <nettle/sha2.h>
#include <nettle/sha3.h>

#define ALREADY_DONE(STATE) (void)(STATE)
#define HASH(ID, STATE, INIT)                                                                                \
	static inline void ID##_update_with(struct STATE *state, const uint8_t *in, size_t size)             \
	{                                                                                                    \
		ID##_update(state, size, in);                                                                \
	}                                                                                                    \
	static inline void ID##_digest_to(uint8_t *out, struct STATE *state, size_t length)                  \
	{                                                                                                    \
		ID##_digest(state, length, out);                                                             \
	}                                                                                                    \
	PB_DIRECT_HASH(ID##_hash, struct STATE, INIT, ALREADY_DONE, ID##_update_with, ID##_digest_to,        \
		       #ID "_update, " #ID "_digest (which initialises again)", #ID "_update")

HASH(md2, md2_ctx, md2_init)
HASH(md4, md4_ctx, md4_init)
HASH(md5, md5_ctx, md5_init)
HASH(ripemd160, ripemd160_ctx, ripemd160_init)
HASH(sha1, sha1_ctx, sha1_init)
HASH(sha224, sha224_ctx, sha224_init)
HASH(sha256, sha256_ctx, sha256_init)
HASH(sha384, sha384_ctx, sha384_init)
HASH(sha512, sha512_ctx, sha512_init)
HASH(sha512_256, sha512_256_ctx, sha512_256_init)
HASH(sha3_224, sha3_224_ctx, sha3_224_init)
HASH(sha3_256, sha3_256_ctx, sha3_256_init)
HASH(sha3_384, sha3_384_ctx, sha3_384_init)
HASH(sha3_512, sha3_512_ctx, sha3_512_init)
HASH(gosthash94cp, gosthash94cp_ctx, gosthash94_init)

#define ROW(ID, FAMILY, LENGTH)                                                                              \
	{                                                                                                    \
		ID, &FAMILY##_hash_family, NULL, 0, 0, 1, LENGTH                                             \
	}

const pb_row hash_rows[] = {
	ROW("md2", md2, MD2_DIGEST_SIZE),
	ROW("md4", md4, MD4_DIGEST_SIZE),
	ROW("md5", md5, MD5_DIGEST_SIZE),
	ROW("ripemd-160", ripemd160, RIPEMD160_DIGEST_SIZE),
	ROW("sha-1", sha1, SHA1_DIGEST_SIZE),
	ROW("sha-224", sha224, SHA224_DIGEST_SIZE),
	ROW("sha-256", sha256, SHA256_DIGEST_SIZE),
	ROW("sha-384", sha384, SHA384_DIGEST_SIZE),
	ROW("sha-512", sha512, SHA512_DIGEST_SIZE),
	ROW("sha-512-256", sha512_256, SHA512_256_DIGEST_SIZE),
	ROW("sha3-224", sha3_224, SHA3_224_DIGEST_SIZE),
	ROW("sha3-256", sha3_256, SHA3_256_DIGEST_SIZE),
	ROW("sha3-384", sha3_384, SHA3_384_DIGEST_SIZE),
	ROW("sha3-512", sha3_512, SHA3_512_DIGEST_SIZE),
	ROW("gost-94", gosthash94cp, GOSTHASH94CP_DIGEST_SIZE),
	PB_END_OF_ROWS,
};
