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

/* Lengths: a clock probe must be long against one step of the tick counter (26 ticks on some machines) and short against
 * a sample. PB_CLOCK_BLOCKS is the least; where the counter's step is coarse (40 ns and more on many cores that are not
 * x86), gauge.c takes more. */
enum {
	PB_CLOCK_BLOCKS = 40,
	PB_CLOCK_BLOCKS_MOST = 4000,
	PB_CONTENTION_BLOCKS = 150,
	PB_CONTENTION_WARM = 2
};

/* Untimed rounds before a reading of the window probe. */
enum { PB_WINDOW_WARM = 2 };

#if defined(__x86_64__)

static inline uint64_t pb_ticks(void)
{
	uint32_t low, high;
	__asm__ volatile("lfence\n\trdtsc\n\tlfence" : "=a"(low), "=d"(high) : : "memory");
	return (uint64_t)high << 32 | low;
}

/* imul r64,r64: 3 cycles on Intel since Nehalem (2008), on AMD since Zen. */
#define PB_KNOWN_CHAIN     1
#define PB_CHAIN_CYCLES    3
#define PB_CHAIN(x)        __asm__ volatile(PB_100("imul %0, %0\n\t") : "+r"(x))
#define PB_CHECK_ADD(x, y) __asm__ volatile(PB_100("add %1, %0\n\t") : "+r"(x) : "r"(y) : "cc")
#define PB_CHECK_ROTATE(x) __asm__ volatile(PB_100("ror $7, %0\n\t") : "+r"(x) : : "cc")
#define PB_FRONT_END()     __asm__ volatile(PB_100("nop\n\tnop\n\tnop\n\tnop\n\tnop\n\tnop\n\t"))
#define PB_TICK_NAME       "tsc"

/* The window probe (window.h): a chain of square roots, then fillers, both entered at an offset, so that one piece of
 * code serves for all lengths. The first addend is xmm1 or r8; registers of one's own count too, hence the vectors are
 * zeroed before: zero takes no register. */
#define PB_HAS_WINDOW 1
#define PB_NOP8                                                                                              \
	"nopl 8(%%rax)\n\tnopl 8(%%rax)\n\tnopl 8(%%rax)\n\tnopl 8(%%rax)\n\t"                               \
	"nopl 8(%%rax)\n\tnopl 8(%%rax)\n\tnopl 8(%%rax)\n\tnopl 8(%%rax)\n\t"
#define PB_VECTOR8                                                                                           \
	"paddd %%xmm1, %%xmm2\n\tpaddd %%xmm1, %%xmm3\n\tpaddd %%xmm1, %%xmm4\n\tpaddd %%xmm1, %%xmm5\n\t"   \
	"paddd %%xmm1, %%xmm6\n\tpaddd %%xmm1, %%xmm7\n\tpaddd %%xmm1, %%xmm2\n\tpaddd %%xmm1, %%xmm3\n\t"
#define PB_INTEGER8                                                                                          \
	"add %%r8, %%r9\n\tadd %%r8, %%r10\n\tadd %%r8, %%r11\n\tadd %%r8, %%r9\n\t"                         \
	"add %%r8, %%r10\n\tadd %%r8, %%r11\n\tadd %%r8, %%r9\n\tadd %%r8, %%r10\n\t"
#define PB_WINDOW_CLOBBERS                                                                                   \
	"xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11",    \
		"xmm12", "xmm13", "xmm14", "xmm15"
