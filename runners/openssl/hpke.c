/* HPKE (RFC 9180) in base mode, letter/1: a context, an encapsulation and a sealed text for each message, as who sends
 * one message makes them. OpenSSL has it from 3.2 on. */
#include "pkey.h"

#if OPENSSL_VERSION_NUMBER >= 0x30200000L && !defined(OPENSSL_NO_EC)

#include <openssl/hpke.h>

#include <stdlib.h>
#include <string.h>

static const OSSL_HPKE_SUITE x25519_gcm = {OSSL_HPKE_KEM_ID_X25519, OSSL_HPKE_KDF_ID_HKDF_SHA256,
					   OSSL_HPKE_AEAD_ID_AES_GCM_128};
static const OSSL_HPKE_SUITE x25519_chacha = {OSSL_HPKE_KEM_ID_X25519, OSSL_HPKE_KDF_ID_HKDF_SHA256,
					      OSSL_HPKE_AEAD_ID_CHACHA_POLY1305};
static const OSSL_HPKE_SUITE p256_gcm = {OSSL_HPKE_KEM_ID_P256, OSSL_HPKE_KDF_ID_HKDF_SHA256,
					 OSSL_HPKE_AEAD_ID_AES_GCM_128};
static const struct pkey_kind x25519 = {"X25519", NULL, PKEY_RAW}, p256 = {"EC", "prime256v1", PKEY_EC};

enum { LONGEST_POINT = 65, TAG = 16 };

struct state {
	OSSL_HPKE_SUITE suite;
	EVP_PKEY *key;
	uint8_t public[LONGEST_POINT];
	size_t sent, length; /* of an encapsulated key; of what the last call wrote */
};

static void hpke_close(pb_case *c)
{
	struct state *state = c->ctx;
	if (!state)
		return;
	EVP_PKEY_free(state->key);
	free(state);
	c->ctx = NULL;
}

static int hpke_open(pb_case *c)
{
	struct state *state = c->ctx = calloc(1, sizeof *state);
	unsigned char *encoded = NULL;
	if (!state)
		return pb_fail(c, "out of memory");
	state->suite = *(const OSSL_HPKE_SUITE *)c->row->param;
	state->sent = (size_t)c->row->output - TAG;
	state->key = pkey_of(c, state->suite.kem_id == OSSL_HPKE_KEM_ID_P256 ? &p256 : &x25519, c->key[0]);
	c->out_len = c->inverse ? c->size : c->size + c->row->output;
	if (state->key && EVP_PKEY_get1_encoded_public_key(state->key, &encoded) == state->sent) {
		memcpy(state->public, encoded, state->sent);
		OPENSSL_free(encoded);
		return 0;
	}
	OPENSSL_free(encoded);
	if (!c->error[0])
		evp_fail(c, "the public key");
	hpke_close(c);
	return -1;
}

static int seal_one(struct state *s, const uint8_t *info, size_t info_len, const uint8_t *aad, size_t aad_len,
		    const uint8_t *in, size_t size, uint8_t *out)
{
	size_t sent = s->sent;
	s->length = size + TAG;
	OSSL_HPKE_CTX *ctx =
		OSSL_HPKE_CTX_new(OSSL_HPKE_MODE_BASE, s->suite, OSSL_HPKE_ROLE_SENDER, NULL, NULL);
	int done = ctx && OSSL_HPKE_encap(ctx, out, &sent, s->public, s->sent, info, info_len) == 1 &&
		   OSSL_HPKE_seal(ctx, out + s->sent, &s->length, aad, aad_len, in, size) == 1;
	OSSL_HPKE_CTX_free(ctx);
	return !done;
}

static int open_one(struct state *s, const uint8_t *info, size_t info_len, const uint8_t *aad, size_t aad_len,
		    const uint8_t *in, size_t in_len, uint8_t *out)
{
	s->length = in_len - s->sent;
	OSSL_HPKE_CTX *ctx =
		OSSL_HPKE_CTX_new(OSSL_HPKE_MODE_BASE, s->suite, OSSL_HPKE_ROLE_RECEIVER, NULL, NULL);
	int done = ctx && OSSL_HPKE_decap(ctx, in, s->sent, s->key, info, info_len) == 1 &&
		   OSSL_HPKE_open(ctx, out, &s->length, aad, aad_len, in + s->sent, in_len - s->sent) == 1;
	OSSL_HPKE_CTX_free(ctx);
	return !done;
}

PB_LOOP(seal_letter, struct state, seal_one(state, nonce[0], nonce_len, aad, aad_len, in, size, out))
PB_LOOP(open_letter, struct state, open_one(state, nonce[0], nonce_len, aad, aad_len, in, in_len, out))

static const pb_variant variants[] = {
	{"seal", "letter/1", "OSSL_HPKE_CTX_new, OSSL_HPKE_encap, OSSL_HPKE_seal, OSSL_HPKE_CTX_free", NULL,
	 seal_letter, NULL},
	{"open", "letter/1", "OSSL_HPKE_CTX_new, OSSL_HPKE_decap, OSSL_HPKE_open, OSSL_HPKE_CTX_free", NULL,
	 open_letter, NULL},
	PB_END_OF_VARIANTS,
};

const pb_family evp_hpke_family = {hpke_open, hpke_close, variants};

/* A module of FIPS may lack the cipher, which the context fetches, or the key encapsulation. */
int hpke_there(const pb_row *row)
{
	const OSSL_HPKE_SUITE *suite = row->param;
	OSSL_HPKE_CTX *ctx =
		OSSL_HPKE_CTX_new(OSSL_HPKE_MODE_BASE, *suite, OSSL_HPKE_ROLE_SENDER, NULL, NULL);
	EVP_KEM *kem = EVP_KEM_fetch(NULL, suite->kem_id == OSSL_HPKE_KEM_ID_P256 ? "EC" : "X25519", NULL);
	int there = ctx && kem;
	EVP_KEM_free(kem);
	OSSL_HPKE_CTX_free(ctx);
	return there;
}

const pb_row evp_hpke_rows[] = {
	{"hpke-x25519-aes-128-gcm", &evp_hpke_family, &x25519_gcm, 32, 20, 1, 48},
	{"hpke-x25519-chacha20-poly1305", &evp_hpke_family, &x25519_chacha, 32, 20, 1, 48},
	{"hpke-p256-aes-128-gcm", &evp_hpke_family, &p256_gcm, 32, 20, 1, 81},
	PB_END_OF_ROWS,
};

#else

const pb_family evp_hpke_family = {NULL, NULL, NULL};
const pb_row evp_hpke_rows[] = {PB_END_OF_ROWS};

int hpke_there(const pb_row *row)
{
	return row == NULL;
}

#endif
