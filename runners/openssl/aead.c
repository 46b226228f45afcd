/* AEADs through EVP. `seal` appends the tag to its output, `open` expects it there.
 */
#include "evp.h"

#include <openssl/evp.h>

#include <limits.h>
#include <stdlib.h>

struct state {
	EVP_CIPHER *cipher;
	EVP_CIPHER_CTX *ctx;
};

static EVP_CIPHER_CTX *context(const pb_case *c)
{
	return ((struct state *)c->ctx)->ctx;
}

static void aead_close(pb_case *c)
{
	struct state *state = c->ctx;
	if (!state)
		return;
	EVP_CIPHER_CTX_free(state->ctx);
	EVP_CIPHER_free(state->cipher);
	free(state);
	c->ctx = NULL;
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
	if ((size_t)EVP_CIPHER_CTX_get_iv_length(state->ctx) != c->nonce_len &&
	    EVP_CIPHER_CTX_ctrl(state->ctx, EVP_CTRL_AEAD_SET_IVLEN, (int)c->nonce_len, NULL) != 1)
		return evp_fail(c, "EVP_CTRL_AEAD_SET_IVLEN");
	if (c->row->family == &evp_ccm_family &&
	    EVP_CIPHER_CTX_ctrl(state->ctx, EVP_CTRL_AEAD_SET_TAG, c->row->output, NULL) != 1)
		return evp_fail(c, "EVP_CTRL_AEAD_SET_TAG");
	if (!EVP_CipherInit_ex2(state->ctx, NULL, c->key[0], c->nonce[0], encrypt, NULL))
		return evp_fail(c, "EVP_CipherInit_ex2");
	return 0;
}

static int aead_open(pb_case *c)
{
	if (c->size > INT_MAX)
		return pb_fail(c, "EVP takes at most %d bytes in one call", INT_MAX);
	c->ctx = calloc(1, sizeof(struct state));
	if (!c->ctx)
		return pb_fail(c, "out of memory");
	if (set_up(c, c->ctx) == 0) {
		c->out_len = c->inverse ? c->size : c->size + c->row->output;
		return 0;
	}
	aead_close(c);
	return -1;
}

/* One message; KEY is NULL when the key stays. The additional data goes in only where there is any: an Update
 * without data would be a call that no user makes. */
#define SEAL_ONE(KEY, NONCE)                                                                                 \
	do {                                                                                                 \
		bad += EVP_EncryptInit_ex2(ctx, NULL, KEY, NONCE, NULL) != 1;                                \
		if (aad_len)                                                                                 \
			bad += EVP_EncryptUpdate(ctx, NULL, &done, aad, aad_len) != 1;                       \
		bad += EVP_EncryptUpdate(ctx, out, &done, in, size) != 1;                                    \
		bad += EVP_EncryptFinal_ex(ctx, out + done, &rest) != 1;                                     \
		bad += EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_GET_TAG, tag_len, out + size) != 1;            \
	} while (0)

#define OPEN_ONE(KEY, NONCE)                                                                                 \
	do {                                                                                                 \
		bad += EVP_DecryptInit_ex2(ctx, NULL, KEY, NONCE, NULL) != 1;                                \
		bad += EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_TAG, tag_len, (void *)(in + size)) != 1;   \
		if (aad_len)                                                                                 \
			bad += EVP_DecryptUpdate(ctx, NULL, &done, aad, aad_len) != 1;                       \
		bad += EVP_DecryptUpdate(ctx, out, &done, in, size) != 1;                                    \
		bad += EVP_DecryptFinal_ex(ctx, out + done, &rest) != 1;                                     \
	} while (0)

