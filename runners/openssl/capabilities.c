#include "capabilities.h"

#include <openssl/crypto.h>
#include <openssl/opensslconf.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct feature {
	const char *name;
	int word; /* which of the numbers that OpenSSL prints */
	uint64_t bit;
	int soft, tables; /* 1 if the tier must not have it */
};

/* OPENSSL_ia32cap(3), OpenSSL's arm_arch.h */
#if defined(__x86_64__) || defined(__i386__)
static const char *const variable = "OPENSSL_ia32cap";
static const struct feature features[] = {
	{"PCLMULQDQ", 0, UINT64_C(1) << 33, 1, 1},  {"SSSE3", 0, UINT64_C(1) << 41, 0, 1},
	{"AES-NI", 0, UINT64_C(1) << 57, 1, 1},     {"AVX", 0, UINT64_C(1) << 60, 0, 0},
	{"AVX2", 1, UINT64_C(1) << 5, 0, 0},        {"AVX512F", 1, UINT64_C(1) << 16, 0, 0},
	{"SHA", 1, UINT64_C(1) << 29, 1, 1},        {"VAES", 1, UINT64_C(1) << 41, 1, 1},
	{"VPCLMULQDQ", 1, UINT64_C(1) << 42, 1, 1}, {NULL, 0, 0, 0, 0},
};
#elif defined(__aarch64__)
static const char *const variable = "OPENSSL_armcap";
static const struct feature features[] = {
	{"NEON", 0, 1 << 0, 0, 1},   {"AES", 0, 1 << 2, 1, 1},   {"SHA1", 0, 1 << 3, 1, 1},
	{"SHA256", 0, 1 << 4, 1, 1}, {"PMULL", 0, 1 << 5, 1, 1}, {"SHA512", 0, 1 << 6, 1, 1},
	{"SHA3", 0, 1 << 11, 1, 1},  {NULL, 0, 0, 0, 0},
};
#else
static const char *const variable = "";
static const struct feature features[] = {{NULL, 0, 0, 0, 0}};
#endif

#if OPENSSL_VERSION_NUMBER >= 0x30000000L
static const char *settings(void)
{
	return OPENSSL_info(OPENSSL_INFO_CPU_SETTINGS);
}
#else
extern unsigned int OPENSSL_ia32cap_P[4]; /* 1.1 tells it to nobody else */

static const char *settings(void)
{
	static char text[64];
	snprintf(text, sizeof text, "OPENSSL_ia32cap=0x%x%08x:0x%x%08x", OPENSSL_ia32cap_P[1],
		 OPENSSL_ia32cap_P[0], OPENSSL_ia32cap_P[3], OPENSSL_ia32cap_P[2]);
	return text;
}
#endif

/* The numbers behind `NAME=`: "OPENSSL_ia32cap=0xfffa:0x405f env:~0x2". How many were found. */
static int capabilities(uint64_t words[2])
{
	const char *said = settings();
	const char *equals = said ? strchr(said, '=') : NULL;
	return equals ? sscanf(equals, "=%" SCNx64 ":%" SCNx64, &words[0], &words[1]) : 0;
}

/* P-224, P-256 and P-521 cost several times as much without it, and packages have it more often than plain builds. */
#ifdef OPENSSL_NO_EC_NISTP_64_GCC_128
#define CURVES "no-ec_nistp_64_gcc_128"
#else
#define CURVES "enable-ec_nistp_64_gcc_128"
#endif

const char *openssl_cpu_features(void)
{
	static char text[512];
	const char *said = settings();
	uint64_t words[2] = {0, 0};
	capabilities(words);
	int length = snprintf(text, sizeof text, "%s:", said ? said : "");
	for (const struct feature *f = features; f->name && length < (int)sizeof text; f++)
		if (words[f->word] & f->bit)
			length += snprintf(text + length, sizeof text - (size_t)length, " %s", f->name);
	if (length < (int)sizeof text)
		snprintf(text + length, sizeof text - (size_t)length, " " CURVES);
	return text;
}

int openssl_tier_in_force(const char *tier)
{
	if (strcmp(tier, "full") == 0)
		return !*variable || !getenv(variable);
	int tables = strcmp(tier, "tables") == 0;
	uint64_t words[2] = {0, 0};
	if ((!tables && strcmp(tier, "soft") != 0) || !*variable || capabilities(words) < 1)
		return 0;
	for (const struct feature *f = features; f->name; f++)
		if ((tables ? f->tables : f->soft) && (words[f->word] & f->bit))
			return 0;
	return 1;
}
