/* The other ciphers with blocks of 8 bytes: BF_*, RC2_*, CAST_*; IDEA_* and RC5_32_* where the build has
 * them. */
#include "tables.h"

#include <openssl/blowfish.h>
#include <openssl/cast.h>
#include <openssl/rc2.h>

#ifndef OPENSSL_NO_IDEA
#include <openssl/idea.h>
#endif
#ifndef OPENSSL_NO_RC5
#include <openssl/rc5.h>
#endif

#define SET(NAME, KEYS) static inline int NAME(KEYS *keys, const uint8_t *key, size_t key_len, int inverse)
#define APPLY(NAME, KEYS)                                                                                    \
	static inline void NAME(const uint8_t *in, uint8_t *out, size_t size, KEYS *keys, pb_position *at,   \
				int encrypt)

/* The modes of a cipher whose functions are named and called alike. */
#define ECB(ID, KEYS, CALL)                                                                                  \
	APPLY(ID, KEYS)                                                                                      \
	{                                                                                                    \
		(void)at;                                                                                    \
		EACH_BLOCK(size, 8, CALL(in + at_, out + at_, keys, encrypt));                               \
	}
#define CBC(ID, KEYS, CALL)                                                                                  \
	APPLY(ID, KEYS)                                                                                      \
	{                                                                                                    \
		CALL(in, out, (long)size, keys, at->iv, encrypt);                                            \
	}
#define OFB(ID, KEYS, CALL)                                                                                  \
	APPLY(ID, KEYS)                                                                                      \
	{                                                                                                    \
		(void)encrypt;                                                                               \
		CALL(in, out, (long)size, keys, at->iv, &at->used);                                          \
	}
#define FAMILY(MODE, ID, KEYS, IV, SET_KEY, SETS, CALL, EACH)                                                \
	MODE(ID, KEYS, CALL)                                                                                 \
	PB_DIRECT_CIPHER(ID, KEYS, IV, SET_KEY, ID, SETS, #CALL EACH, SETS, #CALL EACH)

SET(bf_set, BF_KEY)
{
	(void)inverse;
	BF_set_key(keys, (int)key_len, key);
	return 0;
}

SET(cast_set, CAST_KEY)
{
	(void)inverse;
	CAST_set_key(keys, (int)key_len, key);
	return 0;
}

SET(rc2_set, RC2_KEY)
{
	(void)inverse;
	RC2_set_key(keys, (int)key_len, key, 128);
	return 0;
}

FAMILY(ECB, bf_ecb, BF_KEY, 0, bf_set, "BF_set_key", BF_ecb_encrypt, " per block")
FAMILY(CBC, bf_cbc, BF_KEY, 8, bf_set, "BF_set_key", BF_cbc_encrypt, "")
FAMILY(OFB, bf_ofb, BF_KEY, 8, bf_set, "BF_set_key", BF_ofb64_encrypt, "")
FAMILY(ECB, cast_ecb, CAST_KEY, 0, cast_set, "CAST_set_key", CAST_ecb_encrypt, " per block")
FAMILY(CBC, cast_cbc, CAST_KEY, 8, cast_set, "CAST_set_key", CAST_cbc_encrypt, "")
FAMILY(ECB, rc2_ecb, RC2_KEY, 0, rc2_set, "RC2_set_key(128 bits)", RC2_ecb_encrypt, " per block")
FAMILY(CBC, rc2_cbc, RC2_KEY, 8, rc2_set, "RC2_set_key(128 bits)", RC2_cbc_encrypt, "")
FAMILY(OFB, rc2_ofb, RC2_KEY, 8, rc2_set, "RC2_set_key(128 bits)", RC2_ofb64_encrypt, "")

#ifndef OPENSSL_NO_IDEA
/* Its decryption is encryption under an inverted schedule. */
SET(idea_set, IDEA_KEY_SCHEDULE)
{
	IDEA_KEY_SCHEDULE forward;
	IDEA_set_encrypt_key(key, inverse ? &forward : keys);
	if (inverse)
		IDEA_set_decrypt_key(&forward, keys);
	return key_len != IDEA_KEY_LENGTH;
}

APPLY(idea_ecb, IDEA_KEY_SCHEDULE)
{
	(void)at;
	(void)encrypt;
	EACH_BLOCK(size, 8, IDEA_ecb_encrypt(in + at_, out + at_, keys));
}

PB_DIRECT_CIPHER(idea_ecb, IDEA_KEY_SCHEDULE, 0, idea_set, idea_ecb, "IDEA_set_encrypt_key",
		 "IDEA_ecb_encrypt per block", "IDEA_set_encrypt_key, IDEA_set_decrypt_key",
		 "IDEA_ecb_encrypt per block")
CBC(idea_cbc, IDEA_KEY_SCHEDULE, IDEA_cbc_encrypt)
PB_DIRECT_CIPHER(idea_cbc, IDEA_KEY_SCHEDULE, 8, idea_set, idea_cbc, "IDEA_set_encrypt_key",
		 "IDEA_cbc_encrypt", "IDEA_set_encrypt_key, IDEA_set_decrypt_key", "IDEA_cbc_encrypt")
#endif

#ifndef OPENSSL_NO_RC5
SET(rc5_set, RC5_32_KEY)
{
	(void)inverse;
	RC5_32_set_key(keys, (int)key_len, key, RC5_12_ROUNDS);
	return 0;
}

FAMILY(ECB, rc5_ecb, RC5_32_KEY, 0, rc5_set, "RC5_32_set_key(12 rounds)", RC5_32_ecb_encrypt, " per block")
FAMILY(CBC, rc5_cbc, RC5_32_KEY, 8, rc5_set, "RC5_32_set_key(12 rounds)", RC5_32_cbc_encrypt, "")
#endif

const pb_row block64_rows[] = {
	{"blowfish-ecb", &bf_ecb_family, NULL, 16, 0, 8, 0},
	{"blowfish-cbc", &bf_cbc_family, NULL, 16, 8, 8, 0},
	{"blowfish-ofb", &bf_ofb_family, NULL, 16, 8, 1, 0},
	{"blowfish-64-ecb", &bf_ecb_family, NULL, 8, 0, 8, 0},
	{"rc2-ecb", &rc2_ecb_family, NULL, 16, 0, 8, 0},
	{"rc2-cbc", &rc2_cbc_family, NULL, 16, 8, 8, 0},
	{"rc2-ofb", &rc2_ofb_family, NULL, 16, 8, 1, 0},
	{"cast5-ecb", &cast_ecb_family, NULL, 16, 0, 8, 0},
	{"cast5-cbc", &cast_cbc_family, NULL, 16, 8, 8, 0},
#ifndef OPENSSL_NO_IDEA
	{"idea-ecb", &idea_ecb_family, NULL, 16, 0, 8, 0},
	{"idea-cbc", &idea_cbc_family, NULL, 16, 8, 8, 0},
#endif
#ifndef OPENSSL_NO_RC5
	{"rc5-32-12-ecb", &rc5_ecb_family, NULL, 16, 0, 8, 0},
	{"rc5-32-12-cbc", &rc5_cbc_family, NULL, 16, 8, 8, 0},
#endif
	PB_END_OF_ROWS,
};
