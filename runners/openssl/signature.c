/* RSA and DSA signatures through EVP_PKEY, pk/1. The first `size` bytes of the data are signed as they are,
 * as a digest that was computed beforehand: RSA pads them by PKCS #1 v1.5 without a DigestInfo, DSA cuts them
 * to the length of q. The keys are those of key_numbers.h. */
#include "evp.h"
#include "key_numbers.h"
#include "load_primes.h"

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>

#include <stdlib.h>
#include <string.h>

/* The numbers of a key, by their parameter names, collected and turned into an EVP_PKEY. */
struct numbers {
	OSSL_PARAM_BLD *build;
	BN_CTX *scratch;
};

static BIGNUM *from_hex(struct numbers *n, const char *digits)
{
	BIGNUM *value = BN_CTX_get(n->scratch);
	return value && BN_hex2bn(&value, digits) ? value : NULL;
}

static int push(struct numbers *n, const char *name, const BIGNUM *value)
{
	return OSSL_PARAM_BLD_push_BN(n->build, name, value);
}

static int push_rsa(struct numbers *n, const struct key_numbers *k)
{
	BN_CTX *s = n->scratch;
	BIGNUM *p = from_hex(n, k->p), *q = from_hex(n, k->q), *e = from_hex(n, "10001");
	BIGNUM *modulus = BN_CTX_get(s), *p1 = BN_CTX_get(s), *q1 = BN_CTX_get(s), *phi = BN_CTX_get(s);
	BIGNUM *d = BN_CTX_get(s), *dp = BN_CTX_get(s), *dq = BN_CTX_get(s), *qi = BN_CTX_get(s);
	return qi && p && q && e && BN_mul(modulus, p, q, s) && BN_sub(p1, p, BN_value_one()) &&
	       BN_sub(q1, q, BN_value_one()) && BN_mul(phi, p1, q1, s) && BN_mod_inverse(d, e, phi, s) &&
	       BN_mod(dp, d, p1, s) && BN_mod(dq, d, q1, s) && BN_mod_inverse(qi, q, p, s) &&
	       push(n, OSSL_PKEY_PARAM_RSA_N, modulus) && push(n, OSSL_PKEY_PARAM_RSA_E, e) &&
	       push(n, OSSL_PKEY_PARAM_RSA_D, d) && push(n, OSSL_PKEY_PARAM_RSA_FACTOR1, p) &&
	       push(n, OSSL_PKEY_PARAM_RSA_FACTOR2, q) && push(n, OSSL_PKEY_PARAM_RSA_EXPONENT1, dp) &&
	       push(n, OSSL_PKEY_PARAM_RSA_EXPONENT2, dq) && push(n, OSSL_PKEY_PARAM_RSA_COEFFICIENT1, qi);
}

static int push_dsa(struct numbers *n, const struct key_numbers *k)
{
	BN_CTX *s = n->scratch;
	BIGNUM *p = from_hex(n, k->p), *q = from_hex(n, k->q), *x = from_hex(n, k->x),
	       *two = from_hex(n, "2");
	BIGNUM *p1 = BN_CTX_get(s), *cofactor = BN_CTX_get(s), *g = BN_CTX_get(s), *y = BN_CTX_get(s);
	return y && p && q && x && two && BN_sub(p1, p, BN_value_one()) && BN_div(cofactor, NULL, p1, q, s) &&
	       BN_mod_exp(g, two, cofactor, p, s) && BN_mod_exp(y, g, x, p, s) &&
	       push(n, OSSL_PKEY_PARAM_FFC_P, p) && push(n, OSSL_PKEY_PARAM_FFC_Q, q) &&
	       push(n, OSSL_PKEY_PARAM_FFC_G, g) && push(n, OSSL_PKEY_PARAM_PUB_KEY, y) &&
	       push(n, OSSL_PKEY_PARAM_PRIV_KEY, x);
}

static EVP_PKEY *make_key(int rsa, const struct key_numbers *k)
{
	struct numbers n = {OSSL_PARAM_BLD_new(), BN_CTX_new()};
	EVP_PKEY_CTX *from = EVP_PKEY_CTX_new_from_name(NULL, rsa ? "RSA" : "DSA", NULL);
	OSSL_PARAM *params = NULL;
	EVP_PKEY *key = NULL;
	if (n.build && n.scratch && from) {
		BN_CTX_start(n.scratch);
		if (rsa ? push_rsa(&n, k) : push_dsa(&n, k))
			params = OSSL_PARAM_BLD_to_param(n.build);
		BN_CTX_end(n.scratch);
		if (!params || EVP_PKEY_fromdata_init(from) != 1 ||
		    EVP_PKEY_fromdata(from, &key, EVP_PKEY_KEYPAIR, params) != 1)
			key = NULL;
	}
	OSSL_PARAM_free(params);
	EVP_PKEY_CTX_free(from);
	BN_CTX_free(n.scratch);
	OSSL_PARAM_BLD_free(n.build);
	return key;
}

