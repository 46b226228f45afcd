/* The libgcrypt runner: which algorithms there are, how a CPU tier is brought about, and main. */
#include <stdio.h>
#include <string.h>

#include "direct.h"
#include "families.h"

#define PARAM(algo, mode)                                                                                    \
	&(const struct algorithm)                                                                            \
	{                                                                                                    \
		algo, GCRY_CIPHER_MODE_##mode                                                                \
	}

#define CIPHER(id, family, algo, mode, key, nonce, multiple)                                                 \
	{                                                                                                    \
		id, &family, PARAM(algo, mode), key, nonce, multiple, 0                                      \
	}
#define ECB(id, algo, key, block) CIPHER(id "-ecb", ecb_family, algo, ECB, key, 0, block)
#define CBC(id, algo, key, block) CIPHER(id "-cbc", iv_family, algo, CBC, key, block, block)
#define CTR(id, algo, key, block) CIPHER(id "-ctr", ctr_family, algo, CTR, key, block, 1)
#define OFB(id, algo, key, block) CIPHER(id "-ofb", iv_family, algo, OFB, key, block, 1)
#define CFB(id, algo, key, block) CIPHER(id "-cfb", iv_family, algo, CFB, key, block, 1)

#define THREE_MODES(id, algo, key, block)                                                                    \
	ECB(id, algo, key, block), CBC(id, algo, key, block), CTR(id, algo, key, block)
#define FIVE_MODES(id, algo, key, block)                                                                     \
	THREE_MODES(id, algo, key, block), OFB(id, algo, key, block), CFB(id, algo, key, block)

static const pb_row ciphers[] = {
	FIVE_MODES("aes-128", GCRY_CIPHER_AES128, 16, 16),
	FIVE_MODES("aes-192", GCRY_CIPHER_AES192, 24, 16),
	FIVE_MODES("aes-256", GCRY_CIPHER_AES256, 32, 16),
	THREE_MODES("camellia-128", GCRY_CIPHER_CAMELLIA128, 16, 16),
	THREE_MODES("camellia-192", GCRY_CIPHER_CAMELLIA192, 24, 16),
	THREE_MODES("camellia-256", GCRY_CIPHER_CAMELLIA256, 32, 16),
	FIVE_MODES("des", GCRY_CIPHER_DES, 8, 8),
	FIVE_MODES("des-ede3", GCRY_CIPHER_3DES, 24, 8),
	THREE_MODES("serpent-128", GCRY_CIPHER_SERPENT128, 16, 16),
	THREE_MODES("serpent-256", GCRY_CIPHER_SERPENT256, 32, 16),
	THREE_MODES("twofish-128", GCRY_CIPHER_TWOFISH128, 16, 16),
	THREE_MODES("twofish-256", GCRY_CIPHER_TWOFISH, 32, 16),
	ECB("blowfish", GCRY_CIPHER_BLOWFISH, 16, 8),
	CBC("blowfish", GCRY_CIPHER_BLOWFISH, 16, 8),
	OFB("blowfish", GCRY_CIPHER_BLOWFISH, 16, 8),
	ECB("blowfish-64", GCRY_CIPHER_BLOWFISH, 8, 8),
	ECB("rc2", GCRY_CIPHER_RFC2268_128, 16, 8),
	CBC("rc2", GCRY_CIPHER_RFC2268_128, 16, 8),
	OFB("rc2", GCRY_CIPHER_RFC2268_128, 16, 8),
	ECB("cast5", GCRY_CIPHER_CAST5, 16, 8),
	CBC("cast5", GCRY_CIPHER_CAST5, 16, 8),
	ECB("idea", GCRY_CIPHER_IDEA, 16, 8),
	CBC("idea", GCRY_CIPHER_IDEA, 16, 8),
	ECB("seed", GCRY_CIPHER_SEED, 16, 16),
	CBC("seed", GCRY_CIPHER_SEED, 16, 16),
	THREE_MODES("sm4", GCRY_CIPHER_SM4, 16, 16),
	ECB("gost28147", GCRY_CIPHER_GOST28147, 32, 8),
	CIPHER("rc4", keystream_family, GCRY_CIPHER_ARCFOUR, STREAM, 16, 0, 1),
	CIPHER("chacha20", iv_family, GCRY_CIPHER_CHACHA20, STREAM, 32, 12, 1),
	CIPHER("salsa20", iv_family, GCRY_CIPHER_SALSA20, STREAM, 32, 8, 1),
	CIPHER("salsa20-12", iv_family, GCRY_CIPHER_SALSA20R12, STREAM, 32, 8, 1),
	PB_END_OF_ROWS,
};

