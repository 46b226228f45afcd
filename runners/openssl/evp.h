/* What the files of the OpenSSL runner share: the families, and how an error of the library becomes words. */
#ifndef PERBYTE_OPENSSL_EVP_H
#define PERBYTE_OPENSSL_EVP_H

#include <perbyte.h>

/* param of a row: the name to fetch ("AES-128-CBC", "SHA2-256"; for a MAC the digest below it). */
extern const pb_family evp_cipher_family; /* block ciphers in a mode, ChaCha20 */
extern const pb_family evp_rc4_family;    /* RC4: no IV, so no message/1 */
extern const pb_family evp_aead_family;
extern const pb_family evp_digest_family;
extern const pb_family evp_hmac_family;
/* param: a struct key_numbers */
extern const pb_family evp_rsa_family;
extern const pb_family evp_dsa_family;

extern const pb_row evp_signature_rows[];

/* Keep "what: the library's own words" as the case's error; returns -1. */
int evp_fail(pb_case *c, const char *what);

#endif