static void signature_close(pb_case *c)
{
	EVP_PKEY_CTX_free(c->ctx);
	c->ctx = NULL;
}

/* New RSA pairs, draw/1: the maker has the length of the modulus, and keeps the exponent 65537. */
struct pairs {
	EVP_PKEY_CTX *maker;
	EVP_PKEY *made;
};

static void pairs_close(pb_case *c)
{
	struct pairs *pairs = c->ctx;
	if (!pairs)
		return;
	EVP_PKEY_free(pairs->made);
	EVP_PKEY_CTX_free(pairs->maker);
	free(pairs);
	c->ctx = NULL;
}

static int pairs_open(pb_case *c)
{
	struct pairs *pairs = c->ctx = calloc(1, sizeof *pairs);
	if (!pairs)
		return pb_fail(c, "out of memory");
	pairs->maker = EVP_PKEY_CTX_new_from_name(NULL, "RSA", NULL);
	c->out_len = c->row->output;
	if (pairs->maker && EVP_PKEY_keygen_init(pairs->maker) == 1 &&
	    EVP_PKEY_CTX_set_rsa_keygen_bits(pairs->maker, 8 * c->row->output) == 1)
		return 0;
	evp_fail(c, "EVP_PKEY_keygen_init");
	pairs_close(c);
	return -1;
}

PB_LOOP(make_pairs, struct pairs,
	(EVP_PKEY_free(state->made), state->made = NULL, EVP_PKEY_generate(state->maker, &state->made) != 1))

/* What the last pair signs, it must verify; the modulus has all of its bits. */
static void show_modulus(pb_case *c)
{
	struct pairs *pairs = c->ctx;
	static uint8_t signature[512];
	size_t length = sizeof signature, size = c->size < 32 ? c->size : 32;
	BIGNUM *modulus = NULL, *exponent = NULL;
	EVP_PKEY_CTX *ctx = pairs->made ? EVP_PKEY_CTX_new_from_pkey(NULL, pairs->made, NULL) : NULL;
	c->failures += !ctx || EVP_PKEY_sign_init(ctx) != 1 ||
		       EVP_PKEY_sign(ctx, signature, &length, c->in, size) != 1 ||
		       EVP_PKEY_verify_init(ctx) != 1 ||
		       EVP_PKEY_verify(ctx, signature, length, c->in, size) != 1 ||
		       EVP_PKEY_get_bn_param(pairs->made, OSSL_PKEY_PARAM_RSA_N, &modulus) != 1 ||
		       EVP_PKEY_get_bn_param(pairs->made, OSSL_PKEY_PARAM_RSA_E, &exponent) != 1 ||
		       BN_num_bits(modulus) != 8 * c->row->output || !BN_is_word(exponent, 65537) ||
		       BN_bn2binpad(modulus, c->out, c->row->output) != c->row->output;
	BN_free(exponent);
	BN_free(modulus);
	EVP_PKEY_CTX_free(ctx);
}

/* Private keys read from PKCS #8. The data choose one of several, all of which have encodings of one length; they
 * are copied by arithmetic, so that nothing before the call depends on which. */
enum { MOST_KEYS = 16, ENCODED_ROOM = 2048 };

struct loader {
	EVP_PKEY *made;
	long length;
	unsigned keys;
	uint8_t chosen[ENCODED_ROOM], encoded[MOST_KEYS][ENCODED_ROOM];
};

static void add_key(struct loader *loader, const struct key_numbers *k)
{
	EVP_PKEY *key = make_key(1, k);
	PKCS8_PRIV_KEY_INFO *info = key ? EVP_PKEY2PKCS8(key) : NULL;
	int length = info ? i2d_PKCS8_PRIV_KEY_INFO(info, NULL) : 0;
	uint8_t *to = loader->encoded[loader->keys];
	if (length > 0 && length <= ENCODED_ROOM && (!loader->keys || length == loader->length)) {
		loader->length = i2d_PKCS8_PRIV_KEY_INFO(info, &to);
		loader->keys++;
	}
	PKCS8_PRIV_KEY_INFO_free(info);
	EVP_PKEY_free(key);
}

