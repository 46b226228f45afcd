/* The rows of public.c and tls.c, and the generator that both draw from, seeded before anything is timed. */
#ifndef PERBYTE_MBEDTLS_PUBLIC_H
#define PERBYTE_MBEDTLS_PUBLIC_H

#include <ends.h>

#include <mbedtls/ctr_drbg.h>

extern const pb_row public_key_rows[], tls_rows[];
int tls_there(const pb_row *);

extern mbedtls_ctr_drbg_context drbg;
int seeded(void);
#define DRAW mbedtls_ctr_drbg_random, &drbg

#endif
