/* Loops of independent instructions: how many a cycle the silicon takes, which is what bounds any code that needs them.
 *
 * A call makes `size` instructions on sixteen registers, each of which waits for nobody but itself sixteen
 * instructions ago. So cycles per byte are cycles per instruction. SHA-2 rounds are the exception: a message's
 * rounds wait for each other, so theirs are chains. Loads and stores are of 32 or 64 bytes, in 4 KiB that stay in the
 * first-level cache. */
#include "families.h"

#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>

#define BUFFER 4096

static int open_limit(pb_case *c)
{
	c->ctx = aligned_alloc(64, BUFFER);
	if (!c->ctx)
		return pb_fail(c, "out of memory");
	memset(c->ctx, 0, BUFFER);
	return 0;
}

static void close_limit(pb_case *c)
{
	free(c->ctx);
}

static void show_limit(pb_case *c)
{
	memcpy(c->out, c->ctx, sizeof(uint64_t));
	c->out_len = sizeof(uint64_t);
}

#define ALL(one)                                                                                             \
	one(0) one(1) one(2) one(3) one(4) one(5) one(6) one(7) one(8) one(9) one(10) one(11) one(12)        \
		one(13) one(14) one(15)
#define WRITTEN                                                                                              \
	"xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11",    \
		"xmm12", "xmm13", "xmm14", "xmm15", "rax", "rcx", "rdx", "memory"

/* `sixteen` is the text of sixteen instructions, `before` what has to be done first, `after` when they all are. */
#define LIMIT(name, calls, before, sixteen, after)                                                           \
	static void loop_##name(pb_case *c, uint64_t n)                                                      \
	{                                                                                                    \
		uint8_t *data = c->ctx;                                                                      \
		size_t size = c->size;                                                                       \
		__asm__ volatile(before ::: WRITTEN);                                                        \
		PB_REPEAT(n, turn,                                                                           \
			  for (size_t i = 0; i < size;                                                       \
			       i += 16) __asm__ volatile(sixteen ::"r"(data + (i * 32 & (BUFFER - 1024)))    \
							 : WRITTEN));                                        \
		__asm__ volatile(after ::: "memory");                                                        \
	}                                                                                                    \
	static const pb_variant variants_##name[] = {                                                        \
		{"run", "stream/1", calls, NULL, loop_##name, show_limit},                                   \
		PB_END_OF_VARIANTS,                                                                          \
	};                                                                                                   \
	const pb_family limit_##name##_family = {open_limit, close_limit, variants_##name}

#define AES(r)         "aesenc %%xmm" #r ", %%xmm" #r "\n\t"
#define VAES(r)        "vaesenc %%ymm" #r ", %%ymm" #r ", %%ymm" #r "\n\t"
#define CLMUL(r)       "pclmulqdq $0, %%xmm" #r ", %%xmm" #r "\n\t"
#define VCLMUL(r)      "vpclmulqdq $0, %%ymm" #r ", %%ymm" #r ", %%ymm" #r "\n\t"
#define MULTIPLY(r)    "vpmuludq %%ymm" #r ", %%ymm" #r ", %%ymm" #r "\n\t"
#define LOAD(r)        "vmovdqa 32*" #r "(%0), %%ymm" #r "\n\t"
#define STORE(r)       "vmovdqa %%ymm" #r ", 32*" #r "(%0)\n\t"
#define VAES512(r)     "vaesenc %%zmm" #r ", %%zmm" #r ", %%zmm" #r "\n\t"
#define VCLMUL512(r)   "vpclmulqdq $0, %%zmm" #r ", %%zmm" #r ", %%zmm" #r "\n\t"
#define MULTIPLY512(r) "vpmuludq %%zmm" #r ", %%zmm" #r ", %%zmm" #r "\n\t"
#define LOAD512(r)     "vmovdqa64 64*" #r "(%0), %%zmm" #r "\n\t"
#define STORE512(r)    "vmovdqa64 %%zmm" #r ", 64*" #r "(%0)\n\t"
#define ADD(r)         "vpaddd %%ymm" #r ", %%ymm" #r ", %%ymm" #r "\n\t"
#define ADD512(r)      "vpaddd %%zmm" #r ", %%zmm" #r ", %%zmm" #r "\n\t"
#define IFMA512(r)     "vpmadd52luq %%zmm" #r ", %%zmm" #r ", %%zmm" #r "\n\t"
#define GFNI(r)        "vgf2p8affineinvqb $0, %%ymm" #r ", %%ymm" #r ", %%ymm" #r "\n\t"
#define GFNI512(r)     "vgf2p8affineinvqb $0, %%zmm" #r ", %%zmm" #r ", %%zmm" #r "\n\t"
/* the two results go to the same registers each time: nobody reads them, so nobody waits for them */
#define MUL64(r) "mulxq %%rdx, %%rax, %%rcx\n\t"
/* vsha512rnds2 %xmm3, %ymm2, %ymm1 and %xmm3, %ymm1, %ymm2, as bytes: assemblers know it since 2023 */
#define TWO_ROUNDS_512 ".byte 0xc4, 0xe2, 0x6f, 0xcb, 0xcb\n\t.byte 0xc4, 0xe2, 0x77, 0xcb, 0xd3\n\t"
#define SHA512                                                                                               \
	TWO_ROUNDS_512 TWO_ROUNDS_512 TWO_ROUNDS_512 TWO_ROUNDS_512 TWO_ROUNDS_512 TWO_ROUNDS_512            \
		TWO_ROUNDS_512 TWO_ROUNDS_512
