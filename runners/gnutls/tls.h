/* TLS 1.3: its rows, and whether the library has one's group and certificate. */
#ifndef PERBYTE_GNUTLS_TLS_H
#define PERBYTE_GNUTLS_TLS_H

#include <ends.h>

extern const pb_row tls_rows[];
int tls_there(const pb_row *);

#endif
