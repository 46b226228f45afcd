/* A hash, a MAC and a counter mode, wrong where code takes another path. */
#include "mutants.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <string.h>

enum { BLOCK = 16 };

static int open_case(pb_case *c)
{
	(void)c;
	return 0;
}

static void close_case(pb_case *c)
{
	(void)c;
}

static int is_wrong_at(size_t size)
{
	return (has("padding-55") && size % 64 == 55) || (has("padding-56") && size % 64 == 56) ||
	       (has("padding-63") && size % 64 == 63) || (has("padding-64") && size && size % 64 == 0) ||
	       (has("empty") && !size) || (has("padding-111") && size % 128 == 111) ||
	       (has("padding-112") && size % 128 == 112) || (has("rate-135") && size % 136 == 135);
}

static void hash(pb_case *c, uint64_t n)
{
	const EVP_MD *md = EVP_get_digestbyname(c->row->param);
	while (n--)
		EVP_Digest(c->in, c->size, c->out, NULL, md, NULL);
	c->out[0] ^= (uint8_t)is_wrong_at(c->size);
	c->out_len = c->row->output;
}

static void mac(pb_case *c, uint64_t n)
{
	while (n--)
		HMAC(EVP_sha256(), c->key[0], (int)c->key_len, c->in, c->size, c->out, NULL);
	c->out[0] ^= (uint8_t)is_wrong_at(c->size);
	c->out_len = c->row->output;
}

/* Blocks one by one, so that the counter is the fault's own. */
static void count(pb_case *c, uint64_t n)
{
	int width = has("carry-8")    ? 1
		    : has("carry-16") ? 2
		    : has("carry-32") ? 4
		    : has("carry-64") ? 8
				      : BLOCK;
	EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
	EVP_EncryptInit_ex(ctx, EVP_aes_128_ecb(), NULL, c->key[0], NULL);
	EVP_CIPHER_CTX_set_padding(ctx, 0);
	for (uint64_t call = 0; call < n; call++) {
		uint8_t counter[BLOCK], block[2 * BLOCK];
		int got;
		memcpy(counter, c->nonce[call % PB_RING], BLOCK);
		for (size_t at = 0; at < c->size; at += BLOCK) {
			EVP_EncryptUpdate(ctx, block, &got, counter, BLOCK);
			for (size_t i = at; i < c->size && i < at + BLOCK; i++)
				c->out[i] = c->in[i] ^ block[i - at];
			for (int i = BLOCK - 1; i >= BLOCK - width && !++counter[i]; i--)
				;
		}
	}
	EVP_CIPHER_CTX_free(ctx);
}

static const pb_variant hashes[] = {{"digest", "oneshot/1", "EVP_Digest", NULL, hash, NULL}, {0}};
static const pb_variant macs[] = {{"mac", "message/1", "HMAC", NULL, mac, NULL}, {0}};
static const pb_variant counters[] = {{"encrypt", "message/1", "EVP_EncryptUpdate", NULL, count, NULL}, {0}};

const pb_family hash_family = {open_case, close_case, hashes};
const pb_family mac_family = {open_case, close_case, macs};
const pb_family counter_family = {open_case, close_case, counters};