#define PB_ZERO_VECTORS_AVX() __asm__ volatile("vzeroall" : : : PB_WINDOW_CLOBBERS)
#define PB_ZERO_VECTORS()                                                                                    \
	__asm__ volatile("pxor %%xmm0, %%xmm0\n\tpxor %%xmm1, %%xmm1\n\tpxor %%xmm2, %%xmm2\n\t"             \
			 "pxor %%xmm3, %%xmm3\n\tpxor %%xmm4, %%xmm4\n\tpxor %%xmm5, %%xmm5\n\t"             \
			 "pxor %%xmm6, %%xmm6\n\tpxor %%xmm7, %%xmm7\n\tpxor %%xmm8, %%xmm8\n\t"             \
			 "pxor %%xmm9, %%xmm9\n\tpxor %%xmm10, %%xmm10\n\tpxor %%xmm11, %%xmm11\n\t"         \
			 "pxor %%xmm12, %%xmm12\n\tpxor %%xmm13, %%xmm13\n\tpxor %%xmm14, %%xmm14\n\t"       \
			 "pxor %%xmm15, %%xmm15\n\t"                                                         \
			 :                                                                                   \
			 :                                                                                   \
			 : PB_WINDOW_CLOBBERS)
/* Reference work (effect.h): some 600 core cycles of each kind. AES where the processor has it. */
#define PB_WORK_ADDS(x, y)                                                                                   \
	do {                                                                                                 \
		PB_CHECK_ADD(x, y);                                                                          \
		PB_CHECK_ADD(x, y);                                                                          \
		PB_CHECK_ADD(x, y);                                                                          \
		PB_CHECK_ADD(x, y);                                                                          \
		PB_CHECK_ADD(x, y);                                                                          \
		PB_CHECK_ADD(x, y);                                                                          \
	} while (0)
#define PB_WORK_AES()                                                                                        \
	__asm__ volatile(PB_100("aesenc %%xmm0, %%xmm1\n\taesenc %%xmm0, %%xmm2\n\t"                         \
				"aesenc %%xmm0, %%xmm3\n\taesenc %%xmm0, %%xmm4\n\t"                         \
				"aesenc %%xmm0, %%xmm5\n\taesenc %%xmm0, %%xmm6\n\t"                         \
				"aesenc %%xmm0, %%xmm7\n\taesenc %%xmm0, %%xmm8\n\t")                        \
			 :                                                                                   \
			 :                                                                                   \
			 : PB_WINDOW_CLOBBERS)
#define PB_WORK_REGISTERS()                                                                                  \
	__asm__ volatile(                                                                                    \
		PB_100("paddd %%xmm0, %%xmm1\n\tpaddd %%xmm0, %%xmm2\n\tpaddd %%xmm0, %%xmm3\n\t"            \
		       "paddd %%xmm0, %%xmm4\n\tpaddd %%xmm0, %%xmm5\n\tpaddd %%xmm0, %%xmm6\n\t"            \
		       "paddd %%xmm0, %%xmm7\n\tpaddd %%xmm0, %%xmm8\n\tpaddd %%xmm0, %%xmm9\n\t"            \
		       "paddd %%xmm0, %%xmm10\n\tpaddd %%xmm0, %%xmm11\n\tpaddd %%xmm0, %%xmm12\n\t"         \
		       "paddd %%xmm0, %%xmm13\n\tpaddd %%xmm0, %%xmm14\n\tpaddd %%xmm0, %%xmm15\n\t")        \
		:                                                                                            \
		:                                                                                            \
		: PB_WINDOW_CLOBBERS)
#define PB_WORK_LOADS(at, count)                                                                             \
	do {                                                                                                 \
		for (int load_ = 0; load_ < (count); load_++)                                                \
			(at) = *(void **)(at);                                                               \
		__asm__ volatile("" : "+r"(at));                                                             \
	} while (0)

