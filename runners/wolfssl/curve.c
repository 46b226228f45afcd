/* Key agreement and signatures on curves, of wolfCrypt. */
#include "families.h"

#include <wolfssl/wolfcrypt/curve25519.h>
#include <wolfssl/wolfcrypt/curve448.h>
#include <wolfssl/wolfcrypt/ecc.h>
#include <wolfssl/wolfcrypt/ed25519.h>
#include <wolfssl/wolfcrypt/ed448.h>
#include <wolfssl/wolfcrypt/hash.h>
#include <wolfssl/wolfcrypt/random.h>

#include <string.h>

/* ---- X25519, X448 ---- */

#define AGREE(ID, NAME, BYTES, ORDER)                                                                        \
	struct ID {                                                                                          \
		NAME##_key own, peer, made;                                                                  \
		word32 length;                                                                               \
	};                                                                                                   \
	static int ID##_public(const uint8_t *private, NAME##_key *key)                                      \
	{                                                                                                    \
		uint8_t clamped[BYTES], public[BYTES];                                                       \
		memcpy(clamped, private, BYTES);                                                             \
		CLAMP_##ID(clamped);                                                                         \
		int error = wc_##NAME##_make_pub(BYTES, public, BYTES, clamped);                             \
		return error ? error : wc_##NAME##_import_public_ex(public, BYTES, key, ORDER);              \
	}                                                                                                    \
	static int ID##_open(pb_case *c)                                                                     \
	{                                                                                                    \
		struct ID *s = new_context(c, sizeof *s);                                                    \
		c->out_len = c->row->output;                                                                 \
		if (!s)                                                                                      \
			return opened(c, MEMORY_E, "a context");                                             \
		int error = wc_##NAME##_init(&s->own) || wc_##NAME##_init(&s->peer) ||                       \
			    wc_##NAME##_init(&s->made);                                                      \
		error = error ? error : wc_##NAME##_import_private_ex(c->key[0], BYTES, &s->own, ORDER);     \
		error = error ? error : ID##_public(c->key[0], &s->own);                                     \
		if (!error && c->given)                                                                      \
			error = wc_##NAME##_import_public_ex(c->in, (word32)c->in_len, &s->peer, ORDER);     \
		else if (!error)                                                                             \
			error = ID##_public(c->nonce[0], &s->peer);                                          \
		return opened(c, error, "wc_" #NAME "_import_public_ex");                                    \
	}                                                                                                    \
	static void ID##_show(pb_case *c)                                                                    \
	{                                                                                                    \
		struct ID *s = c->ctx;                                                                       \
		uint8_t one[BYTES], other[BYTES];                                                            \
		word32 length = BYTES, one_len = BYTES, other_len = BYTES;                                   \
		c->failures += wc_##NAME##_shared_secret_ex(&s->made, &s->own, one, &one_len, ORDER) ||      \
			       wc_##NAME##_shared_secret_ex(&s->own, &s->made, other, &other_len, ORDER) ||  \
			       memcmp(one, other, BYTES) != 0 ||                                             \
			       wc_##NAME##_export_public_ex(&s->made, c->out, &length, ORDER);               \
		c->out_len = length;                                                                         \
	}                                                                                                    \
	PB_LOOP(ID##_derive, struct ID,                                                                      \
		(state->length = BYTES,                                                                      \
		 wc_##NAME##_shared_secret_ex(&state->own, &state->peer, out, &state->length, ORDER)))       \
	PB_LOOP(ID##_keygen, struct ID, wc_##NAME##_make_key(&rng, BYTES, &state->made))                     \
	static const pb_variant ID##_variants[] = {                                                          \
		{"derive", "pk/1", "wc_" #NAME "_shared_secret_ex", NULL, ID##_derive, NULL},                \
		{"keygen", "pk/1", "wc_" #NAME "_make_key", NULL, ID##_keygen, ID##_show},                   \
		PB_END_OF_VARIANTS,                                                                          \
	};                                                                                                   \
	static const pb_family ID##_family = {ID##_open, free_context, ID##_variants};
/* The functions that make a public key want the clamping of RFC 7748 done already. */
#define CLAMP_x25519(K) (K[0] &= 248, K[31] = (uint8_t)((K[31] & 127) | 64))
#define CLAMP_x448(K)   (K[0] &= 252, K[55] |= 128)
AGREE(x25519, curve25519, 32, EC25519_LITTLE_ENDIAN)
AGREE(x448, curve448, 56, EC448_LITTLE_ENDIAN)

/* ---- Ed25519, Ed448 ---- */

#define SIGN(ID, NAME, BYTES, SIGNATURE, CONTEXT)                                                            \
	struct ID {                                                                                          \
		NAME##_key own, made;                                                                        \
		word32 length;                                                                               \
		int valid;                                                                                   \
	};                                                                                                   \
	static int ID##_open(pb_case *c)                                                                     \
	{                                                                                                    \
		struct ID *s = new_context(c, sizeof *s);                                                    \
		uint8_t public[BYTES];                                                                       \
		c->out_len = c->inverse ? 0 : c->row->output;                                                \
		if (!s)                                                                                      \
			return opened(c, MEMORY_E, "a context");                                             \
		int error = wc_##NAME##_init(&s->own) || wc_##NAME##_init(&s->made);                         \
		error = error ? error : wc_##NAME##_import_private_only(c->key[0], BYTES, &s->own);          \
		error = error ? error : wc_##NAME##_make_public(&s->own, public, BYTES);                     \
		error = error ? error                                                                        \
			      : wc_##NAME##_import_private_key(c->key[0], BYTES, public, BYTES, &s->own);    \
		return opened(c, error, "wc_" #NAME "_import_private_key");                                  \
	}                                                                                                    \
	static int ID##_verified(struct ID *s, NAME##_key *key, const uint8_t *in, size_t size,              \
				 const uint8_t *signature)                                                   \
	{                                                                                                    \
		s->valid = 0;                                                                                \
		return wc_##NAME##_verify_msg(signature, SIGNATURE, in, (word32)size, &s->valid,             \
					      key CONTEXT) == 0 &&                                           \
		       s->valid;                                                                             \
	}                                                                                                    \
	static void ID##_show(pb_case *c)                                                                    \
	{                                                                                                    \
		struct ID *s = c->ctx;                                                                       \
		uint8_t signature[SIGNATURE];                                                                \
		word32 length = BYTES, signed_len = SIGNATURE;                                               \
		c->failures += wc_##NAME##_sign_msg(c->in, (word32)c->size, signature, &signed_len,          \
						    &s->made CONTEXT) ||                                     \
			       !ID##_verified(s, &s->made, c->in, c->size, signature) ||                     \
			       wc_##NAME##_export_public(&s->made, c->out, &length);                         \
		c->out_len = length;                                                                         \
	}                                                                                                    \
	PB_LOOP(ID##_sign, struct ID,                                                                        \
		(state->length = SIGNATURE, wc_##NAME##_sign_msg(PB_TURN(message, turn), (word32)size, out,  \
								 &state->length, &state->own CONTEXT)))      \
	PB_LOOP(ID##_verify, struct ID, !ID##_verified(state, &state->own, in, size, in + size))             \
	PB_LOOP(ID##_keygen, struct ID, wc_##NAME##_make_key(&rng, BYTES, &state->made))                     \
	static const pb_variant ID##_variants[] = {                                                          \
		{"sign", "pk/1", "wc_" #NAME "_sign_msg", NULL, ID##_sign, NULL},                            \
		{"verify", "pk/1", "wc_" #NAME "_verify_msg", NULL, ID##_verify, NULL},                      \
		{"keygen", "pk/1", "wc_" #NAME "_make_key", NULL, ID##_keygen, ID##_show},                   \
		PB_END_OF_VARIANTS,                                                                          \
	};                                                                                                   \
	static const pb_family ID##_family = {ID##_open, free_context, ID##_variants};
#define PLAIN
#define EMPTY , NULL, 0
SIGN(ed25519, ed25519, 32, 64, PLAIN)
SIGN(ed448, ed448, 57, 114, EMPTY)

/* ---- P-256, P-384 ---- */

struct curve {
	ecc_key own, peer, made;
	uint8_t der[160];
	word32 length;
	int valid;
};

static int curve_id(const pb_case *c)
{
	return c->key_len == 32 ? ECC_SECP256R1 : ECC_SECP384R1;
}

static int curve_pair(ecc_key *key, const uint8_t *private, size_t length, int id)
{
	int error = wc_ecc_import_private_key_ex(private, (word32)length, NULL, 0, key, id);
	return error ? error : wc_ecc_make_pub(key, NULL);
}

static int curve_open(pb_case *c)
{
	int fits = c->size >= WC_MIN_DIGEST_SIZE && c->size <= WC_MAX_DIGEST_SIZE;
	if (!c->nonce_len && !fits)
		return pb_fail(c, "a digest has %d to %d bytes", WC_MIN_DIGEST_SIZE, WC_MAX_DIGEST_SIZE) +
		       PB_UNFIT;
	struct curve *s = new_context(c, sizeof *s);
	c->out_len = c->inverse && !c->nonce_len ? 0 : c->row->output;
	if (!s)
		return opened(c, MEMORY_E, "a context");
	int error = wc_ecc_init(&s->own) || wc_ecc_init(&s->peer) || wc_ecc_init(&s->made);
	error = error ? error : curve_pair(&s->own, c->key[0], c->key_len, curve_id(c));
	if (!error && c->nonce_len && c->given) {
		error = wc_ecc_import_x963_ex(c->in, (word32)c->in_len, &s->peer, curve_id(c));
		error = error ? error : wc_ecc_check_key(&s->peer);
	} else if (!error && c->nonce_len) {
		error = curve_pair(&s->peer, c->nonce[0], c->nonce_len, curve_id(c));
	}
#ifdef ECC_TIMING_RESISTANT
	error = error ? error : wc_ecc_set_rng(&s->own, &rng) || wc_ecc_set_rng(&s->made, &rng);
#endif
	s->length = c->row->output;
	if (!error && c->nonce_len && c->given &&
	    wc_ecc_shared_secret(&s->own, &s->peer, c->out, &s->length) == ECC_INF_E)
		return opened(c, ECC_INF_E, "a secret of zeros is taken for the point at infinity") +
		       PB_UNFIT;
	return opened(c, error, "wc_ecc_import_private_key_ex");
}

static void curve_close(pb_case *c)
{
	struct curve *s = c->ctx;
	if (s) {
		wc_ecc_free(&s->own);
		wc_ecc_free(&s->peer);
		wc_ecc_free(&s->made);
	}
	free_context(c);
}

static void show_curve(pb_case *c)
{
	word32 length = 128;
	c->failures += wc_ecc_export_x963(&((struct curve *)c->ctx)->made, c->out, &length) != 0;
	c->out_len = length;
}

static void ecdh_show(pb_case *c)
{
	struct curve *s = c->ctx;
	uint8_t one[48], other[48];
	word32 one_len = sizeof one, other_len = sizeof other;
	c->failures += wc_ecc_set_rng(&s->made, &rng) ||
		       wc_ecc_shared_secret(&s->made, &s->own, one, &one_len) ||
		       wc_ecc_shared_secret(&s->own, &s->made, other, &other_len) || one_len != other_len ||
		       memcmp(one, other, one_len) != 0;
	show_curve(c);
}

/* DER to r || s, and back: before every sample, because a forgery may have changed it. */
static void show_numbers(pb_case *c)
{
	struct curve *s = c->ctx;
	uint8_t r[48], n[48];
	word32 half = c->row->output / 2, r_len = sizeof r, n_len = sizeof n;
	memset(c->out, 0, 2 * half);
	if (wc_ecc_sig_to_rs(s->der, s->length, r, &r_len, n, &n_len) || r_len > half || n_len > half) {
		c->failures++;
		return;
	}
	memcpy(c->out + half - r_len, r, r_len);
	memcpy(c->out + 2 * half - n_len, n, n_len);
}

static void take_numbers(pb_case *c)
{
	struct curve *s = c->ctx;
	word32 half = c->row->output / 2;
	s->length = sizeof s->der;
	c->failures += wc_ecc_rs_raw_to_sig(c->in + c->size, half, c->in + c->size + half, half, s->der,
					    &s->length) != 0;
}

static int ecdsa_verified(struct curve *s, const uint8_t *in, size_t size, const uint8_t *der, word32 length,
			  ecc_key *key)
{
	s->valid = 0;
	return wc_ecc_verify_hash(der, length, in, (word32)size, &s->valid, key) == 0 && s->valid;
}

static void ecdsa_show(pb_case *c)
{
	struct curve *s = c->ctx;
	uint8_t der[160];
	word32 length = sizeof der;
	c->failures += wc_ecc_sign_hash(c->in, (word32)c->size, der, &length, &rng, &s->made) ||
		       !ecdsa_verified(s, c->in, c->size, der, length, &s->made);
	show_curve(c);
}

PB_LOOP(ecdh_derive, struct curve,
	(state->length = (word32)out_max,
	 wc_ecc_shared_secret(&state->own, &state->peer, out, &state->length)))
PB_LOOP(ec_keygen, struct curve,
	(wc_ecc_free(&state->made),
	 wc_ecc_init(&state->made) || wc_ecc_make_key_ex(&rng, (int)key_len, &state->made,
							 key_len == 32 ? ECC_SECP256R1 : ECC_SECP384R1)))
PB_LOOP(ecdsa_sign, struct curve,
	(state->length = sizeof state->der,
	 wc_ecc_sign_hash(in, (word32)size, state->der, &state->length, &rng, &state->own)))
PB_LOOP(ecdsa_verify, struct curve, !ecdsa_verified(state, in, size, state->der, state->length, &state->own))

#define EC_KEYGEN "wc_ecc_free, wc_ecc_init, wc_ecc_make_key_ex"
static const pb_variant ecdh_variants[] = {
	{"derive", "pk/1", "wc_ecc_shared_secret", NULL, ecdh_derive, NULL},
	{"keygen", "pk/1", EC_KEYGEN, NULL, ec_keygen, ecdh_show},
	PB_END_OF_VARIANTS,
};
static const pb_variant ecdsa_variants[] = {
	{"sign", "pk/1", "wc_ecc_sign_hash (DER)", NULL, ecdsa_sign, show_numbers},
	{"verify", "pk/1", "wc_ecc_verify_hash (DER)", take_numbers, ecdsa_verify, NULL},
	{"keygen", "pk/1", EC_KEYGEN, NULL, ec_keygen, ecdsa_show},
	PB_END_OF_VARIANTS,
};
static const pb_family ecdh_family = {curve_open, curve_close, ecdh_variants};
static const pb_family ecdsa_family = {curve_open, curve_close, ecdsa_variants};

const pb_row curve_rows[] = {
	ROW("x25519", x25519, 32, 32, 1, 32),
	ROW("x448", x448, 56, 56, 1, 56),
	ROW("ed25519", ed25519, 32, 0, 1, 64),
	ROW("ed448", ed448, 57, 0, 1, 114),
	ROW("ecdh-p256", ecdh, 32, 32, 1, 32),
	ROW("ecdh-p384", ecdh, 48, 48, 1, 48),
	ROW("ecdsa-p256", ecdsa, 32, 0, 1, 64),
	ROW("ecdsa-p384", ecdsa, 48, 0, 1, 96),
	PB_END_OF_ROWS,
};
