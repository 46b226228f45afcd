/* Functions whose leaks are known: bench/leaky/README.md. */
#include "perbyte.h"

#include <gcrypt.h>
#include <openssl/crypto.h>
#include <stdlib.h>
#include <string.h>

enum {
	TAG = 16,
	BASE_STEPS = 200,
	LOOKUPS = 160,
	TABLE = 1024,
	DIVISIONS = 16,
	RSA_BYTES = 256,
	RARE = 0x5a
};

#define FACTOR   0xbf58476d1ce4e5b9u
#define MERSENNE ((1ULL << 61) - 1)

typedef struct state {
	uint32_t table[TABLE];
	uint64_t sum;
	uint8_t tag[TAG];
} state;

static int open_case(pb_case *c)
{
	state *s = c->ctx = aligned_alloc(64, (sizeof *s + 63) / 64 * 64);
	if (!s)
		return pb_fail(c, "out of memory");
	memset(s, 0, sizeof *s);
	for (uint32_t i = 0; i < TABLE; i++)
		s->table[i] = i * 2654435761u;
	for (int i = 0; i < TAG; i++)
		s->tag[i] = c->key_len ? c->key[0][i % (int)c->key_len] : 0;
	if (c->row->output)
		c->out_len = c->inverse ? c->size : c->size + c->row->output;
	return 0;
}

static void close_case(pb_case *c)
{
	free(c->ctx);
}

static void show_sum(pb_case *c)
{
	memcpy(c->out, &((state *)c->ctx)->sum, sizeof(uint64_t));
	c->out_len = sizeof(uint64_t);
}

static uint64_t word(const uint8_t *in)
{
	uint64_t value;
	memcpy(&value, in, sizeof value);
	return value;
}

/* The exit of so long a loop is predicted for no number of turns, so that only the steps differ. */
static void steps(pb_case *c, uint64_t n)
{
	uint64_t x = FACTOR, seen = 0, k = FACTOR;
	for (uint64_t call = 0; call < n; call++) {
		for (size_t i = 0; i < c->size; i++)
			seen |= c->in[i];
		uint64_t turns = BASE_STEPS + ((seen | (0 - seen)) >> 63) * *(const uint64_t *)c->row->param;
		__asm__ volatile("1: imul %2, %0\n\tdec %1\n\tjnz 1b" : "+r"(x), "+r"(turns) : "r"(k) : "cc");
	}
	((state *)c->ctx)->sum = x;
}

/* The same steps for one value in 256 of the last byte alone: the mean moves by a 256th of them. */
static void rare(pb_case *c, uint64_t n)
{
	uint64_t x = FACTOR, k = FACTOR;
	for (uint64_t call = 0; call < n; call++) {
		uint64_t differs = (uint64_t)(c->in[c->size - 1] ^ RARE);
		uint64_t turns = BASE_STEPS + (((differs - 1) >> 63) & 1) * *(const uint64_t *)c->row->param;
		__asm__ volatile("1: imul %2, %0\n\tdec %1\n\tjnz 1b" : "+r"(x), "+r"(turns) : "r"(k) : "cc");
	}
	((state *)c->ctx)->sum = x;
}

static void look_up(pb_case *c, uint64_t n)
{
	state *s = c->ctx;
	uint32_t found = 0;
	for (uint64_t call = 0; call < n; call++)
		for (int i = 0; i < LOOKUPS; i++)
			found = (found >> 3) ^
				s->table[(c->in[(size_t)i % c->size] * 4u + (unsigned)i % 4u) % TABLE];
	s->sum = found;
}

static uint64_t times(uint64_t a, uint64_t b)
{
	unsigned __int128 product = (unsigned __int128)a * b;
	uint64_t low = (uint64_t)product & MERSENNE, high = (uint64_t)(product >> 61), sum = low + high;
	return sum - (MERSENNE & (0 - (uint64_t)(sum >= MERSENNE)));
}

static void square_and_multiply(pb_case *c, uint64_t n)
{
	uint64_t result = 1;
	for (uint64_t call = 0; call < n; call++)
		for (size_t i = 0; i < c->size * 8; i++) {
			result = times(result, result);
			if (c->in[i / 8] >> (i % 8) & 1) {
				result = times(result, 0x1234567);
				PB_KEEP(result); /* or the compiler makes it a conditional move */
			}
		}
	((state *)c->ctx)->sum = result;
}

static void multiply_always(pb_case *c, uint64_t n)
{
	uint64_t result = 1;
	for (uint64_t call = 0; call < n; call++)
		for (size_t i = 0; i < c->size * 8; i++) {
			result = times(result, result);
			uint64_t more = times(result, 0x1234567),
				 set = 0 - (uint64_t)(c->in[i / 8] >> (i % 8) & 1);
			__asm__ volatile("" : "+r"(set));
			result ^= (result ^ more) & set;
		}
	((state *)c->ctx)->sum = result;
}