/* CCM: the total length comes first, and opening compares the tag before it gives anything out. */
#define CCM_SEAL_ONE(KEY, NONCE)                                                                             \
	do {                                                                                                 \
		bad += EVP_EncryptInit_ex2(ctx, NULL, KEY, NONCE, NULL) != 1;                                \
		bad += EVP_EncryptUpdate(ctx, NULL, &done, NULL, size) != 1;                                 \
		if (aad_len)                                                                                 \
			bad += EVP_EncryptUpdate(ctx, NULL, &done, aad, aad_len) != 1;                       \
		bad += EVP_EncryptUpdate(ctx, out, &done, in, size) != 1;                                    \
		bad += EVP_EncryptFinal_ex(ctx, out + done, &rest) != 1;                                     \
		bad += EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_GET_TAG, tag_len, out + size) != 1;            \
	} while (0)

#define CCM_OPEN_ONE(KEY, NONCE)                                                                             \
	do {                                                                                                 \
		bad += EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_TAG, tag_len, (void *)(in + size)) != 1;   \
		bad += EVP_DecryptInit_ex2(ctx, NULL, KEY, NONCE, NULL) != 1;                                \
		bad += EVP_DecryptUpdate(ctx, NULL, &done, NULL, size) != 1;                                 \
		if (aad_len)                                                                                 \
			bad += EVP_DecryptUpdate(ctx, NULL, &done, aad, aad_len) != 1;                       \
		bad += EVP_DecryptUpdate(ctx, out, &done, in, size) != 1;                                    \
	} while (0)

/* GCM-SIV: the context collects additional data until it is told to forget them, and takes one message per
 * key. */
#define RESET(UPDATE) bad += UPDATE(ctx, NULL, &done, in, 0) != 1
#define GCM_SIV_SEAL_ONE(KEY, NONCE)                                                                         \
	do {                                                                                                 \
		RESET(EVP_EncryptUpdate);                                                                    \
		SEAL_ONE(KEY, NONCE);                                                                        \
	} while (0)
#define GCM_SIV_OPEN_ONE(KEY, NONCE)                                                                         \
	do {                                                                                                 \
		RESET(EVP_DecryptUpdate);                                                                    \
		OPEN_ONE(KEY, NONCE);                                                                        \
	} while (0)

#define LOOP(NAME, ONE, KEY, NONCE)                                                                          \
	static void NAME(pb_case *c, uint64_t n)                                                             \
	{                                                                                                    \
		EVP_CIPHER_CTX *ctx = context(c);                                                            \
		const uint8_t *in = c->in, *aad = c->aad, *const *nonce = c->nonce, *const *key = c->key;    \
		uint8_t *out = c->out;                                                                       \
		int size = (int)c->size, aad_len = (int)c->aad_len, tag_len = c->row->output;                \
		int done = 0, rest = 0;                                                                      \
		uint64_t bad = 0;                                                                            \
		(void)key, (void)rest;                                                                       \
		PB_REPEAT(n, turn, ONE(KEY, NONCE));                                                         \
		c->failures += bad;                                                                          \
	}

LOOP(seal_message, SEAL_ONE, NULL, PB_TURN(nonce, turn))
LOOP(seal_rekey, SEAL_ONE, PB_TURN(key, turn), PB_TURN(nonce, turn))
/* There is one sealed message, made with key 0 and nonce 0: opening always sets these. */
LOOP(open_message, OPEN_ONE, NULL, nonce[0])
LOOP(open_rekey, OPEN_ONE, key[0], nonce[0])

LOOP(gcm_siv_seal, GCM_SIV_SEAL_ONE, PB_TURN(key, turn), PB_TURN(nonce, turn))
LOOP(gcm_siv_open, GCM_SIV_OPEN_ONE, key[0], nonce[0])
LOOP(ccm_seal_message, CCM_SEAL_ONE, NULL, PB_TURN(nonce, turn))
LOOP(ccm_seal_rekey, CCM_SEAL_ONE, PB_TURN(key, turn), PB_TURN(nonce, turn))
LOOP(ccm_open_message, CCM_OPEN_ONE, NULL, nonce[0])
LOOP(ccm_open_rekey, CCM_OPEN_ONE, key[0], nonce[0])

