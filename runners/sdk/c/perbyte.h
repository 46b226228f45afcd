/* What a runner in C or C++ includes. A runner is a table with one row per algorithm; a row names its family,
 * and a family is a table with one row per operation and contract. The SDK does all the rest: protocol,
 * material, buffers, gauge, checks. A family sees one pb_case and makes the calls of its library, nothing
 * else.
 *
 * The contracts that give the calls their meaning stand in catalogue/contracts.toml, the protocol in
 * protocol/SPEC.md. This file and the SDK know nothing of cryptography. */
#ifndef PERBYTE_H
#define PERBYTE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { PB_RING = 16 }; /* keys and nonces prepared per case; call i uses number i mod PB_RING */

/* One prepared operation. The SDK fills everything but ctx, out_len, failures and error. */
typedef struct pb_case {
	const struct pb_row *row;
	size_t size;       /* bytes of data that one call works on */
	const uint8_t *in; /* the data; for open and verify followed by the tag or signature; for decapsulate
			    * the ciphertext; for derive of a vector the peer's public key */
	uint8_t *out;      /* room for size + row->output + 24576 bytes; of digest and mac with an output
			    * length without size */
	const uint8_t *message[PB_RING]; /* for sign: the data first, then messages of the same length */
	const uint8_t *key[PB_RING];
	const uint8_t *nonce[PB_RING];
	const uint8_t *aad;
	size_t key_len, nonce_len, aad_len, in_len;
	size_t out_len;    /* bytes of output of the last call; `size` unless the family sets it */
	uint64_t failures; /* calls in which the library reported an error, or a forgery was refused */
	int inverse;       /* 1 while preparing for decrypt, open, verify or decapsulate */
	int given;         /* 1 while in and in_len are a vector's, not the run's own */
	unsigned turns;    /* set by the family's open: samples hold a multiple of so many calls (0: any) */
	unsigned most;     /* set by the family's open: a sample holds so many calls at the most (0: any) */
	uint64_t calls;  /* while `begin` runs: what the loop behind it makes, where that is known (0: not) */
	void *ctx;       /* the family's own */
	char error[256]; /* words for pb_fail */
} pb_case;

/* One operation under one contract. */
typedef struct pb_variant {
	const char *operation; /* "encrypt" */
	const char *contract; /* "stream/1"; PB_UNTIMED: made only where another operation needs its output */
	const char *calls;    /* the library calls one timed call makes, for hello and for readers */
	/* untimed, before every sample: back to the state before call 0; may be NULL */
	void (*begin)(pb_case *);
	/* n timed calls, the first of them call 0 */
	void (*loop)(pb_case *, uint64_t n);
	/* untimed, after the loop: bring the last call's output to out; may be NULL */
	void (*show)(pb_case *);
} pb_variant;

/* The contract of an operation that is not offered: `sign` of a scheme whose signatures are verified only. */
#define PB_UNTIMED "untimed"

typedef struct pb_family {
	int (*open)(pb_case *);     /* allocate ctx and set key 0 and nonce 0; 0, or pb_fail(c, ...) */
	void (*close)(pb_case *);   /* free ctx */
	const pb_variant *variants; /* ends with a row whose operation is NULL */
} pb_family;

typedef struct pb_row {
	const char *algorithm; /* catalogue id */
	const pb_family *family;
	const void *param;   /* what the family needs to tell its algorithms apart */
	uint16_t key, nonce; /* lengths in bytes, as in the catalogue */
	uint16_t multiple;   /* granularity of size, at least 1 */
	uint16_t output; /* length of tag, digest, MAC, signature or secret; 0 if it is as long as the data */
} pb_row;