#define AEAD(id, algo, mode, key)                                                                            \
	{                                                                                                    \
		id, &aead_family, PARAM(algo, mode), key, 12, 1, 16                                          \
	}

static const pb_row aeads[] = {
	AEAD("aes-128-gcm", GCRY_CIPHER_AES128, GCM, 16),
	AEAD("aes-192-gcm", GCRY_CIPHER_AES192, GCM, 24),
	AEAD("aes-256-gcm", GCRY_CIPHER_AES256, GCM, 32),
	AEAD("camellia-128-gcm", GCRY_CIPHER_CAMELLIA128, GCM, 16),
	AEAD("camellia-256-gcm", GCRY_CIPHER_CAMELLIA256, GCM, 32),
	AEAD("sm4-gcm", GCRY_CIPHER_SM4, GCM, 16),
	{"aes-128-ccm", &ccm_family, PARAM(GCRY_CIPHER_AES128, CCM), 16, 12, 1, 16},
	{"aes-256-ccm", &ccm_family, PARAM(GCRY_CIPHER_AES256, CCM), 32, 12, 1, 16},
	{"aes-128-ocb", &ocb_family, PARAM(GCRY_CIPHER_AES128, OCB), 16, 12, 1, 16},
	{"aes-256-ocb", &ocb_family, PARAM(GCRY_CIPHER_AES256, OCB), 32, 12, 1, 16},
	{"aes-128-gcm-siv", &gcm_siv_family, PARAM(GCRY_CIPHER_AES128, GCM_SIV), 16, 12, 1, 16},
	{"aes-256-gcm-siv", &gcm_siv_family, PARAM(GCRY_CIPHER_AES256, GCM_SIV), 32, 12, 1, 16},
	{"aes-128-xts", &xts_family, PARAM(GCRY_CIPHER_AES128, XTS), 32, 16, 16, 0},
	{"aes-256-xts", &xts_family, PARAM(GCRY_CIPHER_AES256, XTS), 64, 16, 16, 0},
	{"serpent-256-xts", &xts_family, PARAM(GCRY_CIPHER_SERPENT256, XTS), 64, 16, 16, 0},
	{"twofish-256-xts", &xts_family, PARAM(GCRY_CIPHER_TWOFISH, XTS), 64, 16, 16, 0},
	{"camellia-256-xts", &xts_family, PARAM(GCRY_CIPHER_CAMELLIA256, XTS), 64, 16, 16, 0},
	AEAD("chacha20-poly1305", GCRY_CIPHER_CHACHA20, POLY1305, 32),
	PB_END_OF_ROWS,
};

#define HASH(id, way, algo, output)                                                                          \
	{                                                                                                    \
		id, &hash_##way##_family, PARAM(algo, NONE), 0, 0, 1, output                                 \
	}

/* Tiger: GCRY_MD_TIGER has the byte order of old GnuPG releases; TIGER1 is what the authors publish.
 * GOST R 34.11-94: the S-box of CryptoPro, as other libraries understand the name. */
