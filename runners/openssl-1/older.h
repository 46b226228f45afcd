/* Names of OpenSSL 3 for OpenSSL 1.1, before any other file: the sources of the runner `openssl` then compile. A name
 * stands for the call that a program for 1.1 makes in its place. */
#ifndef PERBYTE_OPENSSL_OLDER_H
#define PERBYTE_OPENSSL_OLDER_H

#include <openssl/evp.h>

#define EX2 "_ex"

#define EVP_CIPHER_fetch(LIBRARY, NAME, PROPERTIES) ((EVP_CIPHER *)EVP_get_cipherbyname(NAME))
#define EVP_MD_fetch(LIBRARY, NAME, PROPERTIES)     ((EVP_MD *)EVP_get_digestbyname(NAME))
#define EVP_CIPHER_free(CIPHER)                     ((void)(CIPHER))
#define EVP_MD_free(MD)                             ((void)(MD))

#define EVP_CipherInit_ex2(CTX, CIPHER, KEY, IV, ENCRYPT, PARAMS)                                            \
	EVP_CipherInit_ex(CTX, CIPHER, NULL, KEY, IV, ENCRYPT)
#define EVP_EncryptInit_ex2(CTX, CIPHER, KEY, IV, PARAMS) EVP_EncryptInit_ex(CTX, CIPHER, NULL, KEY, IV)
#define EVP_DecryptInit_ex2(CTX, CIPHER, KEY, IV, PARAMS) EVP_DecryptInit_ex(CTX, CIPHER, NULL, KEY, IV)

/* Built without engines, 1.1 follows a null pointer where it is to go on with the hash of the context. */
#define EVP_DigestInit_ex2(CTX, MD, PARAMS) EVP_DigestInit_ex(CTX, (MD) ? (MD) : EVP_MD_CTX_md(CTX), NULL)
#define FETCH_CALLS                         "EVP_get_digestbyname"
#define DIGEST_AGAIN                        "EVP_DigestInit_ex(ctx, EVP_MD_CTX_md(ctx), NULL)"

#define EVP_CIPHER_CTX_get_key_length EVP_CIPHER_CTX_key_length
#define EVP_CIPHER_CTX_get_iv_length  EVP_CIPHER_CTX_iv_length
#define EVP_CIPHER_get_block_size     EVP_CIPHER_block_size

#define EVP_PKEY_generate EVP_PKEY_keygen
#define EVP_PKEY_new_raw_private_key_ex(LIBRARY, NAME, PROPERTIES, KEY, LENGTH)                              \
	EVP_PKEY_new_raw_private_key(OBJ_sn2nid(NAME), NULL, KEY, LENGTH)
#define EVP_PKEY_new_raw_public_key_ex(LIBRARY, NAME, PROPERTIES, KEY, LENGTH)                               \
	EVP_PKEY_new_raw_public_key(OBJ_sn2nid(NAME), NULL, KEY, LENGTH)
#define EVP_PKEY_CTX_new_from_pkey(LIBRARY, KEY, MORE) EVP_PKEY_CTX_new(KEY, NULL)
#define EVP_DigestSignInit_ex(CTX, PCTX, NAME, LIBRARY, PROPERTIES, KEY, PARAMS)                             \
	EVP_DigestSignInit(CTX, PCTX, (NAME) ? EVP_get_digestbyname(NAME) : NULL, NULL, KEY)
#define EVP_DigestVerifyInit_ex(CTX, PCTX, NAME, LIBRARY, PROPERTIES, KEY, PARAMS)                           \
	EVP_DigestVerifyInit(CTX, PCTX, (NAME) ? EVP_get_digestbyname(NAME) : NULL, NULL, KEY)

#if OPENSSL_VERSION_NUMBER < 0x10101000L /* 1.1.0 has none of these; XOFs and FFDH are not offered */
#include <openssl/ec.h>
#define EVP_DigestFinalXOF(CTX, OUT, LENGTH) 0
#define EVP_PKEY_CTX_set_dh_pad(CTX, PAD)    0
static inline const BIGNUM *ECDSA_SIG_get0_r(const ECDSA_SIG *signature)
{
	const BIGNUM *r;
	ECDSA_SIG_get0(signature, &r, NULL);
	return r;
}
static inline const BIGNUM *ECDSA_SIG_get0_s(const ECDSA_SIG *signature)
{
	const BIGNUM *s;
	ECDSA_SIG_get0(signature, NULL, &s);
	return s;
}
#define EVP_DigestSign(CTX, SIGNATURE, LENGTH, MESSAGE, SIZE)                                                \
	(EVP_DigestSignUpdate(CTX, MESSAGE, SIZE) == 1 ? EVP_DigestSignFinal(CTX, SIGNATURE, LENGTH) : 0)
#define EVP_DigestVerify(CTX, SIGNATURE, LENGTH, MESSAGE, SIZE)                                              \
	(EVP_DigestVerifyUpdate(CTX, MESSAGE, SIZE) == 1 ? EVP_DigestVerifyFinal(CTX, SIGNATURE, LENGTH) : 0)
#endif

#endif
