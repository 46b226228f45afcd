/* MACs through EVP_MAC. A new message under the same key is EVP_MAC_init without a key, as the library
 * documents; GMAC gets its nonce there. */
#include "evp.h"

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/params.h>

#include <stdlib.h>

enum { PARAMS = 4 };

struct state {
	EVP_MAC_CTX *ctx;
	size_t length;
	OSSL_PARAM first[PARAMS], again[PB_RING][2]; /* what init gets once, and with each message */
};

static void mac_close(pb_case *c)
{
	struct state *state = c->ctx;
	if (!state)
		return;
	EVP_MAC_CTX_free(state->ctx);
	free(state);
	c->ctx = NULL;
}

static void lay_out(const pb_case *c, struct state *state)
{
	const struct evp_mac *kind = c->row->param;
	OSSL_PARAM *at = state->first;
	state->length = c->row->output;
	if (kind->digest)
		*at++ = OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, (char *)kind->digest, 0);
	if (kind->cipher)
		*at++ = OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_CIPHER, (char *)kind->cipher, 0);
	if (kind->sized)
		*at++ = OSSL_PARAM_construct_size_t(OSSL_MAC_PARAM_SIZE, &state->length);
	*at = OSSL_PARAM_construct_end();
	for (int i = 0; i < PB_RING; i++) {
		at = state->again[i];
		if (c->nonce_len)
			*at++ = OSSL_PARAM_construct_octet_string(OSSL_MAC_PARAM_IV, (void *)c->nonce[i],
								  c->nonce_len);
		*at = OSSL_PARAM_construct_end();
	}
}

static int mac_open(pb_case *c)
{
	const struct evp_mac *kind = c->row->param;
	struct state *state = c->ctx = calloc(1, sizeof *state);
	if (!state)
		return pb_fail(c, "out of memory");
	EVP_MAC *mac = EVP_MAC_fetch(NULL, kind->name, NULL);
	state->ctx = mac ? EVP_MAC_CTX_new(mac) : NULL;
	EVP_MAC_free(mac); /* the context keeps its own reference */
	lay_out(c, state);
	c->out_len = c->row->output;
	if (state->ctx && EVP_MAC_CTX_set_params(state->ctx, state->first) &&
	    EVP_MAC_init(state->ctx, c->key[0], c->key_len, state->again[0]))
		return 0;
	evp_fail(c, "EVP_MAC_init");
	mac_close(c);
	return -1;
}

static void start(pb_case *c)
{
	c->failures += EVP_MAC_init(((struct state *)c->ctx)->ctx, NULL, 0, NULL) != 1;
}

static void finish(pb_case *c)
{
	size_t length = 0;
	c->failures += EVP_MAC_final(((struct state *)c->ctx)->ctx, c->out, &length, c->row->output) != 1;
}

/* One message; AGAIN is NULL where only a nonce would stand, because a list of parameters costs something. */
#define LOOP(NAME, KEY, LENGTH, AGAIN)                                                                       \
	static void NAME(pb_case *c, uint64_t n)                                                             \
	{                                                                                                    \
		struct state *state = c->ctx;                                                                \
		EVP_MAC_CTX *ctx = state->ctx;                                                               \
		const uint8_t *in = c->in, *const *key = c->key;                                             \
		uint8_t *out = c->out;                                                                       \
		size_t size = c->size, key_len = c->key_len, room = c->row->output, length = 0;              \
		uint64_t bad = 0;                                                                            \
		(void)key, (void)key_len;                                                                    \
		PB_REPEAT(n, turn, {                                                                         \
			bad += EVP_MAC_init(ctx, KEY, LENGTH, AGAIN) != 1;                                   \
			bad += EVP_MAC_update(ctx, in, size) != 1;                                           \
			bad += EVP_MAC_final(ctx, out, &length, room) != 1;                                  \
		});                                                                                          \
		c->failures += bad;                                                                          \
	}
