/* The other ciphers with blocks of 16 bytes: Camellia_*, SEED_*. */
#include "tables.h"

#include <openssl/camellia.h>
#include <openssl/seed.h>

static inline int camellia_set(CAMELLIA_KEY *keys, const uint8_t *key, size_t key_len, int inverse)
{
	(void)inverse;
	return Camellia_set_key(key, (int)key_len * 8, keys) != 0;
}

static inline void camellia_ecb(const uint8_t *in, uint8_t *out, size_t size, CAMELLIA_KEY *keys,
				pb_position *at, int encrypt)
{
	(void)at;
	EACH_BLOCK(size, CAMELLIA_BLOCK_SIZE, Camellia_ecb_encrypt(in + at_, out + at_, keys, encrypt));
}

static inline void camellia_cbc(const uint8_t *in, uint8_t *out, size_t size, CAMELLIA_KEY *keys,
				pb_position *at, int encrypt)
{
	Camellia_cbc_encrypt(in, out, size, keys, at->iv, encrypt);
}

static inline void camellia_ctr(const uint8_t *in, uint8_t *out, size_t size, CAMELLIA_KEY *keys,
				pb_position *at, int encrypt)
{
	(void)encrypt;
	unsigned used = (unsigned)at->used;
	Camellia_ctr128_encrypt(in, out, size, keys, at->iv, at->stream, &used);
	at->used = (int)used;
}

static inline int seed_set(SEED_KEY_SCHEDULE *keys, const uint8_t *key, size_t key_len, int inverse)
{
	(void)inverse;
	SEED_set_key(key, keys);
	return key_len != SEED_KEY_LENGTH;
}

static inline void seed_ecb(const uint8_t *in, uint8_t *out, size_t size, SEED_KEY_SCHEDULE *keys,
			    pb_position *at, int encrypt)
{
	(void)at;
	EACH_BLOCK(size, SEED_BLOCK_SIZE, SEED_ecb_encrypt(in + at_, out + at_, keys, encrypt));
}

static inline void seed_cbc(const uint8_t *in, uint8_t *out, size_t size, SEED_KEY_SCHEDULE *keys,
			    pb_position *at, int encrypt)
{
	SEED_cbc_encrypt(in, out, size, keys, at->iv, encrypt);
}

#define CAMELLIA_MODE(ID, IV, CALL)                                                                          \
	PB_DIRECT_CIPHER(ID, CAMELLIA_KEY, IV, camellia_set, ID, "Camellia_set_key", CALL,                   \
			 "Camellia_set_key", CALL)
#define SEED_MODE(ID, IV, CALL)                                                                              \
	PB_DIRECT_CIPHER(ID, SEED_KEY_SCHEDULE, IV, seed_set, ID, "SEED_set_key", CALL, "SEED_set_key", CALL)

CAMELLIA_MODE(camellia_ecb, 0, "Camellia_ecb_encrypt per block")
CAMELLIA_MODE(camellia_cbc, 16, "Camellia_cbc_encrypt")
CAMELLIA_MODE(camellia_ctr, 16, "Camellia_ctr128_encrypt")
SEED_MODE(seed_ecb, 0, "SEED_ecb_encrypt per block")
SEED_MODE(seed_cbc, 16, "SEED_cbc_encrypt")

#define CAMELLIA(BITS, KEY)                                                                                  \
	{"camellia-" #BITS "-ecb", &camellia_ecb_family, NULL, KEY, 0, 16, 0},                               \
		{"camellia-" #BITS "-cbc", &camellia_cbc_family, NULL, KEY, 16, 16, 0},                      \
	{                                                                                                    \
		"camellia-" #BITS "-ctr", &camellia_ctr_family, NULL, KEY, 16, 1, 0                          \
	}

const pb_row block128_rows[] = {
	CAMELLIA(128, 16),
	CAMELLIA(192, 24),
	CAMELLIA(256, 32),
	{"seed-ecb", &seed_ecb_family, NULL, 16, 0, 16, 0},
	{"seed-cbc", &seed_cbc_family, NULL, 16, 16, 16, 0},
	PB_END_OF_ROWS,
};