static void divide(pb_case *c, uint64_t n)
{
	uint64_t sum = 0;
	for (uint64_t call = 0; call < n; call++)
		for (size_t i = 0; i < DIVISIONS; i++) {
			uint64_t dividend = word(c->in + i * 8 % c->size) | (sum & 1), divisor = 3329;
			__asm__ volatile("" : "+r"(divisor)); /* or the compiler multiplies */
			sum = dividend / divisor;
		}
	((state *)c->ctx)->sum = sum;
}

/* PKCS #1 v1.5 with two ciphertexts: data of zeros mean the one whose padding is right, all others the wrong one. */
typedef struct rsa_state {
	gcry_sexp_t key;
	uint8_t right[RSA_BYTES], wrong[RSA_BYTES];
	uint64_t sum;
} rsa_state;

static int power(gcry_sexp_t key, const uint8_t *block, uint8_t *out)
{
	gcry_sexp_t plain = NULL, found = NULL, value = NULL;
	gcry_mpi_t number = NULL;
	size_t length = 0;
	int bad = gcry_sexp_build(&plain, NULL, "(data(flags raw)(value %b))", RSA_BYTES, block) != 0 ||
		  gcry_pk_encrypt(&found, plain, key) != 0;
	if (!bad) {
		value = gcry_sexp_find_token(found, "a", 0);
		number = value ? gcry_sexp_nth_mpi(value, 1, GCRYMPI_FMT_USG) : NULL;
		memset(out, 0, RSA_BYTES);
		bad = !number || gcry_mpi_print(GCRYMPI_FMT_USG, NULL, 0, &length, number) != 0 ||
		      length > RSA_BYTES ||
		      gcry_mpi_print(GCRYMPI_FMT_USG, out + RSA_BYTES - length, length, NULL, number) != 0;
	}
	gcry_mpi_release(number);
	gcry_sexp_release(value);
	gcry_sexp_release(found);
	gcry_sexp_release(plain);
	return bad;
}

static int open_rsa(pb_case *c)
{
	rsa_state *s = c->ctx = calloc(1, sizeof *s);
	gcry_sexp_t asked = NULL;
	uint8_t block[RSA_BYTES] = {0, 2};
	if (!s)
		return pb_fail(c, "out of memory");
	gcry_check_version(NULL);
	gcry_control(GCRYCTL_DISABLE_SECMEM, 0);
	gcry_control(GCRYCTL_INITIALIZATION_FINISHED, 0);
	memset(block + 2, 0x5a, RSA_BYTES - 2);
	block[RSA_BYTES - 33] = 0;
	int bad = gcry_sexp_build(&asked, NULL, "(genkey(rsa(nbits 4:2048)(transient-key)))") != 0 ||
		  gcry_pk_genkey(&s->key, asked) != 0 || power(s->key, block, s->right);
	block[1] = 3;
	bad = bad || power(s->key, block, s->wrong);
	gcry_sexp_release(asked);
	return bad ? pb_fail(c, "no RSA key") : 0;
}

static void close_rsa(pb_case *c)
{
	if (c->ctx)
		gcry_sexp_release(((rsa_state *)c->ctx)->key);
	free(c->ctx);
}

static void show_rsa(pb_case *c)
{
	memcpy(c->out, &((rsa_state *)c->ctx)->sum, sizeof(uint64_t));
	c->out_len = sizeof(uint64_t);
}

static void unpad(pb_case *c, uint64_t n)
{
	rsa_state *s = c->ctx;
	for (uint64_t call = 0; call < n; call++) {
		uint8_t chosen[RSA_BYTES], seen = 0;
		gcry_sexp_t sealed = NULL, plain = NULL;
		for (size_t i = 0; i < c->size; i++)
			seen |= c->in[i];
		uint8_t mask = (uint8_t)(0u - ((unsigned)(seen | (0u - seen)) >> 31));
		__asm__ volatile("" : "+r"(mask));
		for (int i = 0; i < RSA_BYTES; i++)
			chosen[i] = (uint8_t)(s->right[i] ^ ((s->right[i] ^ s->wrong[i]) & mask));
		if (!gcry_sexp_build(&sealed, NULL, "(enc-val(flags pkcs1)(rsa(a %b)))", RSA_BYTES, chosen))
			s->sum = gcry_pk_decrypt(&plain, sealed, s->key) != 0;
		gcry_sexp_release(plain);
		gcry_sexp_release(sealed);
	}
}

/* The key and the data, folded: any bit that changes is seen. */
static void make_tag(const pb_case *c, uint8_t *tag)
{
	memcpy(tag, ((state *)c->ctx)->tag, TAG);
	for (size_t i = 0; i < c->size; i++)
		tag[i % TAG] ^= c->in[i];
}

