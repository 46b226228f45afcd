/* Loops of known cost, by which the whole pipeline is checked: what it reads for them is right or wrong.
 *
 * A call makes `size` steps of a chain in which every step waits for the one before it, so that cycles per
 * byte are cycles per step. The chain goes on from call to call: a chain that began anew in every call would
 * overlap with the end of the call before and read too low. */
#include "families.h"

#include <stdlib.h>
#include <string.h>

typedef uint64_t pair __attribute__((vector_size(16)));

typedef struct chain {
	pair wide;       /* for aesenc */
	uint64_t narrow; /* for all others */
} chain;

/* Odd, and without short cycles under multiplication. */
#define START   0x9e3779b97f4a7c15u
#define OPERAND 0xbf58476d1ce4e5b9u

static int open_probe(pb_case *c)
{
	c->ctx = aligned_alloc(16, sizeof(chain));
	if (!c->ctx)
		return pb_fail(c, "out of memory");
	memset(c->ctx, 0, sizeof(chain));
	return 0;
}

static void close_probe(pb_case *c)
{
	free(c->ctx);
}

static void begin(pb_case *c)
{
	chain *state = c->ctx;
	state->narrow = START;
	state->wide = (pair){START, OPERAND};
}

static void show_narrow(pb_case *c)
{
	memcpy(c->out, &((chain *)c->ctx)->narrow, sizeof(uint64_t));
	c->out_len = sizeof(uint64_t);
}

/* A step is taken `size` times by a loop whose own instructions hide behind the chain. */
#define CHAIN_LOOP(name, type, part, operand, step)                                                          \
	static void loop_##name(pb_case *c, uint64_t n)                                                      \
	{                                                                                                    \
		chain *state = c->ctx;                                                                       \
		type x = state->part;                                                                        \
		const type k = operand;                                                                      \
		size_t size = c->size;                                                                       \
		PB_REPEAT(n, turn, for (size_t i = 0; i < size; i++) step);                                  \
		state->part = x;                                                                             \
	}

#define FAMILY(name, calls, show)                                                                            \
	static const pb_variant variants_##name[] = {                                                        \
		{"run", "stream/1", calls, begin, loop_##name, show},                                        \
		PB_END_OF_VARIANTS,                                                                          \
	};                                                                                                   \
	const pb_family probe_##name##_family = {open_probe, close_probe, variants_##name}

#if defined(__x86_64__)

static void show_wide(pb_case *c)
{
	memcpy(c->out, &((chain *)c->ctx)->wide, sizeof(pair));
	c->out_len = sizeof(pair);
}

CHAIN_LOOP(imul, uint64_t, narrow, OPERAND, __asm__ volatile("imul %1, %0" : "+r"(x) : "r"(k) : "cc"))
CHAIN_LOOP(imul_add, uint64_t, narrow, OPERAND,
	   __asm__ volatile("imul %1, %0\n\tadd %1, %0"
			    : "+r"(x)
			    : "r"(k)
			    : "cc"))
CHAIN_LOOP(crc32, uint64_t, narrow, OPERAND, __asm__ volatile("crc32q %1, %0" : "+r"(x) : "r"(k)))
CHAIN_LOOP(aesenc, pair, wide, ((pair){OPERAND, START}), __asm__ volatile("aesenc %1, %0" : "+x"(x) : "x"(k)))

FAMILY(imul, "imul r64, r64 per byte of size", show_narrow);
FAMILY(imul_add, "imul r64, r64 and add r64, r64 per byte of size", show_narrow);
FAMILY(crc32, "crc32 r64, r64 per byte of size", show_narrow);
FAMILY(aesenc, "aesenc xmm, xmm per byte of size", show_wide);

int probe_runs_here(const pb_family *family)
{
	if (family == &probe_crc32_family)
		return __builtin_cpu_supports("sse4.2") != 0;
	if (family == &probe_aesenc_family)
		return __builtin_cpu_supports("aes") != 0;
	return 1;
}

#else

/* No other architecture has these instructions, and none has a multiplication of the same latency on all
 * cores. */
static void loop_none(pb_case *c, uint64_t n)
{
	(void)c, (void)n;
}

#define loop_imul     loop_none
#define loop_imul_add loop_none
#define loop_crc32    loop_none
#define loop_aesenc   loop_none

FAMILY(imul, "not on this architecture", show_narrow);
FAMILY(imul_add, "not on this architecture", show_narrow);
FAMILY(crc32, "not on this architecture", show_narrow);
FAMILY(aesenc, "not on this architecture", show_narrow);

int probe_runs_here(const pb_family *family)
{
	return family == &probe_empty_family || family == &ripemd_family || family == &copy_family;
}

#endif

static void loop_empty(pb_case *c, uint64_t n)
{
	(void)c;
	PB_REPEAT(n, turn, PB_BARRIER());
}

FAMILY(empty, "nothing", show_narrow);
