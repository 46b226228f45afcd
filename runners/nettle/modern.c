/* CCM, XTS, SHAKE256, password hashes, and the curves of libhogweed. */
#include "tables.h"

#include <nettle/aes.h>
#include <nettle/ccm.h>
#include <nettle/curve25519.h>
#include <nettle/curve448.h>
#include <nettle/eddsa.h>
#include <nettle/hkdf.h>
#include <nettle/hmac.h>
#include <nettle/pbkdf2.h>
#include <nettle/sha3.h>
#include <nettle/xts.h>

static void close_state(pb_case *c)
{
	free(c->ctx);
	c->ctx = NULL;
}

static void *new_state(pb_case *c, size_t size)
{
	if (!(c->ctx = calloc(1, size)))
		pb_fail(c, "out of memory");
	return c->ctx;
}

enum { TAG = 16 };

#define CCM(ID)                                                                                              \
	static int ID##_open(pb_case *c)                                                                     \
	{                                                                                                    \
		struct ID##_ctx *ctx = new_state(c, sizeof *ctx);                                            \
		c->out_len = c->inverse ? c->size : c->size + TAG;                                           \
		if (ctx)                                                                                     \
			ID##_set_key(ctx, c->key[0]);                                                        \
		return ctx ? 0 : -1;                                                                         \
	}                                                                                                    \
	PB_LOOP(ID##_seal, struct ID##_ctx,                                                                  \
		(ID##_encrypt_message(state, nonce_len, PB_TURN(nonce, turn), aad_len, aad, TAG, size + TAG, \
				      out, in),                                                              \
		 0))                                                                                         \
	PB_LOOP(ID##_open_message, struct ID##_ctx,                                                          \
		!ID##_decrypt_message(state, nonce_len, nonce[0], aad_len, aad, TAG, size, out, in))         \
	PB_LOOP(ID##_seal_rekey, struct ID##_ctx,                                                            \
		(ID##_set_key(state, PB_TURN(key, turn)),                                                    \
		 ID##_encrypt_message(state, nonce_len, PB_TURN(nonce, turn), aad_len, aad, TAG, size + TAG, \
				      out, in),                                                              \
		 0))                                                                                         \
	PB_LOOP(ID##_open_rekey, struct ID##_ctx,                                                            \
		(ID##_set_key(state, key[0]),                                                                \
		 !ID##_decrypt_message(state, nonce_len, nonce[0], aad_len, aad, TAG, size, out, in)))       \
	static const pb_variant ID##_variants[] = {                                                          \
		{"seal", "message/1", #ID "_encrypt_message", NULL, ID##_seal, NULL},                        \
		{"open", "message/1", #ID "_decrypt_message", NULL, ID##_open_message, NULL},                \
		{"seal", "rekey/1", #ID "_set_key, " #ID "_encrypt_message", NULL, ID##_seal_rekey, NULL},   \
		{"open", "rekey/1", #ID "_set_key, " #ID "_decrypt_message", NULL, ID##_open_rekey, NULL},   \
		PB_END_OF_VARIANTS,                                                                          \
	};                                                                                                   \
	static const pb_family ID##_family = {ID##_open, close_state, ID##_variants};
CCM(ccm_aes128)
CCM(ccm_aes256)

#define XTS(ID)                                                                                              \
	static int ID##_open(pb_case *c)                                                                     \
	{                                                                                                    \
		struct ID##_key *key = new_state(c, sizeof *key);                                            \
		if (key && c->inverse)                                                                       \
			ID##_set_decrypt_key(key, c->key[0]);                                                \
		else if (key)                                                                                \
			ID##_set_encrypt_key(key, c->key[0]);                                                \
		return key ? 0 : -1;                                                                         \
	}                                                                                                    \
	PB_LOOP(ID##_encrypt, struct ID##_key,                                                               \
		(ID##_encrypt_message(state, PB_TURN(nonce, turn), size, out, in), 0))                       \
	PB_LOOP(ID##_decrypt, struct ID##_key,                                                               \
		(ID##_decrypt_message(state, PB_TURN(nonce, turn), size, out, in), 0))                       \
	static const pb_variant ID##_variants[] = {                                                          \
		{"encrypt", "message/1", #ID "_encrypt_message", NULL, ID##_encrypt, NULL},                  \
		{"decrypt", "message/1", #ID "_decrypt_message", NULL, ID##_decrypt, NULL},                  \
		PB_END_OF_VARIANTS,                                                                          \
	};                                                                                                   \
	static const pb_family ID##_family = {ID##_open, close_state, ID##_variants};
XTS(xts_aes128)
XTS(xts_aes256)

/* ---- SHAKE256: another way to end SHA3-256, and to begin again ---- */

static int shake_open(pb_case *c)
{
	struct sha3_256_ctx *ctx = new_state(c, sizeof *ctx);
	c->out_len = c->row->output;
	if (ctx)
		sha3_256_init(ctx);
	return ctx ? 0 : -1;
}

static void shake_begin(pb_case *c)
{
	sha3_256_init(c->ctx);
}

static void shake_size(pb_case *c)
{
	sha3_256_init(c->ctx);
	c->out_len = c->size;
}

static void shake_finish(pb_case *c)
{
	sha3_256_shake(c->ctx, c->row->output, c->out);
}

PB_LOOP(shake_oneshot, struct sha3_256_ctx,
	(sha3_256_update(state, size, in), sha3_256_shake(state, out_max, out), 0))
PB_LOOP(shake_stream, struct sha3_256_ctx, (sha3_256_update(state, size, in), 0))
PB_LOOP(shake_squeeze, struct sha3_256_ctx,
	(sha3_256_update(state, nonce_len, PB_TURN(nonce, turn)), sha3_256_shake(state, size, out), 0))
#define SHAKE "sha3_256_update, sha3_256_shake (which initialises again)"
static const pb_variant shake_variants[] = {
	{"digest", "oneshot/1", SHAKE, shake_begin, shake_oneshot, NULL},
	{"digest", "stream/1", "sha3_256_update", shake_begin, shake_stream, shake_finish},
	{"squeeze", "expand/1", SHAKE, shake_size, shake_squeeze, NULL},
	PB_END_OF_VARIANTS,
};
static const pb_family shake_family = {shake_open, close_state, shake_variants};

/* ---- key derivation and password hashes ---- */

static int open_fixed(pb_case *c)
{
	c->out_len = c->row->output;
	return 0;
}

static int open_size(pb_case *c)
{
	(void)c;
	return 0;
}

#define HKDF(BITS)                                                                                           \
	static int hkdf##BITS(const uint8_t *key, size_t key_len, const uint8_t *salt, size_t salt_len,      \
			      const uint8_t *info, size_t info_len, uint8_t *out, size_t size)               \
	{                                                                                                    \
		struct hmac_sha##BITS##_ctx ctx;                                                             \
		uint8_t extracted[BITS / 8];                                                                 \
		nettle_hash_update_func *update = (nettle_hash_update_func *)hmac_sha##BITS##_update;        \
		nettle_hash_digest_func *digest = (nettle_hash_digest_func *)hmac_sha##BITS##_digest;        \
		hmac_sha##BITS##_set_key(&ctx, salt_len, salt);                                              \
		hkdf_extract(&ctx, update, digest, sizeof extracted, key_len, key, extracted);               \
		hmac_sha##BITS##_set_key(&ctx, sizeof extracted, extracted);                                 \
		hkdf_expand(&ctx, update, digest, sizeof extracted, info_len, info, size, out);              \
		return 0;                                                                                    \
	}                                                                                                    \
	ONE(hkdf_sha##BITS, "expand", "expand/1",                                                            \
	    hkdf##BITS(key[0], key_len, PB_TURN(nonce, turn), nonce_len, aad, aad_len, out, size),           \
	    "hmac_sha" #BITS "_set_key, hkdf_extract, hmac_sha" #BITS "_set_key, hkdf_expand", open_size)
#define ONE(ID, OPERATION, CONTRACT, CALL, CALLS, OPEN)                                                      \
	PB_LOOP(ID##_call, void, CALL)                                                                       \
	static const pb_variant ID##_variants[] = {{OPERATION, CONTRACT, CALLS, NULL, ID##_call, NULL},      \
						   PB_END_OF_VARIANTS};                                      \
	static const pb_family ID##_family = {OPEN, close_state, ID##_variants};
#define PASSWORD(ITERATIONS)                                                                                 \
	ONE(pbkdf2_##ITERATIONS, "hash", "password/1",                                                       \
	    (pbkdf2_hmac_sha256(size, in, ITERATIONS, nonce_len, PB_TURN(nonce, turn), out_max, out), 0),    \
	    "pbkdf2_hmac_sha256", open_fixed)
HKDF(256)
HKDF(512)
PASSWORD(4096)
PASSWORD(600000)

/* ---- X25519, X448, Ed25519 ---- */

struct curve {
	uint8_t public[57];
};

/* What is refused here is what Nettle leaves to its user: a secret of zeros. */
#define AGREE(ID, NAME, BYTES)                                                                               \
	static int ID##_open(pb_case *c)                                                                     \
	{                                                                                                    \
		struct curve *state = new_state(c, sizeof *state);                                           \
		static const uint8_t zeros[BYTES];                                                           \
		c->out_len = BYTES;                                                                          \
		if (!state)                                                                                  \
			return -1;                                                                           \
		if (!c->given)                                                                               \
			NAME##_mul_g(state->public, c->nonce[0]);                                            \
		else if (c->in_len == BYTES)                                                                 \
			memcpy(state->public, c->in, BYTES);                                                 \
		NAME##_mul(c->out, c->key[0], state->public);                                                \
		if (memcmp(c->out, zeros, BYTES) == 0)                                                       \
			return close_state(c), pb_fail(c, "the secret is zero");                             \
		return 0;                                                                                    \
	}                                                                                                    \
	ONE_CURVE(ID##_derive, (NAME##_mul(out, key[0], state->public), 0))                                  \
	static const pb_variant ID##_variants[] = {                                                          \
		{"derive", "pk/1", #NAME "_mul", NULL, ID##_derive, NULL}, PB_END_OF_VARIANTS};              \
	static const pb_family ID##_family = {ID##_open, close_state, ID##_variants};
#define ONE_CURVE(NAME, CALL) PB_LOOP(NAME, struct curve, CALL)
AGREE(x25519, curve25519, 32)
AGREE(x448, curve448, 56)

#define SIGN(ID, NAME)                                                                                       \
	static int ID##_open(pb_case *c)                                                                     \
	{                                                                                                    \
		struct curve *state = new_state(c, sizeof *state);                                           \
		c->out_len = c->inverse ? 0 : c->row->output;                                                \
		if (state)                                                                                   \
			NAME##_public_key(state->public, c->key[0]);                                         \
		return state ? 0 : -1;                                                                       \
	}                                                                                                    \
	ONE_CURVE(ID##_sign, (NAME##_sign(state->public, key[0], size, PB_TURN(message, turn), out), 0))     \
	ONE_CURVE(ID##_verify, !NAME##_verify(state->public, size, in, in + size))                           \
	static const pb_variant ID##_variants[] = {                                                          \
		{"sign", "pk/1", #NAME "_sign", NULL, ID##_sign, NULL},                                      \
		{"verify", "pk/1", #NAME "_verify", NULL, ID##_verify, NULL},                                \
		PB_END_OF_VARIANTS,                                                                          \
	};                                                                                                   \
	static const pb_family ID##_family = {ID##_open, close_state, ID##_variants};
SIGN(ed25519, ed25519_sha512)

#define ROW(ID, FAMILY, KEY, NONCE, MULTIPLE, OUTPUT)                                                        \
	{                                                                                                    \
		ID, &FAMILY##_family, NULL, KEY, NONCE, MULTIPLE, OUTPUT                                     \
	}
const pb_row modern_rows[] = {
	ROW("aes-128-ccm", ccm_aes128, 16, 12, 1, TAG),
	ROW("aes-256-ccm", ccm_aes256, 32, 12, 1, TAG),
	ROW("aes-128-xts", xts_aes128, 32, 16, 16, 0),
	ROW("aes-256-xts", xts_aes256, 64, 16, 16, 0),
	ROW("shake256", shake, 0, 32, 1, 64),
	ROW("hkdf-sha-256", hkdf_sha256, 32, 32, 1, 0),
	ROW("hkdf-sha-512", hkdf_sha512, 32, 32, 1, 0),
	ROW("pbkdf2-sha-256-4096", pbkdf2_4096, 0, 16, 1, 32),
	ROW("pbkdf2-sha-256-600000", pbkdf2_600000, 0, 16, 1, 32),
	ROW("x25519", x25519, 32, 32, 1, 32),
	ROW("x448", x448, 56, 56, 1, 56),
	ROW("ed25519", ed25519, 32, 0, 1, 64),
	PB_END_OF_ROWS,
};
