/* Hashes, MACs, key derivation and password hashes of wolfCrypt. */
#include "families.h"

#include <wolfssl/wolfcrypt/blake2.h>
#include <wolfssl/wolfcrypt/cmac.h>
#include <wolfssl/wolfcrypt/hmac.h>
#include <wolfssl/wolfcrypt/poly1305.h>
#include <wolfssl/wolfcrypt/pwdbased.h>
#include <wolfssl/wolfcrypt/ripemd.h>
#include <wolfssl/wolfcrypt/sha.h>
#include <wolfssl/wolfcrypt/sha256.h>
#include <wolfssl/wolfcrypt/sha3.h>
#include <wolfssl/wolfcrypt/sha512.h>
#include <wolfssl/wolfcrypt/siphash.h>
#ifdef HAVE_ARGON2
#include <wolfssl/wolfcrypt/argon2.h>
#endif

/* INIT, UPDATE and FINAL are expressions that are not zero where the library reports an error. */
#define HASH(ID, TYPE, INIT, UPDATE, FINAL, INITS, UPDATES, FINALS)                                          \
	static int ID##_open(pb_case *c)                                                                     \
	{                                                                                                    \
		TYPE *state = new_context(c, sizeof(TYPE));                                                  \
		c->out_len = c->row->output;                                                                 \
		return opened(c, !state ? MEMORY_E : (INIT), INITS);                                         \
	}                                                                                                    \
	static void ID##_begin(pb_case *c)                                                                   \
	{                                                                                                    \
		TYPE *state = c->ctx;                                                                        \
		c->failures += (INIT) != 0;                                                                  \
	}                                                                                                    \
	static void ID##_finish(pb_case *c)                                                                  \
	{                                                                                                    \
		TYPE *state = c->ctx;                                                                        \
		uint8_t *out = c->out;                                                                       \
		word32 out_max = c->row->output;                                                             \
		(void)out_max;                                                                               \
		c->failures += (FINAL) != 0;                                                                 \
	}                                                                                                    \
	PB_LOOP(ID##_oneshot, TYPE, (INIT) || (UPDATE) || (FINAL))                                           \
	PB_LOOP(ID##_stream, TYPE, UPDATE)                                                                   \
	static const pb_variant ID##_variants[] = {                                                          \
		{"digest", "oneshot/1", INITS ", " UPDATES ", " FINALS, NULL, ID##_oneshot, NULL},           \
		{"digest", "stream/1", UPDATES, ID##_begin, ID##_stream, ID##_finish},                       \
		PB_END_OF_VARIANTS,                                                                          \
	};                                                                                                   \
	static const pb_family ID##_family __attribute__((unused)) = {ID##_open, free_context, ID##_variants};
#define PLAIN(ID, NAME)                                                                                      \
	HASH(ID, wc_##NAME, wc_Init##NAME(state), wc_##NAME##Update(state, in, (word32)size),                \
	     wc_##NAME##Final(state, out), "wc_Init" #NAME, "wc_" #NAME "Update", "wc_" #NAME "Final")
#define SHA3(BITS)                                                                                           \
	HASH(sha3_##BITS, wc_Sha3, wc_InitSha3_##BITS(state, NULL, INVALID_DEVID),                           \
	     wc_Sha3_##BITS##_Update(state, in, (word32)size), wc_Sha3_##BITS##_Final(state, out),           \
	     "wc_InitSha3_" #BITS, "wc_Sha3_" #BITS "_Update", "wc_Sha3_" #BITS "_Final")
#define BLAKE2(ID, NAME, BYTES)                                                                              \
	HASH(ID, NAME, wc_Init##NAME(state, BYTES), wc_##NAME##Update(state, in, (word32)size),              \
	     wc_##NAME##Final(state, out, BYTES), "wc_Init" #NAME, "wc_" #NAME "Update",                     \
	     "wc_" #NAME "Final")
#define XOF(ID, NAME)                                                                                        \
	HASH(ID, wc_Shake, wc_Init##NAME(state, NULL, INVALID_DEVID),                                        \
	     wc_##NAME##_Update(state, in, (word32)size), wc_##NAME##_Final(state, out, (word32)out_max),    \
	     "wc_Init" #NAME, "wc_" #NAME "_Update", "wc_" #NAME "_Final")                                   \
	static void ID##_size(pb_case *c)                                                                    \
	{                                                                                                    \
		c->out_len = c->size;                                                                        \
	}                                                                                                    \
	PB_LOOP(ID##_squeeze, wc_Shake,                                                                      \
		wc_Init##NAME(state, NULL, INVALID_DEVID) ||                                                 \
			wc_##NAME##_Update(state, PB_TURN(nonce, turn), (word32)nonce_len) ||                \
			wc_##NAME##_Final(state, out, (word32)size))                                         \
	static const pb_variant ID##_all[] = {                                                               \
		{"digest", "oneshot/1", "wc_Init" #NAME ", wc_" #NAME "_Update, wc_" #NAME "_Final", NULL,   \
		 ID##_oneshot, NULL},                                                                        \
		{"digest", "stream/1", "wc_" #NAME "_Update", ID##_begin, ID##_stream, ID##_finish},         \
		{"squeeze", "expand/1", "wc_Init" #NAME ", wc_" #NAME "_Update, wc_" #NAME "_Final",         \
		 ID##_size, ID##_squeeze, NULL},                                                             \
		PB_END_OF_VARIANTS,                                                                          \
	};                                                                                                   \
	static const pb_family ID##_xof_family = {ID##_open, free_context, ID##_all};

PLAIN(sha1, Sha)
PLAIN(sha224, Sha224)
PLAIN(sha256, Sha256)
PLAIN(sha384, Sha384)
PLAIN(sha512, Sha512)
SHA3(224)
SHA3(256)
SHA3(384)
SHA3(512)
BLAKE2(blake2b_512, Blake2b, 64)
BLAKE2(blake2b_256, Blake2b, 32)
BLAKE2(blake2s_256, Blake2s, 32)
#ifdef WOLFSSL_SHAKE128
XOF(shake128, Shake128)
#endif
#ifdef WOLFSSL_SHAKE256
XOF(shake256, Shake256)
#endif

const pb_row hash_rows[] = {
	ROW("sha-1", sha1, 0, 0, 1, 20),
	ROW("sha-224", sha224, 0, 0, 1, 28),
	ROW("sha-256", sha256, 0, 0, 1, 32),
	ROW("sha-384", sha384, 0, 0, 1, 48),
	ROW("sha-512", sha512, 0, 0, 1, 64),
	ROW("sha3-224", sha3_224, 0, 0, 1, 28),
	ROW("sha3-256", sha3_256, 0, 0, 1, 32),
	ROW("sha3-384", sha3_384, 0, 0, 1, 48),
	ROW("sha3-512", sha3_512, 0, 0, 1, 64),
	ROW("blake2b-512", blake2b_512, 0, 0, 1, 64),
	ROW("blake2b-256", blake2b_256, 0, 0, 1, 32),
	ROW("blake2s-256", blake2s_256, 0, 0, 1, 32),
#ifdef WOLFSSL_SHAKE128
	ROW("shake128", shake128_xof, 0, 32, 1, 32),
#endif
#ifdef WOLFSSL_SHAKE256
	ROW("shake256", shake256_xof, 0, 32, 1, 64),
#endif
	PB_END_OF_ROWS,
};

/* ---- MACs, key derivation, password hashes ---- */

static int hmac_open(pb_case *c)
{
	Hmac *hmac = new_context(c, sizeof *hmac);
	c->out_len = c->row->output;
	return opened(c, !hmac ? MEMORY_E : wc_HmacInit(hmac, NULL, INVALID_DEVID), "wc_HmacInit");
}

#define HMAC(ID, TYPE)                                                                                       \
	static void ID##_begin(pb_case *c)                                                                   \
	{                                                                                                    \
		c->failures += wc_HmacSetKey(c->ctx, TYPE, c->key[0], (word32)c->key_len) != 0;              \
	}                                                                                                    \
	PB_LOOP(ID##_message, Hmac, wc_HmacUpdate(state, in, (word32)size) || wc_HmacFinal(state, out))      \
	PB_LOOP(ID##_rekey, Hmac,                                                                            \
		wc_HmacSetKey(state, TYPE, PB_TURN(key, turn), (word32)key_len) ||                           \
			wc_HmacUpdate(state, in, (word32)size) || wc_HmacFinal(state, out))                  \
	static const pb_variant ID##_variants[] = {                                                          \
		{"mac", "message/1", "wc_HmacUpdate, wc_HmacFinal", ID##_begin, ID##_message, NULL},         \
		{"mac", "rekey/1", "wc_HmacSetKey, wc_HmacUpdate, wc_HmacFinal", NULL, ID##_rekey, NULL},    \
		PB_END_OF_VARIANTS,                                                                          \
	};                                                                                                   \
	static const pb_family ID##_family = {hmac_open, free_context, ID##_variants};
HMAC(hmac1, WC_SHA)
HMAC(hmac256, WC_SHA256)
HMAC(hmac384, WC_SHA384)
HMAC(hmac512, WC_SHA512)

/* Functions that are given the key in each call; the context of those that need one is a Poly1305. */
static int keyed_open(pb_case *c)
{
	void *context = new_context(c, sizeof(Poly1305));
	c->out_len = c->row->output;
	return opened(c, context ? 0 : MEMORY_E, "a context");
}

#define MAC(ID, CALL, CALLS, NOTE)                                                                           \
	static int ID##_one(Poly1305 *state, const uint8_t *one_key, size_t key_len, const uint8_t *in,      \
			    size_t size, uint8_t *out, size_t out_max)                                       \
	{                                                                                                    \
		word32 length = (word32)out_max;                                                             \
		(void)state, (void)key_len, (void)length;                                                    \
		return CALL;                                                                                 \
	}                                                                                                    \
	PB_LOOP(ID##_message, Poly1305, ID##_one(state, key[0], key_len, in, size, out, out_max))            \
	PB_LOOP(ID##_rekey, Poly1305, ID##_one(state, PB_TURN(key, turn), key_len, in, size, out, out_max))  \
	static const pb_variant ID##_variants[] = {                                                          \
		{"mac", "rekey/1", CALLS, NULL, ID##_rekey, NULL},                                           \
		{"mac", "message/1", CALLS NOTE, NULL, ID##_message, NULL},                                  \
		PB_END_OF_VARIANTS,                                                                          \
	};                                                                                                   \
	static const pb_family ID##_family = {keyed_open, free_context, ID##_variants};
MAC(cmac, wc_AesCmacGenerate(out, &length, in, (word32)size, one_key, (word32)key_len), "wc_AesCmacGenerate",
    IMPLICIT)
MAC(poly1305,
    wc_Poly1305SetKey(state, one_key, (word32)key_len) || wc_Poly1305Update(state, in, (word32)size) ||
	    wc_Poly1305Final(state, out),
    "wc_Poly1305SetKey, wc_Poly1305Update, wc_Poly1305Final", IMPLICIT)
#ifdef WOLFSSL_SIPHASH
MAC(siphash, wc_SipHash(one_key, in, (word32)size, out, 8), "wc_SipHash", IMPLICIT)
#endif
#ifdef WOLFSSL_KMAC
MAC(kmac128, wc_Kmac128Hash(one_key, (word32)key_len, NULL, 0, in, (word32)size, out, length),
    "wc_Kmac128Hash", IMPLICIT)
MAC(kmac256, wc_Kmac256Hash(one_key, (word32)key_len, NULL, 0, in, (word32)size, out, length),
    "wc_Kmac256Hash", IMPLICIT)
#endif

#define ONE(ID, OPERATION, CONTRACT, CALL, CALLS, OPEN)                                                      \
	PB_LOOP(ID, void, CALL)                                                                              \
	static const pb_variant ID##_variants[] = {{OPERATION, CONTRACT, CALLS, NULL, ID, NULL},             \
						   PB_END_OF_VARIANTS};                                      \
	static const pb_family ID##_family = {OPEN, free_context, ID##_variants};
#define HKDF(ID, TYPE)                                                                                       \
	ONE(ID, "expand", "expand/1",                                                                        \
	    wc_HKDF(TYPE, key[0], (word32)key_len, PB_TURN(nonce, turn), (word32)nonce_len, aad,             \
		    (word32)aad_len, out, (word32)size),                                                     \
	    "wc_HKDF", open_size)
HKDF(hkdf256, WC_SHA256)
HKDF(hkdf512, WC_SHA512)
#define PBKDF2(ID, ITERATIONS)                                                                               \
	ONE(ID, "hash", "password/1",                                                                        \
	    wc_PBKDF2(out, in, (int)size, PB_TURN(nonce, turn), (int)nonce_len, ITERATIONS, (int)out_max,    \
		      WC_SHA256),                                                                            \
	    "wc_PBKDF2", open_fixed)
PBKDF2(pbkdf2_4096, 4096)
PBKDF2(pbkdf2_600000, 600000)
ONE(scrypt, "hash", "password/1",
    wc_scrypt(out, in, (int)size, PB_TURN(nonce, turn), (int)nonce_len, 14, 8, 1, (int)out_max), "wc_scrypt",
    open_fixed)
#ifdef HAVE_ARGON2
ONE(argon2id, "hash", "password/1",
    wc_Argon2(WC_ARGON2_ID, out, (word32)out_max, in, (word32)size, PB_TURN(nonce, turn), (word32)nonce_len,
	      1, 65536, 2),
    "wc_Argon2", open_fixed)
#endif

const pb_row mac_rows[] = {
	ROW("hmac-sha-1", hmac1, 20, 0, 1, 20),
	ROW("hmac-sha-256", hmac256, 32, 0, 1, 32),
	ROW("hmac-sha-384", hmac384, 48, 0, 1, 48),
	ROW("hmac-sha-512", hmac512, 64, 0, 1, 64),
	ROW("aes-128-cmac", cmac, 16, 0, 1, 16),
	ROW("aes-256-cmac", cmac, 32, 0, 1, 16),
	ROW("poly1305", poly1305, 32, 0, 1, 16),
#ifdef WOLFSSL_SIPHASH
	ROW("siphash-2-4", siphash, 16, 0, 1, 8),
#endif
#ifdef WOLFSSL_KMAC
	ROW("kmac128", kmac128, 32, 0, 1, 32),
	ROW("kmac256", kmac256, 32, 0, 1, 64),
#endif
	ROW("hkdf-sha-256", hkdf256, 32, 32, 1, 0),
	ROW("hkdf-sha-512", hkdf512, 32, 32, 1, 0),
	ROW("pbkdf2-sha-256-4096", pbkdf2_4096, 0, 16, 1, 32),
	ROW("pbkdf2-sha-256-600000", pbkdf2_600000, 0, 16, 1, 32),
	ROW("scrypt-16384-8-1", scrypt, 0, 16, 1, 64),
#ifdef HAVE_ARGON2
	ROW("argon2id-64mib-2-1", argon2id, 0, 16, 1, 32),
#endif
	PB_END_OF_ROWS,
};
