/* What the files of the libgcrypt runner share: the families, and what a row tells its family. */
#ifndef PB_LIBGCRYPT_FAMILIES_H
#define PB_LIBGCRYPT_FAMILIES_H

#include <gcrypt.h>

#include "perbyte.h"

/* A row's param. `mode` is meaningful for ciphers and AEADs only. */
struct algorithm {
	int algo; /* GCRY_CIPHER_*, GCRY_MD_*, GCRY_MAC_* or GCRY_ECC_* */
	int mode; /* GCRY_CIPHER_MODE_* */
};

extern const pb_family ecb_family;       /* no IV */
extern const pb_family iv_family;        /* CBC, OFB, CFB: gcry_cipher_setiv */
extern const pb_family ctr_family;       /* gcry_cipher_setctr */
extern const pb_family keystream_family; /* RC4: the state starts with the key */
extern const pb_family aead_family, ccm_family, ocb_family, gcm_siv_family, xts_family;
extern const pb_family hash_buffer_family; /* hashes with a direct one-shot in the library */
extern const pb_family hash_handle_family; /* hashes whose one-shot would open and free a handle */
extern const pb_family xof_family;
extern const pb_family mac_family; /* the key stays, no nonce */
extern const pb_family cmac_family;
extern const pb_family gmac_family;     /* the key stays, a nonce a message */
extern const pb_family one_time_family; /* a key a message */
extern const pb_family pbkdf2_4096_family, pbkdf2_600000_family, scrypt_family, argon2id_family;
extern const pb_family agreement_family; /* algo: GCRY_ECC_* */

extern const pb_row public_key_rows[], pair_rows[]; /* their params are not `struct algorithm` */

/* Turn an error of the library into one of the SDK: 0, or -1 with the library's words kept. */
static inline int refuse(pb_case *c, const char *call, gcry_error_t error)
{
	return error ? pb_fail(c, "%s: %s", call, gcry_strerror(error)) : 0;
}

static inline const struct algorithm *algorithm_of(const pb_case *c)
{
	return (const struct algorithm *)c->row->param;
}

#endif
