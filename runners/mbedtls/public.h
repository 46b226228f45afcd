/* The rows of public.c. */
#ifndef PERBYTE_MBEDTLS_PUBLIC_H
#define PERBYTE_MBEDTLS_PUBLIC_H

#include <perbyte.h>

extern const pb_row public_key_rows[];

#endif
