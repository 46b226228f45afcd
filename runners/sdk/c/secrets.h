/* Bytes that only the owner of a key knows, in two classes: what a pair of samples differs in (SPEC section 14). */
#ifndef PB_SECRETS_H
#define PB_SECRETS_H

#include "cases.h"

typedef enum pb_kind {
	PB_FIXED,
	PB_RANDOM,
	PB_ZEROS,
	PB_SPARSE,
	PB_GENUINE,
	PB_CHANGED,
	PB_EARLY,
	PB_LATE
} pb_kind;

typedef struct pb_secrets {
	pb_prepared *p;
	uint64_t seed;
	pb_kind kinds[2], neutral;
	uint8_t *place;    /* where the call reads them */
	uint8_t *bytes[2]; /* both classes', made anew for each sample */
	uint8_t *before;   /* what lay in `place` */
	uint8_t *block;    /* the data's own memory, or NULL */
	const uint8_t *in, *message;
	size_t length, tag; /* bytes of tag at the end, for PB_EARLY and PB_LATE */
	int key;            /* the secret is the key */
	int afresh; /* the key is set outside the timed call: the case is opened again for each sample */
} pb_secrets;

/* Lay the classes out for `role` ("key", "data" or "input"). Returns an error code of the protocol, with words. */
const char *pb_secrets_begin(pb_secrets *, pb_prepared *, uint64_t seed, const char *role, const char *first,
			     const char *second, char *words);

/* Put bytes that belong to neither class in place. */
void pb_secrets_neutral(pb_secrets *, uint64_t number);

/* Make both classes' bytes for sample `number`, and put those of class `which` (0 or 1) in place without a branch or an
 * address that depends on it. Returns 0 where the library does not take them as a key. */
int pb_secrets_place(pb_secrets *, uint64_t number, uint64_t which);

/* The case is as it was. Returns 0 where it could not be opened again. */
int pb_secrets_end(pb_secrets *);

#endif
