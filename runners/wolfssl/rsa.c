/* RSA of wolfCrypt over a digest that was computed beforehand, with the key of the OpenSSL runners. */
#include "families.h"

#include "../openssl/key_numbers.h"

#include <wolfssl/wolfcrypt/rsa.h>

#include <string.h>

static void rsa_close(pb_case *c)
{
	if (c->ctx)
		wc_FreeRsaKey(c->ctx);
	free_context(c);
}

/* No function takes two primes alone; the numbers of a key are the library's own, in the open. */
static int read_key(RsaKey *key, const struct key_numbers *k)
{
	mp_int phi;
	int error = mp_init(&phi);
	error = error ? error : mp_read_radix(&key->p, k->p, MP_RADIX_HEX);
	error = error ? error : mp_read_radix(&key->q, k->q, MP_RADIX_HEX);
	error = error ? error : mp_set_int(&key->e, 65537);
	error = error ? error : mp_mul(&key->p, &key->q, &key->n);
	error = error ? error : mp_sub_d(&key->p, 1, &key->dP);
	error = error ? error : mp_sub_d(&key->q, 1, &key->dQ);
	error = error ? error : mp_mul(&key->dP, &key->dQ, &phi);
	error = error ? error : mp_invmod(&key->e, &phi, &key->d);
	error = error ? error : mp_mod(&key->d, &key->dP, &key->dP);
	error = error ? error : mp_mod(&key->d, &key->dQ, &key->dQ);
	error = error ? error : mp_invmod(&key->q, &key->p, &key->u);
	mp_clear(&phi);
	key->type = RSA_PRIVATE;
	return error;
}

static int rsa_open(pb_case *c)
{
	enum { PKCS1_OVERHEAD = 11 };
	const struct key_numbers *k = key_numbers;
	while (strncmp(k->row, "rsa", 3) != 0 || strcmp(k->row + 3, strrchr(c->row->algorithm, '-')) != 0)
		k++;
	if (strncmp(c->row->algorithm, "rsa-pss", 7) == 0 && c->size != 32)
		return pb_fail(c, "%s signs a SHA-256 digest of 32 bytes", c->row->algorithm);
	if (c->size + PKCS1_OVERHEAD > c->row->output)
		return pb_fail(c, "%s signs at most %d bytes", c->row->algorithm,
			       c->row->output - PKCS1_OVERHEAD);
	RsaKey *key = new_context(c, sizeof *key);
	if (!key)
		return opened(c, MEMORY_E, "a context");
	c->out_len = c->inverse ? 0 : c->row->output;
	int error = wc_InitRsaKey(key, NULL);
	error = error ? error : read_key(key, k);
#ifdef WC_RSA_BLINDING
	error = error ? error : wc_RsaSetRNG(key, &rng);
#endif
	return opened(c, error, "the key");
}

static int pkcs1_refuses(RsaKey *key, const uint8_t *in, size_t size, size_t length)
{
	uint8_t padded[512];
	int got = wc_RsaSSL_Verify(in + size, (word32)length, padded, sizeof padded, key);
	return got != (int)size || memcmp(padded, in, size) != 0;
}

PB_LOOP(pkcs1_sign, RsaKey,
	wc_RsaSSL_Sign(in, (word32)size, out, (word32)out_max, state, &rng) != (int)out_max)
PB_LOOP(pkcs1_verify, RsaKey, pkcs1_refuses(state, in, size, out_max))
static const pb_variant pkcs1_variants[] = {
	{"sign", "pk/1", "wc_RsaSSL_Sign", NULL, pkcs1_sign, NULL},
	{"verify", "pk/1", "wc_RsaSSL_Verify, memcmp", NULL, pkcs1_verify, NULL},
	PB_END_OF_VARIANTS,
};
static const pb_family pkcs1_family = {rsa_open, rsa_close, pkcs1_variants};

#ifdef WC_RSA_PSS
static int pss_refuses(RsaKey *key, const uint8_t *in, size_t length)
{
	uint8_t padded[512];
	/* The interface takes a signature that is not const, and does not write to it. */
	return wc_RsaPSS_VerifyCheck((uint8_t *)(uintptr_t)(in + 32), (word32)length, padded, sizeof padded,
				     in, 32, WC_HASH_TYPE_SHA256, WC_MGF1SHA256, key) <= 0;
}

PB_LOOP(pss_sign, RsaKey,
	wc_RsaPSS_Sign(in, (word32)size, out, (word32)out_max, WC_HASH_TYPE_SHA256, WC_MGF1SHA256, state,
		       &rng) != (int)out_max)
PB_LOOP(pss_verify, RsaKey, pss_refuses(state, in, out_max))
static const pb_variant pss_variants[] = {
	{"sign", "pk/1", "wc_RsaPSS_Sign", NULL, pss_sign, NULL},
	{"verify", "pk/1", "wc_RsaPSS_VerifyCheck", NULL, pss_verify, NULL},
	PB_END_OF_VARIANTS,
};
static const pb_family pss_family = {rsa_open, rsa_close, pss_variants};
#endif

const pb_row rsa_rows[] = {
	ROW("rsa-2048", pkcs1, 256, 0, 1, 256),
	ROW("rsa-3072", pkcs1, 384, 0, 1, 384),
	ROW("rsa-4096", pkcs1, 512, 0, 1, 512),
#ifdef WC_RSA_PSS
	ROW("rsa-pss-2048", pss, 256, 0, 1, 256),
	ROW("rsa-pss-3072", pss, 384, 0, 1, 384),
	ROW("rsa-pss-4096", pss, 512, 0, 1, 512),
#endif
	PB_END_OF_ROWS,
};
