/* HMAC through EVP_MAC. A new message under the same key is EVP_MAC_init without a key, as the library
 * documents. */
#include "evp.h"

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/params.h>

static void hmac_close(pb_case *c)
{
	EVP_MAC_CTX_free(c->ctx);
	c->ctx = NULL;
}

static int hmac_open(pb_case *c)
{
	EVP_MAC *mac = EVP_MAC_fetch(NULL, "HMAC", NULL);
	EVP_MAC_CTX *ctx = mac ? EVP_MAC_CTX_new(mac) : NULL;
	EVP_MAC_free(mac); /* the context keeps its own reference */
	OSSL_PARAM params[] = {
		OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, (char *)c->row->param, 0),
		OSSL_PARAM_construct_end(),
	};
	c->ctx = ctx;
	if (ctx && EVP_MAC_init(ctx, c->key[0], c->key_len, params)) {
		c->out_len = c->row->output;
		return 0;
	}
	evp_fail(c, "EVP_MAC_init");
	hmac_close(c);
	return -1;
}

static void start(pb_case *c)
{
	c->failures += EVP_MAC_init(c->ctx, NULL, 0, NULL) != 1;
}

static void finish(pb_case *c)
{
	size_t length = 0;
	c->failures += EVP_MAC_final(c->ctx, c->out, &length, c->row->output) != 1;
}

static void mac_message(pb_case *c, uint64_t n)
{
	EVP_MAC_CTX *ctx = c->ctx;
	const uint8_t *in = c->in;
	uint8_t *out = c->out;
	size_t size = c->size, room = c->row->output, length = 0;
	uint64_t bad = 0;
	PB_REPEAT(n, turn, {
		bad += EVP_MAC_init(ctx, NULL, 0, NULL) != 1;
		bad += EVP_MAC_update(ctx, in, size) != 1;
		bad += EVP_MAC_final(ctx, out, &length, room) != 1;
	});
	c->failures += bad;
}

static void mac_rekey(pb_case *c, uint64_t n)
{
	EVP_MAC_CTX *ctx = c->ctx;
	const uint8_t *in = c->in, *const *key = c->key;
	uint8_t *out = c->out;
	size_t size = c->size, key_len = c->key_len, room = c->row->output, length = 0;
	uint64_t bad = 0;
	PB_REPEAT(n, turn, {
		bad += EVP_MAC_init(ctx, PB_TURN(key, turn), key_len, NULL) != 1;
		bad += EVP_MAC_update(ctx, in, size) != 1;
		bad += EVP_MAC_final(ctx, out, &length, room) != 1;
	});
	c->failures += bad;
}

static void mac_stream(pb_case *c, uint64_t n)
{
	EVP_MAC_CTX *ctx = c->ctx;
	const uint8_t *in = c->in;
	size_t size = c->size;
	uint64_t bad = 0;
	PB_REPEAT(n, turn, bad += EVP_MAC_update(ctx, in, size) != 1);
	c->failures += bad;
}

static const pb_variant hmac_variants[] = {
	{"mac", "message/1", "EVP_MAC_init(NULL), EVP_MAC_update, EVP_MAC_final", NULL, mac_message, NULL},
	{"mac", "rekey/1", "EVP_MAC_init(key), EVP_MAC_update, EVP_MAC_final", NULL, mac_rekey, NULL},
	{"mac", "stream/1", "EVP_MAC_update", start, mac_stream, finish},
	PB_END_OF_VARIANTS,
};

const pb_family evp_hmac_family = {hmac_open, hmac_close, hmac_variants};
