/* What the files of the OpenSSL runner share: the families, and how an error of the library becomes words. */
#ifndef PERBYTE_OPENSSL_EVP_H
#define PERBYTE_OPENSSL_EVP_H

#include <perbyte.h>

/* What the calls of a contract end with; OpenSSL 1.1 has no _ex2, see runners/openssl-1/older.h. */
#ifndef EX2
#define EX2 "_ex2"
#endif
#ifndef DIGEST_AGAIN
#define DIGEST_AGAIN "EVP_DigestInit_ex2(ctx, NULL, NULL)"
#endif

#ifndef FETCH_CALLS
#define FETCH_CALLS "EVP_MD_fetch, EVP_MD_free"
#endif

/* param of a row: the name to fetch ("AES-128-CBC", "SHA2-256") */
extern const pb_family evp_cipher_family; /* block ciphers in a mode, ChaCha20 */
extern const pb_family evp_rc4_family;    /* RC4: no IV, so no message/1 */
extern const pb_family evp_sector_family; /* XTS: whole data units only */
extern const pb_family evp_aead_family;
extern const pb_family evp_ccm_family;     /* needs tag and total length beforehand */
extern const pb_family evp_gcm_siv_family; /* the same, and forgets no additional data by itself */
extern const pb_family evp_siv_family;     /* a key schedule is good for one message */
extern const pb_family evp_digest_family;
extern const pb_family evp_xof_family;

/* param: a struct evp_mac */
struct evp_mac {
	const char *name, *digest, *cipher; /* to fetch; what is below it, or NULL */
	int sized;                          /* 1 if the length of the output has to be said */
};
extern const pb_family evp_mac_family;
extern const pb_family evp_gmac_family;    /* with a nonce */
extern const pb_family evp_onetime_family; /* a key is good for one message */

/* param: a struct evp_kdf */
struct evp_kdf {
	const char *name, *digest;
	enum { EVP_HKDF, EVP_PBKDF2, EVP_SCRYPT, EVP_ARGON2 } which;
	unsigned cost; /* iterations, or N of scrypt */
};
extern const pb_family evp_hkdf_family;
extern const pb_family evp_password_family;

/* param: a struct key_numbers */
extern const pb_family evp_rsa_family;
extern const pb_family evp_pss_family;
extern const pb_family evp_rsa_pairs_family;
extern const pb_family evp_rsa_load_family;
extern const pb_family evp_dsa_family;

/* param: a struct pkey_kind */
extern const pb_family evp_exchange_family;
extern const pb_family evp_kem_family;
extern const pb_family evp_message_family;
extern const pb_family evp_edwards_family; /* the same, with keys as plain bytes */
extern const pb_family evp_ecdsa_family;

/* param: an OSSL_HPKE_SUITE; whether the build has it. No rows below OpenSSL 3.2 */
extern const pb_family evp_hpke_family;
extern const pb_row evp_hpke_rows[];
int hpke_there(const pb_row *);

/* TLS 1.3, by libssl; whether the build has the row's group and certificate */
extern const pb_row tls_rows[];
extern const pb_row evp_random_rows[];
int tls_there(const pb_row *);

extern const pb_row evp_mac_rows[], evp_kdf_rows[], evp_signature_rows[], evp_exchange_rows[],
	evp_message_rows[];

/* Keep "what: the library's own words" as the case's error; returns -1. */
int evp_fail(pb_case *c, const char *what);

#endif
