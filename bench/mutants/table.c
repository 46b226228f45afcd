#include "mutants.h"

#include <openssl/crypto.h>

#include <stdlib.h>
#include <string.h>

static const char *fault = "";

int has(const char *name)
{
	return strcmp(fault, name) == 0;
}

void spoil_long(uint8_t *out, size_t length, size_t size)
{
	if (!length)
		return;
	out[0] ^= (uint8_t)((has("beyond-2000") && size > 2000) || (has("beyond-70000") && size > 70000) ||
			    (has("at-131072") && size == 131072));
	out[length - 1] ^= (uint8_t)(has("last-bit-beyond-70000") && size > 70000);
}

/* Not 0 where the bytes differ, by comparisons of other kinds than byte by byte. */
static int differs_otherwise(const uint8_t *expected, const uint8_t *got, size_t n)
{
	int bits = 0, folded = 0, ones = 0, low = 0, words = 0;
	for (size_t i = 0; i < n; i++) {
		unsigned d = expected[i] ^ got[i];
		bits += __builtin_popcount(d);
		ones += __builtin_popcount(expected[i]) - __builtin_popcount(got[i]);
		low |= i % 8 == 0 && d;
		words |= i / 4 % 2 == 0 && d;
		folded |= (expected[i] >= 'a' && expected[i] <= 'z' ? expected[i] - 32 : expected[i]) !=
			  (got[i] >= 'a' && got[i] <= 'z' ? got[i] - 32 : got[i]);
	}
	if (has("case-folded"))
		return folded;
	if (has("nearly"))
		return bits > 2;
	if (has("parity"))
		return bits & 1;
	if (has("as-many-ones"))
		return ones != 0;
	if (has("low-bytes-of-words"))
		return low;
	if (has("every-second-word"))
		return words;
	if (has("greater"))
		return memcmp(expected, got, n) > 0;
	if (has("first-4-alone"))
		return memcmp(expected, got, 4) != 0;
	if (has("middle-skipped"))
		return memcmp(expected, got, n / 4) || memcmp(expected + n - n / 4, got + n - n / 4, n / 4);
	if (has("last-half-alone"))
		return memcmp(expected + n / 2, got + n / 2, n - n / 2) != 0;
	return -1;
}

static int order(const void *a, const void *b)
{
	return *(const uint8_t *)a - *(const uint8_t *)b;
}

int differs(const uint8_t *expected, const uint8_t *got, size_t n)
{
	unsigned joined = 0, sum = 0, all = 1, product = 1;
	uint64_t words = 0;
	int otherwise = differs_otherwise(expected, got, n);
	if (otherwise >= 0)
		return otherwise;
	for (size_t i = 0; i < n; i++) {
		unsigned d = expected[i] ^ got[i];
		if (has("last-4") && i >= n - 4)
			continue;
		if (has("first-byte") && i == 0)
			continue;
		if (has("last-byte") && i == n - 1)
			continue;
		if (has("byte-skipped") && i == n / 2 + 1)
			continue;
		if (has("first-half") && i >= n / 2)
			continue;
		if (has("every-second") && i % 2)
			continue;
		if (has("first-12") && i >= 12)
			continue;
		if (has("strcmp") && i && !expected[i - 1] && !got[i - 1])
			break;
		if (has("half-of-each-byte"))
			d &= 0xf0;
		if (has("high-bit"))
			d &= 0x7f;
		if (has("one-bit") && i == 9)
			d &= ~8U;
		joined = has("xor") ? joined ^ d : joined | d;
		sum += expected[i] - got[i];
		words ^= (uint64_t)d << 8 * (i % 8);
		all &= d != 0;
		product *= d;
	}
	if (has("sum"))
		return (sum & 255) != 0;
	if (has("word-xor"))
		return words != 0;
	if (has("any-equal"))
		return (int)all;
	if (has("product"))
		return product != 0;
	if (has("sorted")) {
		uint8_t a[4096], b[4096];
		memcpy(a, expected, n);
		memcpy(b, got, n);
		qsort(a, n, 1, order);
		qsort(b, n, 1, order);
		return memcmp(a, b, n) != 0;
	}
	return joined != 0;
}

static const pb_row rows[] = {
	{"aes-128-gcm", &aead_family, "AES-128-GCM", 16, 12, 1, 16},
	{"chacha20-poly1305", &aead_family, "ChaCha20-Poly1305", 32, 12, 1, 16},
	{"ed25519", &ed25519_family, NULL, 32, 0, 1, 64},
	{"ecdsa-p256", &ecdsa_family, "P-256", 32, 0, 1, 64},
	{"ecdsa-p521", &ecdsa_family, "P-521", 66, 0, 1, 132},
	{"rsa-2048", &rsa_family, NULL, 256, 0, 1, 256},
	{"ml-kem-768", &kem_family, NULL, 64, 0, 1, 32},
	{"sha-256", &hash_family, "SHA256", 0, 0, 1, 32},
	{"sha-512", &hash_family, "SHA512", 0, 0, 1, 64},
	{"sha3-256", &hash_family, "SHA3-256", 0, 0, 1, 32},
	{"poly1305", &poly1305_family, NULL, 32, 0, 1, 16},
	{"aes-128-cmac", &cmac_family, NULL, 16, 0, 1, 16},
	{"hmac-sha-256", &mac_family, NULL, 32, 0, 1, 32},
	{"aes-128-ctr", &counter_family, NULL, 16, 16, 1, 0},
	{"x25519", &x25519_family, NULL, 32, 32, 1, 32},
	{"ecdh-p256", &p256_family, NULL, 32, 32, 1, 32},
	PB_END_OF_ROWS,
};
static const pb_row *const tables[] = {rows, NULL};

static int start(const char *tier)
{
	const char *named = getenv("MUTANT");
	fault = named ? named : "";
	return strcmp(tier, "full") != 0;
}

static int offers(const pb_row *row)
{
	const char *wanted = getenv("MUTANT_OF");
	return !wanted || strcmp(wanted, row->algorithm) == 0;
}

static const char *version(void)
{
	return OpenSSL_version(OPENSSL_VERSION_STRING);
}

static const pb_runner runner = {
	.name = "mutants",
	.library = "OpenSSL with a planted fault",
	.license = "Apache-2.0",
	.version = version,
	.object = (const void *)OpenSSL_version,
	.start = start,
	.offers = offers,
	.tables = tables,
};

int main(int argc, char **argv)
{
	return pb_runner_main(&runner, argc, argv);
}
