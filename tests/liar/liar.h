/* What the files of the lying runner share. */
#ifndef LIAR_H
#define LIAR_H

#include "perbyte.h"

/* True where LIE in the environment names this lie. */
int lies(const char *name);

extern const pb_family curve_family, eddsa_family, ecdsa_family, rsa_family;

#endif
