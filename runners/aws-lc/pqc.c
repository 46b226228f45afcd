/* ML-KEM and ML-DSA through EVP_PKEY, and the digests that only AWS-LC has. */
#include "families.h"

#include <openssl/digest.h>
#include <openssl/evp.h>
#include <openssl/experimental/kem_deterministic_api.h>
#include <openssl/nid.h>

#include <stdlib.h>
#include <string.h>

struct state {
	EVP_PKEY *key, *made;
	EVP_PKEY_CTX *ctx, *maker;
	EVP_MD_CTX *md;
	size_t length, secret;
};

static void close_state(pb_case *c)
{
	struct state *state = c->ctx;
	if (!state)
		return;
	EVP_MD_CTX_free(state->md);
	EVP_PKEY_CTX_free(state->ctx);
	EVP_PKEY_CTX_free(state->maker);
	EVP_PKEY_free(state->made);
	EVP_PKEY_free(state->key);
	free(state);
	c->ctx = NULL;
}

static EVP_PKEY_CTX *maker_of(int kind, int nid)
{
	EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_id(kind, NULL);
	int named = kind == EVP_PKEY_KEM ? EVP_PKEY_CTX_kem_set_params(ctx, nid)
					 : EVP_PKEY_CTX_pqdsa_set_params(ctx, nid);
	if (named && EVP_PKEY_keygen_init(ctx))
		return ctx;
	EVP_PKEY_CTX_free(ctx);
	return NULL;
}

static int show_public(pb_case *c, const EVP_PKEY *key)
{
	c->out_len = 8192;
	return EVP_PKEY_get_raw_public_key(key, c->out, &c->out_len);
}

PB_LOOP(keygen, struct state,
	(EVP_PKEY_free(state->made), state->made = NULL, !EVP_PKEY_keygen(state->maker, &state->made)))

static int kem_open(pb_case *c)
{
	struct state *state = c->ctx = calloc(1, sizeof *state);
	size_t seed = c->key_len;
	if (state && (state->maker = maker_of(EVP_PKEY_KEM, *(const int *)c->row->param)) &&
	    EVP_PKEY_keygen_deterministic(state->maker, &state->key, c->key[0], &seed) &&
	    (state->ctx = EVP_PKEY_CTX_new(state->key, NULL)) &&
	    EVP_PKEY_encapsulate(state->ctx, NULL, &state->length, NULL, &state->secret)) {
		c->out_len = c->inverse ? c->row->output : state->length + c->row->output;
		return 0;
	}
	library_fail(c, "EVP_PKEY_keygen_deterministic");
	close_state(c);
	return -1;
}

static void kem_show(pb_case *c)
{
	struct state *state = c->ctx;
	static uint8_t sealed[4096];
	uint8_t sent[32], got[32];
	size_t length = sizeof sealed, sent_len = sizeof sent, got_len = sizeof got;
	EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new(state->made, NULL);
	c->failures += !EVP_PKEY_encapsulate(ctx, sealed, &length, sent, &sent_len) ||
		       !EVP_PKEY_decapsulate(ctx, got, &got_len, sealed, length) ||
		       memcmp(sent, got, sizeof got) != 0 || !show_public(c, state->made);
	EVP_PKEY_CTX_free(ctx);
}

PB_LOOP(encapsulate, struct state,
	!EVP_PKEY_encapsulate(state->ctx, out, &state->length, out + state->length, &state->secret))
PB_LOOP(decapsulate, struct state,
	(state->secret = out_max, !EVP_PKEY_decapsulate(state->ctx, out, &state->secret, in, in_len)))

static const pb_variant kem_variants[] = {
	{"encapsulate", "pk/1", "EVP_PKEY_encapsulate (with its random draw)", NULL, encapsulate, NULL},
	{"decapsulate", "pk/1", "EVP_PKEY_decapsulate", NULL, decapsulate, NULL},
	{"keygen", "pk/1", "EVP_PKEY_keygen, EVP_PKEY_free", NULL, keygen, kem_show},
	PB_END_OF_VARIANTS,
};
static const pb_family kem_family = {kem_open, close_state, kem_variants};

