/* What an engineer writes in an afternoon to time one cipher well: EVP calls in a plain loop, the core clock
 * read off a chain of multiplications just before and just after, the median of the undisturbed tries. Shares
 * no code with Perbyte; bench/trueness.py compares the two. Usage: handwritten SIZE; prints cycles per byte.
 */
#define _GNU_SOURCE
#include <openssl/evp.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <x86intrin.h>

enum { TRIES = 4000, CHAIN = 8000, STEPS = 3 };

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

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	static double values[TRIES];
	int size = argc > 1 ? atoi(argv[1]) : 16, kept = 0, written;
	int calls = size < 1000 ? 2000 : 60;
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
		double before = (double)(chain(2 * CHAIN) - chain(CHAIN));
		uint64_t start = now();
		for (int i = 0; i < calls; i++)
			EVP_EncryptUpdate(ctx, out + 1024, &written, in, size);
		uint64_t ticks = now() - start;
		double after = (double)(chain(2 * CHAIN) - chain(CHAIN));
		if (before < after * 1.005 && after < before * 1.005)
			values[kept++] =
				(double)ticks / ((before + after) / 2) * (STEPS * CHAIN) / calls / size;
	}
	qsort(values, (size_t)kept, sizeof *values, ascending);
	printf("%.5f\n", kept ? values[kept / 2] : 0.0);
	return 0;
}
