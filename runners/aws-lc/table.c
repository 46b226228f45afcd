/* Who answers: AWS-LC, or BoringSSL where RUNNER_BORINGSSL is defined. */
#include "families.h"

#include <openssl/aead.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/service_indicator.h>

#include <stdio.h>
#include <string.h>

int library_fail(pb_case *c, const char *what)
{
	char words[160];
	ERR_error_string_n(ERR_get_error(), words, sizeof words);
	ERR_clear_error();
	return pb_fail(c, "%s: %s", what, words);
}

#if defined(__x86_64__)
/* The words that the library's assembly looks at: leaf 1 EDX, ECX, leaf 7 EBX, ECX. */
#ifdef RUNNER_BORINGSSL
extern uint32_t capability_words[4] __asm__("_ZN4bssl17OPENSSL_ia32cap_PE");
#else
extern uint32_t capability_words[4] __asm__("OPENSSL_ia32cap_P");
#endif
static const struct {
	const char *name;
	int word, bit, soft; /* soft: 1 if the tier must not have it */
} features[] = {{"PCLMULQDQ", 1, 1, 1}, {"SSSE3", 1, 9, 0}, {"AES-NI", 1, 25, 1},
		{"AVX", 1, 28, 0},      {"AVX2", 2, 5, 0},  {"AVX512F", 2, 16, 0},
		{"SHA", 2, 29, 1},      {"VAES", 3, 9, 1},  {"VPCLMULQDQ", 3, 10, 1}};
enum { FEATURES = sizeof features / sizeof *features };

static int has(int i)
{
	return capability_words[features[i].word] >> features[i].bit & 1;
}

static const char *cpu_features(void)
{
	static char text[256];
	int length = 0;
	for (int i = 0; i < FEATURES; i++)
		if (has(i))
			length += snprintf(text + length, sizeof text - (size_t)length, "%s%s",
					   length ? " " : "", features[i].name);
	return text;
}

static int start(const char *tier)
{
	EVP_aead_aes_128_gcm(); /* looks at the CPU */
	CRYPTO_library_init();
#ifdef RUNNER_FIPS
	if (!FIPS_mode())
		return -1;
#endif
	int soft = strcmp(tier, "soft") == 0, full = strcmp(tier, "full") == 0;
	for (int i = 0; soft && i < FEATURES; i++)
		if (features[i].soft && has(i))
			return -1;
	return soft || full ? 0 : -1;
}
#else
static const char *cpu_features(void)
{
	return "";
}

static int start(const char *tier)
{
	return strcmp(tier, "full") == 0 ? 0 : -1;
}
#endif

static const char *version(void)
{
#ifdef RUNNER_BORINGSSL
	static char text[40]; /* the library has no version; its interface has a number */
	snprintf(text, sizeof text, "API %d", BORINGSSL_API_VERSION);
	return text;
#else
	return awslc_version_string();
#endif
}

static const pb_row *const tables[] = {cipher_rows, aead_rows,       digest_rows, own_digest_rows, mac_rows,
				       kdf_rows,    curve_rows,      rsa_rows,    pqc_rows,        load_rows,
#ifdef RUNNER_TLS
				       tls_rows,    evp_random_rows,
#endif
				       NULL};

#ifdef RUNNER_TLS
static int offers(const pb_row *row)
{
	int there = !pb_is_tls(row) || tls_there(row);
	ERR_clear_error();
	return there;
}
#endif

static const pb_runner runner = {
	.name = RUNNER_NAME,
#ifdef RUNNER_BORINGSSL
	.library = "BoringSSL",
	.license = "Apache-2.0",
#else
	.library = "AWS-LC",
	.license = "Apache-2.0 OR ISC",
#endif
	.version = version,
	.cpu_features = cpu_features,
	.object = (const void *)EVP_aead_aes_128_gcm,
	.start = start,
#ifdef RUNNER_TLS
	.offers = offers,
#endif
	.tables = tables,
};

int main(int argc, char **argv)
{
	return pb_runner_main(&runner, argc, argv);
}