static const pb_row hashes[] = {
	HASH("md4", handle, GCRY_MD_MD4, 16),
	HASH("md5", handle, GCRY_MD_MD5, 16),
	HASH("sha-1", buffer, GCRY_MD_SHA1, 20),
	HASH("sha-224", buffer, GCRY_MD_SHA224, 28),
	HASH("sha-256", buffer, GCRY_MD_SHA256, 32),
	HASH("sha-384", buffer, GCRY_MD_SHA384, 48),
	HASH("sha-512", buffer, GCRY_MD_SHA512, 64),
	HASH("sha-512-256", buffer, GCRY_MD_SHA512_256, 32),
	HASH("sm3", buffer, GCRY_MD_SM3, 32),
	HASH("sha3-224", buffer, GCRY_MD_SHA3_224, 28),
	HASH("sha3-256", buffer, GCRY_MD_SHA3_256, 32),
	HASH("sha3-384", buffer, GCRY_MD_SHA3_384, 48),
	HASH("sha3-512", buffer, GCRY_MD_SHA3_512, 64),
	{"shake128", &xof_family, PARAM(GCRY_MD_SHAKE128, NONE), 0, 32, 1, 32},
	{"shake256", &xof_family, PARAM(GCRY_MD_SHAKE256, NONE), 0, 32, 1, 64},
	HASH("blake2b-512", buffer, GCRY_MD_BLAKE2B_512, 64),
	HASH("blake2b-256", buffer, GCRY_MD_BLAKE2B_256, 32),
	HASH("blake2s-256", buffer, GCRY_MD_BLAKE2S_256, 32),
	HASH("ripemd-160", buffer, GCRY_MD_RMD160, 20),
	HASH("whirlpool", handle, GCRY_MD_WHIRLPOOL, 64),
	HASH("tiger", handle, GCRY_MD_TIGER1, 24),
	HASH("crc32", buffer, GCRY_MD_CRC32, 4),
	HASH("gost-94", handle, GCRY_MD_GOSTR3411_CP, 32),
	PB_END_OF_ROWS,
};

#define MAC(id, algo, key, output)                                                                           \
	{                                                                                                    \
		id, &mac_family, PARAM(algo, NONE), key, 0, 1, output                                        \
	}

static const pb_row macs[] = {
	MAC("hmac-sha-256", GCRY_MAC_HMAC_SHA256, 32, 32),
	MAC("hmac-sha-1", GCRY_MAC_HMAC_SHA1, 20, 20),
	MAC("hmac-md5", GCRY_MAC_HMAC_MD5, 16, 16),
	MAC("hmac-sha-384", GCRY_MAC_HMAC_SHA384, 48, 48),
	MAC("hmac-sha-512", GCRY_MAC_HMAC_SHA512, 64, 64),
	{"aes-128-cmac", &cmac_family, PARAM(GCRY_MAC_CMAC_AES, NONE), 16, 0, 1, 16},
	{"aes-256-cmac", &cmac_family, PARAM(GCRY_MAC_CMAC_AES, NONE), 32, 0, 1, 16},
	{"aes-128-gmac", &gmac_family, PARAM(GCRY_MAC_GMAC_AES, NONE), 16, 12, 1, 16},
	{"aes-256-gmac", &gmac_family, PARAM(GCRY_MAC_GMAC_AES, NONE), 32, 12, 1, 16},
	{"poly1305", &one_time_family, PARAM(GCRY_MAC_POLY1305, NONE), 32, 0, 1, 16},
	PB_END_OF_ROWS,
};

static const pb_row others[] = {
	{"pbkdf2-sha-256-4096", &pbkdf2_4096_family, NULL, 0, 16, 1, 32},
	{"pbkdf2-sha-256-600000", &pbkdf2_600000_family, NULL, 0, 16, 1, 32},
	{"scrypt-16384-8-1", &scrypt_family, NULL, 0, 16, 1, 64},
	{"argon2id-64mib-2-1", &argon2id_family, NULL, 0, 16, 1, 32},
	{"x25519", &agreement_family, PARAM(GCRY_ECC_CURVE25519, NONE), 32, 32, 1, 32},
	{"x448", &agreement_family, PARAM(GCRY_ECC_CURVE448, NONE), 56, 56, 1, 56},
	PB_END_OF_ROWS,
};