#define TWO_ROUNDS "sha256rnds2 %%xmm2, %%xmm1\n\tsha256rnds2 %%xmm1, %%xmm2\n\t"
#define SHA        TWO_ROUNDS TWO_ROUNDS TWO_ROUNDS TWO_ROUNDS TWO_ROUNDS TWO_ROUNDS TWO_ROUNDS TWO_ROUNDS

LIMIT(aes, "aesenc xmm, xmm per byte of size, 16 independent", "", ALL(AES), "");
LIMIT(vaes, "vaesenc ymm, ymm, ymm per byte of size, 16 independent", "", ALL(VAES), "vzeroupper");
LIMIT(clmul, "pclmulqdq xmm, xmm per byte of size, 16 independent", "", ALL(CLMUL), "");
LIMIT(vclmul, "vpclmulqdq ymm, ymm, ymm per byte of size, 16 independent", "", ALL(VCLMUL), "vzeroupper");
LIMIT(multiply, "vpmuludq ymm, ymm, ymm per byte of size, 16 independent", "", ALL(MULTIPLY), "vzeroupper");
LIMIT(load, "vmovdqa ymm, memory per byte of size", "", ALL(LOAD), "vzeroupper");
LIMIT(store, "vmovdqa memory, ymm per byte of size", "vzeroall", ALL(STORE), "vzeroupper");
LIMIT(sha, "sha256rnds2 xmm, xmm per byte of size, each on the result of the one before", "", SHA, "");
LIMIT(vaes512, "vaesenc zmm, zmm, zmm per byte of size, 16 independent", "", ALL(VAES512), "vzeroupper");
LIMIT(vclmul512, "vpclmulqdq zmm, zmm, zmm per byte of size, 16 independent", "", ALL(VCLMUL512),
      "vzeroupper");
LIMIT(multiply512, "vpmuludq zmm, zmm, zmm per byte of size, 16 independent", "", ALL(MULTIPLY512),
      "vzeroupper");
LIMIT(load512, "vmovdqa64 zmm, memory per byte of size", "", ALL(LOAD512), "vzeroupper");
LIMIT(store512, "vmovdqa64 memory, zmm per byte of size", "vzeroall", ALL(STORE512), "vzeroupper");
LIMIT(add, "vpaddd ymm, ymm, ymm per byte of size, 16 independent", "", ALL(ADD), "vzeroupper");
LIMIT(add512, "vpaddd zmm, zmm, zmm per byte of size, 16 independent", "", ALL(ADD512), "vzeroupper");
LIMIT(ifma512, "vpmadd52luq zmm, zmm, zmm per byte of size, 16 independent", "", ALL(IFMA512), "vzeroupper");
LIMIT(gfni, "vgf2p8affineinvqb ymm, ymm, ymm per byte of size, 16 independent", "", ALL(GFNI), "vzeroupper");
LIMIT(gfni512, "vgf2p8affineinvqb zmm, zmm, zmm per byte of size, 16 independent", "", ALL(GFNI512),
      "vzeroupper");
