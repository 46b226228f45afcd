/* XTS, SHAKE, GMAC, Poly1305, key derivation, and public-key operations: by S-expressions that are built
 * before the timed calls, so that they hold what a user keeps. */
#include <stdlib.h>
#include <string.h>

#include "families.h"

/* ---- XTS: one sector a call, the tweak is its nonce ---- */

static int xts_open(pb_case *c)
{
	gcry_cipher_hd_t handle;
	if (refuse(c, "gcry_cipher_open",
		   gcry_cipher_open(&handle, algorithm_of(c)->algo, GCRY_CIPHER_MODE_XTS, 0)))
		return -1;
	c->ctx = handle;
	if (!refuse(c, "gcry_cipher_setkey", gcry_cipher_setkey(handle, c->key[0], c->key_len)))
		return 0;
	gcry_cipher_close(handle);
	return -1;
}

static void xts_close(pb_case *c)
{
	gcry_cipher_close(c->ctx);
}

PB_LOOP(xts_encrypt, struct gcry_cipher_handle,
	gcry_cipher_setiv(state, PB_TURN(nonce, turn), nonce_len) ||
		gcry_cipher_encrypt(state, out, size, in, size))
PB_LOOP(xts_decrypt, struct gcry_cipher_handle,
	gcry_cipher_setiv(state, PB_TURN(nonce, turn), nonce_len) ||
		gcry_cipher_decrypt(state, out, size, in, size))
static const pb_variant xts_variants[] = {
	{"encrypt", "message/1", "gcry_cipher_setiv, gcry_cipher_encrypt", NULL, xts_encrypt, NULL},
	{"decrypt", "message/1", "gcry_cipher_setiv, gcry_cipher_decrypt", NULL, xts_decrypt, NULL},
	PB_END_OF_VARIANTS,
};
const pb_family xts_family = {xts_open, xts_close, xts_variants};

/* ---- SHAKE ---- */

static int xof_open(pb_case *c)
{
	gcry_md_hd_t handle;
	c->out_len = c->row->output;
	if (refuse(c, "gcry_md_open", gcry_md_open(&handle, algorithm_of(c)->algo, 0)))
		return -1;
	c->ctx = handle;
	return 0;
}

static void xof_close(pb_case *c)
{
	gcry_md_close(c->ctx);
}

static void xof_begin(pb_case *c)
{
	gcry_md_reset(c->ctx);
}

static void xof_size(pb_case *c)
{
	c->out_len = c->size;
}

static void xof_finish(pb_case *c)
{
	c->failures += gcry_md_extract(c->ctx, algorithm_of(c)->algo, c->out, c->row->output) != 0;
}

/* 0 as the algorithm means the only one of the handle. */
PB_LOOP(xof_oneshot, struct gcry_md_handle,
	(gcry_md_reset(state), gcry_md_write(state, in, size), gcry_md_extract(state, 0, out, out_max)))
PB_LOOP(xof_stream, struct gcry_md_handle, (gcry_md_write(state, in, size), 0))
PB_LOOP(xof_squeeze, struct gcry_md_handle,
	(gcry_md_reset(state), gcry_md_write(state, PB_TURN(nonce, turn), nonce_len),
	 gcry_md_extract(state, 0, out, size)))
#define EXTRACT "gcry_md_reset, gcry_md_write, gcry_md_extract"
static const pb_variant xof_variants[] = {
	{"digest", "oneshot/1", EXTRACT, NULL, xof_oneshot, NULL},
	{"digest", "stream/1", "gcry_md_write", xof_begin, xof_stream, xof_finish},
	{"squeeze", "expand/1", EXTRACT, xof_size, xof_squeeze, NULL},
	PB_END_OF_VARIANTS,
};
const pb_family xof_family = {xof_open, xof_close, xof_variants};

/* ---- MACs with a nonce, or with one key a message ---- */

static int nonce_mac_open(pb_case *c)
{
	gcry_mac_hd_t handle;
	c->out_len = c->row->output;
	if (refuse(c, "gcry_mac_open", gcry_mac_open(&handle, algorithm_of(c)->algo, 0, NULL)))
		return -1;
	c->ctx = handle;
	if (!refuse(c, "gcry_mac_setkey", gcry_mac_setkey(handle, c->key[0], c->key_len)))
		return 0;
	gcry_mac_close(handle);
	return -1;
}

static void nonce_mac_close(pb_case *c)
{
	gcry_mac_close(c->ctx);
}

static int mac_read(gcry_mac_hd_t handle, const uint8_t *in, size_t size, uint8_t *out, size_t length)
{
	return gcry_mac_write(handle, in, size) || gcry_mac_read(handle, out, &length);
}

PB_LOOP(gmac_message, struct gcry_mac_handle,
	gcry_mac_reset(state) || gcry_mac_setiv(state, PB_TURN(nonce, turn), nonce_len) ||
		mac_read(state, in, size, out, out_max))
