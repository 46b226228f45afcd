/* The tables that the files of the low-level OpenSSL runner give to its main. */
#ifndef PERBYTE_OPENSSL_LOWLEVEL_TABLES_H
#define PERBYTE_OPENSSL_LOWLEVEL_TABLES_H

/* These functions are deprecated since OpenSSL 3.0; that they can be measured is what this runner is for. */
#define OPENSSL_SUPPRESS_DEPRECATED

#include <direct.h>

extern const pb_row aes_rows[];
extern const pb_row block128_rows[]; /* Camellia, SEED */
extern const pb_row des_rows[];
extern const pb_row block64_rows[]; /* Blowfish, RC2, CAST, IDEA, RC5 */
extern const pb_row rc4_rows[];
extern const pb_row hash_rows[];

/* ECB of a library that takes one block per call. */
#define EACH_BLOCK(SIZE, BLOCK, CALL)                                                                        \
	for (size_t at_ = 0; at_ < (SIZE); at_ += (BLOCK))                                                   \
	CALL

#endif