LIMIT(mul64, "mulx r64, r64, r64 per byte of size, independent", "", ALL(MUL64), "");
LIMIT(sha512, "vsha512rnds2 ymm, ymm, xmm per byte of size, each on the result of the one before", "", SHA512,
      "vzeroupper");

/* Leaf 7: what compilers of ten years ago have no name for. */
static int leaf7(int in_ecx, int bit)
{
	unsigned a, b, c, d;
	return __get_cpuid_count(7, 0, &a, &b, &c, &d) && ((in_ecx ? c : b) >> bit & 1);
}

/* Subleaf 1, which a processor has where subleaf 0 says so. */
static int has_sha512(void)
{
	unsigned a, b, c, d;
	return __get_cpuid_count(7, 0, &a, &b, &c, &d) && a >= 1 && __get_cpuid_count(7, 1, &a, &b, &c, &d) &&
	       (a & 1);
}

/* 1 or 0 for the families of 64 bytes and of the newer instructions, -1 for the others. */
static int newer_runs_here(const pb_family *family)
{
	int wide = __builtin_cpu_supports("avx2") != 0, widest = __builtin_cpu_supports("avx512f") != 0;
	if (family == &limit_vaes512_family)
		return widest && leaf7(1, 9);
	if (family == &limit_vclmul512_family)
		return widest && leaf7(1, 10);
	if (family == &limit_ifma512_family)
		return widest && leaf7(0, 21);
	if (family == &limit_gfni_family)
		return wide && leaf7(1, 8);
	if (family == &limit_gfni512_family)
		return widest && leaf7(1, 8);
	if (family == &limit_sha512_family)
		return wide && has_sha512();
	if (family == &limit_mul64_family)
		return __builtin_cpu_supports("bmi2") != 0;
	if (family == &limit_load512_family || family == &limit_store512_family ||
	    family == &limit_add512_family || family == &limit_multiply512_family)
		return widest;
	return -1;
}

int limit_runs_here(const pb_family *family)
{
	int wide = __builtin_cpu_supports("avx2") != 0, newer = newer_runs_here(family);
	if (newer >= 0)
		return newer;
	if (family == &limit_aes_family)
		return __builtin_cpu_supports("aes") != 0;
	if (family == &limit_clmul_family)
		return __builtin_cpu_supports("pclmul") != 0;
	if (family == &limit_sha_family)
		return leaf7(0, 29);
	if (family == &limit_vaes_family)
		return wide && leaf7(1, 9);
	if (family == &limit_vclmul_family)
		return wide && leaf7(1, 10);
	return wide;
}

#else

/* No other architecture has these instructions. */
static int open_none(pb_case *c)
{
	return pb_fail(c, "not on this architecture");
}

static void close_none(pb_case *c)
{
	(void)c;
}

static void loop_none(pb_case *c, uint64_t n)
{
	(void)c, (void)n;
}

static const pb_variant none[] = {
	{"run", "stream/1", "not on this architecture", NULL, loop_none, NULL},
	PB_END_OF_VARIANTS,
};
#define NONE(name) const pb_family limit_##name##_family = {open_none, close_none, none}
NONE(aes);
NONE(vaes);
NONE(clmul);
NONE(vclmul);
NONE(multiply);
NONE(load);
NONE(store);
NONE(sha);
NONE(vaes512);
NONE(vclmul512);
NONE(multiply512);
NONE(load512);
NONE(store512);
NONE(add);
NONE(add512);
NONE(ifma512);
NONE(gfni);
NONE(gfni512);
NONE(mul64);
NONE(sha512);

int limit_runs_here(const pb_family *family)
{
	(void)family;
	return 0;
}

#endif
