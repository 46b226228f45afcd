/* Block ciphers in a mode of operation, RC4 and ChaCha20, through EVP. The cipher is fetched and the context
 * made once per case; padding is off wherever there would be any. Which calls a contract times stands in the
 * tables below. */
#include "evp.h"

#include <openssl/evp.h>

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN = 16 }; /* bytes of the message by which setup/1 shows the key that it set */

/* OpenSSL's ChaCha20 takes the block counter and the nonce as one IV. */
enum { CHACHA_COUNTER = 4, CHACHA_IV = 16 };

struct state {
	EVP_CIPHER *cipher;
	EVP_CIPHER_CTX *ctx;
	const uint8_t *iv[PB_RING]; /* NULL where there is none */
	uint8_t chacha_iv[PB_RING][CHACHA_IV];
};

static EVP_CIPHER_CTX *context(const pb_case *c)
{
	return ((struct state *)c->ctx)->ctx;
}

/* The IVs; an audit gives nonce 0 a new value in its place. */
static const uint8_t *const *ivs(const pb_case *c)
{
	struct state *state = c->ctx;
	if (state->iv[0] == state->chacha_iv[0])
		memcpy(state->chacha_iv[0] + CHACHA_COUNTER, c->nonce[0], c->nonce_len);
	return state->iv;
}

static void cipher_close(pb_case *c)
{
	struct state *state = c->ctx;
	if (!state)
		return;
	EVP_CIPHER_CTX_free(state->ctx);
	EVP_CIPHER_free(state->cipher);
	free(state);
	c->ctx = NULL;
}

static int set_ivs(pb_case *c, struct state *state, size_t iv_len)
{
	int chacha = iv_len == CHACHA_IV && c->nonce_len == CHACHA_IV - CHACHA_COUNTER;
	if (iv_len != c->nonce_len && !chacha)
		return pb_fail(c, "%s takes no IV of %zu bytes", (const char *)c->row->param, c->nonce_len);
	for (int i = 0; i < PB_RING && iv_len; i++) {
		state->iv[i] = chacha ? state->chacha_iv[i] : c->nonce[i];
		if (chacha)
			memcpy(state->chacha_iv[i] + CHACHA_COUNTER, c->nonce[i], c->nonce_len);
	}
	return 0;
}

static int set_up(pb_case *c, struct state *state)
{
	state->cipher = EVP_CIPHER_fetch(NULL, c->row->param, NULL);
	state->ctx = EVP_CIPHER_CTX_new();
	if (!state->cipher || !state->ctx)
		return evp_fail(c, "EVP_CIPHER_fetch");
	int encrypt = !c->inverse;
	if (!EVP_CipherInit_ex2(state->ctx, state->cipher, NULL, NULL, encrypt, NULL))
		return evp_fail(c, "EVP_CipherInit_ex2");
	if ((size_t)EVP_CIPHER_CTX_get_key_length(state->ctx) != c->key_len &&
	    !EVP_CIPHER_CTX_set_key_length(state->ctx, (int)c->key_len))
		return evp_fail(c, "EVP_CIPHER_CTX_set_key_length");
	if (set_ivs(c, state, (size_t)EVP_CIPHER_CTX_get_iv_length(state->ctx)))
		return -1;
	/* Not for stream modes: there is nothing to pad, and a context that was told so pays for it at every
	 * Init. */
	if (EVP_CIPHER_get_block_size(state->cipher) > 1 && !EVP_CIPHER_CTX_set_padding(state->ctx, 0))
		return evp_fail(c, "EVP_CIPHER_CTX_set_padding");
	if (!EVP_CipherInit_ex2(state->ctx, NULL, c->key[0], state->iv[0], encrypt, NULL))
		return evp_fail(c, "EVP_CipherInit_ex2");
	return 0;
}

static int cipher_open(pb_case *c)
{
	if (c->size > INT_MAX)
		return pb_fail(c, "EVP takes at most %d bytes in one call", INT_MAX);
	c->ctx = calloc(1, sizeof(struct state));
	if (!c->ctx)
		return pb_fail(c, "out of memory");
	if (set_up(c, c->ctx) == 0)
		return 0;
	cipher_close(c);
	return -1;
}

static void restart(pb_case *c)
{
	c->failures += EVP_CipherInit_ex2(context(c), NULL, NULL, ivs(c)[0], -1, NULL) != 1;
}

/* RC4 has no IV: the state before call 0 is the one after the key schedule. */
static void restart_with_key(pb_case *c)
{
	c->failures += EVP_CipherInit_ex2(context(c), NULL, c->key[0], NULL, -1, NULL) != 1;
}

