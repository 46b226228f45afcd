/* Key agreement and signatures on elliptic curves. */
#include "families.h"

#include <openssl/bn.h>
#include <openssl/curve25519.h>
#include <openssl/ecdh.h>
#include <openssl/ecdsa.h>
#include <openssl/mem.h>
#include <openssl/nid.h>

#include <stdlib.h>
#include <string.h>

struct state {
	uint8_t public[97], private[64], made_public[97], made_private[64], der[160];
	size_t der_len;
	unsigned length;
	EC_KEY *key, *made;
	EC_POINT *peer;
};

static struct state *new_state(pb_case *c)
{
	struct state *state = c->ctx = calloc(1, sizeof *state);
	if (!state)
		pb_fail(c, "out of memory");
	return state;
}

static void close_state(pb_case *c)
{
	struct state *state = c->ctx;
	if (state) {
		EC_POINT_free(state->peer);
		EC_KEY_free(state->key);
		EC_KEY_free(state->made);
	}
	free(state);
	c->ctx = NULL;
}

/* ---- X25519 and Ed25519 ---- */

static int x25519_open(pb_case *c)
{
	struct state *state = new_state(c);
	if (!state)
		return -1;
	c->out_len = c->row->output;
	if (!c->given)
		X25519_public_from_private(state->public, c->nonce[0]);
	else if (c->in_len == X25519_PUBLIC_VALUE_LEN)
		memcpy(state->public, c->in, c->in_len);
	return 0;
}

static void x25519_show(pb_case *c)
{
	struct state *state = c->ctx;
	uint8_t one[32], other[32], own[32];
	X25519_public_from_private(own, c->key[0]);
	c->failures += !X25519(one, state->made_private, own) ||
		       !X25519(other, c->key[0], state->made_public) || memcmp(one, other, sizeof one) != 0;
	memcpy(c->out, state->made_public, c->out_len = 32);
}

PB_LOOP(x25519_derive, struct state, !X25519(out, key[0], state->public))
PB_LOOP(x25519_keygen, struct state, (X25519_keypair(state->made_public, state->made_private), 0))

static const pb_variant x25519_variants[] = {
	{"derive", "pk/1", "X25519", NULL, x25519_derive, NULL},
	{"keygen", "pk/1", "X25519_keypair", NULL, x25519_keygen, x25519_show},
	PB_END_OF_VARIANTS,
};
static const pb_family x25519_family = {x25519_open, close_state, x25519_variants};

static int ed25519_open(pb_case *c)
{
	struct state *state = new_state(c);
	if (!state)
		return -1;
	ED25519_keypair_from_seed(state->public, state->private, c->key[0]);
	c->out_len = c->inverse ? 0 : c->row->output;
	return 0;
}

static void ed25519_show(pb_case *c)
{
	struct state *state = c->ctx;
	uint8_t signature[64];
	c->failures += !ED25519_sign(signature, c->in, c->size, state->made_private) ||
		       !ED25519_verify(c->in, c->size, signature, state->made_public);
	memcpy(c->out, state->made_public, c->out_len = 32);
}

PB_LOOP(ed25519_sign, struct state, !ED25519_sign(out, PB_TURN(message, turn), size, state->private))
PB_LOOP(ed25519_verify, struct state, !ED25519_verify(in, size, in + size, state->public))
PB_LOOP(ed25519_keygen, struct state, (ED25519_keypair(state->made_public, state->made_private), 0))

static const pb_variant ed25519_variants[] = {
	{"sign", "pk/1", "ED25519_sign", NULL, ed25519_sign, NULL},
	{"verify", "pk/1", "ED25519_verify", NULL, ed25519_verify, NULL},
	{"keygen", "pk/1", "ED25519_keypair", NULL, ed25519_keygen, ed25519_show},
	PB_END_OF_VARIANTS,
};
static const pb_family ed25519_family = {ed25519_open, close_state, ed25519_variants};

