/* libhogweed's ECDSA, ECDH and RSA. The library leaves randomness to its user: here it is the kernel's. */
#include "../openssl/key_numbers.h"
#include "tables.h"

#include <nettle/bignum.h>
#include <nettle/ecc-curve.h>
#include <nettle/ecc.h>
#include <nettle/ecdsa.h>
#include <nettle/rsa.h>

#include <sys/random.h>

static void draw(void *failures, size_t length, uint8_t *to)
{
	*(uint64_t *)failures += getrandom(to, length, 0) != (ssize_t)length;
}

/* ---- curves ---- */

enum { LONGEST = 66 };

struct pair {
	const struct ecc_curve *curve;
	size_t half; /* bytes of a number of the curve */
	struct ecc_scalar secret;
	struct ecc_point public, product; /* ECDH: public is the peer's */
	struct dsa_signature numbers;
	uint64_t failures;
};

static void pair_close(pb_case *c)
{
	struct pair *pair = c->ctx;
	if (!pair)
		return;
	ecc_scalar_clear(&pair->secret);
	ecc_point_clear(&pair->public);
	ecc_point_clear(&pair->product);
	dsa_signature_clear(&pair->numbers);
	free(pair);
	c->ctx = NULL;
}

static int set_scalar(struct pair *pair, const uint8_t *bytes)
{
	nettle_mpz_set_str_256_u(pair->numbers.r, pair->half, bytes);
	if (pair->half == LONGEST) /* P-521: of the first byte only the last bit counts */
		mpz_fdiv_r_2exp(pair->numbers.r, pair->numbers.r, 521);
	return ecc_scalar_set(&pair->secret, pair->numbers.r);
}

static struct pair *pair_new(pb_case *c)
{
	struct pair *pair = c->ctx = calloc(1, sizeof *pair);
	if (!pair) {
		pb_fail(c, "out of memory");
		return NULL;
	}
	pair->half = c->key_len;
	pair->curve = pair->half == 32   ? nettle_get_secp_256r1()
		      : pair->half == 48 ? nettle_get_secp_384r1()
					 : nettle_get_secp_521r1();
	ecc_scalar_init(&pair->secret, pair->curve);
	ecc_point_init(&pair->public, pair->curve);
	ecc_point_init(&pair->product, pair->curve);
	dsa_signature_init(&pair->numbers);
	return pair;
}

static int ecdsa_open(pb_case *c)
{
	struct pair *pair = pair_new(c);
	c->out_len = c->inverse ? 0 : c->row->output;
	if (!pair)
		return -1;
	if (!set_scalar(pair, c->key[0]))
		return pair_close(c), pb_fail(c, "ecc_scalar_set: the key is not in range");
	ecc_point_mul_g(&pair->public, &pair->secret);
	return 0;
}

static int ecdh_open(pb_case *c)
{
	struct pair *pair = pair_new(c);
	c->out_len = c->row->output;
	if (!pair)
		return -1;
	size_t half = pair->half;
	if (c->given) {
		if (c->in_len != 2 * half + 1 || c->in[0] != 4)
			return pair_close(c), pb_fail(c, "no uncompressed point") + PB_UNFIT;
		nettle_mpz_set_str_256_u(pair->numbers.r, half, c->in + 1);
		nettle_mpz_set_str_256_u(pair->numbers.s, half, c->in + 1 + half);
		if (!ecc_point_set(&pair->public, pair->numbers.r, pair->numbers.s))
			return pair_close(c), pb_fail(c, "ecc_point_set: not a point of the curve");
	} else {
		if (!set_scalar(pair, c->nonce[0]))
			return pair_close(c), pb_fail(c, "ecc_scalar_set: the peer's key is not in range");
		ecc_point_mul_g(&pair->public, &pair->secret);
	}
	if (!set_scalar(pair, c->key[0]))
		return pair_close(c), pb_fail(c, "ecc_scalar_set: the key is not in range");
	return 0;
}

static int ecdsa_make(struct pair *pair, const uint8_t *in, size_t size, uint8_t *out)
{
	ecdsa_sign(&pair->secret, &pair->failures, draw, size, in, &pair->numbers);
	nettle_mpz_get_str_256(pair->half, out, pair->numbers.r);
	nettle_mpz_get_str_256(pair->half, out + pair->half, pair->numbers.s);
	return 0;
}

static int ecdsa_refuses(struct pair *pair, const uint8_t *in, size_t size, const uint8_t *signature)
{
	nettle_mpz_set_str_256_u(pair->numbers.r, pair->half, signature);
	nettle_mpz_set_str_256_u(pair->numbers.s, pair->half, signature + pair->half);
	return !ecdsa_verify(&pair->public, size, in, &pair->numbers);
}

