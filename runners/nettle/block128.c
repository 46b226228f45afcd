/* Ciphers with blocks of 16 bytes: AES, Camellia, Serpent, Twofish. AES and Camellia decrypt with a schedule
 * of their own, so there are two setters: one that looks at the direction, one for the modes that run the
 * cipher forwards. */
#include "tables.h"

#include <nettle/aes.h>
#include <nettle/camellia.h>
#include <nettle/serpent.h>
#include <nettle/twofish.h>

#define TWO_SETTERS(ID, KEYS)                                                                                \
	SET(ID##_set, KEYS)                                                                                  \
	{                                                                                                    \
		(void)key_len;                                                                               \
		if (inverse)                                                                                 \
			ID##_set_decrypt_key(keys, key);                                                     \
		else                                                                                         \
			ID##_set_encrypt_key(keys, key);                                                     \
		return 0;                                                                                    \
	}                                                                                                    \
	SET(ID##_set_forward, KEYS)                                                                          \
	{                                                                                                    \
		(void)key_len;                                                                               \
		(void)inverse;                                                                               \
		ID##_set_encrypt_key(keys, key);                                                             \
		return 0;                                                                                    \
	}

#define ONE_SETTER(ID, KEYS)                                                                                 \
	SET(ID##_set, KEYS)                                                                                  \
	{                                                                                                    \
		(void)key_len;                                                                               \
		(void)inverse;                                                                               \
		ID##_set_key(keys, key);                                                                     \
		return 0;                                                                                    \
	}

#define AES(BITS)                                                                                            \
	TWO_SETTERS(aes##BITS, struct aes##BITS##_ctx)                                                       \
	ECB(aes##BITS, struct aes##BITS##_ctx, aes##BITS##_set, 16, aes##BITS##_encrypt,                     \
	    aes##BITS##_decrypt, "aes" #BITS "_set_encrypt_key", "aes" #BITS "_set_decrypt_key")             \
	CBC_AES(aes##BITS, struct aes##BITS##_ctx, aes##BITS##_set, 16, aes##BITS##_encrypt,                 \
		aes##BITS##_decrypt, "aes" #BITS "_set_encrypt_key", "aes" #BITS "_set_decrypt_key")         \
	CTR(aes##BITS, struct aes##BITS##_ctx, aes##BITS##_set_forward, 16, aes##BITS##_encrypt,             \
	    "aes" #BITS "_set_encrypt_key")                                                                  \
	CFB(aes##BITS, struct aes##BITS##_ctx, aes##BITS##_set_forward, 16, aes##BITS##_encrypt,             \
	    "aes" #BITS "_set_encrypt_key")

/* Camellia decrypts by encrypting under an inverted schedule, hence one `crypt` for both. Camellia-192 is
 * Camellia-256 with another way to set the key. */
#define CAMELLIA(BITS, KIND)                                                                                 \
	TWO_SETTERS(camellia##BITS, struct camellia##KIND##_ctx)                                             \
	ECB(camellia##BITS, struct camellia##KIND##_ctx, camellia##BITS##_set, 16, camellia##KIND##_crypt,   \
	    camellia##KIND##_crypt, "camellia" #BITS "_set_encrypt_key",                                     \
	    "camellia" #BITS "_set_decrypt_key")                                                             \
	CBC(camellia##BITS, struct camellia##KIND##_ctx, camellia##BITS##_set, 16, camellia##KIND##_crypt,   \
	    camellia##KIND##_crypt, "camellia" #BITS "_set_encrypt_key",                                     \
	    "camellia" #BITS "_set_decrypt_key")                                                             \
	CTR(camellia##BITS, struct camellia##KIND##_ctx, camellia##BITS##_set_forward, 16,                   \
	    camellia##KIND##_crypt, "camellia" #BITS "_set_encrypt_key")

/* Serpent and Twofish have one schedule for both ways. */
#define ONE_SCHEDULE(ID, CIPHER)                                                                             \
	ONE_SETTER(ID, struct CIPHER##_ctx)                                                                  \
	ECB(ID, struct CIPHER##_ctx, ID##_set, 16, CIPHER##_encrypt, CIPHER##_decrypt, #ID "_set_key",       \
	    #ID "_set_key")                                                                                  \
	CBC(ID, struct CIPHER##_ctx, ID##_set, 16, CIPHER##_encrypt, CIPHER##_decrypt, #ID "_set_key",       \
	    #ID "_set_key")                                                                                  \
	CTR(ID, struct CIPHER##_ctx, ID##_set, 16, CIPHER##_encrypt, #ID "_set_key")

AES(128)
AES(192)
AES(256)
CAMELLIA(128, 128)
CAMELLIA(192, 256)
CAMELLIA(256, 256)
ONE_SCHEDULE(serpent128, serpent)
ONE_SCHEDULE(serpent256, serpent)
ONE_SCHEDULE(twofish128, twofish)
ONE_SCHEDULE(twofish256, twofish)

#define ROWS(ID, FAMILY, KEY)                                                                                \
	{ID "-ecb", &FAMILY##_ecb_family, NULL, KEY, 0, 16, 0},                                              \
		{ID "-cbc", &FAMILY##_cbc_family, NULL, KEY, 16, 16, 0},                                     \
	{                                                                                                    \
		ID "-ctr", &FAMILY##_ctr_family, NULL, KEY, 16, 16, 0                                        \
	}

const pb_row block128_rows[] = {
	ROWS("aes-128", aes128, 16),
	ROWS("aes-192", aes192, 24),
	ROWS("aes-256", aes256, 32),
	{"aes-128-cfb", &aes128_cfb_family, NULL, 16, 16, 16, 0},
	{"aes-192-cfb", &aes192_cfb_family, NULL, 24, 16, 16, 0},
	{"aes-256-cfb", &aes256_cfb_family, NULL, 32, 16, 16, 0},
	ROWS("camellia-128", camellia128, 16),
	ROWS("camellia-192", camellia192, 24),
	ROWS("camellia-256", camellia256, 32),
	ROWS("serpent-128", serpent128, 16),
	ROWS("serpent-256", serpent256, 32),
	ROWS("twofish-128", twofish128, 16),
	ROWS("twofish-256", twofish256, 32),
	PB_END_OF_ROWS,
};
