/* Prepared cases: a row and a variant of the runner's tables, with material, buffers and the family's
 * context. */
#ifndef PB_CASES_H
#define PB_CASES_H

#include "perbyte.h"

typedef struct pb_prepared {
	pb_case c;
	const pb_variant *variant;
	uint64_t seed;
	size_t offset;
	char *input_path;
	int opened;          /* the family has opened it */
	uint8_t *material;   /* keys and nonces */
	uint8_t *own_input;  /* for open, verify and decapsulate */
	uint8_t *messages;   /* for sign */
	uint8_t *varied;     /* for sign: those of one sample, while they are others for each */
	uint64_t call_ticks; /* what a call took in the last sample; 0 before the first */
	uint64_t open_ticks; /* what preparing took */
	struct {             /* see pieces.h; all 0 while the case was never cut */
		const pb_variant *variant;
		const uint8_t *in;
		uint8_t *out;
		size_t size, bytes, at, agree[2];
	} piece;
	struct { /* see fresh.h; `area` is NULL while all calls take the same data */
		uint8_t *area;
		size_t bytes, at;
		int file;    /* to read from; -1: none */
		uint8_t *to; /* where what is read goes to */
	} fresh;
} pb_prepared;

/* Material given in a check instead of the seeded one. NULL pointers stand for the seeded material. */
typedef struct pb_vector {
	const uint8_t *key, *nonce, *aad, *input;
	size_t key_len, nonce_len, aad_len, input_len;
} pb_vector;

/* Error codes of the protocol; NULL is success. The words are in `words`, which has room for 256 bytes. */
const char *pb_case_open(pb_prepared *, const pb_row *, const pb_variant *, size_t size, uint64_t seed,
			 size_t offset, const char *input_path, const pb_vector *, char *words);
void pb_case_close(pb_prepared *);

/* Let the family prepare the case again, of the material as it is now; 1 if it takes it. */
int pb_case_reopen(pb_prepared *);

/* From now on each key, each nonce and additional data begin at a multiple of so many bytes (0: anywhere). */
void pb_case_align(unsigned bytes);

/* From now on outputs begin so many bytes behind inputs, modulo a page, or at the multiple before. */
void pb_case_apart(size_t bytes);

/* Whether each sample is to sign messages of its own, because what a call costs depends on them; then
 * pb_case_vary_step draws them by `chance`, and pb_case_vary_end gives the case its own back. */
int pb_case_vary_begin(pb_prepared *);
void pb_case_vary_step(pb_prepared *, uint64_t chance);
void pb_case_vary_end(pb_prepared *);

/* Begin, before a loop of n calls. */
void pb_case_begin(pb_prepared *, uint64_t n);

/* Begin and make n calls; afterwards the last one's output is in c.out, c.out_len. */
void pb_case_run(pb_prepared *, uint64_t n);

/* The variant with this operation and contract, or NULL. */
const pb_variant *pb_variant_find(const pb_row *, const char *operation, const char *contract);

/* Operation, then its inverse, must give the input back (or the secret that was sent); a changed tag and
 * changed data must be refused, a changed ciphertext of a KEM must give another secret. On success *passed is
 * set and words say what was seen; "unsupported" where there is no inverse or no tag. */
const char *pb_case_round_trip(pb_prepared *, int *passed, char *words);
const char *pb_case_forgery(pb_prepared *, int *passed, char *words);

#endif
