/* Key derivation and password hashes through EVP_KDF, on a context that lives as long as the case. */
#include "evp.h"

#include <openssl/core_names.h>
#include <openssl/kdf.h>
#include <openssl/params.h>

#include <stdlib.h>

enum { PARAMS = 10 };

struct state {
	EVP_KDF_CTX *ctx;
	uint64_t n;
	uint32_t r, p, memory, passes, lanes;
	unsigned iterations;
	OSSL_PARAM params[PB_RING][PARAMS]; /* one list for each salt, and each key of HKDF */
};

static void kdf_close(pb_case *c)
{
	struct state *state = c->ctx;
	if (!state)
		return;
	EVP_KDF_CTX_free(state->ctx);
	free(state);
	c->ctx = NULL;
}

static OSSL_PARAM bytes(const char *name, const uint8_t *at, size_t length)
{
	return OSSL_PARAM_construct_octet_string(name, (void *)at, length);
}

static void lay_out(const pb_case *c, struct state *s, OSSL_PARAM *at, int i)
{
	const struct evp_kdf *kind = c->row->param;
	if (kind->digest)
		*at++ = OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, (char *)kind->digest, 0);
	if (c->nonce_len)
		*at++ = bytes(OSSL_KDF_PARAM_SALT, c->nonce[i], c->nonce_len);
	switch (kind->which) {
	case EVP_HKDF:
		*at++ = bytes(OSSL_KDF_PARAM_KEY, c->key[0], c->key_len);
		*at++ = bytes(OSSL_KDF_PARAM_INFO, c->aad, c->aad_len);
		break;
	case EVP_PBKDF2:
		*at++ = bytes(OSSL_KDF_PARAM_PASSWORD, c->in, c->size);
		*at++ = OSSL_PARAM_construct_uint(OSSL_KDF_PARAM_ITER, &s->iterations);
		break;
	case EVP_SCRYPT:
		*at++ = bytes(OSSL_KDF_PARAM_PASSWORD, c->in, c->size);
		*at++ = OSSL_PARAM_construct_uint64(OSSL_KDF_PARAM_SCRYPT_N, &s->n);
		*at++ = OSSL_PARAM_construct_uint32(OSSL_KDF_PARAM_SCRYPT_R, &s->r);
		*at++ = OSSL_PARAM_construct_uint32(OSSL_KDF_PARAM_SCRYPT_P, &s->p);
		break;
	case EVP_ARGON2:
		*at++ = bytes(OSSL_KDF_PARAM_PASSWORD, c->in, c->size);
		*at++ = OSSL_PARAM_construct_uint32("memcost", &s->memory);
		*at++ = OSSL_PARAM_construct_uint32(OSSL_KDF_PARAM_ITER, &s->passes);
		*at++ = OSSL_PARAM_construct_uint32("lanes", &s->lanes);
		break;
	}
	*at = OSSL_PARAM_construct_end();
}

/* Untimed, before every sample: an audit moves the data, and the lists hold where they are. */
static void lay_out_all(pb_case *c)
{
	struct state *state = c->ctx;
	for (int i = 0; i < PB_RING; i++)
		lay_out(c, state, state->params[i], i);
}

static int kdf_open(pb_case *c)
{
	const struct evp_kdf *kind = c->row->param;
#ifdef RUNNER_FIPS
	if (c->given && kind->which == EVP_PBKDF2 && (c->nonce_len < 16 || c->size < 8))
		return pb_fail(c, "PBKDF2 of the module takes salts of 16 bytes, passwords of 8, and more") +
		       PB_UNFIT;
#endif
	struct state *state = c->ctx = calloc(1, sizeof *state);
	if (!state)
		return pb_fail(c, "out of memory");
	EVP_KDF *kdf = EVP_KDF_fetch(NULL, kind->name, NULL);
	state->ctx = kdf ? EVP_KDF_CTX_new(kdf) : NULL;
	EVP_KDF_free(kdf); /* the context keeps its own reference */
	state->iterations = kind->cost;
	state->n = kind->cost;
	state->r = 8;
	state->p = state->lanes = 1;
	state->memory = 65536;
	state->passes = 2;
	lay_out_all(c);
	if (kind->which != EVP_HKDF)
		c->out_len = c->row->output;
	if (state->ctx)
		return 0;
	evp_fail(c, "EVP_KDF_fetch");
	kdf_close(c);
	return -1;
}

PB_LOOP(expand, struct state, EVP_KDF_derive(state->ctx, out, size, PB_TURN(state->params, turn)) != 1)
PB_LOOP(hash_password, struct state,
	EVP_KDF_derive(state->ctx, out, out_max, PB_TURN(state->params, turn)) != 1)

static const pb_variant hkdf_variants[] = {
	{"expand", "expand/1", "EVP_KDF_derive(key, salt, info)", lay_out_all, expand, NULL},
	PB_END_OF_VARIANTS,
};
static const pb_variant password_variants[] = {
	{"hash", "password/1", "EVP_KDF_derive(password, salt, cost)", lay_out_all, hash_password, NULL},
	PB_END_OF_VARIANTS,
};

const pb_family evp_hkdf_family = {kdf_open, kdf_close, hkdf_variants};
const pb_family evp_password_family = {kdf_open, kdf_close, password_variants};

#define KDF(ID, FAMILY, NAME, DIGEST, WHICH, COST, KEY, SALT, OUT)                                           \
	{                                                                                                    \
		ID, &FAMILY, &(const struct evp_kdf){NAME, DIGEST, WHICH, COST}, KEY, SALT, 1, OUT           \
	}

const pb_row evp_kdf_rows[] = {
	KDF("hkdf-sha-256", evp_hkdf_family, "HKDF", "SHA256", EVP_HKDF, 0, 32, 32, 0),
	KDF("hkdf-sha-512", evp_hkdf_family, "HKDF", "SHA512", EVP_HKDF, 0, 32, 32, 0),
	KDF("pbkdf2-sha-256-4096", evp_password_family, "PBKDF2", "SHA256", EVP_PBKDF2, 4096, 0, 16, 32),
	KDF("pbkdf2-sha-256-600000", evp_password_family, "PBKDF2", "SHA256", EVP_PBKDF2, 600000, 0, 16, 32),
	KDF("scrypt-16384-8-1", evp_password_family, "SCRYPT", NULL, EVP_SCRYPT, 16384, 0, 16, 64),
	KDF("argon2id-64mib-2-1", evp_password_family, "ARGON2ID", NULL, EVP_ARGON2, 0, 0, 16, 32),
	PB_END_OF_ROWS,
};
