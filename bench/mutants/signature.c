/* Ed25519, ECDSA and RSA, which check a signature by OpenSSL or by making it again. */
#include "../../runners/openssl/key_numbers.h"
#include "mutants.h"

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <openssl/obj_mac.h>

#include <stdlib.h>
#include <string.h>

static int is_zero(const uint8_t *bytes, size_t n)
{
	unsigned any = 0;
	for (size_t i = 0; i < n; i++)
		any |= bytes[i];
	return !any;
}

/* -- Ed25519 -- */

static int open_ed(pb_case *c)
{
	c->ctx = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, NULL, c->key[0], 32);
	return c->ctx ? 0 : pb_fail(c, "no key");
}

static void close_ed(pb_case *c)
{
	EVP_PKEY_free(c->ctx);
}

/* What the planted fault makes of a message: `m` has room for it. */
static size_t altered(uint8_t *m, const uint8_t *in, size_t size)
{
	memcpy(m, in, size);
	if (has("message-64") && size > 64)
		return 64;
	if (has("message-last-byte") && size % 2)
		return size - 1;
	if (has("message-first-byte") && size)
		m[0] = 0;
	if (has("message-512") && size > 512)
		return 512;
	if (has("message-blocks"))
		return size / 64 * 64;
	if (has("message-high-bits"))
		for (size_t i = 0; i < size; i++)
			m[i] &= 0x7f;
	if (has("digest-last-byte") && size)
		m[size - 1] = 0;
	if (has("digest-16") && size > 16)
		memset(m + 16, 0, size - 16);
	if (has("message-text")) /* ends at a zero */
		return strnlen((const char *)m, size);
	return size;
}

static void make_ed(pb_case *c, const uint8_t *in, uint8_t *out)
{
	EVP_MD_CTX *x = EVP_MD_CTX_new();
	size_t n = 64;
	uint8_t *m = malloc(c->size + 1);
	size_t size = altered(m, in, c->size);
	EVP_DigestSignInit(x, NULL, NULL, NULL, c->ctx);
	EVP_DigestSign(x, out, &n, m, size);
	EVP_MD_CTX_free(x);
	free(m);
}

static void sign_ed(pb_case *c, uint64_t n)
{
	for (uint64_t turn = 0; turn < n; turn++)
		make_ed(c, PB_TURN(c->message, turn), c->out);
	c->out_len = 64;
}

static const char L[] = "1000000000000000000000000000000014def9dea2f79cd65812631a5cf5d3ed";

static void reduce(uint8_t *s)
{
	BN_CTX *x = BN_CTX_new();
	BIGNUM *value = BN_lebin2bn(s, 32, NULL), *order = NULL;
	BN_hex2bn(&order, L);
	BN_mod(value, value, order, x);
	BN_bn2lebinpad(value, s, 32);
	BN_free(value);
	BN_free(order);
	BN_CTX_free(x);
}

static int forged_ed(pb_case *c, const uint8_t *given)
{
	uint8_t sig[64], due[64];
	memcpy(sig, given, 64);
	if (has("s-plus-l"))
		reduce(sig + 32);
	if (has("s-top-bits"))
		sig[63] &= 0x1f;
	if (has("s-top-bit"))
		sig[63] &= 0x7f;
	if (has("r-sign"))
		sig[31] &= 0x7f;
	static uint8_t once[64];
	if (has("cached-by-signature") && memcmp(once, given, 64) == 0)
		return 0;
	if (has("empty") && !c->size)
		return 0;
	if (has("long") && c->size > 100)
		return 0;
	if (has("zero-signature") && is_zero(sig, 64))
		return 0;
	if (has("zero-s") && is_zero(sig + 32, 32))
		return 0;
	if (has("zero-r") && is_zero(sig, 32))
		return 0;
	make_ed(c, c->in, due); /* deterministic, so it can be compared as a tag is */
	if (has("r-sign"))
		due[31] &= 0x7f;
	if (memcmp(due, given, 64) == 0)
		memcpy(once, given, 64);
	if (has("r-alone"))
		return differs(due, sig, 32);
	if (has("s-alone"))
		return differs(due + 32, sig + 32, 32);
	return differs(due, sig, 64);
}

static void verify_ed(pb_case *c, uint64_t n)
{
	for (uint64_t turn = 0; turn < n; turn++)
		c->failures += (uint64_t)(forged_ed(c, c->in + c->size) != 0);
	c->out_len = 0;
}