/* The loops of one direction. */
#define DIRECTION(NAME, INIT, UPDATE, FINAL)                                                                 \
	static void NAME##_stream(pb_case *c, uint64_t n)                                                    \
	{                                                                                                    \
		EVP_CIPHER_CTX *ctx = context(c);                                                            \
		const uint8_t *in = c->in;                                                                   \
		uint8_t *out = c->out;                                                                       \
		int size = (int)c->size, done = 0;                                                           \
		uint64_t bad = 0;                                                                            \
		PB_REPEAT(n, turn, bad += UPDATE(ctx, out, &done, in, size) != 1);                           \
		c->failures += bad;                                                                          \
	}                                                                                                    \
	static void NAME##_message(pb_case *c, uint64_t n)                                                   \
	{                                                                                                    \
		EVP_CIPHER_CTX *ctx = context(c);                                                            \
		const uint8_t *in = c->in, *const *iv = ivs(c);                                              \
		uint8_t *out = c->out;                                                                       \
		int size = (int)c->size, done = 0, rest = 0;                                                 \
		uint64_t bad = 0;                                                                            \
		PB_REPEAT(n, turn, {                                                                         \
			bad += INIT(ctx, NULL, NULL, PB_TURN(iv, turn), NULL) != 1;                          \
			bad += UPDATE(ctx, out, &done, in, size) != 1;                                       \
			bad += FINAL(ctx, out + done, &rest) != 1;                                           \
		});                                                                                          \
		c->failures += bad;                                                                          \
	}                                                                                                    \
	static void NAME##_rekey(pb_case *c, uint64_t n)                                                     \
	{                                                                                                    \
		EVP_CIPHER_CTX *ctx = context(c);                                                            \
		const uint8_t *in = c->in, *const *iv = ivs(c), *const *key = c->key;                        \
		uint8_t *out = c->out;                                                                       \
		int size = (int)c->size, done = 0, rest = 0;                                                 \
		uint64_t bad = 0;                                                                            \
		PB_REPEAT(n, turn, {                                                                         \
			bad += INIT(ctx, NULL, PB_TURN(key, turn), PB_TURN(iv, turn), NULL) != 1;            \
			bad += UPDATE(ctx, out, &done, in, size) != 1;                                       \
			bad += FINAL(ctx, out + done, &rest) != 1;                                           \
		});                                                                                          \
		c->failures += bad;                                                                          \
	}                                                                                                    \
	static void NAME##_setup(pb_case *c, uint64_t n)                                                     \
	{                                                                                                    \
		EVP_CIPHER_CTX *ctx = context(c);                                                            \
		const uint8_t *const *key = c->key;                                                          \
		uint64_t bad = 0;                                                                            \
		PB_REPEAT(n, turn, bad += INIT(ctx, NULL, PB_TURN(key, turn), NULL, NULL) != 1);             \
		c->failures += bad;                                                                          \
	}                                                                                                    \
	static void NAME##_shown(pb_case *c)                                                                 \
	{                                                                                                    \
		int size = c->size < SHOWN ? (int)c->size : SHOWN, done = 0;                                 \
		c->failures += INIT(context(c), NULL, NULL, ivs(c)[0], NULL) != 1;                           \
		c->failures += UPDATE(context(c), c->out, &done, c->in, size) != 1;                          \
		c->out_len = (size_t)done;                                                                   \
	}

DIRECTION(encrypt, EVP_EncryptInit_ex2, EVP_EncryptUpdate, EVP_EncryptFinal_ex)
DIRECTION(decrypt, EVP_DecryptInit_ex2, EVP_DecryptUpdate, EVP_DecryptFinal_ex)

#define STREAM(NAME, WORD, BEGIN)                                                                            \
	{                                                                                                    \
#NAME, "stream/1", "EVP_" WORD "Update", BEGIN, NAME##_stream, NULL                          \
	}
#define MESSAGE(NAME, WORD)                                                                                  \
	{                                                                                                    \
#NAME, "message/1", "EVP_" WORD "Init" EX2 "(iv), EVP_" WORD "Update, EVP_" WORD "Final_ex", \
			restart, NAME##_message, NULL                                                        \
	}
#define REKEY(NAME, WORD)                                                                                    \
	{                                                                                                    \
#NAME, "rekey/1",                                                                            \
			"EVP_" WORD "Init" EX2 "(key, iv), EVP_" WORD "Update, EVP_" WORD "Final_ex", NULL,  \
			NAME##_rekey, NULL                                                                   \
	}
#define SETUP(NAME, WORD)                                                                                    \
	{                                                                                                    \
#NAME, "setup/1", "EVP_" WORD "Init" EX2 "(key)", NULL, NAME##_setup, NAME##_shown           \
	}

static const pb_variant cipher_variants[] = {
	STREAM(encrypt, "Encrypt", restart), MESSAGE(encrypt, "Encrypt"),         REKEY(encrypt, "Encrypt"),
	SETUP(encrypt, "Encrypt"),           STREAM(decrypt, "Decrypt", restart), MESSAGE(decrypt, "Decrypt"),
	REKEY(decrypt, "Decrypt"),           SETUP(decrypt, "Decrypt"),           PB_END_OF_VARIANTS,
};

static const pb_variant rc4_variants[] = {
	STREAM(encrypt, "Encrypt", restart_with_key),
	REKEY(encrypt, "Encrypt"),
	SETUP(encrypt, "Encrypt"),
	STREAM(decrypt, "Decrypt", restart_with_key),
	REKEY(decrypt, "Decrypt"),
	SETUP(decrypt, "Decrypt"),
	PB_END_OF_VARIANTS,
};

static const pb_variant sector_variants[] = {
	MESSAGE(encrypt, "Encrypt"), REKEY(encrypt, "Encrypt"), MESSAGE(decrypt, "Decrypt"),
	REKEY(decrypt, "Decrypt"),   PB_END_OF_VARIANTS,
};

const pb_family evp_sector_family = {cipher_open, cipher_close, sector_variants};
const pb_family evp_cipher_family = {cipher_open, cipher_close, cipher_variants};
const pb_family evp_rc4_family = {cipher_open, cipher_close, rc4_variants};
