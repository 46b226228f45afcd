/* AES-GCM and ChaCha20-Poly1305, whose `open` computes the tag that is due and compares it. */
#include "mutants.h"

#include <openssl/evp.h>

#include <stdlib.h>
#include <string.h>

enum { TAG = 16, BLOCK = 16, ROOM = 8192 };

typedef struct state {
	EVP_CIPHER *cipher;
	EVP_CIPHER_CTX *ctx;
	uint8_t *plain, *again;
	uint8_t remembered[TAG];
	unsigned opened;
} state;

static int open_case(pb_case *c)
{
	state *s = c->ctx = calloc(1, sizeof *s);
	s->cipher = EVP_CIPHER_fetch(NULL, c->row->param, NULL);
	s->ctx = EVP_CIPHER_CTX_new();
	s->plain = malloc(c->size + c->in_len + BLOCK);
	s->again = malloc(c->size + c->in_len + BLOCK);
	return s->cipher ? 0 : pb_fail(c, "no cipher");
}

static void close_case(pb_case *c)
{
	state *s = c->ctx;
	EVP_CIPHER_free(s->cipher);
	EVP_CIPHER_CTX_free(s->ctx);
	free(s->plain);
	free(s->again);
	free(s);
}

/* What the planted fault makes of the additional data. */
static size_t altered_aad(const pb_case *c, uint8_t *aad, size_t length)
{
	memcpy(aad, c->aad, length);
	if (has("aad-16") && length > 16)
		return 16;
	if (has("aad-1024") && length > 1024)
		return 1024;
	if (has("aad-reversed"))
		for (size_t i = 0; i < length; i++)
			aad[i] = c->aad[length - 1 - i];
	if (has("aad-last-byte") && length)
		return length - 1;
	if (has("aad-64") && length > 64)
		return 64;
	if (has("aad-whole-blocks"))
		return length / BLOCK * BLOCK;
	if (has("aad-first-byte") && length)
		aad[0] = 0;
	if (has("aad-ignored"))
		return 0;
	if (has("aad-padded") && length % BLOCK) {
		memset(aad + length, 0, BLOCK - length % BLOCK);
		return (length + BLOCK - 1) / BLOCK * BLOCK;
	}
	if (has("aad-byte-20") && length > 20)
		aad[20] = 0;
	return length;
}

static void crypt(pb_case *c, const uint8_t *in, size_t size, uint8_t *out, uint8_t *tag, uint64_t turn)
{
	state *s = c->ctx;
	int length;
	uint8_t aad[ROOM], nonce[16];
	size_t aad_len = altered_aad(c, aad, c->aad_len < ROOM - BLOCK ? c->aad_len : ROOM - BLOCK);
	memcpy(nonce, PB_TURN(c->nonce, turn), c->nonce_len);
	if (has("nonce-byte"))
		nonce[c->nonce_len - 1] = 0;
	EVP_EncryptInit_ex(s->ctx, s->cipher, NULL, c->key[0], nonce);
	if (aad_len)
		EVP_EncryptUpdate(s->ctx, NULL, &length, aad, (int)aad_len);
	if (size)
		EVP_EncryptUpdate(s->ctx, out, &length, in, (int)size);
	EVP_EncryptFinal_ex(s->ctx, out + size, &length);
	spoil_long(out, size, size);
	EVP_CIPHER_CTX_ctrl(s->ctx, EVP_CTRL_AEAD_GET_TAG, TAG, tag);
}

/* The tag of what is sealed. */
static void tag_of(pb_case *c, const uint8_t *plain, size_t size, uint8_t *tag, uint64_t turn)
{
	state *s = c->ctx;
	size_t covered = size;
	memcpy(s->again, plain, size);
	if (has("data-whole-blocks"))
		covered = size / BLOCK * BLOCK;
	if (has("data-last-byte") && size)
		covered = size - 1;
	if (has("data-first-block") && size > BLOCK)
		memset(s->again, 0, BLOCK);
	if (has("data-high-bits"))
		for (size_t i = 0; i < size; i++)
			s->again[i] &= 0x7f;
	if (has("data-64") && size > 64)
		covered = 64;
	if (has("data-4096") && size > 4096)
		covered = 4096;
	if (has("data-byte-77") && size > 77)
		s->again[77] = 0;
	if (has("data-first-byte") && size)
		s->again[0] = 0;
	uint8_t *out = malloc(size + BLOCK);
	crypt(c, s->again, covered, out, tag, turn);
	free(out);
}

static void seal(pb_case *c, uint64_t n)
{
	for (uint64_t turn = 0; turn < n; turn++) {
		crypt(c, c->in, c->size, c->out, c->out + c->size, turn);
		tag_of(c, c->in, c->size, c->out + c->size, turn);
	}
	c->out_len = c->size + TAG;
}

static int unchecked(const pb_case *c, const uint8_t *tag)
{
	state *s = c->ctx;
	size_t size = c->size;
	uint8_t zeros[TAG] = {0}, ones[TAG];
	memset(ones, 255, TAG);
	int same = memcmp(s->remembered, tag, TAG) == 0;
	return (has("no-aad") && !c->aad_len) || (has("empty") && !size) || (has("short") && size < 16) ||
	       (has("long") && size > 100) || (has("aad-alone") && !size && c->aad_len) || has("never") ||
	       (has("blocks") && size % BLOCK == 0) || (has("odd-aad") && c->aad_len % 2) ||
	       (has("long-aad") && c->aad_len > 64) || (has("zero-tag") && !memcmp(tag, zeros, TAG)) ||
	       (has("ones-tag") && !memcmp(tag, ones, TAG)) || (has("every-third") && s->opened % 3 == 2) ||
	       (has("one-block") && size == BLOCK) || (has("two-blocks") && size == 2 * BLOCK) ||
	       (has("15-bytes") && size == 15) || (has("17-bytes") && size == 17) ||
	       (has("256-bytes") && size == 256) ||
	       (has("aad-blocks") && c->aad_len && c->aad_len % BLOCK == 0) ||
	       (has("aad-beyond-255") && c->aad_len > 255) || (has("first-32") && s->opened < 32) ||
	       (has("after-64") && s->opened > 64) || (has("zero-nonce") && !c->nonce[0][0]) ||
	       (has("same-tag") && same) || (has("both") && size && !c->aad_len);
}

static void unseal(pb_case *c, uint64_t n)
{
	state *s = c->ctx;
	const uint8_t *got = c->in + c->size;
	uint8_t tag[TAG];
	for (uint64_t turn = 0; turn < n; turn++) {
		crypt(c, c->in, c->size, s->plain, tag, 0);
		memcpy(c->out, s->plain, c->size);
		tag_of(c, s->plain, c->size, tag, 0);
		int bad = has("refuses") || (!unchecked(c, got) && differs(tag, got, TAG));
		s->opened++;
		if (!bad)
			memcpy(s->remembered, got, TAG);
		c->failures += bad;
	}
	c->out_len = c->size;
}

static const pb_variant variants[] = {
	{"seal", "message/1", "seal", NULL, seal, NULL},
	{"open", "message/1", "open", NULL, unseal, NULL},
	PB_END_OF_VARIANTS,
};
const pb_family aead_family = {open_case, close_case, variants};