LOOP(mac_message, NULL, 0, NULL)
LOOP(mac_rekey, PB_TURN(key, turn), key_len, NULL)
LOOP(gmac_message, NULL, 0, PB_TURN(state->again, turn))
LOOP(gmac_rekey, PB_TURN(key, turn), key_len, PB_TURN(state->again, turn))

static void mac_stream(pb_case *c, uint64_t n)
{
	EVP_MAC_CTX *ctx = ((struct state *)c->ctx)->ctx;
	const uint8_t *in = c->in;
	size_t size = c->size;
	uint64_t bad = 0;
	PB_REPEAT(n, turn, bad += EVP_MAC_update(ctx, in, size) != 1);
	c->failures += bad;
}

#define MESSAGE                                                                                              \
	{                                                                                                    \
		"mac", "message/1", "EVP_MAC_init(NULL), EVP_MAC_update, EVP_MAC_final", NULL, mac_message,  \
			NULL                                                                                 \
	}
#define REKEY                                                                                                \
	{                                                                                                    \
		"mac", "rekey/1", "EVP_MAC_init(key), EVP_MAC_update, EVP_MAC_final", NULL, mac_rekey, NULL  \
	}

static const pb_variant mac_variants[] = {
	MESSAGE,
	REKEY,
	{"mac", "stream/1", "EVP_MAC_update", start, mac_stream, finish},
	PB_END_OF_VARIANTS,
};
static const pb_variant onetime_variants[] = {REKEY, PB_END_OF_VARIANTS};
static const pb_variant gmac_variants[] = {
	{"mac", "message/1", "EVP_MAC_init(iv), EVP_MAC_update, EVP_MAC_final", NULL, gmac_message, NULL},
	{"mac", "rekey/1", "EVP_MAC_init(key, iv), EVP_MAC_update, EVP_MAC_final", NULL, gmac_rekey, NULL},
	PB_END_OF_VARIANTS,
};

const pb_family evp_mac_family = {mac_open, mac_close, mac_variants};
const pb_family evp_onetime_family = {mac_open, mac_close, onetime_variants};
const pb_family evp_gmac_family = {mac_open, mac_close, gmac_variants};

#define MAC(ID, FAMILY, NAME, DIGEST, CIPHER, SIZED, KEY, NONCE, OUT)                                        \
	{                                                                                                    \
		ID, &FAMILY, &(const struct evp_mac){NAME, DIGEST, CIPHER, SIZED}, KEY, NONCE, 1, OUT        \
	}
#define HMAC(ID, DIGEST, LENGTH) MAC(ID, evp_mac_family, "HMAC", DIGEST, NULL, 0, LENGTH, 0, LENGTH)

const pb_row evp_mac_rows[] = {
	HMAC("hmac-md5", "MD5", 16),
	HMAC("hmac-sha-1", "SHA1", 20),
	HMAC("hmac-sha-256", "SHA2-256", 32),
	HMAC("hmac-sha-384", "SHA2-384", 48),
	HMAC("hmac-sha-512", "SHA2-512", 64),
	MAC("aes-128-cmac", evp_mac_family, "CMAC", NULL, "AES-128-CBC", 0, 16, 0, 16),
	MAC("aes-256-cmac", evp_mac_family, "CMAC", NULL, "AES-256-CBC", 0, 32, 0, 16),
	MAC("aes-128-gmac", evp_gmac_family, "GMAC", NULL, "AES-128-GCM", 0, 16, 12, 16),
	MAC("aes-256-gmac", evp_gmac_family, "GMAC", NULL, "AES-256-GCM", 0, 32, 12, 16),
	MAC("kmac128", evp_mac_family, "KMAC128", NULL, NULL, 1, 32, 0, 32),
	MAC("kmac256", evp_mac_family, "KMAC256", NULL, NULL, 1, 32, 0, 64),
	MAC("siphash-2-4", evp_mac_family, "SIPHASH", NULL, NULL, 1, 16, 0, 8),
	MAC("poly1305", evp_onetime_family, "POLY1305", NULL, NULL, 0, 32, 0, 16),
	PB_END_OF_ROWS,
};
