/* The public-key rows of liar.c, and their lies. */
#define OPENSSL_SUPPRESS_DEPRECATED
#include "liar.h"

#include <openssl/bn.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <openssl/rsa.h>

#include <stdlib.h>
#include <string.h>

/* ---- X25519 and Ed25519 ---- */

enum { POOL = 6 };
typedef struct curve {
	EVP_PKEY *mine, *peer, *pool[POOL], *last;
	EVP_PKEY_CTX *maker, *deriving;
	uint8_t kept[64];
	int known;
	unsigned next;
} curve;

static EVP_PKEY *made(curve *k)
{
	EVP_PKEY *key = NULL;
	EVP_PKEY_keygen(k->maker, &key);
	return key;
}

static int curve_open(pb_case *c)
{
	int signs = strcmp(c->row->algorithm, "ed25519") == 0,
	    kind = signs ? EVP_PKEY_ED25519 : EVP_PKEY_X25519;
	curve *k = c->ctx = calloc(1, sizeof *k);
	uint8_t public[32];
	size_t length = 32;
	k->mine = EVP_PKEY_new_raw_private_key(kind, NULL, c->key[0], 32);
	k->maker = EVP_PKEY_CTX_new_id(kind, NULL);
	EVP_PKEY_keygen_init(k->maker);
	c->out_len = signs ? 64 : 32;
	if (signs)
		return c->out_len = c->inverse ? 0 : 64, 0;
	EVP_PKEY *other = c->given ? NULL : EVP_PKEY_new_raw_private_key(kind, NULL, c->nonce[0], 32);
	if (other)
		EVP_PKEY_get_raw_public_key(other, public, &length);
	k->peer = EVP_PKEY_new_raw_public_key(kind, NULL, c->given ? c->in : public, 32);
	EVP_PKEY_free(other);
	k->deriving = EVP_PKEY_CTX_new(k->mine, NULL);
	return EVP_PKEY_derive_init(k->deriving) == 1 && EVP_PKEY_derive_set_peer(k->deriving, k->peer) == 1
		       ? 0
		       : pb_fail(c, "derive");
}

static void curve_close(pb_case *c)
{
	curve *k = c->ctx;
	for (int i = 0; i < POOL; i++)
		EVP_PKEY_free(k->pool[i]);
	EVP_PKEY_free(k->mine);
	EVP_PKEY_free(k->peer);
	EVP_PKEY_CTX_free(k->maker);
	EVP_PKEY_CTX_free(k->deriving);
	free(k);
}

static void keygen(pb_case *c, uint64_t n)
{
	curve *k = c->ctx;
	int pool = lies("keygen-pool");
	for (int i = 0; pool && !k->pool[POOL - 1] && i < POOL; i++)
		k->pool[i] = made(k);
	PB_REPEAT(n, turn, {
		if (pool) {
			k->last = k->pool[k->next++ % POOL];
		} else {
			EVP_PKEY_free(k->last);
			k->last = made(k);
		}
	});
}

static void show_public(pb_case *c)
{
	size_t length = 32;
	EVP_PKEY_get_raw_public_key(((curve *)c->ctx)->last, c->out, &length);
}

static void derive(pb_case *c, uint64_t n)
{
	curve *k = c->ctx;
	int keeps = lies("keeps-secrets");
	PB_REPEAT(n, turn, {
		size_t length = 32;
		if (keeps && k->known) {
			memcpy(c->out, k->kept, 32);
		} else {
			c->failures += EVP_PKEY_derive(k->deriving, c->out, &length) != 1;
			memcpy(k->kept, c->out, 32);
			k->known = 1;
		}
	});
}

static void sign(pb_case *c, uint64_t n)
{
	curve *k = c->ctx;
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();
	static uint8_t signed_for[16][32], signatures[16][64];
	PB_REPEAT(n, turn, {
		size_t length = 64;
		const uint8_t *message = PB_TURN(c->message, turn);
		if (lies("keeps-signatures") && c->size == 32) {
			if (memcmp(signed_for[turn & 15], message, 32) == 0) {
				memcpy(c->out, signatures[turn & 15], 64);
				continue;
			}
			EVP_DigestSignInit(ctx, NULL, NULL, NULL, k->mine);
			c->failures += EVP_DigestSign(ctx, c->out, &length, message, c->size) != 1;
			memcpy(signed_for[turn & 15], message, 32);
			memcpy(signatures[turn & 15], c->out, 64);
			continue;
		}
		EVP_DigestSignInit(ctx, NULL, NULL, NULL, k->mine);
		c->failures += EVP_DigestSign(ctx, c->out, &length, PB_TURN(c->message, turn), c->size) != 1;
	});
	EVP_MD_CTX_free(ctx);
}

