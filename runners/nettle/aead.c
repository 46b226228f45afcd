/* AES-GCM and ChaCha20-Poly1305. `seal` appends the tag to its output, `open` expects it behind its input and
 * compares with memeql_sec, as Nettle leaves the comparison to its user. */
#include "tables.h"

#include <nettle/chacha-poly1305.h>
#include <nettle/gcm.h>
#include <nettle/memops.h>

#define GCM_NONCE(ID)                                                                                        \
	static inline void ID##_nonce(struct ID##_ctx *ctx, const uint8_t *nonce)                            \
	{                                                                                                    \
		ID##_set_iv(ctx, GCM_IV_SIZE, nonce);                                                        \
	}

GCM_NONCE(gcm_aes128)
GCM_NONCE(gcm_aes192)
GCM_NONCE(gcm_aes256)

static inline void chacha_poly1305_nonce(struct chacha_poly1305_ctx *ctx, const uint8_t *nonce)
{
	chacha_poly1305_set_nonce(ctx, nonce);
}

enum { TAG = 16 };

/* One message. SET_KEY is empty where the key stays. */
#define SEAL_ONE(ID, SET_KEY, NONCE)                                                                         \
	do {                                                                                                 \
		SET_KEY;                                                                                     \
		ID##_nonce(ctx, NONCE);                                                                      \
		if (aad_len)                                                                                 \
			ID##_update(ctx, aad_len, aad);                                                      \
		ID##_encrypt(ctx, size, out, in);                                                            \
		ID##_digest(ctx, TAG, out + size);                                                           \
	} while (0)

#define OPEN_ONE(ID, SET_KEY, NONCE)                                                                         \
	do {                                                                                                 \
		SET_KEY;                                                                                     \
		ID##_nonce(ctx, NONCE);                                                                      \
		if (aad_len)                                                                                 \
			ID##_update(ctx, aad_len, aad);                                                      \
		ID##_decrypt(ctx, size, out, in);                                                            \
		ID##_digest(ctx, TAG, tag);                                                                  \
		bad += !memeql_sec(tag, in + size, TAG);                                                     \
	} while (0)

#define LOOP(NAME, ID, ONE, SET_KEY, NONCE)                                                                  \
	static void NAME(pb_case *c, uint64_t n)                                                             \
	{                                                                                                    \
		struct ID##_ctx *ctx = c->ctx;                                                               \
		const uint8_t *in = c->in, *aad = c->aad, *const *nonce = c->nonce, *const *key = c->key;    \
		uint8_t *out = c->out, tag[TAG];                                                             \
		size_t size = c->size, aad_len = c->aad_len;                                                 \
		uint64_t bad = 0;                                                                            \
		(void)key;                                                                                   \
		(void)tag;                                                                                   \
		PB_REPEAT(n, turn, ONE(ID, SET_KEY, NONCE));                                                 \
		c->failures += bad;                                                                          \
	}

/* There is one sealed message, made with key 0 and nonce 0: opening always sets these. */
#define AEAD(ID, SET_NONCE)                                                                                  \
	static int ID##_open(pb_case *c)                                                                     \
	{                                                                                                    \
		c->ctx = malloc(sizeof(struct ID##_ctx));                                                    \
		if (!c->ctx)                                                                                 \
			return pb_fail(c, "out of memory");                                                  \
		ID##_set_key(c->ctx, c->key[0]);                                                             \
		c->out_len = c->inverse ? c->size : c->size + TAG;                                           \
		return 0;                                                                                    \
	}                                                                                                    \
	static void ID##_close(pb_case *c)                                                                   \
	{                                                                                                    \
		free(c->ctx);                                                                                \
		c->ctx = NULL;                                                                               \
	}                                                                                                    \
	LOOP(ID##_seal_message, ID, SEAL_ONE, (void)0, PB_TURN(nonce, turn))                                 \
	LOOP(ID##_seal_rekey, ID, SEAL_ONE, ID##_set_key(ctx, PB_TURN(key, turn)), PB_TURN(nonce, turn))     \
	LOOP(ID##_open_message, ID, OPEN_ONE, (void)0, nonce[0])                                             \
	LOOP(ID##_open_rekey, ID, OPEN_ONE, ID##_set_key(ctx, key[0]), nonce[0])                             \
	static const pb_variant ID##_variants[] = {                                                          \
		{"seal", "message/1", SET_NONCE ", " #ID "_update, " #ID "_encrypt, " #ID "_digest", NULL,   \
		 ID##_seal_message, NULL},                                                                   \
		{"seal", "rekey/1",                                                                          \
		 #ID "_set_key, " SET_NONCE ", " #ID "_update, " #ID "_encrypt, " #ID "_digest", NULL,       \
		 ID##_seal_rekey, NULL},                                                                     \
		{"open", "message/1",                                                                        \
		 SET_NONCE ", " #ID "_update, " #ID "_decrypt, " #ID "_digest"                               \
			   ", memeql_sec",                                                                   \
		 NULL, ID##_open_message, NULL},                                                             \
		{"open", "rekey/1",                                                                          \
		 #ID "_set_key, " SET_NONCE ", " #ID "_update, " #ID "_decrypt, " #ID "_digest"              \
		     ", memeql_sec",                                                                         \
		 NULL, ID##_open_rekey, NULL},                                                               \
		PB_END_OF_VARIANTS,                                                                          \
	};                                                                                                   \
	static const pb_family ID##_family = {ID##_open, ID##_close, ID##_variants};

AEAD(gcm_aes128, "gcm_aes128_set_iv")
AEAD(gcm_aes192, "gcm_aes192_set_iv")
AEAD(gcm_aes256, "gcm_aes256_set_iv")
AEAD(chacha_poly1305, "chacha_poly1305_set_nonce")

const pb_row aead_rows[] = {
	{"aes-128-gcm", &gcm_aes128_family, NULL, 16, 12, 1, TAG},
	{"aes-192-gcm", &gcm_aes192_family, NULL, 24, 12, 1, TAG},
	{"aes-256-gcm", &gcm_aes256_family, NULL, 32, 12, 1, TAG},
	{"chacha20-poly1305", &chacha_poly1305_family, NULL, 32, 12, 1, TAG},
	PB_END_OF_ROWS,
};