static int dsa_open(pb_case *c)
{
	struct state *state = c->ctx = calloc(1, sizeof *state);
	int nid = *(const int *)c->row->param;
	c->out_len = c->inverse ? 0 : c->row->output;
	c->turns = PB_RING;
	if (state && (state->maker = maker_of(EVP_PKEY_PQDSA, nid)) &&
	    (state->key = EVP_PKEY_pqdsa_new_raw_private_key(nid, c->key[0], c->key_len)) &&
	    (state->md = EVP_MD_CTX_new()) &&
	    (c->inverse ? EVP_DigestVerifyInit(state->md, NULL, NULL, NULL, state->key)
			: EVP_DigestSignInit(state->md, NULL, NULL, NULL, state->key)))
		return 0;
	library_fail(c, "EVP_PKEY_pqdsa_new_raw_private_key");
	close_state(c);
	return -1;
}

static void dsa_show(pb_case *c)
{
	struct state *state = c->ctx;
	static uint8_t signature[8192];
	size_t length = sizeof signature;
	EVP_MD_CTX *sign = EVP_MD_CTX_new(), *verify = EVP_MD_CTX_new();
	c->failures += !EVP_DigestSignInit(sign, NULL, NULL, NULL, state->made) ||
		       !EVP_DigestSign(sign, signature, &length, c->in, c->size) ||
		       !EVP_DigestVerifyInit(verify, NULL, NULL, NULL, state->made) ||
		       !EVP_DigestVerify(verify, signature, length, c->in, c->size) ||
		       !show_public(c, state->made);
	EVP_MD_CTX_free(sign);
	EVP_MD_CTX_free(verify);
}

PB_LOOP(sign, struct state,
	(state->length = out_max,
	 !EVP_DigestSign(state->md, out, &state->length, PB_TURN(message, turn), size)))
PB_LOOP(verify, struct state, !EVP_DigestVerify(state->md, in + size, out_max, in, size))

static const pb_variant dsa_variants[] = {
	{"sign", "pk/1", "EVP_DigestSign", NULL, sign, NULL},
	{"verify", "pk/1", "EVP_DigestVerify", NULL, verify, NULL},
	{"keygen", "pk/1", "EVP_PKEY_keygen, EVP_PKEY_free", NULL, keygen, dsa_show},
	PB_END_OF_VARIANTS,
};
static const pb_family dsa_family = {dsa_open, close_state, dsa_variants};

static const int nids[] = {NID_MLKEM512, NID_MLKEM768, NID_MLKEM1024, NID_MLDSA44, NID_MLDSA65, NID_MLDSA87};

const pb_row pqc_rows[] = {
	{"ml-kem-512", &kem_family, &nids[0], 64, 0, 1, 32},
	{"ml-kem-768", &kem_family, &nids[1], 64, 0, 1, 32},
	{"ml-kem-1024", &kem_family, &nids[2], 64, 0, 1, 32},
	{"ml-dsa-44", &dsa_family, &nids[3], 32, 0, 1, 2420},
	{"ml-dsa-65", &dsa_family, &nids[4], 32, 0, 1, 3309},
	{"ml-dsa-87", &dsa_family, &nids[5], 32, 0, 1, 4627},
	PB_END_OF_ROWS,
};

typedef const EVP_MD *(*digest_of)(void);
const pb_row own_digest_rows[] = {
	{"sha3-224", &digest_family, &(const digest_of){EVP_sha3_224}, 0, 0, 1, 28},
	{"ripemd-160", &digest_family, &(const digest_of){EVP_ripemd160}, 0, 0, 1, 20},
	PB_END_OF_ROWS,
};