static void loader_close(pb_case *c)
{
	struct loader *loader = c->ctx;
	if (loader)
		EVP_PKEY_free(loader->made);
	free(loader);
	c->ctx = NULL;
}

static int loader_open(pb_case *c)
{
	enum { PRIMES = sizeof load_primes / sizeof *load_primes };
	struct loader *loader = c->ctx = calloc(1, sizeof *loader);
	if (!loader)
		return pb_fail(c, "out of memory");
	for (int i = 0; i < PRIMES; i++)
		for (int j = 0; j < i && loader->keys < MOST_KEYS; j++)
			add_key(loader, &(struct key_numbers){NULL, load_primes[i], load_primes[j], NULL});
	c->out_len = c->row->output;
	if (loader->keys)
		return 0;
	evp_fail(c, "no key could be encoded");
	loader_close(c);
	return -1;
}

static void choose_key(pb_case *c)
{
	struct loader *loader = c->ctx;
	unsigned which = c->size ? c->in[0] % loader->keys : 0;
	memset(loader->chosen, 0, sizeof loader->chosen);
	for (unsigned key = 0; key < loader->keys; key++) {
		uint8_t mask = (uint8_t)(0u - (((key ^ which) - 1u) >> 31));
		__asm__ volatile("" : "+r"(mask));
		for (long i = 0; i < loader->length; i++)
			loader->chosen[i] |= loader->encoded[key][i] & mask;
	}
}

static void load_keys(pb_case *c, uint64_t n)
{
	struct loader *loader = c->ctx;
	uint64_t bad = 0;
	PB_REPEAT(n, turn, {
		const uint8_t *at = loader->chosen;
		EVP_PKEY_free(loader->made);
		loader->made = d2i_AutoPrivateKey(NULL, &at, loader->length);
		bad += !loader->made;
	});
	c->failures += bad;
}

static void show_loaded(pb_case *c)
{
	struct loader *loader = c->ctx;
	BIGNUM *modulus = NULL;
	c->failures += !loader->made ||
		       EVP_PKEY_get_bn_param(loader->made, OSSL_PKEY_PARAM_RSA_N, &modulus) != 1 ||
		       BN_bn2binpad(modulus, c->out, c->row->output) != c->row->output;
	BN_free(modulus);
}

static int signature_open(pb_case *c)
{
	enum { PKCS1_OVERHEAD = 11 };
	int pss = c->row->family == &evp_pss_family;
	if (pss && c->size != 32)
		return pb_fail(c, "%s signs a SHA-256 digest of 32 bytes", c->row->algorithm);
	if (c->row->family == &evp_rsa_family && c->size + PKCS1_OVERHEAD > c->row->output)
		return pb_fail(c, "%s signs at most %d bytes", c->row->algorithm,
			       c->row->output - PKCS1_OVERHEAD);
	EVP_PKEY *key = make_key(c->row->family != &evp_dsa_family, c->row->param);
	EVP_PKEY_CTX *ctx = key ? EVP_PKEY_CTX_new_from_pkey(NULL, key, NULL) : NULL;
	EVP_PKEY_free(key); /* the context keeps its own reference */
	c->ctx = ctx;
	c->out_len = c->inverse ? 0 : c->row->output;
	if (ctx && (c->inverse ? EVP_PKEY_verify_init(ctx) : EVP_PKEY_sign_init(ctx)) == 1 &&
	    (c->row->family == &evp_dsa_family ||
	     EVP_PKEY_CTX_set_rsa_padding(ctx, pss ? RSA_PKCS1_PSS_PADDING : RSA_PKCS1_PADDING) == 1) &&
	    (!pss || (EVP_PKEY_CTX_set_signature_md(ctx, EVP_sha256()) == 1 &&
		      EVP_PKEY_CTX_set_rsa_pss_saltlen(ctx, 32) == 1)))
		return 0;
	evp_fail(c, "EVP_PKEY_sign_init or EVP_PKEY_verify_init");
	signature_close(c);
	return -1;
}

static void sign(pb_case *c, uint64_t n)
{
	EVP_PKEY_CTX *ctx = c->ctx;
	const uint8_t *in = c->in;
	uint8_t *out = c->out;
	size_t size = c->size, room = c->row->output, length = 0;
	uint64_t bad = 0;
	PB_REPEAT(n, turn, {
		length = room;
		bad += EVP_PKEY_sign(ctx, out, &length, in, size) != 1;
	});
	if (bad)
		evp_fail(c, "EVP_PKEY_sign");
	c->failures += bad;
	c->out_len = length;
}