typedef struct pb_runner {
	const char *name;                  /* "openssl" */
	const char *library;               /* "OpenSSL" */
	const char *license;               /* SPDX id of the library's licence */
	const char *(*version)(void);      /* asked of the library at run time */
	const char *(*cpu_features)(void); /* what the library says it uses; may be NULL */
	const void *object; /* address of any function of the library: tells which file was loaded */
	/* Bring the CPU tier about and initialise the library. Returns 0, or -1 if the tier is unknown or
	 * cannot be had. May be NULL if there is only `full`. */
	int (*start)(const char *tier);
	/* 1 if this build of the library really has the row's algorithm; may be NULL (all rows are there). */
	int (*offers)(const pb_row *);
	/* What the library reports about the code behind a row, e.g. "AESNI"; may be NULL, may return NULL.
	 */
	const char *(*code_path)(const pb_row *);
	const pb_row *const
		*tables; /* NULL-terminated array of tables, each ending with a row without algorithm */
	/* For languages whose loops are not entered as cheaply as those of C: enters one and returns at once.
	 * What that costs belongs to no call and is subtracted from each sample. May be NULL. */
	void (*empty)(void);
	/* Of such languages: take over the data, key 0 and nonce 0 of a case as they stand now, in whose places others
	 * were put since it was opened. 1, or 0 if the case must be opened again for that. May be NULL (0). */
	int (*refresh)(pb_case *);
	/* Keys, nonces, data and additional data begin at multiples of so many bytes, a power of two; 0: anywhere. */
	unsigned aligned;
} pb_runner;

int pb_runner_main(const pb_runner *, int argc, char **argv);

/* 1 while calls are audited one by one: a language that collects garbage in `begin` does so before and behind them. */
extern int pb_auditing;

/* Before pb_runner_main, where the code that is called may print: answers go to what is standard output now, and what is
 * printed goes to standard error. */
void pb_keep_output(void);

/* Keep words about an error; returns -1, so that `return pb_fail(c, "...")` reads well. */
int pb_fail(pb_case *, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* What a family's open returns when the library cannot take the lengths of a vector, or a size, although
 * nothing is wrong: `return pb_fail(c, "...") + PB_UNFIT`. */
enum { PB_UNFIT = -1 };

/* The timed loop. `turn` names the counter (0, 1, ... n-1); the call's own work stands inside. Unrolled, so
 * that the loop costs a quarter of a cycle per call. Keep everything the call needs in local variables: the
 * compiler cannot know that the library leaves the pb_case alone. */
#define PB_REPEAT(n, turn, ...)                                                                              \
	do {                                                                                                 \
		uint64_t pb_n_ = (n);                                                                        \
		_Pragma("GCC unroll 4") for (uint64_t turn = 0; turn < pb_n_; turn++)                        \
		{                                                                                            \
			__VA_ARGS__;                                                                         \
		}                                                                                            \
	} while (0)

/* The ring entry that call `turn` uses. */
#define PB_TURN(ring, turn) ((ring)[(turn) & (PB_RING - 1)])

/* A whole loop function around one call. ERROR is an expression, not zero when the library reports an error;
 * it may use state (of type STATE), in, in_len, out, size, aad, aad_len, out_max (length of tag, signature,
 * secret), the rings key, nonce and message, and turn. */
#define PB_LOOP(NAME, STATE, ERROR)                                                                          \
	static void NAME(pb_case *c, uint64_t n)                                                             \
	{                                                                                                    \
		STATE *state = (STATE *)c->ctx;                                                              \
		const uint8_t *in = c->in, *aad = c->aad, *const *key = c->key, *const *nonce = c->nonce,    \
			      *const *message = c->message;                                                  \
		uint8_t *out = c->out;                                                                       \
		size_t size = c->size, aad_len = c->aad_len, in_len = c->in_len, out_max = c->row->output,   \
		       key_len = c->key_len, nonce_len = c->nonce_len;                                       \
		uint64_t bad = 0;                                                                            \
		(void)state, (void)in, (void)aad, (void)key, (void)nonce, (void)message, (void)out;          \
		(void)size, (void)aad_len, (void)in_len, (void)out_max, (void)key_len, (void)nonce_len;      \
		PB_REPEAT(n, turn, bad += (ERROR) != 0);                                                     \
		c->failures += bad;                                                                          \
	}

/* Keeps the compiler from moving memory accesses across, or dropping what is computed. */
#define PB_BARRIER()   __asm__ volatile("" ::: "memory")
#define PB_KEEP(value) __asm__ volatile("" : : "r"(value) : "memory")

#define PB_END_OF_VARIANTS                                                                                   \
	{                                                                                                    \
		NULL, NULL, NULL, NULL, NULL, NULL                                                           \
	}
#define PB_END_OF_ROWS                                                                                       \
	{                                                                                                    \
		NULL, NULL, NULL, 0, 0, 0, 0                                                                 \
	}

#ifdef __cplusplus
}
#endif

#endif
