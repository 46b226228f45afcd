/* OpenSSL 1.1 through EVP: what the runner `openssl` has of ciphers, AEADs, hashes and curves, by the same loops. */
#include "../openssl/capabilities.h"
#include "evp.h"
#include "pkey.h"

#include <ends.h>

#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/obj_mac.h>

#include <stdio.h>
#include <string.h>

int evp_fail(pb_case *c, const char *what)
{
	char words[160];
	ERR_error_string_n(ERR_get_error(), words, sizeof words);
	ERR_clear_error();
	return pb_fail(c, "%s: %s", what, words);
}

#define MODE(ID, KEY, IV, MULTIPLE)                                                                          \
	{                                                                                                    \
		ID, &evp_cipher_family, ID, KEY, IV, MULTIPLE, 0                                             \
	}
#define AEAD(ID, KEY, FAMILY)                                                                                \
	{                                                                                                    \
		ID, &FAMILY, ID, KEY, 12, 1, 16                                                              \
	}
#define HASH(ID, NAME, LENGTH)                                                                               \
	{                                                                                                    \
		ID, &evp_digest_family, NAME, 0, 0, 1, LENGTH                                                \
	}

static const pb_row symmetric[] = {
	MODE("aes-128-ecb", 16, 0, 16),
	MODE("aes-256-ecb", 32, 0, 16),
	MODE("aes-128-cbc", 16, 16, 16),
	MODE("aes-256-cbc", 32, 16, 16),
	MODE("aes-128-ctr", 16, 16, 1),
	MODE("aes-256-ctr", 32, 16, 1),
	{"aes-128-xts", &evp_sector_family, "aes-128-xts", 32, 16, 16, 0},
	{"aes-256-xts", &evp_sector_family, "aes-256-xts", 64, 16, 16, 0},
	MODE("des-ede3-cbc", 24, 8, 8),
	MODE("camellia-128-cbc", 16, 16, 16),
	MODE("camellia-256-cbc", 32, 16, 16),
	{"chacha20", &evp_cipher_family, "ChaCha20", 32, 12, 1, 0},
	AEAD("aes-128-gcm", 16, evp_aead_family),
	AEAD("aes-256-gcm", 32, evp_aead_family),
	AEAD("aes-128-ocb", 16, evp_aead_family),
	AEAD("aes-256-ocb", 32, evp_aead_family),
	AEAD("aes-128-ccm", 16, evp_ccm_family),
	AEAD("aes-256-ccm", 32, evp_ccm_family),
	{"chacha20-poly1305", &evp_aead_family, "ChaCha20-Poly1305", 32, 12, 1, 16},
	HASH("md5", "MD5", 16),
	HASH("sha-1", "SHA1", 20),
	HASH("sha-224", "SHA224", 28),
	HASH("sha-256", "SHA256", 32),
	HASH("sha-384", "SHA384", 48),
	HASH("sha-512", "SHA512", 64),
	HASH("sha3-256", "SHA3-256", 32),
	HASH("sha3-512", "SHA3-512", 64),
	HASH("blake2b-512", "BLAKE2b512", 64),
	HASH("blake2s-256", "BLAKE2s256", 32),
	{"shake128", &evp_xof_family, "SHAKE128", 0, 32, 1, 32},
	{"shake256", &evp_xof_family, "SHAKE256", 0, 32, 1, 64},
	PB_END_OF_ROWS,
};

static const pb_row *const tables[] = {symmetric, evp_exchange_rows, evp_message_rows,
				       tls_rows,  evp_random_rows,   NULL};

static int has_pairs(const struct pkey_kind *kind)
{
	EC_GROUP *group = kind->form == PKEY_EC ? EC_GROUP_new_by_curve_name(OBJ_sn2nid(kind->group)) : NULL;
	int there = group != NULL;
	EC_GROUP_free(group);
	return there || (kind->form == PKEY_RAW && OPENSSL_VERSION_NUMBER >= 0x10101000L);
}

static int offers(const pb_row *row)
{
	const pb_family *f = row->family;
	int there = row == evp_random_rows ? 1
		    : pb_is_tls(row)       ? tls_there(row)
		    : f == &evp_exchange_family || f == &evp_message_family || f == &evp_edwards_family ||
				    f == &evp_ecdsa_family
			    ? has_pairs(row->param)
		    : f == &evp_digest_family || f == &evp_xof_family
			    ? EVP_get_digestbyname(row->param) != NULL
			    : EVP_get_cipherbyname(row->param) != NULL;
	ERR_clear_error();
	return there;
}

/* "OpenSSL 1.1.1w  11 Sep 2023": the second word. */
static const char *version(void)
{
	static char text[16];
	return sscanf(OpenSSL_version(OPENSSL_VERSION), "OpenSSL %15s", text) == 1 ? text : "";
}

static int start(const char *tier)
{
	return openssl_tier_in_force(tier) ? 0 : -1;
}

static const pb_runner runner = {
	.name = RUNNER_NAME,
	.library = "OpenSSL",
	.license = "OpenSSL",
	.version = version,
	.cpu_features = openssl_cpu_features,
	.object = (const void *)EVP_CipherInit_ex,
	.start = start,
	.offers = offers,
	.tables = tables,
};

int main(int argc, char **argv)
{
	return pb_runner_main(&runner, argc, argv);
}