/* A DSA signature in DER is of no fixed length. To tell it from the message before it, it is shown with zeros
 * in front of it, so that there are always as many bytes as the longest one has. */
static void show_aligned(pb_case *c)
{
	size_t room = c->row->output, front = room - c->out_len;
	memmove(c->out + front, c->out, c->out_len);
	memset(c->out, 0, front);
	c->out_len = room;
}

static void verify(pb_case *c, uint64_t n)
{
	EVP_PKEY_CTX *ctx = c->ctx;
	const uint8_t *in = c->in, *signature = in + c->size, *end = in + c->in_len;
	size_t size = c->size;
	uint64_t bad = 0;
	if (c->row->family == &evp_dsa_family)
		while (signature < end && !*signature)
			signature++;
	size_t length = (size_t)(end - signature);
	PB_REPEAT(n, turn, bad += EVP_PKEY_verify(ctx, signature, length, in, size) != 1);
	if (bad)
		evp_fail(c, "EVP_PKEY_verify");
	c->failures += bad;
}

static const pb_variant rsa_variants[] = {
	{"sign", "pk/1", "EVP_PKEY_sign", NULL, sign, NULL},
	{"verify", "pk/1", "EVP_PKEY_verify", NULL, verify, NULL},
	PB_END_OF_VARIANTS,
};

static const pb_variant dsa_variants[] = {
	{"sign", "pk/1", "EVP_PKEY_sign", NULL, sign, show_aligned},
	{"verify", "pk/1", "EVP_PKEY_verify", NULL, verify, NULL},
	PB_END_OF_VARIANTS,
};

static const pb_variant pair_variants[] = {
	{"keygen", "draw/1", "EVP_PKEY_generate, EVP_PKEY_free", NULL, make_pairs, show_modulus},
	PB_END_OF_VARIANTS,
};

static const pb_variant load_variants[] = {
	{"load", "pk/1", "d2i_AutoPrivateKey, EVP_PKEY_free", choose_key, load_keys, show_loaded},
	PB_END_OF_VARIANTS,
};

const pb_family evp_rsa_load_family = {loader_open, loader_close, load_variants};
const pb_family evp_rsa_pairs_family = {pairs_open, pairs_close, pair_variants};
const pb_family evp_rsa_family = {signature_open, signature_close, rsa_variants};
const pb_family evp_pss_family = {signature_open, signature_close, rsa_variants};
const pb_family evp_dsa_family = {signature_open, signature_close, dsa_variants};

/* The output of DSA is the longest DER: two numbers of the length of q, each with a sign byte, tag and
 * length. */
const pb_row evp_signature_rows[] = {
	{"rsa-512", &evp_rsa_family, &key_numbers[0], 64, 0, 1, 64},
	{"rsa-1024", &evp_rsa_family, &key_numbers[1], 128, 0, 1, 128},
	{"rsa-2048", &evp_rsa_family, &key_numbers[2], 256, 0, 1, 256},
	{"rsa-3072", &evp_rsa_family, &key_numbers[7], 384, 0, 1, 384},
	{"rsa-4096", &evp_rsa_family, &key_numbers[3], 512, 0, 1, 512},
	{"rsa-2048", &evp_rsa_pairs_family, NULL, 256, 0, 1, 256},
	{"rsa-2048", &evp_rsa_load_family, NULL, 256, 0, 1, 256},
	{"rsa-3072", &evp_rsa_pairs_family, NULL, 384, 0, 1, 384},
	{"rsa-pss-2048", &evp_pss_family, &key_numbers[2], 256, 0, 1, 256},
	{"rsa-pss-3072", &evp_pss_family, &key_numbers[7], 384, 0, 1, 384},
	{"rsa-pss-4096", &evp_pss_family, &key_numbers[3], 512, 0, 1, 512},
	{"dsa-512", &evp_dsa_family, &key_numbers[4], 64, 0, 1, 2 + 2 * (3 + 20)},
	{"dsa-1024", &evp_dsa_family, &key_numbers[5], 128, 0, 1, 2 + 2 * (3 + 20)},
	{"dsa-2048", &evp_dsa_family, &key_numbers[6], 256, 0, 1, 2 + 2 * (3 + 32)},
	PB_END_OF_ROWS,
};
