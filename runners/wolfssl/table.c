/* Who answers, and the tiers: the library keeps the CPU's features in a word of its own and has functions
 * that change it. A build without assembly has neither. */
#include "families.h"

#include <direct.h>

#include <wolfssl/version.h>
#include <wolfssl/wolfcrypt/cpuid.h>
#include <wolfssl/wolfcrypt/error-crypt.h>
#include <wolfssl/wolfcrypt/sha256.h>
#include <wolfssl/wolfcrypt/wc_port.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

WC_RNG rng;

void *new_context(pb_case *c, size_t size)
{
	if ((c->ctx = aligned_alloc(64, (size + 63) & ~(size_t)63)))
		memset(c->ctx, 0, size);
	return c->ctx;
}

void free_context(pb_case *c)
{
	free(c->ctx);
	c->ctx = NULL;
}

int opened(pb_case *c, int error, const char *what)
{
	if (!error)
		return 0;
	free_context(c);
	return pb_fail(c, "%s: %s", what, wc_GetErrorString(error));
}

int open_size(pb_case *c)
{
	(void)c;
	return 0;
}

int open_fixed(pb_case *c)
{
	c->out_len = c->row->output;
	return 0;
}

#ifdef WOLFSSL_AESNI
static const struct {
	const char *name;
	cpuid_flags_t flag;
	int soft; /* 1 if the tier must not have it */
} features[] = {{"AES-NI", CPUID_AESNI, 1}, {"SHA", CPUID_SHA, 1},   {"VAES", CPUID_VAES, 1},
		{"AVX", CPUID_AVX1, 0},     {"AVX2", CPUID_AVX2, 0}, {"AVX512", CPUID_AVX512, 0},
		{"BMI2", CPUID_BMI2, 0},    {"ADX", CPUID_ADX, 0}};
enum { FEATURES = sizeof features / sizeof *features };

static const char *cpu_features(void)
{
	static char text[128];
	cpuid_flags_t flags = cpuid_get_flags();
	int length = 0;
	for (int i = 0; i < FEATURES; i++)
		if (flags & features[i].flag)
			length += snprintf(text + length, sizeof text - (size_t)length, "%s%s",
					   length ? " " : "", features[i].name);
	return text;
}

/* Before anything else asks for the features: each file of the library keeps them from then on. */
static void without_instructions(void)
{
	cpuid_get_flags();
	for (int i = 0; i < FEATURES; i++)
		if (features[i].soft)
			cpuid_clear_flag(features[i].flag);
}
enum { HAS_SOFT = 1 };
#else
static const char *cpu_features(void)
{
	return "";
}

static void without_instructions(void)
{
}
enum { HAS_SOFT = 0 };
#endif

static int start(const char *tier)
{
	int soft = strcmp(tier, "soft") == 0;
	if (soft && HAS_SOFT)
		without_instructions();
	else if (soft || strcmp(tier, "full") != 0)
		return -1;
	return wolfCrypt_Init() || wc_InitRng(&rng) ? -1 : 0;
}

static const char *version(void)
{
	return LIBWOLFSSL_VERSION_STRING;
}

PB_DIRECT_RANDOM(random, "random-bytes", "wc_RNG_GenerateBlock",
		 wc_RNG_GenerateBlock(&rng, out, (word32)size) != 0);

static const pb_row *const tables[] = {cipher_rows, hash_rows, mac_rows,    curve_rows, rsa_rows,
				       pqc_rows,    tls_rows,  random_rows, NULL};

static int offers(const pb_row *row)
{
	return !pb_is_tls(row) || tls_there(row);
}

static const pb_runner runner = {
	.name = RUNNER_NAME,
	.library = "wolfSSL",
	.license = "GPL-3.0-or-later",
	.version = version,
	.cpu_features = cpu_features,
	.object = (const void *)wc_InitSha256,
	.start = start,
	.offers = offers,
	.tables = tables,
};

int main(int argc, char **argv)
{
	return pb_runner_main(&runner, argc, argv);
}
