/* Signatures whose private key has a state: LMS in two levels (HSS) and XMSS. They are verified only. */
#ifndef PERBYTE_LIBOQS_STATEFUL_H
#define PERBYTE_LIBOQS_STATEFUL_H

#include <perbyte.h>

extern const pb_row stateful_rows[];
extern const pb_family stateful_family;

int stateful_offers(const pb_row *row);

/* OQS_randombytes gives what `from` holds until end_draw, which says whether it was used up (0) or not. */
void begin_draw(const uint8_t *from, size_t length);
int end_draw(int failed);

#endif
