/* The instruction sequences: serialised tick reads, chains of known latency, the front-end block.
 *
 * What a chain may be made of: instructions whose latency is the same on every core we know and which no core
 * shortcuts. Immediate adds, increments, lea and moves are out: recent cores execute them at rename. Nothing
 * here reads results or decides anything; gauge.c does. */
#ifndef PB_PROBE_H
#define PB_PROBE_H

#include <stdint.h>

#define PB_10(x)  x x x x x x x x x x
#define PB_100(x) PB_10(PB_10(x))

/* Lengths: a clock probe must be long against one step of the tick counter (26 ticks on some machines) and
 * short against a sample. */
enum { PB_CLOCK_BLOCKS = 60, PB_CONTENTION_BLOCKS = 150, PB_CONTENTION_WARM = 2 };

#if defined(__x86_64__)

static inline uint64_t pb_ticks(void)
{
	uint32_t low, high;
	__asm__ volatile("lfence\n\trdtsc\n\tlfence" : "=a"(low), "=d"(high) : : "memory");
	return (uint64_t)high << 32 | low;
}

/* imul r64,r64: 3 cycles on Intel since Nehalem (2008), on AMD since Zen. */
#define PB_CHAIN_CYCLES    3
#define PB_CHAIN(x)        __asm__ volatile(PB_100("imul %0, %0\n\t") : "+r"(x))
#define PB_CHECK_ADD(x, y) __asm__ volatile(PB_100("add %1, %0\n\t") : "+r"(x) : "r"(y) : "cc")
#define PB_CHECK_ROTATE(x) __asm__ volatile(PB_100("ror $7, %0\n\t") : "+r"(x) : : "cc")
#define PB_FRONT_END()     __asm__ volatile(PB_100("nop\n\tnop\n\tnop\n\tnop\n\tnop\n\tnop\n\t"))
#define PB_TICK_NAME       "tsc"

#elif defined(__aarch64__)

static inline uint64_t pb_ticks(void)
{
	uint64_t value;
	__asm__ volatile("isb\n\tmrs %0, cntvct_el0\n\tisb" : "=r"(value) : : "memory");
	return value;
}

/* No multiply latency holds for all cores (4 cycles on Cortex-A57 to A73, 3 from A76 on), so the chain is
 * made of rotations by an immediate, 1 cycle each, three to a link so that a link costs 3 cycles as on
 * x86-64. The self-check (link : add : rotation = 3 : 1 : 1) decides whether a core can be trusted. Written
 * from the architecture's optimisation guides and compiled, but not yet run on such a machine:
 * docs/measurement.md. */
#define PB_CHAIN_CYCLES 3
#define PB_CHAIN(x)                                                                                          \
	__asm__ volatile(PB_100("ror %0, %0, #7\n\tror %0, %0, #9\n\tror %0, %0, #11\n\t") : "+r"(x))
#define PB_CHECK_ADD(x, y) __asm__ volatile(PB_100("add %0, %0, %1\n\t") : "+r"(x) : "r"(y))
#define PB_CHECK_ROTATE(x) __asm__ volatile(PB_100("ror %0, %0, #7\n\t") : "+r"(x))
#define PB_FRONT_END()     __asm__ volatile(PB_100("nop\n\tnop\n\tnop\n\tnop\n\tnop\n\tnop\n\t"))
#define PB_TICK_NAME       "cntvct"

#else
#error "no probes for this architecture: write pb_ticks, PB_CHAIN and PB_FRONT_END for it"
#endif

#endif
