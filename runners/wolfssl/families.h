/* What the files of the wolfSSL runners share. Both the library that is built here and the one that the
 * distribution packages are compiled from them; what a build lacks is left out by the library's own macros.
 */
#ifndef PERBYTE_WOLFSSL_FAMILIES_H
#define PERBYTE_WOLFSSL_FAMILIES_H

#include <ends.h>
#include <perbyte.h>

#include <wolfssl/options.h>
#include <wolfssl/wolfcrypt/settings.h>

#include <wolfssl/wolfcrypt/error-crypt.h>
#include <wolfssl/wolfcrypt/random.h>

extern const pb_row cipher_rows[], hash_rows[], mac_rows[], curve_rows[], rsa_rows[], pqc_rows[], tls_rows[];

/* Whether the build has the group and the certificate of a row of TLS 1.3. */
int tls_there(const pb_row *);

/* The generator that key generation, ECDSA and encapsulation draw from. */
extern WC_RNG rng;

/* `size` bytes, zeroed, as the case's context. */
void *new_context(pb_case *c, size_t size);
void free_context(pb_case *c);

/* 0, or the case's context is freed and the library's words about the error are kept. */
int opened(pb_case *c, int error, const char *what);

int open_size(pb_case *c);  /* output as long as the data */
int open_fixed(pb_case *c); /* output as long as the row says */

#define IMPLICIT " (with the expansion of its key)"
#define ROW(ID, FAMILY, KEY, NONCE, MULTIPLE, OUTPUT)                                                        \
	{                                                                                                    \
		ID, &FAMILY##_family, NULL, KEY, NONCE, MULTIPLE, OUTPUT                                     \
	}

#endif
