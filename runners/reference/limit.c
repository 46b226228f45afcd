/* Loops of independent instructions: how many a cycle the silicon takes, which is what bounds any code that needs them.
 *
 * A call makes `size` instructions on sixteen registers, each of which waits for nobody but itself sixteen
 * instructions ago. So cycles per byte are cycles per instruction. SHA-256 rounds are the exception: a message's
 * rounds wait for each other, so theirs is a chain. Loads and stores are of 32 bytes, in 4 KiB that stay in the
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
		"xmm12", "xmm13", "xmm14", "xmm15", "memory"

/* `sixteen` is the text of sixteen instructions, `before` what has to be done first, `after` when they all are. */
#define LIMIT(name, calls, before, sixteen, after)                                                           \
	static void loop_##name(pb_case *c, uint64_t n)                                                      \
	{                                                                                                    \
		uint8_t *data = c->ctx;                                                                      \
		size_t size = c->size;                                                                       \
		__asm__ volatile(before ::: WRITTEN);                                                        \
		PB_REPEAT(n, turn,                                                                           \
			  for (size_t i = 0; i < size;                                                       \
			       i += 16) __asm__ volatile(sixteen ::"r"(data + (i * 32 & (BUFFER - 512)))     \
							 : WRITTEN));                                        \
		__asm__ volatile(after ::: "memory");                                                        \
	}                                                                                                    \
	static const pb_variant variants_##name[] = {                                                        \
		{"run", "stream/1", calls, NULL, loop_##name, show_limit},                                   \
		PB_END_OF_VARIANTS,                                                                          \
	};                                                                                                   \
	const pb_family limit_##name##_family = {open_limit, close_limit, variants_##name}

#define AES(r)      "aesenc %%xmm" #r ", %%xmm" #r "\n\t"
#define VAES(r)     "vaesenc %%ymm" #r ", %%ymm" #r ", %%ymm" #r "\n\t"
#define CLMUL(r)    "pclmulqdq $0, %%xmm" #r ", %%xmm" #r "\n\t"
#define VCLMUL(r)   "vpclmulqdq $0, %%ymm" #r ", %%ymm" #r ", %%ymm" #r "\n\t"
#define MULTIPLY(r) "vpmuludq %%ymm" #r ", %%ymm" #r ", %%ymm" #r "\n\t"
#define LOAD(r)     "vmovdqa 32*" #r "(%0), %%ymm" #r "\n\t"
#define STORE(r)    "vmovdqa %%ymm" #r ", 32*" #r "(%0)\n\t"
#define TWO_ROUNDS  "sha256rnds2 %%xmm2, %%xmm1\n\tsha256rnds2 %%xmm1, %%xmm2\n\t"
#define SHA         TWO_ROUNDS TWO_ROUNDS TWO_ROUNDS TWO_ROUNDS TWO_ROUNDS TWO_ROUNDS TWO_ROUNDS TWO_ROUNDS

LIMIT(aes, "aesenc xmm, xmm per byte of size, 16 independent", "", ALL(AES), "");
LIMIT(vaes, "vaesenc ymm, ymm, ymm per byte of size, 16 independent", "", ALL(VAES), "vzeroupper");
LIMIT(clmul, "pclmulqdq xmm, xmm per byte of size, 16 independent", "", ALL(CLMUL), "");
LIMIT(vclmul, "vpclmulqdq ymm, ymm, ymm per byte of size, 16 independent", "", ALL(VCLMUL), "vzeroupper");
LIMIT(multiply, "vpmuludq ymm, ymm, ymm per byte of size, 16 independent", "", ALL(MULTIPLY), "vzeroupper");
LIMIT(load, "vmovdqa ymm, memory per byte of size", "", ALL(LOAD), "vzeroupper");
LIMIT(store, "vmovdqa memory, ymm per byte of size", "vzeroall", ALL(STORE), "vzeroupper");
LIMIT(sha, "sha256rnds2 xmm, xmm per byte of size, each on the result of the one before", "", SHA, "");

/* Leaf 7: what compilers of ten years ago have no name for. */
static int leaf7(int in_ecx, int bit)
{
	unsigned a, b, c, d;
	return __get_cpuid_count(7, 0, &a, &b, &c, &d) && ((in_ecx ? c : b) >> bit & 1);
}

int limit_runs_here(const pb_family *family)
{
	int wide = __builtin_cpu_supports("avx2") != 0;
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

int limit_runs_here(const pb_family *family)
{
	(void)family;
	return 0;
}

#endif