/* 40 roots and 1,040 fillers of `bytes` bytes each */
#define PB_WINDOW(eight, bytes, rounds, chain, length, root)                                                 \
	do {                                                                                                 \
		const char *fillers_, *roots_;                                                               \
		__asm__ volatile(                                                                            \
			"movsd %[r], %%xmm1\n\t"                                                             \
			"lea 2f(%%rip), %[f]\n\t"                                                            \
			"sub %[skip], %[f]\n\t"                                                              \
			"lea 3f(%%rip), %[s]\n\t"                                                            \
			"sub %[chained], %[s]\n\t"                                                           \
			"1: movaps %%xmm1, %%xmm0\n\t"                                                       \
			"jmp *%[s]\n\t"                                                                      \
			".p2align 6\n\t" PB_10("sqrtsd %%xmm0, %%xmm0\n\t") PB_10(                           \
				"sqrtsd %%xmm0, %%xmm0\n\t") PB_10("sqrtsd %%xmm0, %%xmm0\n\t")              \
				PB_10("sqrtsd %%xmm0, %%xmm0\n\t") "3: jmp *%[f]\n\t"                        \
								   ".p2align 6\n\t" PB_100(eight)            \
									   PB_10(eight) PB_10(eight) PB_10(  \
										   eight) "2: dec %[n]\n\t"  \
											  "jnz 1b\n\t"       \
			: [n] "+&r"(rounds), [f] "=&r"(fillers_), [s] "=&r"(roots_)                          \
			: [skip] "r"((uint64_t)(length) * (bytes)), [chained] "r"((uint64_t)(chain)*4),      \
			  [r] "m"(root)                                                                      \
			: "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "r8", "r9", "r10", \
			  "r11", "cc");                                                                      \
	} while (0)

#elif defined(__i386__)

static inline uint64_t pb_ticks(void)
{
	uint32_t low, high;
	__asm__ volatile("lfence\n\trdtsc\n\tlfence" : "=a"(low), "=d"(high) : : "memory");
	return (uint64_t)high << 32 | low;
}

/* imul r32,r32: 3 cycles on the cores named above. A link works on the lower half of the 64 bits. */
#define PB_KNOWN_CHAIN  1
#define PB_CHAIN_CYCLES 3
#define PB_ON_HALF(x, y, code)                                                                               \
	do {                                                                                                 \
		uint32_t half = (uint32_t)(x);                                                               \
		__asm__ volatile(code : "+r"(half) : "r"((uint32_t)(y)) : "cc");                             \
		(x) = half;                                                                                  \
	} while (0)
#define PB_CHAIN(x)        PB_ON_HALF(x, 0, PB_100("imul %0, %0\n\t"))
#define PB_CHECK_ADD(x, y) PB_ON_HALF(x, y, PB_100("add %1, %0\n\t"))
#define PB_CHECK_ROTATE(x) PB_ON_HALF(x, 0, PB_100("ror $7, %0\n\t"))
#define PB_FRONT_END()     __asm__ volatile(PB_100("nop\n\tnop\n\tnop\n\tnop\n\tnop\n\tnop\n\t"))
#define PB_TICK_NAME       "tsc"
#define PB_HAS_WINDOW      0 /* its registers are those of 64 bits: the front-end probe serves */

#elif defined(__aarch64__)

static inline uint64_t pb_ticks(void)
{
	uint64_t value;
	__asm__ volatile("isb\n\tmrs %0, cntvct_el0\n\tisb" : "=r"(value) : : "memory");
	return value;
}

/* No multiply latency holds for all cores: of 64 bits it is 5 cycles on Cortex-A57, 4 on Neoverse N1 and AmpereOne, 2
 * on Neoverse V2. An immediate rotation is EXTR with one register twice: 1 cycle on Neoverse cores, two operations on
 * Apple's. So a link is made of three plain operations on registers ("ALU, basic"
 * and "logical, basic"), 1 cycle each in all of them, none of which undoes the one before. The self-check (link : add :
 * variable rotation = 3 : 1 : 1) decides whether a core can be trusted. Sources: docs/other-machines.md. */
#define PB_KNOWN_CHAIN  1
#define PB_CHAIN_CYCLES 3
#define PB_CHAIN(x)                                                                                          \
	__asm__ volatile(PB_100("eor %0, %0, %1\n\tsub %0, %1, %0\n\teon %0, %0, %1\n\t")                    \
			 : "+r"(x)                                                                           \
			 : "r"(UINT64_C(0x9e3779b97f4a7c15)))
#define PB_CHECK_ADD(x, y) __asm__ volatile(PB_100("add %0, %0, %1\n\t") : "+r"(x) : "r"(y))
#define PB_CHECK_ROTATE(x) __asm__ volatile(PB_100("ror %0, %0, %1\n\t") : "+r"(x) : "r"(UINT64_C(7)))
#define PB_FRONT_END()     __asm__ volatile(PB_100("nop\n\tnop\n\tnop\n\tnop\n\tnop\n\tnop\n\t"))
#define PB_TICK_NAME       "cntvct"
#define PB_HAS_WINDOW      0 /* not written for this architecture: the front-end probe serves */

#elif defined(__riscv) && __riscv_xlen == 64

/* rdtime, not rdcycle: Linux takes rdcycle away from programs since 6.6 unless an administrator gives it back
 * (kernel.perf_user_access), and each hart has a count of its own; the time is one for all harts, of constant rate, and
 * always there. What rdtime lacks in fineness (1 to 50 MHz), the longer clock probe makes up for. Reads of the time count
 * as input from a device, which a fence orders; that calculations are done before it, no instruction promises. */
static inline uint64_t pb_ticks(void)
{
	uint64_t value;
	__asm__ volatile("fence iorw, iorw\n\trdtime %0\n\tfence iorw, iorw" : "=r"(value) : : "memory");
	return value;
}

/* As on AArch64: three operations on registers, 1 cycle each on the cores whose timing was found. The base
 * instruction set has no rotation; a shift by a register stands for it in the self-check. */
#define PB_KNOWN_CHAIN  1
#define PB_CHAIN_CYCLES 3
#define PB_CHAIN(x)                                                                                          \
	__asm__ volatile(PB_100("xor %0, %0, %1\n\tsub %0, %1, %0\n\txor %0, %0, %2\n\t")                    \
			 : "+r"(x)                                                                           \
			 : "r"(UINT64_C(0x9e3779b97f4a7c15)), "r"(UINT64_C(0x61c8864680b583ea)))
#define PB_CHECK_ADD(x, y) __asm__ volatile(PB_100("add %0, %0, %1\n\t") : "+r"(x) : "r"(y))
#define PB_CHECK_ROTATE(x) __asm__ volatile(PB_100("srl %0, %0, %1\n\t") : "+r"(x) : "r"(UINT64_C(1)))
#define PB_FRONT_END()     __asm__ volatile(PB_100("nop\n\tnop\n\tnop\n\tnop\n\tnop\n\tnop\n\t"))
#define PB_TICK_NAME       "time"
#define PB_HAS_WINDOW      0

#else

/* Any other processor: everything but cycles. Ticks are nanoseconds of the system's clock, and no chain claims a latency,
 * so that calibration answers "none" and says why. To add one: pb_ticks, PB_CHAIN, the two checks, PB_FRONT_END. */
#include <time.h>

static inline uint64_t pb_ticks(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC_RAW, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

#define PB_KNOWN_CHAIN  0
#define PB_CHAIN_CYCLES 1
#define PB_STEP(x)                                                                                           \
	(x) += (x) << 1;                                                                                     \
	__asm__ volatile("" : "+r"(x));
#define PB_CHAIN(x)                                                                                          \
	do {                                                                                                 \
		PB_100(PB_STEP(x))                                                                           \
	} while (0)
#define PB_CHECK_ADD(x, y)                                                                                   \
	do {                                                                                                 \
		PB_100((x) += (y); __asm__ volatile("" : "+r"(x));)                                          \
	} while (0)
#define PB_CHECK_ROTATE(x) PB_CHAIN(x)
#define PB_FRONT_END()     __asm__ volatile(PB_100("nop\n\tnop\n\tnop\n\tnop\n\tnop\n\tnop\n\t"))
#define PB_TICK_NAME       "clock"
#define PB_HAS_WINDOW      0

#endif

#endif
