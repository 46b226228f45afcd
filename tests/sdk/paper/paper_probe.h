/* Included before each source of the SDK (cc -include): its instruction sequences, clock, cores and identity of the
 * processor become those of the processor on paper. The sources themselves are the ones that are shipped. */
#ifndef PB_PROBE_H
#define PB_PROBE_H

#include "paper.h"

#include <cpuid.h>
#include <sched.h>
#include <stdint.h>
#include <sys/resource.h>
#include <time.h>

enum {
	PB_CLOCK_BLOCKS = 40,
	PB_CLOCK_BLOCKS_MOST = 4000,
	PB_CONTENTION_BLOCKS = 150,
	PB_CONTENTION_WARM = 2,
	PB_WINDOW_WARM = 2
};

#define PB_KNOWN_CHAIN        1
#define PB_CHAIN_CYCLES       3
#define PB_CHAIN(x)           paper_cycles(300)
#define PB_CHECK_ADD(x, y)    ((void)(y), paper_cycles(100))
#define PB_CHECK_ROTATE(x)    paper_cycles(100)
#define PB_FRONT_END()        paper_front_end(600)
#define PB_TICK_NAME          "paper"
#define PB_HAS_WINDOW         1
#define PB_NOP8               0
#define PB_VECTOR8            1
#define PB_INTEGER8           2
#define PB_ZERO_VECTORS_AVX() (void)0
#define PB_ZERO_VECTORS()     (void)0
#define PB_WORK_ADDS(x, y)    ((void)(x), (void)(y), paper_cycles(600))
#define PB_WORK_AES()         paper_work(600)
#define PB_WORK_REGISTERS()   paper_work(600)
#define PB_WORK_LOADS(at, n)  ((void)(at), paper_work(600))
#define PB_WINDOW(filler, bytes, rounds, chain, length, root)                                                \
	((void)(root), paper_window(filler, rounds, chain, length))

static inline uint64_t pb_ticks(void)
{
	return paper_ticks();
}

int paper_clock_gettime(int, struct timespec *);
int paper_getrusage(int, struct rusage *);
int paper_getcpu(void);
int paper_getaffinity(int, size_t, cpu_set_t *);
int paper_setaffinity(int, size_t, const cpu_set_t *);
int paper_cpuid(unsigned, unsigned *, unsigned *, unsigned *, unsigned *);
int paper_cpuid_count(unsigned, unsigned, unsigned *, unsigned *, unsigned *, unsigned *);

#define clock_gettime(clock, t)             paper_clock_gettime(clock, t)
#define getrusage(who, usage)               paper_getrusage(who, usage)
#define sched_getcpu()                      paper_getcpu()
#define sched_getaffinity(who, size, set)   paper_getaffinity(who, size, set)
#define sched_setaffinity(who, size, set)   paper_setaffinity(who, size, set)
#define __get_cpuid(l, a, b, c, d)          paper_cpuid(l, a, b, c, d)
#define __get_cpuid_count(l, s, a, b, c, d) paper_cpuid_count(l, s, a, b, c, d)

#endif
