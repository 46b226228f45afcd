/* The original RIPEMD: a hash of 128 bits, made by the RIPE consortium (European RACE project 1040) in 1992.
 *
 * Written for Perbyte from the published description, because no library carries this algorithm any more.
 * Collisions are known since 2004: it is here to be timed, not to be used. */
#ifndef PB_REFERENCE_RIPEMD_H
#define PB_REFERENCE_RIPEMD_H

#include <stddef.h>
#include <stdint.h>

enum { RIPEMD_BLOCK = 64, RIPEMD_DIGEST = 16 };

typedef struct ripemd {
	uint32_t chain[4];
	uint64_t length; /* bytes so far */
	uint8_t pending[RIPEMD_BLOCK];
} ripemd;

void ripemd_init(ripemd *);
void ripemd_update(ripemd *, const uint8_t *data, size_t size);

/* Writes RIPEMD_DIGEST bytes. The state is used up. */
void ripemd_final(ripemd *, uint8_t *digest);

#endif