/* ---- curves of NIST, and secp256k1 ---- */

enum { LONGEST = 66 };

EC_KEY *curve_pair(int nid, const uint8_t *private, size_t length)
{
	uint8_t bytes[LONGEST];
	memcpy(bytes, private, length);
	if (length == LONGEST)
		bytes[0] &= 1; /* P-521: of the first byte only the last bit counts */
	EC_KEY *key = EC_KEY_new_by_curve_name(nid);
	BIGNUM *number = BN_bin2bn(bytes, length, NULL);
	const EC_GROUP *group = EC_KEY_get0_group(key);
	EC_POINT *point = EC_POINT_new(group);
	int made = number && point && EC_POINT_mul(group, point, number, NULL, NULL, NULL) &&
		   EC_KEY_set_private_key(key, number) && EC_KEY_set_public_key(key, point);
	EC_POINT_free(point);
	BN_free(number);
	if (made)
		return key;
	EC_KEY_free(key);
	return NULL;
}

static int nid_of(const pb_case *c)
{
	return *(const int *)c->row->param;
}

static struct state *curve_state(pb_case *c)
{
	struct state *state = new_state(c);
	if (state && !(state->key = curve_pair(nid_of(c), c->key[0], c->key_len))) {
		library_fail(c, "the key pair could not be made");
		return NULL;
	}
	if (state)
		state->made = EC_KEY_new_by_curve_name(nid_of(c));
	return state;
}

static int ecdh_open(pb_case *c)
{
	struct state *state = curve_state(c);
	const EC_GROUP *group = state ? EC_KEY_get0_group(state->key) : NULL;
	EC_KEY *peer = NULL;
	int there = 0;
	c->out_len = c->row->output;
	if (state && (state->peer = EC_POINT_new(group))) {
		if (c->given)
			there = EC_POINT_oct2point(group, state->peer, c->in, c->in_len, NULL);
		else if ((peer = curve_pair(nid_of(c), c->nonce[0], c->nonce_len)))
			there = EC_POINT_copy(state->peer, EC_KEY_get0_public_key(peer));
		EC_KEY_free(peer);
	}
	if (there)
		return 0;
	library_fail(c, "the public key was refused");
	close_state(c);
	return -1;
}

static void show_public(pb_case *c, const EC_KEY *key)
{
	c->out_len = EC_POINT_point2oct(EC_KEY_get0_group(key), EC_KEY_get0_public_key(key),
					POINT_CONVERSION_UNCOMPRESSED, c->out, 2 * LONGEST + 1, NULL);
}

static void ecdh_show(pb_case *c)
{
	struct state *state = c->ctx;
	uint8_t one[LONGEST], other[LONGEST];
	int length = ECDH_compute_key(one, sizeof one, EC_KEY_get0_public_key(state->key), state->made, NULL);
	c->failures += length <= 0 ||
		       ECDH_compute_key(other, sizeof other, EC_KEY_get0_public_key(state->made), state->key,
					NULL) != length ||
		       memcmp(one, other, (size_t)length) != 0;
	show_public(c, state->made);
}

PB_LOOP(ecdh_derive, struct state,
	ECDH_compute_key(out, out_max, state->peer, state->key, NULL) != (int)out_max)
PB_LOOP(ec_keygen, struct state, !EC_KEY_generate_key(state->made))

static const pb_variant ecdh_variants[] = {
	{"derive", "pk/1", "ECDH_compute_key", NULL, ecdh_derive, NULL},
	{"keygen", "pk/1", "EC_KEY_generate_key", NULL, ec_keygen, ecdh_show},
	PB_END_OF_VARIANTS,
};
static const pb_family ecdh_family = {ecdh_open, close_state, ecdh_variants};

static int ecdsa_open(pb_case *c)
{
	c->out_len = c->inverse ? 0 : c->row->output;
	if (curve_state(c))
		return 0;
	close_state(c);
	return -1;
}