/* Gives no error: it ends the process where there is no entropy. */
PB_DIRECT_RANDOM(random, "random-bytes", "gcry_randomize",
		 (gcry_randomize(out, size, GCRY_STRONG_RANDOM), 0));

static const pb_row *const tables[] = {ciphers,         aeads,     hashes,      macs, others,
				       public_key_rows, pair_rows, random_rows, NULL};

static const char *version(void)
{
	return gcry_check_version(NULL);
}

/* What the library detected and has not been told to leave alone, without the field's own name. */
static const char *cpu_features(void)
{
	static char text[512];
	char *line = gcry_get_config(0, "hwflist");
	const char *list = line ? strchr(line, ':') : NULL;
	snprintf(text, sizeof text, "%s", list ? list + 1 : "");
	gcry_free(line);
	size_t end = strcspn(text, "\n");
	while (end > 0 && text[end - 1] == ':')
		end--;
	text[end] = '\0';
	return text;
}

/* Instructions made for AES, SHA and carry-less multiplication; Camellia uses those for AES. */
static const char *const crypto_features[] = {
	"padlock-aes", "padlock-sha", "intel-pclmul", "intel-aesni", "intel-shaext", "intel-vaes-vpclmul",
	"arm-aes",     "arm-sha1",    "arm-sha2",     "arm-pmull",   "ppc-vcrypto",  NULL,
};

/* Without byte shuffles AES has nothing left but tables. */
static const char *const shuffle_features[] = {"intel-ssse3", NULL};

/* Without these, vectors have 128 bits at most. */
static const char *const wide_features[] = {"intel-avx2", "intel-avx", NULL};

/* A feature can be disabled only before the library is initialised. It knows the names of its own
 * architecture and refuses the others. Returns how many it took. */
static int disable(const char *const *features)
{
	int taken = 0;
	for (; *features; features++)
		taken += gcry_control(GCRYCTL_DISABLE_HWF, *features, NULL) == 0;
	return taken;
}

static int start(const char *tier)
{
	int soft = !strcmp(tier, "soft"), tables_only = !strcmp(tier, "tables"),
	    narrow = !strcmp(tier, "no-avx");
	if (strcmp(tier, "full") && !soft && !tables_only && !narrow)
		return -1;
	if (narrow && !disable(wide_features))
		return -1;
	if ((soft || tables_only) && !disable(crypto_features))
		return -1;
	if (tables_only)
		disable(shuffle_features);
	if (!gcry_check_version(GCRYPT_VERSION)) {
		fprintf(stderr, "libgcrypt is older than the one this runner was built with\n");
		return -1;
	}
	gcry_control(GCRYCTL_DISABLE_SECMEM, 0);
	gcry_control(GCRYCTL_INITIALIZATION_FINISHED, 0);
	return 0;
}

static int offers(const pb_row *row)
{
	for (const pb_row *known = public_key_rows; known->algorithm; known++)
		if (row == known)
			return 1;
	const struct algorithm *a = row->param;
	if (!a || row->family == &agreement_family)
		return 1; /* the versions that runner.toml asks for have them */
	int algo = a->algo;
	if (row->family == &hash_buffer_family || row->family == &hash_handle_family ||
	    row->family == &xof_family)
		return gcry_md_test_algo(algo) == 0;
	if (row->family == &mac_family || row->family == &cmac_family || row->family == &gmac_family ||
	    row->family == &one_time_family)
		return gcry_mac_test_algo(algo) == 0;
	return gcry_cipher_test_algo(algo) == 0;
}

static const pb_runner runner = {
	.name = "libgcrypt",
	.library = "libgcrypt",
	.license = "LGPL-2.1-or-later",
	.version = version,
	.cpu_features = cpu_features,
	.object = (const void *)gcry_check_version,
	.start = start,
	.offers = offers,
	.code_path = NULL,
	.tables = tables,
};

int main(int argc, char **argv)
{
	return pb_runner_main(&runner, argc, argv);
}