static void seal(pb_case *c, uint64_t n)
{
	for (uint64_t call = 0; call < n; call++) {
		memcpy(c->out, c->in, c->size);
		make_tag(c, c->out + c->size);
	}
}

static int early(const uint8_t *a, const uint8_t *b)
{
	for (int i = 0; i < TAG; i++) {
		if (a[i] != b[i])
			return 1;
		PB_BARRIER();
	}
	return 0;
}

static int all(const uint8_t *a, const uint8_t *b)
{
	uint8_t differs = 0;
	for (int i = 0; i < TAG; i++)
		differs |= a[i] ^ b[i];
	return differs;
}

static int by_memcmp(const uint8_t *a, const uint8_t *b)
{
	static int (*volatile compare)(const void *, const void *, size_t) = memcmp; /* the library's own */
	return compare(a, b, TAG);
}

static int by_crypto(const uint8_t *a, const uint8_t *b)
{
	return CRYPTO_memcmp(a, b, TAG);
}

/* Refusing costs the same whatever was wrong. */
#define COMPARING(NAME, HOW)                                                                                 \
	static void open_##NAME(pb_case *c, uint64_t n)                                                      \
	{                                                                                                    \
		uint8_t tag[TAG];                                                                            \
		uint64_t bad = 0;                                                                            \
		for (uint64_t call = 0; call < n; call++) {                                                  \
			make_tag(c, tag);                                                                    \
			bad += HOW(tag, c->in + c->size) != 0;                                               \
		}                                                                                            \
		memcpy(c->out, c->in, c->size);                                                              \
		c->failures += bad;                                                                          \
	}                                                                                                    \
	static const pb_variant variants_##NAME[] = {                                                        \
		{"seal", "message/1", "memcpy", NULL, seal, NULL},                                           \
		{"open", "message/1", #HOW, NULL, open_##NAME, NULL},                                        \
		PB_END_OF_VARIANTS,                                                                          \
	};                                                                                                   \
	static const pb_family family_##NAME = {open_case, close_case, variants_##NAME}

COMPARING(early, early);
COMPARING(memcmp, by_memcmp);
COMPARING(or, all);
COMPARING(crypto, by_crypto);

#define RUNNING(NAME)                                                                                        \
	static const pb_variant variants_##NAME[] = {{"run", "stream/1", #NAME, NULL, NAME, show_sum},       \
						     PB_END_OF_VARIANTS};                                    \
	static const pb_family family_##NAME = {open_case, close_case, variants_##NAME}

RUNNING(steps);
RUNNING(rare);
RUNNING(look_up);
RUNNING(square_and_multiply);
RUNNING(multiply_always);
RUNNING(divide);

static const pb_variant variants_rsa[] = {{"run", "stream/1", "gcry_pk_decrypt", NULL, unpad, show_rsa},
					  PB_END_OF_VARIANTS};
static const pb_family family_rsa = {open_rsa, close_rsa, variants_rsa};

static const uint64_t more[] = {1, 4, 16, 64};

static const pb_row rows[] = {
	{"steps-1", &family_steps, &more[0], 0, 0, 1, 0},
	{"steps-4", &family_steps, &more[1], 0, 0, 1, 0},
	{"steps-16", &family_steps, &more[2], 0, 0, 1, 0},
	{"steps-64", &family_steps, &more[3], 0, 0, 1, 0},
	{"rare-1", &family_rare, &more[0], 0, 0, 1, 0},
	{"rare-4", &family_rare, &more[1], 0, 0, 1, 0},
	{"rare-16", &family_rare, &more[2], 0, 0, 1, 0},
	{"table", &family_look_up, NULL, 0, 0, 1, 0},
	{"modexp", &family_square_and_multiply, NULL, 0, 0, 1, 0},
	{"modexp-always", &family_multiply_always, NULL, 0, 0, 1, 0},
	{"division", &family_divide, NULL, 0, 0, 8, 0},
	{"rsa-padding", &family_rsa, NULL, 0, 0, 1, 0},
	{"compare-early", &family_early, NULL, 16, 12, 1, TAG},
	{"compare-memcmp", &family_memcmp, NULL, 16, 12, 1, TAG},
	{"compare-or", &family_or, NULL, 16, 12, 1, TAG},
	{"compare-crypto", &family_crypto, NULL, 16, 12, 1, TAG},
	PB_END_OF_ROWS,
};
static const pb_row *const tables[] = {rows, NULL};

static const char *version(void)
{
	return "1";
}

static const pb_runner runner = {
	.name = "leaky",
	.library = "leaks of known truth",
	.license = "Apache-2.0",
	.version = version,
	.object = (const void *)open_case,
	.tables = tables,
};

int main(int argc, char **argv)
{
	return pb_runner_main(&runner, argc, argv);
}
