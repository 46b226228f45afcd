/* Ciphers with blocks of 8 bytes: DES, triple DES, Blowfish, RC2 (arctwo), CAST-128. Nettle's CTR is for any
 * block. */
#include "tables.h"

#include <nettle/arctwo.h>
#include <nettle/blowfish.h>
#include <nettle/cast128.h>
#include <nettle/des.h>

/* The return value tells a weak key, which the seeded keys are not: no failure, the key is set all the same.
 */
SET(des_set, struct des_ctx)
{
	(void)inverse;
	des_set_key(keys, key);
	return key_len != DES_KEY_SIZE;
}

SET(des3_set, struct des3_ctx)
{
	(void)inverse;
	des3_set_key(keys, key);
	return key_len != DES3_KEY_SIZE;
}

SET(blowfish_set, struct blowfish_ctx)
{
	(void)inverse;
	blowfish_set_key(keys, key_len, key);
	return 0;
}

SET(arctwo_set, struct arctwo_ctx)
{
	(void)inverse;
	arctwo_set_key_ekb(keys, key_len, key, 128);
	return 0;
}

SET(cast128_set, struct cast128_ctx)
{
	(void)inverse;
	cast5_set_key(keys, key_len, key);
	return 0;
}

#define ECB_CBC(CIPHER, SETS)                                                                                \
	ECB(CIPHER, struct CIPHER##_ctx, CIPHER##_set, 8, CIPHER##_encrypt, CIPHER##_decrypt, SETS, SETS)    \
	CBC(CIPHER, struct CIPHER##_ctx, CIPHER##_set, 8, CIPHER##_encrypt, CIPHER##_decrypt, SETS, SETS)
#define CTR_CFB(CIPHER, SETS)                                                                                \
	CTR(CIPHER, struct CIPHER##_ctx, CIPHER##_set, 8, CIPHER##_encrypt, SETS)                            \
	CFB(CIPHER, struct CIPHER##_ctx, CIPHER##_set, 8, CIPHER##_encrypt, SETS)

ECB_CBC(des, "des_set_key")
CTR_CFB(des, "des_set_key")
ECB_CBC(des3, "des3_set_key")
CTR_CFB(des3, "des3_set_key")
ECB_CBC(blowfish, "blowfish_set_key")
ECB_CBC(arctwo, "arctwo_set_key_ekb(128)")
ECB_CBC(cast128, "cast5_set_key")

const pb_row block64_rows[] = {
	{"des-ecb", &des_ecb_family, NULL, 8, 0, 8, 0},
	{"des-cbc", &des_cbc_family, NULL, 8, 8, 8, 0},
	{"des-ctr", &des_ctr_family, NULL, 8, 8, 8, 0},
	{"des-cfb", &des_cfb_family, NULL, 8, 8, 8, 0},
	{"des-ede3-ecb", &des3_ecb_family, NULL, 24, 0, 8, 0},
	{"des-ede3-cbc", &des3_cbc_family, NULL, 24, 8, 8, 0},
	{"des-ede3-ctr", &des3_ctr_family, NULL, 24, 8, 8, 0},
	{"des-ede3-cfb", &des3_cfb_family, NULL, 24, 8, 8, 0},
	{"blowfish-ecb", &blowfish_ecb_family, NULL, 16, 0, 8, 0},
	{"blowfish-cbc", &blowfish_cbc_family, NULL, 16, 8, 8, 0},
	{"blowfish-64-ecb", &blowfish_ecb_family, NULL, 8, 0, 8, 0},
	{"rc2-ecb", &arctwo_ecb_family, NULL, 16, 0, 8, 0},
	{"rc2-cbc", &arctwo_cbc_family, NULL, 16, 8, 8, 0},
	{"cast5-ecb", &cast128_ecb_family, NULL, 16, 0, 8, 0},
	{"cast5-cbc", &cast128_cbc_family, NULL, 16, 8, 8, 0},
	PB_END_OF_ROWS,
};
