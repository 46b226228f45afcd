/* RSA over a digest that was computed beforehand, with the key of the OpenSSL runners. */
#include "../openssl/key_numbers.h"
#include "families.h"

#include <openssl/bn.h>
#include <openssl/digest.h>
#include <openssl/rsa.h>

#include <string.h>

static BIGNUM *from_hex(const char *digits)
{
	BIGNUM *number = NULL;
	return BN_hex2bn(&number, digits) ? number : NULL;
}

static RSA *new_key(const pb_row *row)
{
	const struct key_numbers *k = key_numbers;
	while (strncmp(k->row, "rsa", 3) != 0 || strcmp(k->row + 3, strrchr(row->algorithm, '-')) != 0)
		k++;
	RSA *key = RSA_new();
	BN_CTX *scratch = BN_CTX_new();
	BIGNUM *p = from_hex(k->p), *q = from_hex(k->q), *e = from_hex("10001"), *n = BN_new(), *d = BN_new(),
	       *p1 = BN_new(), *q1 = BN_new(), *phi = BN_new(), *inverse = BN_new();
	int made = key && scratch && p && q && e && n && d && p1 && q1 && phi && inverse &&
		   BN_mul(n, p, q, scratch) && BN_sub(p1, p, BN_value_one()) &&
		   BN_sub(q1, q, BN_value_one()) && BN_mul(phi, p1, q1, scratch) &&
		   BN_mod_inverse(d, e, phi, scratch) && BN_nnmod(p1, d, p1, scratch) &&
		   BN_nnmod(q1, d, q1, scratch) && BN_mod_inverse(inverse, q, p, scratch);
	BN_free(phi);
	BN_CTX_free(scratch);
	if (made && RSA_set0_key(key, n, e, d) && RSA_set0_factors(key, p, q) &&
	    RSA_set0_crt_params(key, p1, q1, inverse))
		return key;
	RSA_free(key);
	return NULL;
}

static int is_pss(const pb_case *c)
{
	return strncmp(c->row->algorithm, "rsa-pss", 7) == 0;
}

static int rsa_open(pb_case *c)
{
	enum { PKCS1_OVERHEAD = 11 };
	if (is_pss(c) && c->size != 32)
		return pb_fail(c, "%s signs a SHA-256 digest of 32 bytes", c->row->algorithm);
	if (c->size + PKCS1_OVERHEAD > c->row->output)
		return pb_fail(c, "%s signs at most %d bytes", c->row->algorithm,
			       c->row->output - PKCS1_OVERHEAD);
	c->out_len = c->inverse ? 0 : c->row->output;
	return (c->ctx = new_key(c->row)) ? 0 : library_fail(c, "the key");
}

static void rsa_close(pb_case *c)
{
	RSA_free(c->ctx);
	c->ctx = NULL;
}

static int pkcs1_refuses(RSA *key, const uint8_t *in, size_t size, size_t length)
{
	uint8_t padded[512];
	size_t got = 0;
	return !RSA_verify_raw(key, &got, padded, sizeof padded, in + size, length, RSA_PKCS1_PADDING) ||
	       got != size || memcmp(padded, in, size) != 0;
}

#define LENGTH (&(size_t){0})
PB_LOOP(pkcs1_sign, RSA, !RSA_sign_raw(state, LENGTH, out, out_max, in, size, RSA_PKCS1_PADDING))
PB_LOOP(pkcs1_verify, RSA, pkcs1_refuses(state, in, size, out_max))
PB_LOOP(pss_sign, RSA, !RSA_sign_pss_mgf1(state, LENGTH, out, out_max, in, size, EVP_sha256(), NULL, 32))
PB_LOOP(pss_verify, RSA, !RSA_verify_pss_mgf1(state, in, size, EVP_sha256(), NULL, 32, in + size, out_max))

static const pb_variant pkcs1_variants[] = {
	{"sign", "pk/1", "RSA_sign_raw", NULL, pkcs1_sign, NULL},
	{"verify", "pk/1", "RSA_verify_raw, memcmp", NULL, pkcs1_verify, NULL},
	PB_END_OF_VARIANTS,
};
static const pb_variant pss_variants[] = {
	{"sign", "pk/1", "RSA_sign_pss_mgf1", NULL, pss_sign, NULL},
	{"verify", "pk/1", "RSA_verify_pss_mgf1", NULL, pss_verify, NULL},
	PB_END_OF_VARIANTS,
};
static const pb_family pkcs1_family = {rsa_open, rsa_close, pkcs1_variants};
static const pb_family pss_family = {rsa_open, rsa_close, pss_variants};

const pb_row rsa_rows[] = {
	{"rsa-2048", &pkcs1_family, NULL, 256, 0, 1, 256},
	{"rsa-3072", &pkcs1_family, NULL, 384, 0, 1, 384},
	{"rsa-4096", &pkcs1_family, NULL, 512, 0, 1, 512},
	{"rsa-pss-2048", &pss_family, NULL, 256, 0, 1, 256},
	{"rsa-pss-3072", &pss_family, NULL, 384, 0, 1, 384},
	{"rsa-pss-4096", &pss_family, NULL, 512, 0, 1, 512},
	PB_END_OF_ROWS,
};