#define SEAL_CALLS                                                                                           \
	", EVP_EncryptUpdate(aad), EVP_EncryptUpdate, EVP_EncryptFinal_ex, EVP_CIPHER_CTX_ctrl(GET_TAG)"
#define OPEN_CALLS                                                                                           \
	", EVP_CIPHER_CTX_ctrl(SET_TAG), EVP_DecryptUpdate(aad), EVP_DecryptUpdate, EVP_DecryptFinal_ex"

static const pb_variant aead_variants[] = {
	{"seal", "message/1", "EVP_EncryptInit" EX2 "(iv)" SEAL_CALLS, NULL, seal_message, NULL},
	{"seal", "rekey/1", "EVP_EncryptInit" EX2 "(key, iv)" SEAL_CALLS, NULL, seal_rekey, NULL},
	{"open", "message/1", "EVP_DecryptInit" EX2 "(iv)" OPEN_CALLS, NULL, open_message, NULL},
	{"open", "rekey/1", "EVP_DecryptInit" EX2 "(key, iv)" OPEN_CALLS, NULL, open_rekey, NULL},
	PB_END_OF_VARIANTS,
};

const pb_family evp_aead_family = {aead_open, aead_close, aead_variants};

#define CCM_SEAL_CALLS                                                                                       \
	", EVP_EncryptUpdate(length), EVP_EncryptUpdate(aad), EVP_EncryptUpdate, EVP_EncryptFinal_ex, "      \
	"EVP_CIPHER_CTX_ctrl(GET_TAG)"
#define CCM_OPEN_CALLS ", EVP_DecryptUpdate(length), EVP_DecryptUpdate(aad), EVP_DecryptUpdate"

static const pb_variant ccm_variants[] = {
	{"seal", "message/1", "EVP_EncryptInit" EX2 "(iv)" CCM_SEAL_CALLS, NULL, ccm_seal_message, NULL},
	{"seal", "rekey/1", "EVP_EncryptInit" EX2 "(key, iv)" CCM_SEAL_CALLS, NULL, ccm_seal_rekey, NULL},
	{"open", "message/1", "EVP_CIPHER_CTX_ctrl(SET_TAG), EVP_DecryptInit" EX2 "(iv)" CCM_OPEN_CALLS, NULL,
	 ccm_open_message, NULL},
	{"open", "rekey/1", "EVP_CIPHER_CTX_ctrl(SET_TAG), EVP_DecryptInit" EX2 "(key, iv)" CCM_OPEN_CALLS,
	 NULL, ccm_open_rekey, NULL},
	PB_END_OF_VARIANTS,
};

const pb_family evp_ccm_family = {aead_open, aead_close, ccm_variants};

static const pb_variant siv_variants[] = {
	{"seal", "rekey/1", "EVP_EncryptInit" EX2 "(key)" SEAL_CALLS, NULL, seal_rekey, NULL},
	{"open", "rekey/1", "EVP_DecryptInit" EX2 "(key)" OPEN_CALLS, NULL, open_rekey, NULL},
	PB_END_OF_VARIANTS,
};

const pb_family evp_siv_family = {aead_open, aead_close, siv_variants};

static const pb_variant gcm_siv_variants[] = {
	{"seal", "rekey/1", "EVP_EncryptUpdate(aad, 0), EVP_EncryptInit" EX2 "(key, iv)" SEAL_CALLS, NULL,
	 gcm_siv_seal, NULL},
	{"open", "rekey/1", "EVP_DecryptUpdate(aad, 0), EVP_DecryptInit" EX2 "(key, iv)" OPEN_CALLS, NULL,
	 gcm_siv_open, NULL},
	PB_END_OF_VARIANTS,
};

const pb_family evp_gcm_siv_family = {aead_open, aead_close, gcm_siv_variants};
