/* AES_*: software whatever the CPU has. CTR is CRYPTO_ctr128_encrypt over AES_encrypt, as OpenSSL's own
 * callers had it. */
#include "tables.h"

#include <openssl/aes.h>
#include <openssl/modes.h>

/* ECB, CBC and IGE decrypt with a schedule of their own; the others run the cipher forwards both ways. */
static inline int aes_set(AES_KEY *keys, const uint8_t *key, size_t key_len, int inverse)
{
	int bits = (int)key_len * 8;
	return (inverse ? AES_set_decrypt_key(key, bits, keys) : AES_set_encrypt_key(key, bits, keys)) != 0;
}

static inline int aes_set_forward(AES_KEY *keys, const uint8_t *key, size_t key_len, int inverse)
{
	(void)inverse;
	return AES_set_encrypt_key(key, (int)key_len * 8, keys) != 0;
}

static inline void aes_ecb(const uint8_t *in, uint8_t *out, size_t size, AES_KEY *keys, pb_position *at,
			   int encrypt)
{
	(void)at;
	EACH_BLOCK(size, AES_BLOCK_SIZE, AES_ecb_encrypt(in + at_, out + at_, keys, encrypt));
}

static inline void aes_cbc(const uint8_t *in, uint8_t *out, size_t size, AES_KEY *keys, pb_position *at,
			   int encrypt)
{
	AES_cbc_encrypt(in, out, size, keys, at->iv, encrypt);
}

static inline void aes_ige(const uint8_t *in, uint8_t *out, size_t size, AES_KEY *keys, pb_position *at,
			   int encrypt)
{
	AES_ige_encrypt(in, out, size, keys, at->iv, encrypt);
}

static inline void aes_ofb(const uint8_t *in, uint8_t *out, size_t size, AES_KEY *keys, pb_position *at,
			   int encrypt)
{
	(void)encrypt;
	AES_ofb128_encrypt(in, out, size, keys, at->iv, &at->used);
}

static inline void aes_cfb(const uint8_t *in, uint8_t *out, size_t size, AES_KEY *keys, pb_position *at,
			   int encrypt)
{
	AES_cfb128_encrypt(in, out, size, keys, at->iv, &at->used, encrypt);
}

static inline void aes_ctr(const uint8_t *in, uint8_t *out, size_t size, AES_KEY *keys, pb_position *at,
			   int encrypt)
{
	(void)encrypt;
	unsigned used = (unsigned)at->used;
	CRYPTO_ctr128_encrypt(in, out, size, keys, at->iv, at->stream, &used, (block128_f)AES_encrypt);
	at->used = (int)used;
}

#define BOTH_WAYS(ID, IV, CALL)                                                                              \
	PB_DIRECT_CIPHER(ID, AES_KEY, IV, aes_set, ID, "AES_set_encrypt_key", CALL, "AES_set_decrypt_key",   \
			 CALL)
#define FORWARDS(ID, CALL)                                                                                   \
	PB_DIRECT_CIPHER(ID, AES_KEY, 16, aes_set_forward, ID, "AES_set_encrypt_key", CALL,                  \
			 "AES_set_encrypt_key", CALL)

BOTH_WAYS(aes_ecb, 0, "AES_ecb_encrypt per block")
BOTH_WAYS(aes_cbc, 16, "AES_cbc_encrypt")
BOTH_WAYS(aes_ige, 32, "AES_ige_encrypt")
FORWARDS(aes_ofb, "AES_ofb128_encrypt")
FORWARDS(aes_cfb, "AES_cfb128_encrypt")
FORWARDS(aes_ctr, "CRYPTO_ctr128_encrypt(AES_encrypt)")

#define AES(BITS, KEY)                                                                                       \
	{"aes-" #BITS "-ecb", &aes_ecb_family, NULL, KEY, 0, 16, 0},                                         \
		{"aes-" #BITS "-cbc", &aes_cbc_family, NULL, KEY, 16, 16, 0},                                \
		{"aes-" #BITS "-ige", &aes_ige_family, NULL, KEY, 32, 16, 0},                                \
		{"aes-" #BITS "-ofb", &aes_ofb_family, NULL, KEY, 16, 1, 0},                                 \
		{"aes-" #BITS "-cfb", &aes_cfb_family, NULL, KEY, 16, 1, 0},                                 \
	{                                                                                                    \
		"aes-" #BITS "-ctr", &aes_ctr_family, NULL, KEY, 16, 1, 0                                    \
	}

const pb_row aes_rows[] = {AES(128, 16), AES(192, 24), AES(256, 32), PB_END_OF_ROWS};