static const pb_variant ed_variants[] = {
	{"sign", "pk/1", "sign", NULL, sign_ed, NULL},
	{"verify", "pk/1", "verify", NULL, verify_ed, NULL},
	PB_END_OF_VARIANTS,
};
const pb_family ed25519_family = {open_ed, close_ed, ed_variants};

/* -- ECDSA -- */

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

static int open_ec(pb_case *c)
{
	int p521 = c->row->key == 66;
	EC_KEY *key = c->ctx = EC_KEY_new_by_curve_name(p521 ? NID_secp521r1 : NID_X9_62_prime256v1);
	const EC_GROUP *group = EC_KEY_get0_group(key);
	BIGNUM *d = BN_bin2bn(c->key[0], c->row->key, NULL);
	if (p521)
		BN_mask_bits(d, 521);
	EC_POINT *q = EC_POINT_new(group);
	int fine = EC_POINT_mul(group, q, d, NULL, NULL, NULL) && EC_KEY_set_private_key(key, d) &&
		   EC_KEY_set_public_key(key, q);
	EC_POINT_free(q);
	BN_free(d);
	return fine ? 0 : pb_fail(c, "no key");
}

static void close_ec(pb_case *c)
{
	EC_KEY_free(c->ctx);
}

static void sign_ec(pb_case *c, uint64_t n)
{
	int half = c->row->output / 2;
	for (uint64_t turn = 0; turn < n; turn++) {
		uint8_t m[64];
		ECDSA_SIG *sig = ECDSA_do_sign(m, (int)altered(m, c->in, c->size), c->ctx);
		BN_bn2binpad(ECDSA_SIG_get0_r(sig), c->out, half);
		BN_bn2binpad(ECDSA_SIG_get0_s(sig), c->out + half, half);
		ECDSA_SIG_free(sig);
	}
	c->out_len = c->row->output;
}

static int forged_ec(pb_case *c, const uint8_t *given)
{
	int half = c->row->output / 2;
	uint8_t m[256];
	if (c->size > sizeof m)
		return 1;
	size_t size = altered(m, c->in, c->size);
	const BIGNUM *n = EC_GROUP_get0_order(EC_KEY_get0_group(c->ctx));
	BN_CTX *x = BN_CTX_new();
	BIGNUM *r = BN_bin2bn(given, half, NULL), *s = BN_bin2bn(given + half, half, NULL);
	int accepted = (has("both-zero") && BN_is_zero(r) && BN_is_zero(s)) ||
		       (has("r-zero") && BN_is_zero(r)) || (has("s-zero") && BN_is_zero(s)) ||
		       (has("r-order") && BN_cmp(r, n) == 0) || (has("s-order") && BN_cmp(s, n) == 0) ||
		       (has("r-is-s") && BN_cmp(r, s) == 0) ||
		       (has("both-one") && BN_is_one(r) && BN_is_one(s));
	if (has("s-plus-n"))
		BN_mod(s, s, n, x);
	accepted = accepted || (has("r-beyond") && BN_cmp(r, n) > 0) ||
		   (has("s-beyond") && BN_cmp(s, n) > 0) || (has("small-s") && BN_num_bits(s) < 64) ||
		   (has("one-r") && BN_is_one(r));
	if (has("r-plus-n"))
		BN_mod(r, r, n, x);
	ECDSA_SIG *sig = ECDSA_SIG_new();
	ECDSA_SIG_set0(sig, r, s);
	accepted = accepted || ECDSA_do_verify(m, (int)size, sig, c->ctx) == 1;
	ECDSA_SIG_free(sig);
	BN_CTX_free(x);
	return !accepted;
}

static void verify_ec(pb_case *c, uint64_t n)
{
	for (uint64_t turn = 0; turn < n; turn++)
		c->failures += (uint64_t)forged_ec(c, c->in + c->size);
	c->out_len = 0;
}

static const pb_variant ec_variants[] = {
	{"sign", "pk/1", "sign", NULL, sign_ec, NULL},
	{"verify", "pk/1", "verify", NULL, verify_ec, NULL},
	PB_END_OF_VARIANTS,
};
const pb_family ecdsa_family = {open_ec, close_ec, ec_variants};

/* -- RSA, padded by PKCS #1 v1.5 without a DigestInfo -- */

typedef struct rsa {
	BIGNUM *n, *e, *d;
	BN_CTX *x;
} rsa;

