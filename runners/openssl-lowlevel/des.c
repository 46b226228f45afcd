/* DES_*. CBC is DES_ncbc_encrypt: DES_cbc_encrypt does not hand the IV on. Keys are set unchecked: the parity
 * bits are ignored, as everywhere. */
#include "tables.h"

#include <openssl/des.h>

struct triple {
	DES_key_schedule first, second, third;
};

static inline int des_set(DES_key_schedule *keys, const uint8_t *key, size_t key_len, int inverse)
{
	(void)inverse;
	DES_set_key_unchecked((const_DES_cblock *)key, keys);
	return key_len != 8;
}

static inline int triple_set(struct triple *keys, const uint8_t *key, size_t key_len, int inverse)
{
	(void)inverse;
	DES_set_key_unchecked((const_DES_cblock *)key, &keys->first);
	DES_set_key_unchecked((const_DES_cblock *)(key + 8), &keys->second);
	DES_set_key_unchecked((const_DES_cblock *)(key + 16), &keys->third);
	return key_len != 24;
}

#define APPLY(NAME, KEYS)                                                                                    \
	static inline void NAME(const uint8_t *in, uint8_t *out, size_t size, KEYS *keys, pb_position *at,   \
				int encrypt)

APPLY(des_ecb, DES_key_schedule)
{
	(void)at;
	EACH_BLOCK(size, 8,
		   DES_ecb_encrypt((const_DES_cblock *)(in + at_), (DES_cblock *)(out + at_), keys, encrypt));
}

APPLY(des_cbc, DES_key_schedule)
{
	DES_ncbc_encrypt(in, out, (long)size, keys, (DES_cblock *)at->iv, encrypt);
}

APPLY(des_ofb, DES_key_schedule)
{
	(void)encrypt;
	DES_ofb64_encrypt(in, out, (long)size, keys, (DES_cblock *)at->iv, &at->used);
}

APPLY(des_cfb, DES_key_schedule)
{
	DES_cfb64_encrypt(in, out, (long)size, keys, (DES_cblock *)at->iv, &at->used, encrypt);
}

APPLY(triple_ecb, struct triple)
{
	(void)at;
	EACH_BLOCK(size, 8,
		   DES_ecb3_encrypt((const_DES_cblock *)(in + at_), (DES_cblock *)(out + at_), &keys->first,
				    &keys->second, &keys->third, encrypt));
}

APPLY(triple_cbc, struct triple)
{
	DES_ede3_cbc_encrypt(in, out, (long)size, &keys->first, &keys->second, &keys->third,
			     (DES_cblock *)at->iv, encrypt);
}

APPLY(triple_ofb, struct triple)
{
	(void)encrypt;
	DES_ede3_ofb64_encrypt(in, out, (long)size, &keys->first, &keys->second, &keys->third,
			       (DES_cblock *)at->iv, &at->used);
}

APPLY(triple_cfb, struct triple)
{
	DES_ede3_cfb64_encrypt(in, out, (long)size, &keys->first, &keys->second, &keys->third,
			       (DES_cblock *)at->iv, &at->used, encrypt);
}

#define SINGLE(ID, IV, CALL)                                                                                 \
	PB_DIRECT_CIPHER(ID, DES_key_schedule, IV, des_set, ID, "DES_set_key_unchecked", CALL,               \
			 "DES_set_key_unchecked", CALL)
#define TRIPLE(ID, IV, CALL)                                                                                 \
	PB_DIRECT_CIPHER(ID, struct triple, IV, triple_set, ID, "3 x DES_set_key_unchecked", CALL,           \
			 "3 x DES_set_key_unchecked", CALL)

SINGLE(des_ecb, 0, "DES_ecb_encrypt per block")
SINGLE(des_cbc, 8, "DES_ncbc_encrypt")
SINGLE(des_ofb, 8, "DES_ofb64_encrypt")
SINGLE(des_cfb, 8, "DES_cfb64_encrypt")
TRIPLE(triple_ecb, 0, "DES_ecb3_encrypt per block")
TRIPLE(triple_cbc, 8, "DES_ede3_cbc_encrypt")
TRIPLE(triple_ofb, 8, "DES_ede3_ofb64_encrypt")
TRIPLE(triple_cfb, 8, "DES_ede3_cfb64_encrypt")

const pb_row des_rows[] = {
	{"des-ecb", &des_ecb_family, NULL, 8, 0, 8, 0},
	{"des-cbc", &des_cbc_family, NULL, 8, 8, 8, 0},
	{"des-ofb", &des_ofb_family, NULL, 8, 8, 1, 0},
	{"des-cfb", &des_cfb_family, NULL, 8, 8, 1, 0},
	{"des-ede3-ecb", &triple_ecb_family, NULL, 24, 0, 8, 0},
	{"des-ede3-cbc", &triple_cbc_family, NULL, 24, 8, 8, 0},
	{"des-ede3-ofb", &triple_ofb_family, NULL, 24, 8, 1, 0},
	{"des-ede3-cfb", &triple_cfb_family, NULL, 24, 8, 1, 0},
	PB_END_OF_ROWS,
};
