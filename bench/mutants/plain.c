/* A hash, a MAC and a counter mode, wrong where code takes another path. */
#include "mutants.h"

#include <openssl/bn.h>
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
	       (has("padding-112") && size % 128 == 112) || (has("rate-135") && size % 136 == 135) ||
	       (has("odd-beyond-200") && size > 200 && size % 64) || (has("beyond-1024") && size > 1024) ||
	       (has("at-4095") && size % 4096 == 4095) || (has("at-512") && size && size % 512 == 0);
}

static void hash(pb_case *c, uint64_t n)
{
	const EVP_MD *md = EVP_get_digestbyname(c->row->param);
	while (n--)
		EVP_Digest(c->in, c->size, c->out, NULL, md, NULL);
	c->out[0] ^= (uint8_t)is_wrong_at(c->size);
	c->out_len = c->row->output;
	spoil_long(c->out, c->out_len, c->size);
}

/* -- Poly1305 (RFC 8439) and CMAC (RFC 4493) as they are written down -- */

static void poly1305(pb_case *c, uint64_t n)
{
	BN_CTX *x = BN_CTX_new();
	BIGNUM *p = NULL, *acc = BN_new(), *part = BN_new(), *r = BN_new(), *s = BN_new();
	BN_hex2bn(&p, "3fffffffffffffffffffffffffffffffb");
	while (n--) {
		uint8_t clamped[16], block[17];
		memcpy(clamped, c->key[n % PB_RING], 16);
		for (int i = 3; i < 16 && !has("not-clamped"); i += 4)
			clamped[i] &= 15;
		for (int i = 4; i < 16 && !has("not-clamped"); i += 4)
			clamped[i] &= 252;
		BN_lebin2bn(clamped, 16, r);
		BN_lebin2bn(c->key[n % PB_RING] + 16, 16, s);
		BN_zero(acc);
		for (size_t at = 0; at < c->size; at += 16) {
			size_t length = c->size - at < 16 ? c->size - at : 16;
			memset(block, 0, 17);
			memcpy(block, c->in + at, length);
			block[has("bit-behind-padding") ? 16 : length] = 1;
			if (has("no-bit-at-the-end") && length < 16)
				block[length] = 0;
			if (has("last-block-skipped") && length < 16 && at)
				break;
			BN_lebin2bn(block, 17, part);
			BN_add(acc, acc, part);
			BN_mod_mul(acc, acc, r, p, x);
		}
		if (has("not-reduced") && BN_num_bits(acc) < 3)
			BN_add(acc, acc, p);
		BN_add(acc, acc, s);
		BN_mask_bits(acc, 128);
		if (BN_num_bits(acc) == 0)
			memset(c->out, 0, 16);
		else
			BN_bn2lebinpad(acc, c->out, 16);
	}
	c->out_len = 16;
	spoil_long(c->out, 16, c->size);
	BN_free(p), BN_free(acc), BN_free(part), BN_free(r), BN_free(s);
	BN_CTX_free(x);
}

static void doubled(uint8_t *value)
{
	int carry = value[0] >> 7;
	for (int i = 0; i < BLOCK; i++)
		value[i] = (uint8_t)(value[i] << 1 | (i + 1 < BLOCK ? value[i + 1] >> 7 : 0));
	value[BLOCK - 1] ^= (uint8_t)(carry && !has("no-carry") ? 0x87 : 0);
}

static void cmac(pb_case *c, uint64_t n)
{
	EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
	while (n--) {
		uint8_t key[BLOCK] = {0}, last[2 * BLOCK] = {0}, sum[2 * BLOCK] = {0};
		size_t blocks = c->size ? (c->size + BLOCK - 1) / BLOCK : 1,
		       rest = c->size - (blocks - 1) * BLOCK;
		int got;
		EVP_EncryptInit_ex(ctx, EVP_aes_128_ecb(), NULL, c->key[n % PB_RING], NULL);
		EVP_CIPHER_CTX_set_padding(ctx, 0);
		EVP_EncryptUpdate(ctx, last, &got, key, BLOCK);
		memcpy(key, last, BLOCK);
		doubled(key);
		memset(last, 0, BLOCK);
		memcpy(last, c->in + (blocks - 1) * BLOCK, rest);
		if (rest < BLOCK && !has("one-key"))
			doubled(key);
		if (rest < BLOCK && !has("no-padding"))
			last[rest] = 0x80;
		for (size_t at = 0; at < blocks; at++) {
			for (int i = 0; i < BLOCK; i++)
				sum[i] ^= at + 1 < blocks ? c->in[at * BLOCK + (size_t)i] : last[i] ^ key[i];
			EVP_EncryptUpdate(ctx, sum, &got, sum, BLOCK);
		}
		memcpy(c->out, sum, BLOCK);
	}
	EVP_CIPHER_CTX_free(ctx);
	c->out_len = BLOCK;
	spoil_long(c->out, BLOCK, c->size);
}

static void mac(pb_case *c, uint64_t n)
{
	while (n--)
		HMAC(EVP_sha256(), c->key[0], (int)c->key_len, c->in, c->size, c->out, NULL);
	c->out[0] ^= (uint8_t)is_wrong_at(c->size);
	c->out_len = c->row->output;
	spoil_long(c->out, c->out_len, c->size);
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
	spoil_long(c->out, c->size, c->size);
	EVP_CIPHER_CTX_free(ctx);
}

static const pb_variant hashes[] = {{"digest", "oneshot/1", "EVP_Digest", NULL, hash, NULL}, {0}};
static const pb_variant macs[] = {{"mac", "message/1", "HMAC", NULL, mac, NULL}, {0}};
static const pb_variant counters[] = {{"encrypt", "message/1", "EVP_EncryptUpdate", NULL, count, NULL}, {0}};

static const pb_variant polys[] = {{"mac", "rekey/1", "poly1305", NULL, poly1305, NULL}, {0}};
static const pb_variant cmacs[] = {{"mac", "message/1", "cmac", NULL, cmac, NULL}, {0}};

const pb_family hash_family = {open_case, close_case, hashes};
const pb_family mac_family = {open_case, close_case, macs};
const pb_family poly1305_family = {open_case, close_case, polys};
const pb_family cmac_family = {open_case, close_case, cmacs};
const pb_family counter_family = {open_case, close_case, counters};
