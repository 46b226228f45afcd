/* Private and public keys read from their forms and written in them. */
#include "families.h"

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/mem.h>
#include <openssl/nid.h>

#include <stdlib.h>
#include <string.h>

struct state {
	EVP_PKEY *key, *made;
	BIO *text;
	uint8_t *encoded;
	long encoded_len;
};

static int pkey_show(pb_case *c, EVP_PKEY *key)
{
	enum { ROOM = 256 };
	const EC_KEY *curve = EVP_PKEY_get0_EC_KEY(key);
	c->out_len = ROOM;
	if (!curve)
		return EVP_PKEY_get_raw_public_key(key, c->out, &c->out_len) == 1;
	c->out_len = EC_POINT_point2oct(EC_KEY_get0_group(curve), EC_KEY_get0_public_key(curve),
					POINT_CONVERSION_UNCOMPRESSED, c->out, ROOM, NULL);
	return c->out_len > 0;
}

#include "../openssl/key_forms.h"

static void load_close(pb_case *c)
{
	struct state *state = c->ctx;
	if (!state)
		return;
	EVP_PKEY_free(state->made);
	EVP_PKEY_free(state->key);
	OPENSSL_free(state->encoded);
	BIO_free(state->text);
	free(state);
	c->ctx = NULL;
}

/* param: the curve, or NULL for Ed25519 */
static int load_open(pb_case *c)
{
	const int *nid = c->row->param;
	struct state *state = c->ctx = calloc(1, sizeof *state);
	EC_KEY *pair = state && nid ? curve_pair(*nid, c->key[0], c->key_len) : NULL;
	if (pair && (state->key = EVP_PKEY_new()))
		EVP_PKEY_set1_EC_KEY(state->key, pair);
	else if (state && !nid)
		state->key = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, NULL, c->key[0], c->key_len);
	EC_KEY_free(pair);
	if (state && state->key)
		return 0;
	load_close(c);
	return library_fail(c, "the key pair could not be made");
}

static const pb_variant load_variants[] = {KEY_FORMS, PB_END_OF_VARIANTS};
static const pb_family load_family = {load_open, load_close, load_variants};

static const int p256 = NID_X9_62_prime256v1;

const pb_row load_rows[] = {
	{"ed25519", &load_family, NULL, 32, 0, 1, 64},
	{"ecdsa-p256", &load_family, &p256, 32, 0, 1, 64},
	PB_END_OF_ROWS,
};