/* DER to r || s. */
static void show_numbers(pb_case *c)
{
	struct state *state = c->ctx;
	size_t half = c->row->output / 2;
	ECDSA_SIG *sig = ECDSA_SIG_from_bytes(state->der, state->length);
	c->failures += !sig || !BN_bn2bin_padded(c->out, half, ECDSA_SIG_get0_r(sig)) ||
		       !BN_bn2bin_padded(c->out + half, half, ECDSA_SIG_get0_s(sig));
	ECDSA_SIG_free(sig);
}

/* r || s to DER; before every sample, because a forgery may have changed it. */
static void take_numbers(pb_case *c)
{
	struct state *state = c->ctx;
	size_t half = c->row->output / 2;
	uint8_t *der = NULL;
	ECDSA_SIG *sig = ECDSA_SIG_new();
	if (ECDSA_SIG_set0(sig, BN_bin2bn(c->in + c->size, half, NULL),
			   BN_bin2bn(c->in + c->size + half, half, NULL)) &&
	    ECDSA_SIG_to_bytes(&der, &state->der_len, sig) && state->der_len <= sizeof state->der)
		memcpy(state->der, der, state->der_len);
	else
		c->failures++;
	OPENSSL_free(der);
	ECDSA_SIG_free(sig);
}

static void ecdsa_show(pb_case *c)
{
	struct state *state = c->ctx;
	uint8_t signature[160];
	unsigned length = sizeof signature;
	c->failures += !ECDSA_sign(0, c->in, c->size, signature, &length, state->made) ||
		       ECDSA_verify(0, c->in, c->size, signature, length, state->made) != 1;
	show_public(c, state->made);
}

PB_LOOP(ecdsa_sign, struct state,
	(state->length = sizeof state->der, !ECDSA_sign(0, in, size, state->der, &state->length, state->key)))
PB_LOOP(ecdsa_verify, struct state, ECDSA_verify(0, in, size, state->der, state->der_len, state->key) != 1)

static const pb_variant ecdsa_variants[] = {
	{"sign", "pk/1", "ECDSA_sign (DER)", NULL, ecdsa_sign, show_numbers},
	{"verify", "pk/1", "ECDSA_verify (DER)", take_numbers, ecdsa_verify, NULL},
	{"keygen", "pk/1", "EC_KEY_generate_key", NULL, ec_keygen, ecdsa_show},
	PB_END_OF_VARIANTS,
};
static const pb_family ecdsa_family = {ecdsa_open, close_state, ecdsa_variants};

static const int p256 = NID_X9_62_prime256v1, p384 = NID_secp384r1, p521 = NID_secp521r1;
#ifndef RUNNER_BORINGSSL
static const int secp256k1 = NID_secp256k1;
#endif

const pb_row curve_rows[] = {
	{"x25519", &x25519_family, NULL, 32, 32, 1, 32},
	{"ed25519", &ed25519_family, NULL, 32, 0, 1, 64},
	{"ecdh-p256", &ecdh_family, &p256, 32, 32, 1, 32},
	{"ecdh-p384", &ecdh_family, &p384, 48, 48, 1, 48},
	{"ecdsa-p256", &ecdsa_family, &p256, 32, 0, 1, 64},
	{"ecdsa-p384", &ecdsa_family, &p384, 48, 0, 1, 96},
	{"ecdh-p521", &ecdh_family, &p521, 66, 66, 1, 66},
	{"ecdsa-p521", &ecdsa_family, &p521, 66, 0, 1, 132},
#ifndef RUNNER_BORINGSSL
	{"ecdh-secp256k1", &ecdh_family, &secp256k1, 32, 32, 1, 32},
	{"ecdsa-secp256k1", &ecdsa_family, &secp256k1, 32, 0, 1, 64},
#endif
	PB_END_OF_ROWS,
};