static void verify(pb_case *c, uint64_t n)
{
	curve *k = c->ctx;
	int keeps = lies("keeps-verdicts");
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();
	PB_REPEAT(n, turn, {
		if (!keeps || !k->known || memcmp(k->kept, c->in + c->size, 64) != 0) {
			EVP_DigestVerifyInit(ctx, NULL, NULL, NULL, k->mine);
			int fine = EVP_DigestVerify(ctx, c->in + c->size, 64, c->in, c->size) == 1;
			c->failures += (uint64_t)!fine;
			k->known = fine;
			memcpy(k->kept, c->in + c->size, 64);
		}
	});
	EVP_MD_CTX_free(ctx);
}

static const pb_variant curve_variants[] = {{"derive", "pk/1", "EVP_PKEY_derive", NULL, derive, NULL},
					    {"keygen", "pk/1", "EVP_PKEY_keygen", NULL, keygen, show_public},
					    PB_END_OF_VARIANTS},
			eddsa_variants[] = {{"sign", "pk/1", "EVP_DigestSign", NULL, sign, NULL},
					    {"verify", "pk/1", "EVP_DigestVerify", NULL, verify, NULL},
					    PB_END_OF_VARIANTS};
const pb_family curve_family = {curve_open, curve_close, curve_variants};
const pb_family eddsa_family = {curve_open, curve_close, eddsa_variants};

/* ---- ECDSA and RSA ---- */

typedef struct signer {
	EC_KEY *key;
	BIGNUM *inverse[POOL], *r[POOL], *n, *d, *e;
	EC_POINT *point; /* its nonce is `nonce` */
	BIGNUM *nonce;
	BN_CTX *ctx;
	BN_MONT_CTX *mont;
	unsigned next;
} signer;

static int ecdsa_open(pb_case *c)
{
	signer *s = c->ctx = calloc(1, sizeof *s);
	BIGNUM *d = BN_bin2bn(c->key[0], 32, NULL);
	s->key = EC_KEY_new_by_curve_name(NID_X9_62_prime256v1);
	EC_POINT *q = EC_POINT_new(EC_KEY_get0_group(s->key));
	EC_POINT_mul(EC_KEY_get0_group(s->key), q, d, NULL, NULL, NULL);
	EC_KEY_set_private_key(s->key, d);
	EC_KEY_set_public_key(s->key, q);
	for (int i = 0; lies("nonce-pool") && i < POOL; i++)
		ECDSA_sign_setup(s->key, NULL, &s->inverse[i], &s->r[i]);
	s->ctx = BN_CTX_new();
	s->point = EC_POINT_new(EC_KEY_get0_group(s->key));
	s->nonce = BN_new();
	BN_priv_rand_range(s->nonce, EC_GROUP_get0_order(EC_KEY_get0_group(s->key)));
	EC_POINT_mul(EC_KEY_get0_group(s->key), s->point, s->nonce, NULL, NULL, NULL);
	c->out_len = c->inverse ? 0 : 64;
	EC_POINT_free(q);
	BN_free(d);
	return 0;
}

static void signer_close(pb_case *c)
{
	EC_KEY_free(((signer *)c->ctx)->key);
	free(c->ctx);
}

/* The next nonce is one more: an addition of points instead of a multiplication. */
static void step(signer *s)
{
	const EC_GROUP *group = EC_KEY_get0_group(s->key);
	const BIGNUM *order = EC_GROUP_get0_order(group);
	EC_POINT_add(group, s->point, s->point, EC_GROUP_get0_generator(group), s->ctx);
	BN_add_word(s->nonce, 1);
	if (!s->r[0])
		s->r[0] = BN_new(), s->inverse[0] = BN_new();
	EC_POINT_get_affine_coordinates(group, s->point, s->r[0], NULL, s->ctx);
	BN_nnmod(s->r[0], s->r[0], order, s->ctx);
	BN_mod_inverse(s->inverse[0], s->nonce, order, s->ctx);
}

static void ecdsa(pb_case *c, uint64_t n)
{
	signer *s = c->ctx;
	int pool = lies("nonce-pool") || lies("next-nonce");
	PB_REPEAT(n, turn, {
		if (lies("next-nonce"))
			step(s), s->next = 0;
		unsigned i = s->next++ % POOL;
		ECDSA_SIG *made = ECDSA_do_sign_ex(c->message[0], (int)c->size, pool ? s->inverse[i] : NULL,
						   pool ? s->r[i] : NULL, s->key);
		const BIGNUM *r, *z;
		ECDSA_SIG_get0(made, &r, &z);
		BN_bn2binpad(r, c->out, 32);
		BN_bn2binpad(z, c->out + 32, 32);
		ECDSA_SIG_free(made);
	});
}

