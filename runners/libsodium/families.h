/* Families whose calls take everything they need: most of libsodium's functions know no context. */
#ifndef PERBYTE_LIBSODIUM_FAMILIES_H
#define PERBYTE_LIBSODIUM_FAMILIES_H

#include <perbyte.h>

extern const pb_row secret_rows[], hash_rows[], public_rows[];

/* A family of rows that need no context; `length` as in c->out_len. */
int open_fixed(pb_case *c); /* the row's output */
int open_aead(pb_case *c);  /* the data, and the tag when sealing */
int open_size(pb_case *c);  /* as long as the data */
void close_nothing(pb_case *c);

#define ROW(ID, FAMILY, KEY, NONCE, OUTPUT)                                                                  \
	{                                                                                                    \
		ID, &FAMILY, NULL, KEY, NONCE, 1, OUTPUT                                                     \
	}

#endif
