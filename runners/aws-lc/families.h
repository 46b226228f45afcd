/* What the files of the AWS-LC runner share, and the BoringSSL runner with them: the two libraries have the
 * same functions here, except for the post-quantum ones. */
#ifndef PERBYTE_AWS_LC_FAMILIES_H
#define PERBYTE_AWS_LC_FAMILIES_H

#include <ends.h>
#include <perbyte.h>

#include <openssl/ec_key.h>

extern const pb_row cipher_rows[], aead_rows[], digest_rows[], mac_rows[], kdf_rows[], curve_rows[],
	rsa_rows[], pqc_rows[], load_rows[];

/* What this library has and the other one lacks (digests of pqc.c's library). */
extern const pb_row own_digest_rows[];

/* The family of digests; param of a row: the function that gives the EVP_MD. */
extern const pb_family digest_family;

/* TLS 1.3, by runners/openssl/tls.c, where RUNNER_TLS is defined. */
extern const pb_row tls_rows[], evp_random_rows[];
int tls_there(const pb_row *);

/* A pair of a curve, by the private number; NULL where that is none. */
EC_KEY *curve_pair(int nid, const uint8_t *private, size_t length);

/* Keep "what: the library's own words" as the case's error; returns -1. */
int library_fail(pb_case *c, const char *what);

#endif
