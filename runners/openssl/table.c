/* The OpenSSL runner: EVP of OpenSSL 3, with the providers `default` and `legacy`. Which algorithms a build
 * really has is asked of the library by fetching them. Low-level functions (AES_encrypt ...) are a runner of
 * their own. */
#include "capabilities.h"
#include "ends.h"
#include "evp.h"
#include "pkey.h"

#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/provider.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int evp_fail(pb_case *c, const char *what)
{
	char words[160];
	ERR_error_string_n(ERR_get_error(), words, sizeof words);
	ERR_clear_error();
	return pb_fail(c, "%s: %s", what, words);
}

/* The modes of one cipher. MULTIPLE is 1 where a mode makes a stream cipher of it. */
#define MODE(ID, NAME, KEY, IV, MULTIPLE)                                                                    \
	{                                                                                                    \
		ID, &evp_cipher_family, NAME, KEY, IV, MULTIPLE, 0                                           \
	}
#define AES(BITS, KEY)                                                                                       \
	MODE("aes-" #BITS "-ecb", "AES-" #BITS "-ECB", KEY, 0, 16),                                          \
		MODE("aes-" #BITS "-cbc", "AES-" #BITS "-CBC", KEY, 16, 16),                                 \
		MODE("aes-" #BITS "-ctr", "AES-" #BITS "-CTR", KEY, 16, 1),                                  \
		MODE("aes-" #BITS "-ofb", "AES-" #BITS "-OFB", KEY, 16, 1),                                  \
		MODE("aes-" #BITS "-cfb", "AES-" #BITS "-CFB", KEY, 16, 1)
#define ARIA(BITS, KEY)                                                                                      \
	MODE("aria-" #BITS "-ecb", "ARIA-" #BITS "-ECB", KEY, 0, 16),                                        \
		MODE("aria-" #BITS "-cbc", "ARIA-" #BITS "-CBC", KEY, 16, 16),                               \
		MODE("aria-" #BITS "-ctr", "ARIA-" #BITS "-CTR", KEY, 16, 1)
#define CAMELLIA(BITS, KEY)                                                                                  \
	MODE("camellia-" #BITS "-ecb", "CAMELLIA-" #BITS "-ECB", KEY, 0, 16),                                \
		MODE("camellia-" #BITS "-cbc", "CAMELLIA-" #BITS "-CBC", KEY, 16, 16),                       \
		MODE("camellia-" #BITS "-ctr", "CAMELLIA-" #BITS "-CTR", KEY, 16, 1)

static const pb_row ciphers[] = {
	AES(128, 16),
	AES(192, 24),
	AES(256, 32),
	CAMELLIA(128, 16),
	CAMELLIA(192, 24),
	CAMELLIA(256, 32),
	ARIA(128, 16),
	ARIA(192, 24),
	ARIA(256, 32),
	{"aes-128-xts", &evp_sector_family, "AES-128-XTS", 32, 16, 16, 0},
	{"aes-256-xts", &evp_sector_family, "AES-256-XTS", 64, 16, 16, 0},
	MODE("des-ede3-ecb", "DES-EDE3-ECB", 24, 0, 8),
	MODE("des-ede3-cbc", "DES-EDE3-CBC", 24, 8, 8),
	MODE("des-ede3-ofb", "DES-EDE3-OFB", 24, 8, 1),
	MODE("des-ede3-cfb", "DES-EDE3-CFB", 24, 8, 1),
	MODE("des-ecb", "DES-ECB", 8, 0, 8),
	MODE("des-cbc", "DES-CBC", 8, 8, 8),
	MODE("des-ofb", "DES-OFB", 8, 8, 1),
	MODE("des-cfb", "DES-CFB", 8, 8, 1),
	MODE("blowfish-ecb", "BF-ECB", 16, 0, 8),
	MODE("blowfish-cbc", "BF-CBC", 16, 8, 8),
	MODE("blowfish-ofb", "BF-OFB", 16, 8, 1),
	MODE("blowfish-64-ecb", "BF-ECB", 8, 0, 8),
	MODE("rc2-ecb", "RC2-ECB", 16, 0, 8),
	MODE("rc2-cbc", "RC2-CBC", 16, 8, 8),
	MODE("rc2-ofb", "RC2-OFB", 16, 8, 1),
	MODE("cast5-ecb", "CAST5-ECB", 16, 0, 8),
	MODE("cast5-cbc", "CAST5-CBC", 16, 8, 8),
	MODE("idea-ecb", "IDEA-ECB", 16, 0, 8),
	MODE("idea-cbc", "IDEA-CBC", 16, 8, 8),
	MODE("seed-ecb", "SEED-ECB", 16, 0, 16),
	MODE("seed-cbc", "SEED-CBC", 16, 16, 16),
	MODE("sm4-ecb", "SM4-ECB", 16, 0, 16),
	MODE("sm4-cbc", "SM4-CBC", 16, 16, 16),
	MODE("sm4-ctr", "SM4-CTR", 16, 16, 1),
	MODE("rc5-32-12-ecb", "RC5-ECB", 16, 0, 8),
	MODE("rc5-32-12-cbc", "RC5-CBC", 16, 8, 8),
	MODE("chacha20", "ChaCha20", 32, 12, 1),
	{"rc4", &evp_rc4_family, "RC4", 16, 0, 1, 0},
	PB_END_OF_ROWS,
};

#define AEAD(ID, NAME, KEY)                                                                                  \
	{                                                                                                    \
		ID, &evp_aead_family, NAME, KEY, 12, 1, 16                                                   \
	}

static const pb_row aeads[] = {
	AEAD("aes-128-gcm", "AES-128-GCM", 16),
	AEAD("aes-192-gcm", "AES-192-GCM", 24),
	AEAD("aes-256-gcm", "AES-256-GCM", 32),
	AEAD("aes-128-ocb", "AES-128-OCB", 16),
	AEAD("aes-256-ocb", "AES-256-OCB", 32),
	{"aes-128-gcm-siv", &evp_gcm_siv_family, "AES-128-GCM-SIV", 16, 12, 1, 16},
	{"aes-256-gcm-siv", &evp_gcm_siv_family, "AES-256-GCM-SIV", 32, 12, 1, 16},
	AEAD("aria-128-gcm", "ARIA-128-GCM", 16),
	AEAD("aria-256-gcm", "ARIA-256-GCM", 32),
	AEAD("chacha20-poly1305", "ChaCha20-Poly1305", 32),
	AEAD("sm4-gcm", "SM4-GCM", 16),
	{"aes-128-ccm", &evp_ccm_family, "AES-128-CCM", 16, 12, 1, 16},
	{"aes-256-ccm", &evp_ccm_family, "AES-256-CCM", 32, 12, 1, 16},
	{"aes-128-siv", &evp_siv_family, "AES-128-SIV", 32, 0, 1, 16},
	{"aes-256-siv", &evp_siv_family, "AES-256-SIV", 64, 0, 1, 16},
	PB_END_OF_ROWS,
};

#define HASH(ID, NAME, LENGTH)                                                                               \
	{                                                                                                    \
		ID, &evp_digest_family, NAME, 0, 0, 1, LENGTH                                                \
	}
static const pb_row hashes[] = {
	HASH("md2", "MD2", 16),
	HASH("md4", "MD4", 16),
	HASH("md5", "MD5", 16),
	HASH("mdc2", "MDC2", 16),
	HASH("sha-1", "SHA1", 20),
	HASH("sha-224", "SHA2-224", 28),
	HASH("sha-256", "SHA2-256", 32),
	HASH("sha-384", "SHA2-384", 48),
	HASH("sha-512", "SHA2-512", 64),
	HASH("sha-512-256", "SHA2-512/256", 32),
	HASH("sm3", "SM3", 32),
	HASH("sha3-224", "SHA3-224", 28),
	HASH("sha3-256", "SHA3-256", 32),
	HASH("sha3-384", "SHA3-384", 48),
	HASH("sha3-512", "SHA3-512", 64),
	{"shake128", &evp_xof_family, "SHAKE-128", 0, 32, 1, 32},
	{"shake256", &evp_xof_family, "SHAKE-256", 0, 32, 1, 64},
	HASH("blake2b-512", "BLAKE2B-512", 64),
	HASH("blake2s-256", "BLAKE2S-256", 32),
	HASH("ripemd-160", "RIPEMD-160", 20),
	HASH("whirlpool", "whirlpool", 64),
	PB_END_OF_ROWS,
};

static const pb_row *const tables[] = {ciphers,
				       aeads,
				       hashes,
				       evp_mac_rows,
				       evp_kdf_rows,
				       evp_signature_rows,
				       evp_exchange_rows,
				       evp_message_rows,
				       evp_hpke_rows,
				       tls_rows,
				       evp_random_rows,
				       NULL};

/* Whether something of that name can be fetched. */
#define FETCHED(KIND, NAME)                                                                                  \
	do {                                                                                                 \
		KIND *found = KIND##_fetch(NULL, NAME, NULL);                                                \
		there = found != NULL;                                                                       \
		KIND##_free(found);                                                                          \
	} while (0)

static int has_mac(const struct evp_mac *mac)
{
	int there = 0;
	FETCHED(EVP_MAC, mac->name);
	if (there && mac->digest)
		FETCHED(EVP_MD, mac->digest);
	return there;
}

/* A build may have curves, and lack this one: its parameters are asked for. */
static int has_pairs(const struct pkey_kind *kind)
{
	int there = 0;
	EVP_PKEY *group = NULL;
	FETCHED(EVP_KEYMGMT, kind->name);
	if (!there || !kind->group)
		return there;
	EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_from_name(NULL, kind->name, NULL);
	there = ctx && EVP_PKEY_paramgen_init(ctx) == 1 &&
		EVP_PKEY_CTX_set_group_name(ctx, kind->group) == 1 && EVP_PKEY_paramgen(ctx, &group) == 1;
	EVP_PKEY_free(group);
	EVP_PKEY_CTX_free(ctx);
	return there;
}

static int offers(const pb_row *row)
{
	const pb_family *f = row->family;
	int there = 0;
#ifdef RUNNER_FIPS /* its keys are too short to sign with, and DSA may only verify */
	if (f == &evp_dsa_family || strcmp(row->algorithm, "rsa-512") == 0 ||
	    strcmp(row->algorithm, "rsa-1024") == 0)
		return 0;
#endif
	if (row == evp_random_rows)
		return 1;
	if (f == &evp_digest_family || f == &evp_xof_family)
		FETCHED(EVP_MD, row->param);
	else if (f == &evp_mac_family || f == &evp_gmac_family || f == &evp_onetime_family)
		there = has_mac(row->param);
	else if (f == &evp_hkdf_family || f == &evp_password_family)
		FETCHED(EVP_KDF, ((const struct evp_kdf *)row->param)->name);
	else if (f == &evp_rsa_family || f == &evp_pss_family || f == &evp_rsa_pairs_family ||
		 f == &evp_rsa_load_family)
		FETCHED(EVP_SIGNATURE, "RSA");
	else if (f == &evp_hpke_family)
		there = hpke_there(row);
	else if (pb_is_tls(row))
		there = tls_there(row);
	else if (f == &evp_dsa_family)
		FETCHED(EVP_SIGNATURE, "DSA");
	else if (f == &evp_exchange_family || f == &evp_kem_family || f == &evp_message_family ||
		 f == &evp_edwards_family || f == &evp_ecdsa_family)
		there = has_pairs(row->param);
	else
		FETCHED(EVP_CIPHER, row->param);
	ERR_clear_error();
	return there;
}

static const char *version(void)
{
	return OpenSSL_version(OPENSSL_FULL_VERSION_STRING);
}

static OSSL_PROVIDER *base, *legacy;

#ifdef RUNNER_FIPS
static pb_runner runner;

/* Which providers are active, and that approved algorithms are asked for, says the file that OPENSSL_CONF names. */
static int start(const char *tier)
{
	const char *where = getenv("OPENSSL_MODULES");
	char module[4096];
	snprintf(module, sizeof module, "%s/fips.so", where ? where : "");
	if (OPENSSL_init_crypto(OPENSSL_INIT_LOAD_CONFIG, NULL) != 1 ||
	    OSSL_PROVIDER_available(NULL, "default") || !OSSL_PROVIDER_available(NULL, "fips") ||
	    !EVP_default_properties_is_fips_enabled(NULL))
		return -1;
	base = OSSL_PROVIDER_load(NULL, "fips");
	void *loaded = dlopen(module, RTLD_LAZY | RTLD_NOLOAD);
	if (loaded)
		runner.object = dlsym(loaded, "OSSL_provider_init");
	return loaded && base && OSSL_PROVIDER_self_test(base) == 1 && openssl_tier_in_force(tier) ? 0 : -1;
}
#else
static int start(const char *tier)
{
	/* `default` must be asked for: loading any provider by hand switches the automatic loading off. */
	base = OSSL_PROVIDER_load(NULL, "default");
	if (!base)
		return -1;
	legacy = OSSL_PROVIDER_load(NULL, "legacy"); /* may be missing: then offers() finds less */
	ERR_clear_error();
	return openssl_tier_in_force(tier) ? 0 : -1;
}
#endif

/* A runner of another build of OpenSSL is made of these same files under a name of its own. */
#ifndef RUNNER_NAME
#define RUNNER_NAME "openssl"
#endif

static pb_runner runner = {
	.name = RUNNER_NAME,
	.library = "OpenSSL",
	.license = "Apache-2.0",
	.version = version,
	.cpu_features = openssl_cpu_features,
	.object = (const void *)EVP_CIPHER_fetch,
	.start = start,
	.offers = offers,
	.tables = tables,
};

int main(int argc, char **argv)
{
	int status = pb_runner_main(&runner, argc, argv);
	if (legacy)
		OSSL_PROVIDER_unload(legacy);
	if (base)
		OSSL_PROVIDER_unload(base);
	return status;
}
