/* What an engineer writes in an afternoon to time one cipher well: EVP calls in a plain loop, the core clock
 * read off a chain of multiplications just before and just after, the median of the undisturbed tries.
 * Whether another hardware thread is on the core it asks the reorder buffer, as Perbyte does: without that it
 * reads a quarter too slow beside a busy one. Shares no code with Perbyte; bench/trueness.py compares the
 * two.
 *
 * Usage: handwritten SIZE [LENGTH LIMIT]: length of that probe, and the core cycles of ten rounds above which
 * the core is shared, both as `perbyte doctor --json` tells them. Prints cycles per byte and the share of
 * tries that were alone. */
#define _GNU_SOURCE
#include <openssl/evp.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <x86intrin.h>

enum { TRIES = 40000, WARM_EVERY = 40, WARM_ROUNDS = 160, CHAIN = 4000, STEPS = 3, ROUNDS = 10, MOST = 600 };

static uint64_t now(void)
{
	_mm_lfence();
	uint64_t ticks = __rdtsc();
	_mm_lfence();
	return ticks;
}

/* Difference of two lengths, so that the cost of reading the counter drops out. */
static uint64_t chain(int length)
{
	uint64_t x = 3, start = now();
	for (int i = 0; i < length / 8; i++)
		__asm__ volatile("imul %0,%0\n\timul %0,%0\n\timul %0,%0\n\timul %0,%0\n\t"
				 "imul %0,%0\n\timul %0,%0\n\timul %0,%0\n\timul %0,%0"
				 : "+r"(x));
	return now() - start;
}

#define TEN(x) x x x x x x x x x x
#define ADDS                                                                                                 \
	"paddd %%xmm1,%%xmm2\n\tpaddd %%xmm1,%%xmm3\n\tpaddd %%xmm1,%%xmm4\n\t"                              \
	"paddd %%xmm1,%%xmm5\n\tpaddd %%xmm1,%%xmm6\n\tpaddd %%xmm1,%%xmm7\n\t"

/* Ticks of ten rounds of two long chains, `length` additions apart: they overlap only on a core of one's own.
 */
__attribute__((noinline)) static uint64_t neighbour(int length)
{
	double root = 1.234567;
	uint64_t rounds = ROUNDS, skip = 4 * (uint64_t)length, entry, start;
	__asm__ volatile("vzeroall" ::
				 : "xmm0", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14",
				   "xmm15");
	start = now();
	__asm__ volatile(
		"movsd %[r],%%xmm1\n\tlea 2f(%%rip),%[e]\n\tsub %[s],%[e]\n\t"
		"1: movaps %%xmm1,%%xmm0\n\tsqrtsd %%xmm0,%%xmm0\n\tsqrtsd %%xmm0,%%xmm0\n\t"
		"sqrtsd %%xmm0,%%xmm0\n\tsqrtsd %%xmm0,%%xmm0\n\tsqrtsd %%xmm0,%%xmm0\n\tjmp *%[e]\n\t" TEN(
			TEN(ADDS)) "2: dec %[n]\n\tjnz 1b"
		: [n] "+r"(rounds), [e] "=&r"(entry)
		: [s] "r"(skip), [r] "m"(root)
		: "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "cc");
	return now() - start;
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	static double values[TRIES];
	int size = argc > 1 ? atoi(argv[1]) : 16, kept = 0, written;
	int calls = size < 1000 ? 600 : 12, alone = 0;
	int length = argc > 3 ? atoi(argv[2]) : 0;
	double limit = argc > 3 ? atof(argv[3]) : 0;
	if (length > MOST || length < 0)
		return 2;
	unsigned char key[16], iv[16];
	unsigned char *in = aligned_alloc(4096, 16384), *out = aligned_alloc(4096, 16384);
	cpu_set_t one;
	CPU_ZERO(&one);
	CPU_SET((int)sysconf(_SC_NPROCESSORS_ONLN) - 1, &one);
	sched_setaffinity(0, sizeof one, &one);
	memset(key, 0x5a, sizeof key);
	memset(iv, 0xa5, sizeof iv);
	memset(in, 0x33, 16384);
	memset(out, 0, 16384);
	EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
	EVP_CIPHER *cipher = EVP_CIPHER_fetch(NULL, "AES-128-CTR", NULL);
	EVP_EncryptInit_ex2(ctx, cipher, key, iv, NULL);

	for (int t = 0; t < TRIES; t++) {
		if (t % WARM_EVERY ==
		    0) /* loops of short calls need some milliseconds to find their rhythm */
			for (int i = 0; i < WARM_ROUNDS; i++)
				for (int k = 0; k < calls; k++)
					EVP_EncryptUpdate(ctx, out + 1024, &written, in, size);
		double before = (double)(chain(2 * CHAIN) - chain(CHAIN)), scale = STEPS * CHAIN / before;
		double looked = length ? (double)neighbour(length) * scale : 0;
		uint64_t start = now();
		for (int i = 0; i < calls; i++)
			EVP_EncryptUpdate(ctx, out + 1024, &written, in, size);
		uint64_t ticks = now() - start;
		if (length && (double)neighbour(length) * scale > looked)
			looked = (double)neighbour(length) * scale;
		if (looked > limit)
			continue;
		alone++;
		double after = (double)(chain(2 * CHAIN) - chain(CHAIN));
		if (before < after * 1.005 && after < before * 1.005)
			values[kept++] =
				(double)ticks / ((before + after) / 2) * (STEPS * CHAIN) / calls / size;
	}
	qsort(values, (size_t)kept, sizeof *values, ascending);
	printf("%.5f %.3f\n", kept ? values[kept / 2] : 0.0, (double)alone / TRIES);
	return 0;
}
