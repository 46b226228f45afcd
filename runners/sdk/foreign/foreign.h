/* Runners in languages that C can call back: the tables are made at run time, and each loop is one call into
 * the language, which makes the timed calls and returns. What entering it costs is measured and subtracted
 * (pb_runner.empty). Go, Python and JavaScript stand on this; compiled languages export tables of their own
 * instead (sdk/rust). */
#ifndef PERBYTE_FOREIGN_H
#define PERBYTE_FOREIGN_H

#include "perbyte.h"

/* What a row is: which operations it has, under which contracts. */
enum {
	PB_HASH,
	PB_MAC,
	PB_STREAM,
	PB_AEAD,
	PB_SIGNATURE,
	PB_AGREEMENT,
	PB_KEM,
	PB_CHAIN,
	PB_ROUTINE,
	PB_LETTER,
	PB_PAIRS,
	PB_EXPAND,
	PB_HANDSHAKE,
	PB_RECORDS,
	PB_RANDOM,
	PB_NEW_PAIR, /* behind all whose numbers Python and JavaScript have */
	PB_KINDS
};

/* What a loop does: the operation, the same with a new key each time, and the way back (open, verify,
 * decapsulate). */
enum { PB_MESSAGE, PB_REKEY, PB_INVERSE, PB_INVERSE_REKEY };

typedef struct pb_foreign {
	int (*open)(pb_case *, int row); /* 1, or 0 if the library refuses (pb_foreign_say); sets out_len */
	void (*close)(pb_case *);
	void (*run)(pb_case *, uint64_t n, int call); /* n timed calls; without calls it returns at once */
	void (*begin)(pb_case *, int call);           /* untimed, before every sample; may be NULL */
	void (*show)(pb_case *);      /* untimed, afterwards: the last output to c->out; may be NULL */
	int in_place;                 /* what it works on is the memory of the case itself, and no copy */
	int walks;                    /* `run` heeds pb_foreign_walk */
	const struct pb_steps *steps; /* of connections (ends.h); may be NULL */
} pb_foreign;

/* Where the data of the next call are, as long as each call has its own: a loop takes `size` bytes from `at` on, moves
 * `at` on, and begins again where fewer are left. `area` is NULL while all calls take the same. */
typedef struct pb_walk {
	const uint8_t *area;
	size_t bytes, at;
} pb_walk;
extern pb_walk pb_foreign_walk;

/* Where a language keeps its copies of a case's data (`in_len` bytes), key 0, nonce 0 and message 0, so that others can
 * be put there without opening the case again; NULL: it has no use for that one. Until the case is closed. */
void pb_foreign_copies(pb_case *, void *in, void *key, void *nonce, void *message);

/* What `open` puts into the ctx of a case that has nothing to begin and nothing to show in an audit. */
extern const char pb_foreign_rests;

/* Room for `count` rows; then one call for each. Lengths in bytes. */
void pb_foreign_rows(int count);
void pb_foreign_row(int index, const char *algorithm, int kind, const char *calls, unsigned key,
		    unsigned nonce, unsigned output);

/* Keep words about an error, for languages that cannot call pb_fail. */
void pb_foreign_say(pb_case *, const char *words);

/* Speak the protocol until it ends. */
int pb_foreign_main(const pb_foreign *, const char *name, const char *library, const char *license,
		    const char *version, const char *features);

/* The chain of multiplications for languages that cannot make it themselves: three cycles a step. */
uint64_t pb_chain(uint64_t x, uint64_t steps);

/* The same from and to these, where handing over numbers costs more than a step. */
extern uint64_t pb_chain_value, pb_chain_steps;
void pb_chain_go(void);

#endif