PB_LOOP(one_time, struct gcry_mac_handle,
	gcry_mac_setkey(state, PB_TURN(key, turn), key_len) || mac_read(state, in, size, out, out_max))
static const pb_variant gmac_variants[] = {
	{"mac", "message/1", "gcry_mac_reset, gcry_mac_setiv, gcry_mac_write, gcry_mac_read", NULL,
	 gmac_message, NULL},
	PB_END_OF_VARIANTS,
};
static const pb_variant one_time_variants[] = {
	{"mac", "rekey/1", "gcry_mac_setkey, gcry_mac_write, gcry_mac_read", NULL, one_time, NULL},
	PB_END_OF_VARIANTS,
};
const pb_family gmac_family = {nonce_mac_open, nonce_mac_close, gmac_variants};
const pb_family one_time_family = {nonce_mac_open, nonce_mac_close, one_time_variants};

/* ---- password hashes ---- */

static int password_open(pb_case *c)
{
	c->out_len = c->row->output;
	return 0;
}

static void password_close(pb_case *c)
{
	(void)c;
}

static int argon2id(const uint8_t *in, size_t size, const uint8_t *salt, size_t salt_len, uint8_t *out,
		    size_t length)
{
	const unsigned long costs[] = {length, 2, 65536, 1}; /* bytes, passes, KiB, lanes */
	gcry_kdf_hd_t handle;
	if (gcry_kdf_open(&handle, GCRY_KDF_ARGON2, GCRY_KDF_ARGON2ID, costs, 4, in, size, salt, salt_len,
			  NULL, 0, NULL, 0))
		return 1;
	int bad = gcry_kdf_compute(handle, NULL) || gcry_kdf_final(handle, length, out);
	gcry_kdf_close(handle);
	return bad;
}

#define PBKDF2(ITERATIONS)                                                                                   \
	gcry_kdf_derive(in, size, GCRY_KDF_PBKDF2, GCRY_MD_SHA256, PB_TURN(nonce, turn), nonce_len,          \
			ITERATIONS, out_max, out)
#define PASSWORD(NAME, CALL, CALLS)                                                                          \
	PB_LOOP(NAME##_hash, void, CALL)                                                                     \
	static const pb_variant NAME##_variants[] = {{"hash", "password/1", CALLS, NULL, NAME##_hash, NULL}, \
						     PB_END_OF_VARIANTS};                                    \
	const pb_family NAME##_family = {password_open, password_close, NAME##_variants};
PASSWORD(pbkdf2_4096, PBKDF2(4096), "gcry_kdf_derive")
PASSWORD(pbkdf2_600000, PBKDF2(600000), "gcry_kdf_derive")
PASSWORD(scrypt,
	 gcry_kdf_derive(in, size, GCRY_KDF_SCRYPT, 16384, PB_TURN(nonce, turn), nonce_len, 1, out_max, out),
	 "gcry_kdf_derive")
PASSWORD(argon2id, argon2id(in, size, PB_TURN(nonce, turn), nonce_len, out, out_max),
	 "gcry_kdf_open, gcry_kdf_compute, gcry_kdf_final, gcry_kdf_close")

/* ---- X25519, X448 ---- */

struct agreement {
	int curve;
	uint8_t peer[56];
};

/* The function takes the scalar as it is: what RFC 7748 clears and sets is done here, once. */
static void clamped(uint8_t *scalar, const uint8_t *key, size_t length)
{
	memcpy(scalar, key, length);
	scalar[0] &= length == 32 ? 248 : 252;
	scalar[length - 1] =
		(uint8_t)(length == 32 ? (scalar[length - 1] & 127) | 64 : scalar[length - 1] | 128);
}

static int agreement_open(pb_case *c)
{
	struct agreement *a = c->ctx = calloc(1, sizeof *a);
	uint8_t scalar[56];
	c->out_len = c->row->output;
	if (!a)
		return pb_fail(c, "out of memory");
	a->curve = algorithm_of(c)->algo;
	if (c->given && c->in_len <= sizeof a->peer) {
		memcpy(a->peer, c->in, c->in_len);
		return 0;
	}
	clamped(scalar, c->nonce[0], c->nonce_len);
	return refuse(c, "gcry_ecc_mul_point", gcry_ecc_mul_point(a->curve, a->peer, scalar, NULL));
}

static void agreement_close(pb_case *c)
{
	free(c->ctx);
	c->ctx = NULL;
}

PB_LOOP(agreement_derive, struct agreement, gcry_ecc_mul_point(state->curve, out, key[0], state->peer))
static const pb_variant agreement_variants[] = {
	{"derive", "pk/1", "gcry_ecc_mul_point", NULL, agreement_derive, NULL},
	PB_END_OF_VARIANTS,
};
const pb_family agreement_family = {agreement_open, agreement_close, agreement_variants};