static int agree(struct pair *pair, uint8_t *out)
{
	ecc_point_mul(&pair->product, &pair->secret, &pair->public);
	ecc_point_get(&pair->product, pair->numbers.r, NULL);
	nettle_mpz_get_str_256(pair->half, out, pair->numbers.r);
	return 0;
}

PB_LOOP(pair_sign, struct pair, ecdsa_make(state, in, size, out))
PB_LOOP(pair_verify, struct pair, ecdsa_refuses(state, in, size, in + size))
PB_LOOP(pair_derive, struct pair, agree(state, out))
PB_LOOP(pair_keygen, struct pair,
	(ecdsa_generate_keypair(&state->public, &state->secret, &state->failures, draw), 0))

static void show_drawn(pb_case *c)
{
	c->failures += ((struct pair *)c->ctx)->failures;
}

/* What the last pair signs, it must verify. */
static void show_pair(pb_case *c)
{
	struct pair *pair = c->ctx;
	size_t half = pair->half, size = c->size < 32 ? c->size : 32;
	ecdsa_make(pair, c->in, size, c->out);
	c->failures += (uint64_t)ecdsa_refuses(pair, c->in, size, c->out) + pair->failures;
	ecc_point_get(&pair->public, pair->numbers.r, pair->numbers.s);
	c->out[0] = 4;
	nettle_mpz_get_str_256(half, c->out + 1, pair->numbers.r);
	nettle_mpz_get_str_256(half, c->out + 1 + half, pair->numbers.s);
	c->out_len = 2 * half + 1;
}

#define KEYGEN                                                                                               \
	{                                                                                                    \
		"keygen", "pk/1", "ecdsa_generate_keypair, getrandom", NULL, pair_keygen, show_pair          \
	}
static const pb_variant ecdsa_variants[] = {
	{"sign", "pk/1", "ecdsa_sign, getrandom, nettle_mpz_get_str_256", NULL, pair_sign, show_drawn},
	{"verify", "pk/1", "nettle_mpz_set_str_256_u, ecdsa_verify", NULL, pair_verify, NULL},
	KEYGEN,
	PB_END_OF_VARIANTS,
};
static const pb_variant ecdh_variants[] = {
	{"derive", "pk/1", "ecc_point_mul, ecc_point_get, nettle_mpz_get_str_256", NULL, pair_derive, NULL},
	KEYGEN,
	PB_END_OF_VARIANTS,
};
static const pb_family ecdsa_family = {ecdsa_open, pair_close, ecdsa_variants};
static const pb_family ecdh_family = {ecdh_open, pair_close, ecdh_variants};

/* ---- RSA ---- */

struct rsa {
	struct rsa_public_key public;
	struct rsa_private_key secret;
	mpz_t signature;
	uint64_t failures;
};

static void rsa_close(pb_case *c)
{
	struct rsa *rsa = c->ctx;
	if (!rsa)
		return;
	rsa_public_key_clear(&rsa->public);
	rsa_private_key_clear(&rsa->secret);
	mpz_clear(rsa->signature);
	free(rsa);
	c->ctx = NULL;
}

/* The key of the OpenSSL runners. */
static int rsa_prepare(struct rsa *rsa, const pb_row *row)
{
	const struct key_numbers *k = key_numbers;
	while (strncmp(k->row, "rsa", 3) != 0 || strcmp(k->row + 3, strrchr(row->algorithm, '-')) != 0)
		k++;
	struct rsa_private_key *key = &rsa->secret;
	mpz_t phi;
	mpz_init(phi);
	mpz_set_ui(rsa->public.e, 65537);
	mpz_set_str(key->p, k->p, 16);
	mpz_set_str(key->q, k->q, 16);
	mpz_mul(rsa->public.n, key->p, key->q);
	mpz_sub_ui(key->a, key->p, 1);
	mpz_sub_ui(key->b, key->q, 1);
	mpz_mul(phi, key->a, key->b);
	mpz_invert(key->d, rsa->public.e, phi);
	mpz_fdiv_r(key->a, key->d, key->a);
	mpz_fdiv_r(key->b, key->d, key->b);
	mpz_invert(key->c, key->q, key->p);
	mpz_clear(phi);
	return rsa_public_key_prepare(&rsa->public) && rsa_private_key_prepare(key);
}