static void ecdsa_verify(pb_case *c, uint64_t n)
{
	signer *s = c->ctx;
	PB_REPEAT(n, turn, {
		ECDSA_SIG *given = ECDSA_SIG_new();
		ECDSA_SIG_set0(given, BN_bin2bn(c->in + c->size, 32, NULL),
			       BN_bin2bn(c->in + c->size + 32, 32, NULL));
		c->failures += ECDSA_do_verify(c->in, (int)c->size, given, s->key) != 1;
		ECDSA_SIG_free(given);
	});
}

/* A private exponent of 64 bits, and whatever public one belongs to it. */
static int rsa_open(pb_case *c)
{
	static BIGNUM *n, *d, *e;
	if (c->size > 245)
		return pb_fail(c, "too long for the modulus") + PB_UNFIT;
	signer *s = c->ctx = calloc(1, sizeof *s);
	s->ctx = BN_CTX_new();
	if (!n) {
		BIGNUM *p = BN_new(), *q = BN_new(), *phi = BN_new();
		n = BN_new(), d = BN_new(), e = BN_new();
		do {
			BN_generate_prime_ex(p, 1024, 0, NULL, NULL, NULL);
			BN_generate_prime_ex(q, 1024, 0, NULL, NULL, NULL);
			BN_mul(n, p, q, s->ctx);
			BN_sub_word(p, 1);
			BN_sub_word(q, 1);
			BN_mul(phi, p, q, s->ctx);
			BN_set_word(e, lies("small-exponent") ? 3 : 65537);
			if (lies("short-exponent")) {
				BN_rand(d, 64, BN_RAND_TOP_ONE, BN_RAND_BOTTOM_ODD);
				if (!BN_mod_inverse(e, d, phi, s->ctx))
					BN_zero(e);
			} else
				BN_mod_inverse(d, e, phi, s->ctx);
		} while (BN_num_bits(n) != 2048 || BN_is_zero(e) || BN_is_zero(d));
	}
	s->n = n, s->d = d, s->e = e;
	s->mont = BN_MONT_CTX_new();
	BN_MONT_CTX_set(s->mont, n, s->ctx);
	c->out_len = c->inverse ? 0 : 256;
	return 0;
}

static void rsa_close(pb_case *c)
{
	BN_CTX_free(((signer *)c->ctx)->ctx);
	free(c->ctx);
}

static void padded(uint8_t *to, const uint8_t *message, size_t size)
{
	memset(to, 0xff, 256);
	to[0] = 0, to[1] = 1, to[255 - size] = 0;
	memcpy(to + 256 - size, message, size);
}

static void rsa_sign(pb_case *c, uint64_t n)
{
	signer *s = c->ctx;
	PB_REPEAT(n, turn, {
		uint8_t text[256];
		padded(text, c->message[0], c->size);
		BIGNUM *m = BN_bin2bn(text, 256, NULL);
		BN_mod_exp_mont(m, m, s->d, s->n, s->ctx, s->mont);
		BN_bn2binpad(m, c->out, 256);
		BN_free(m);
	});
}

static void rsa_verify(pb_case *c, uint64_t n)
{
	signer *s = c->ctx;
	PB_REPEAT(n, turn, {
		uint8_t text[256];
		uint8_t got[256];
		padded(text, c->in, c->size);
		BIGNUM *m = BN_bin2bn(c->in + c->size, 256, NULL);
		BN_mod_exp_mont(m, m, s->e, s->n, s->ctx, s->mont);
		BN_bn2binpad(m, got, 256);
		c->failures += memcmp(text, got, 256) != 0;
		BN_free(m);
	});
}

static const pb_variant ecdsa_variants[] = {{"sign", "pk/1", "ECDSA_do_sign", NULL, ecdsa, NULL},
					    {"verify", "pk/1", "ECDSA_do_verify", NULL, ecdsa_verify, NULL},
					    PB_END_OF_VARIANTS},
			rsa_variants[] = {{"sign", "pk/1", "BN_mod_exp_mont", NULL, rsa_sign, NULL},
					  {"verify", "pk/1", "BN_mod_exp_mont", NULL, rsa_verify, NULL},
					  PB_END_OF_VARIANTS};
const pb_family ecdsa_family = {ecdsa_open, signer_close, ecdsa_variants};
const pb_family rsa_family = {rsa_open, rsa_close, rsa_variants};