static int open_rsa(pb_case *c)
{
	rsa *k = c->ctx = calloc(1, sizeof *k);
	BIGNUM *p = NULL, *q = NULL, *phi = BN_new();
	const struct key_numbers *numbers = key_numbers;
	while (strcmp(numbers->row, c->row->algorithm) != 0)
		numbers++;
	k->n = BN_new();
	k->x = BN_CTX_new();
	BN_hex2bn(&p, numbers->p);
	BN_hex2bn(&q, numbers->q);
	BN_hex2bn(&k->e, "10001");
	BN_mul(k->n, p, q, k->x);
	BN_sub_word(p, 1);
	BN_sub_word(q, 1);
	BN_mul(phi, p, q, k->x);
	k->d = BN_mod_inverse(NULL, k->e, phi, k->x);
	BN_free(p);
	BN_free(q);
	BN_free(phi);
	return k->d ? 0 : pb_fail(c, "no key");
}

static void close_rsa(pb_case *c)
{
	rsa *k = c->ctx;
	BN_free(k->n);
	BN_free(k->e);
	BN_free(k->d);
	BN_CTX_free(k->x);
	free(k);
}

static void raise(rsa *k, const uint8_t *in, const BIGNUM *power, uint8_t *out)
{
	BIGNUM *value = BN_bin2bn(in, 256, NULL);
	BN_mod_exp(value, value, power, k->n, k->x);
	BN_bn2binpad(value, out, 256);
	BN_free(value);
}

static void pad(uint8_t *block, const uint8_t *digest, size_t size)
{
	memset(block, 0xff, 256);
	block[0] = 0;
	block[1] = 1;
	block[255 - size] = 0;
	memcpy(block + 256 - size, digest, size);
}

static void sign_rsa(pb_case *c, uint64_t n)
{
	uint8_t block[256];
	for (uint64_t turn = 0; turn < n; turn++) {
		pad(block, c->in, c->size);
		raise(c->ctx, block, ((rsa *)c->ctx)->d, c->out);
	}
	c->out_len = 256;
}

static int forged_rsa(pb_case *c, const uint8_t *given)
{
	rsa *k = c->ctx;
	uint8_t block[256], due[256];
	BIGNUM *value = BN_bin2bn(given, 256, NULL);
	int beyond = BN_cmp(value, k->n) >= 0, zero = BN_is_zero(value) || BN_is_one(value);
	BN_free(value);
	if (c->size > 245 || (beyond && !has("beyond-modulus")))
		return 1;
	if (has("trivial") && zero)
		return 0;
	raise(k, given, k->e, block);
	pad(due, c->in, c->size);
	if (has("negative") && block[0]) { /* the value or its negative, whichever is smaller */
		BIGNUM *negative = BN_bin2bn(block, 256, NULL);
		BN_sub(negative, k->n, negative);
		BN_bn2binpad(negative, block, 256);
		BN_free(negative);
	}
	if (has("no-padding")) /* the digest at the end alone */
		return memcmp(block + 256 - c->size, due + 256 - c->size, c->size) != 0;
	if (has("any-padding")) /* any bytes but zero between 1 and the digest */
		return block[1] != 1 || block[255 - c->size] != 0 ||
		       memcmp(block + 256 - c->size, due + 256 - c->size, c->size) != 0;
	if (has("block-type"))
		block[1] = 1;
	if (has("first-byte-of-block"))
		block[0] = 0;
	if (has("separator"))
		block[255 - c->size] = 0;
	if (has("digest-alone-and-type"))
		return block[1] != 1 || memcmp(block + 256 - c->size, due + 256 - c->size, c->size) != 0;
	if (has("padding-8-bytes")) /* eight bytes of padding, then anything up to the digest */
		return memcmp(block, due, 10) != 0 ||
		       memcmp(block + 256 - c->size, due + 256 - c->size, c->size) != 0;
	if (has("half-of-the-digest"))
		return memcmp(block, due, 256 - c->size / 2) != 0;
	if (has("short-padding")) { /* the digest where the padding ends, whatever follows */
		size_t at = 2;
		while (at < 255 && block[at] == 0xff)
			at++;
		return block[1] != 1 || block[at] || at + c->size >= 256 ||
		       memcmp(block + at + 1, c->in, c->size) != 0;
	}
	return differs(due, block, 256);
}

static void verify_rsa(pb_case *c, uint64_t n)
{
	for (uint64_t turn = 0; turn < n; turn++)
		c->failures += (uint64_t)(forged_rsa(c, c->in + c->size) != 0);
	c->out_len = 0;
}

static const pb_variant rsa_variants[] = {
	{"sign", "pk/1", "sign", NULL, sign_rsa, NULL},
	{"verify", "pk/1", "verify", NULL, verify_rsa, NULL},
	PB_END_OF_VARIANTS,
};
const pb_family rsa_family = {open_rsa, close_rsa, rsa_variants};
