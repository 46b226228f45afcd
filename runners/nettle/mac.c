/* HMAC and CMAC. hmac_NAME_digest and cmac_NAME_digest make the context ready for the next message under the
 * same key, so message/1 is an update and a digest. */
#include "tables.h"

#include <nettle/cmac.h>
#include <nettle/hmac.h>

#define MAC(ID, SET_KEY)                                                                                     \
	static int ID##_open(pb_case *c)                                                                     \
	{                                                                                                    \
		c->ctx = malloc(sizeof(struct ID##_ctx));                                                    \
		if (!c->ctx)                                                                                 \
			return pb_fail(c, "out of memory");                                                  \
		SET_KEY((struct ID##_ctx *)c->ctx, c->key_len, c->key[0]);                                   \
		c->out_len = c->row->output;                                                                 \
		return 0;                                                                                    \
	}                                                                                                    \
	static void ID##_close(pb_case *c)                                                                   \
	{                                                                                                    \
		free(c->ctx);                                                                                \
		c->ctx = NULL;                                                                               \
	}                                                                                                    \
	static void ID##_begin(pb_case *c)                                                                   \
	{                                                                                                    \
		SET_KEY((struct ID##_ctx *)c->ctx, c->key_len, c->key[0]);                                   \
	}                                                                                                    \
	static void ID##_show(pb_case *c)                                                                    \
	{                                                                                                    \
		ID##_digest(c->ctx, c->row->output, c->out);                                                 \
	}                                                                                                    \
	static void ID##_message(pb_case *c, uint64_t n)                                                     \
	{                                                                                                    \
		struct ID##_ctx *ctx = c->ctx;                                                               \
		const uint8_t *in = c->in;                                                                   \
		uint8_t *out = c->out;                                                                       \
		size_t size = c->size, length = c->row->output;                                              \
		PB_REPEAT(n, turn, {                                                                         \
			ID##_update(ctx, size, in);                                                          \
			ID##_digest(ctx, length, out);                                                       \
		});                                                                                          \
	}                                                                                                    \
	static void ID##_rekey(pb_case *c, uint64_t n)                                                       \
	{                                                                                                    \
		struct ID##_ctx *ctx = c->ctx;                                                               \
		const uint8_t *in = c->in, *const *key = c->key;                                             \
		uint8_t *out = c->out;                                                                       \
		size_t size = c->size, key_len = c->key_len, length = c->row->output;                        \
		PB_REPEAT(n, turn, {                                                                         \
			SET_KEY(ctx, key_len, PB_TURN(key, turn));                                           \
			ID##_update(ctx, size, in);                                                          \
			ID##_digest(ctx, length, out);                                                       \
		});                                                                                          \
	}                                                                                                    \
	static void ID##_stream(pb_case *c, uint64_t n)                                                      \
	{                                                                                                    \
		struct ID##_ctx *ctx = c->ctx;                                                               \
		const uint8_t *in = c->in;                                                                   \
		size_t size = c->size;                                                                       \
		PB_REPEAT(n, turn, ID##_update(ctx, size, in));                                              \
	}                                                                                                    \
	static const pb_variant ID##_variants[] = {                                                          \
		{"mac", "message/1", #ID "_update, " #ID "_digest", NULL, ID##_message, NULL},               \
		{"mac", "rekey/1", #ID "_set_key, " #ID "_update, " #ID "_digest", NULL, ID##_rekey, NULL},  \
		{"mac", "stream/1", #ID "_update", ID##_begin, ID##_stream, ID##_show},                      \
		PB_END_OF_VARIANTS,                                                                          \
	};                                                                                                   \
	static const pb_family ID##_family = {ID##_open, ID##_close, ID##_variants};

#define HMAC(ID) MAC(ID, ID##_set_key)
HMAC(hmac_md5)
HMAC(hmac_sha1)
HMAC(hmac_sha256)
HMAC(hmac_sha384)
HMAC(hmac_sha512)

#define CMAC(ID)                                                                                             \
	static inline void ID##_keyed(struct ID##_ctx *ctx, size_t key_len, const uint8_t *key)              \
	{                                                                                                    \
		(void)key_len;                                                                               \
		ID##_set_key(ctx, key);                                                                      \
	}                                                                                                    \
	MAC(ID, ID##_keyed)
CMAC(cmac_aes128)
CMAC(cmac_aes256)

const pb_row mac_rows[] = {
	{"hmac-md5", &hmac_md5_family, NULL, 16, 0, 1, 16},
	{"hmac-sha-1", &hmac_sha1_family, NULL, 20, 0, 1, 20},
	{"hmac-sha-256", &hmac_sha256_family, NULL, 32, 0, 1, 32},
	{"hmac-sha-384", &hmac_sha384_family, NULL, 48, 0, 1, 48},
	{"hmac-sha-512", &hmac_sha512_family, NULL, 64, 0, 1, 64},
	{"aes-128-cmac", &cmac_aes128_family, NULL, 16, 0, 1, 16},
	{"aes-256-cmac", &cmac_aes256_family, NULL, 32, 0, 1, 16},
	PB_END_OF_ROWS,
};