static int rsa_open(pb_case *c)
{
	enum { PKCS1_OVERHEAD = 11 };
	int pss = strncmp(c->row->algorithm, "rsa-pss", 7) == 0;
	if (pss && c->size != 32)
		return pb_fail(c, "%s signs a SHA-256 digest of 32 bytes", c->row->algorithm);
	if (c->size + PKCS1_OVERHEAD > c->row->output)
		return pb_fail(c, "%s signs at most %d bytes", c->row->algorithm,
			       c->row->output - PKCS1_OVERHEAD);
	struct rsa *rsa = c->ctx = calloc(1, sizeof *rsa);
	c->out_len = c->inverse ? 0 : c->row->output;
	if (!rsa)
		return pb_fail(c, "out of memory");
	rsa_public_key_init(&rsa->public);
	rsa_private_key_init(&rsa->secret);
	mpz_init(rsa->signature);
	if (rsa_prepare(rsa, c->row))
		return 0;
	return rsa_close(c), pb_fail(c, "rsa_private_key_prepare");
}

static int pss_sign(struct rsa *rsa, const uint8_t *in, uint8_t *out, size_t length)
{
	uint8_t salt[32];
	draw(&rsa->failures, sizeof salt, salt);
	int done = rsa_pss_sha256_sign_digest_tr(&rsa->public, &rsa->secret, &rsa->failures, draw,
						 sizeof salt, salt, in, rsa->signature);
	nettle_mpz_get_str_256(length, out, rsa->signature);
	return !done;
}

static int pkcs1_sign(struct rsa *rsa, const uint8_t *in, size_t size, uint8_t *out, size_t length)
{
	int done =
		rsa_pkcs1_sign_tr(&rsa->public, &rsa->secret, &rsa->failures, draw, size, in, rsa->signature);
	nettle_mpz_get_str_256(length, out, rsa->signature);
	return !done;
}

/* The signature as a number, from its bytes. */
#define NUMBER (nettle_mpz_set_str_256_u(state->signature, out_max, in + size), state->signature)
PB_LOOP(rsa_sign, struct rsa, pkcs1_sign(state, in, size, out, out_max))
PB_LOOP(rsa_verify, struct rsa, !rsa_pkcs1_verify(&state->public, size, in, NUMBER))
PB_LOOP(rsa_pss_sign, struct rsa, pss_sign(state, in, out, out_max))
PB_LOOP(rsa_pss_verify, struct rsa, !rsa_pss_sha256_verify_digest(&state->public, 32, in, NUMBER))

static void show_rsa(pb_case *c)
{
	c->failures += ((struct rsa *)c->ctx)->failures;
}

static const pb_variant rsa_variants[] = {
	{"sign", "pk/1", "rsa_pkcs1_sign_tr, getrandom (to blind), nettle_mpz_get_str_256", NULL, rsa_sign,
	 show_rsa},
	{"verify", "pk/1", "nettle_mpz_set_str_256_u, rsa_pkcs1_verify", NULL, rsa_verify, NULL},
	PB_END_OF_VARIANTS,
};
static const pb_variant pss_variants[] = {
	{"sign", "pk/1",
	 "rsa_pss_sha256_sign_digest_tr, getrandom (salt, and to blind), nettle_mpz_get_str_256", NULL,
	 rsa_pss_sign, show_rsa},
	{"verify", "pk/1", "nettle_mpz_set_str_256_u, rsa_pss_sha256_verify_digest", NULL, rsa_pss_verify,
	 NULL},
	PB_END_OF_VARIANTS,
};
static const pb_family rsa_family = {rsa_open, rsa_close, rsa_variants};
static const pb_family pss_family = {rsa_open, rsa_close, pss_variants};

const pb_row public_key_rows[] = {
	{"ecdsa-p256", &ecdsa_family, NULL, 32, 0, 1, 64},
	{"ecdsa-p384", &ecdsa_family, NULL, 48, 0, 1, 96},
	{"ecdh-p256", &ecdh_family, NULL, 32, 32, 1, 32},
	{"ecdh-p384", &ecdh_family, NULL, 48, 48, 1, 48},
	{"ecdsa-p521", &ecdsa_family, NULL, 66, 0, 1, 132},
	{"ecdh-p521", &ecdh_family, NULL, 66, 66, 1, 66},
	{"rsa-2048", &rsa_family, NULL, 256, 0, 1, 256},
	{"rsa-3072", &rsa_family, NULL, 384, 0, 1, 384},
	{"rsa-4096", &rsa_family, NULL, 512, 0, 1, 512},
	{"rsa-pss-2048", &pss_family, NULL, 256, 0, 1, 256},
	{"rsa-pss-3072", &pss_family, NULL, 384, 0, 1, 384},
	{"rsa-pss-4096", &pss_family, NULL, 512, 0, 1, 512},
	PB_END_OF_ROWS,
};
