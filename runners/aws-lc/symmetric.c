/* Ciphers and hashes through EVP, AEADs through EVP_AEAD, MACs and key derivation through functions of their
 * own. */
#include "families.h"

#include <openssl/aead.h>
#include <openssl/cipher.h>
#include <openssl/cmac.h>
#include <openssl/digest.h>
#include <openssl/evp.h>
#include <openssl/hkdf.h>
#include <openssl/hmac.h>
#include <openssl/poly1305.h>
#include <openssl/siphash.h>

#include <limits.h>
#include <stdlib.h>
#include <string.h>

typedef const EVP_CIPHER *(*cipher_of)(void);
typedef const EVP_MD *(*digest_of)(void);
typedef const EVP_AEAD *(*aead_of)(void);

/* A row's function stands behind a pointer, because a function is no object. */
#define FUNCTION(TYPE, NAME) (&(const TYPE){NAME})
#define GIVEN(C, TYPE)       ((*(const TYPE *)(C)->row->param)())

/* ---- block ciphers ---- */

static int cipher_open(pb_case *c)
{
	EVP_CIPHER_CTX *ctx = c->ctx = EVP_CIPHER_CTX_new();
	if (c->size > INT_MAX)
		return pb_fail(c, "EVP takes at most %d bytes in one call", INT_MAX);
	if (ctx && EVP_CipherInit_ex(ctx, GIVEN(c, cipher_of), NULL, c->key[0], c->nonce[0], !c->inverse) &&
	    EVP_CIPHER_CTX_set_padding(ctx, 0))
		return 0;
	EVP_CIPHER_CTX_free(ctx);
	c->ctx = NULL;
	return library_fail(c, "EVP_CipherInit_ex");
}

static void cipher_close(pb_case *c)
{
	EVP_CIPHER_CTX_free(c->ctx);
	c->ctx = NULL;
}

static void restart(pb_case *c)
{
	c->failures += EVP_CipherInit_ex(c->ctx, NULL, NULL, NULL, c->nonce[0], -1) != 1;
}

static int update(EVP_CIPHER_CTX *ctx, uint8_t *out, const uint8_t *in, size_t size)
{
	int done = 0;
	return EVP_CipherUpdate(ctx, out, &done, in, (int)size);
}

static int whole(EVP_CIPHER_CTX *ctx, uint8_t *out, const uint8_t *in, size_t size)
{
	int done = 0, rest = 0;
	return EVP_CipherUpdate(ctx, out, &done, in, (int)size) && EVP_CipherFinal_ex(ctx, out + done, &rest);
}

PB_LOOP(cipher_stream, EVP_CIPHER_CTX, !update(state, out, in, size))
PB_LOOP(cipher_message, EVP_CIPHER_CTX,
	!EVP_CipherInit_ex(state, NULL, NULL, NULL, PB_TURN(nonce, turn), -1) || !whole(state, out, in, size))
PB_LOOP(cipher_rekey, EVP_CIPHER_CTX,
	!EVP_CipherInit_ex(state, NULL, NULL, PB_TURN(key, turn), PB_TURN(nonce, turn), -1) ||
		!whole(state, out, in, size))

#define WAY(NAME)                                                                                            \
	{NAME, "stream/1", "EVP_CipherUpdate", restart, cipher_stream, NULL},                                \
		{NAME, "message/1",    "EVP_CipherInit_ex(iv), EVP_CipherUpdate, EVP_CipherFinal_ex",        \
		 NULL, cipher_message, NULL},                                                                \
	{                                                                                                    \
		NAME, "rekey/1", "EVP_CipherInit_ex(key, iv), EVP_CipherUpdate, EVP_CipherFinal_ex", NULL,   \
			cipher_rekey, NULL                                                                   \
	}
static const pb_variant cipher_variants[] = {WAY("encrypt"), WAY("decrypt"), PB_END_OF_VARIANTS};
static const pb_family cipher_family = {cipher_open, cipher_close, cipher_variants};

#define MODES(BITS, KEY)                                                                                     \
	{"aes-" #BITS "-ecb", &cipher_family, FUNCTION(cipher_of, EVP_aes_##BITS##_ecb), KEY, 0, 16, 0},     \
		{"aes-" #BITS "-cbc",                                                                        \
		 &cipher_family,                                                                             \
		 FUNCTION(cipher_of, EVP_aes_##BITS##_cbc),                                                  \
		 KEY,                                                                                        \
		 16,                                                                                         \
		 16,                                                                                         \
		 0},                                                                                         \
	{                                                                                                    \
		"aes-" #BITS "-ctr", &cipher_family, FUNCTION(cipher_of, EVP_aes_##BITS##_ctr), KEY, 16, 1,  \
			0                                                                                    \
	}

const pb_row cipher_rows[] = {MODES(128, 16), MODES(192, 24), MODES(256, 32), PB_END_OF_ROWS};

/* ---- AEADs ---- */

static int aead_open(pb_case *c)
{
	EVP_AEAD_CTX *ctx = c->ctx =
		EVP_AEAD_CTX_new(GIVEN(c, aead_of), c->key[0], c->key_len, c->row->output);
	c->out_len = c->inverse ? c->size : c->size + c->row->output;
	return ctx ? 0 : library_fail(c, "EVP_AEAD_CTX_new");
}

static void aead_close(pb_case *c)
{
	EVP_AEAD_CTX_free(c->ctx);
	c->ctx = NULL;
}

/* A new key in the context that is there: what a user does who keeps it. */
static int rekeyed(EVP_AEAD_CTX *ctx, const uint8_t *key, size_t key_len, size_t tag_len)
{
	const EVP_AEAD *aead = EVP_AEAD_CTX_aead(ctx);
	EVP_AEAD_CTX_cleanup(ctx);
	return EVP_AEAD_CTX_init(ctx, aead, key, key_len, tag_len, NULL);
}

static int seal_one(EVP_AEAD_CTX *ctx, uint8_t *out, size_t room, const uint8_t *nonce, size_t nonce_len,
		    const uint8_t *in, size_t size, const uint8_t *aad, size_t aad_len)
{
	size_t length;
	return EVP_AEAD_CTX_seal(ctx, out, &length, room, nonce, nonce_len, in, size, aad, aad_len);
}

static int open_one(EVP_AEAD_CTX *ctx, uint8_t *out, size_t room, const uint8_t *nonce, size_t nonce_len,
		    const uint8_t *in, size_t size, const uint8_t *aad, size_t aad_len)
{
	size_t length;
	return EVP_AEAD_CTX_open(ctx, out, &length, room, nonce, nonce_len, in, size, aad, aad_len);
}

PB_LOOP(seal_message, EVP_AEAD_CTX,
	!seal_one(state, out, size + out_max, PB_TURN(nonce, turn), nonce_len, in, size, aad, aad_len))
PB_LOOP(open_message, EVP_AEAD_CTX,
	!open_one(state, out, size + out_max, nonce[0], nonce_len, in, in_len, aad, aad_len))
PB_LOOP(seal_rekey, EVP_AEAD_CTX,
	!rekeyed(state, PB_TURN(key, turn), key_len, out_max) ||
		!seal_one(state, out, size + out_max, PB_TURN(nonce, turn), nonce_len, in, size, aad,
			  aad_len))
PB_LOOP(open_rekey, EVP_AEAD_CTX,
	!rekeyed(state, key[0], key_len, out_max) ||
		!open_one(state, out, size + out_max, nonce[0], nonce_len, in, in_len, aad, aad_len))

/* The rekeying loops leave another key behind. */
static void first_key(pb_case *c)
{
	c->failures += !rekeyed(c->ctx, c->key[0], c->key_len, c->row->output);
}

#define REKEYED "EVP_AEAD_CTX_cleanup, EVP_AEAD_CTX_init, "
static const pb_variant aead_variants[] = {
	{"seal", "message/1", "EVP_AEAD_CTX_seal", NULL, seal_message, NULL},
	{"open", "message/1", "EVP_AEAD_CTX_open", NULL, open_message, NULL},
	{"seal", "rekey/1", REKEYED "EVP_AEAD_CTX_seal", first_key, seal_rekey, NULL},
	{"open", "rekey/1", REKEYED "EVP_AEAD_CTX_open", NULL, open_rekey, NULL},
	PB_END_OF_VARIANTS,
};
static const pb_family aead_family = {aead_open, aead_close, aead_variants};

#define AEAD(ID, NAME, KEY, NONCE)                                                                           \
	{                                                                                                    \
		ID, &aead_family, FUNCTION(aead_of, EVP_aead_##NAME), KEY, NONCE, 1, 16                      \
	}

const pb_row aead_rows[] = {
	AEAD("aes-128-gcm", aes_128_gcm, 16, 12),
	AEAD("aes-192-gcm", aes_192_gcm, 24, 12),
	AEAD("aes-256-gcm", aes_256_gcm, 32, 12),
	AEAD("aes-128-gcm-siv", aes_128_gcm_siv, 16, 12),
	AEAD("aes-256-gcm-siv", aes_256_gcm_siv, 32, 12),
	AEAD("chacha20-poly1305", chacha20_poly1305, 32, 12),
	AEAD("xchacha20-poly1305", xchacha20_poly1305, 32, 24),
	PB_END_OF_ROWS,
};

/* ---- hashes ---- */

static int digest_open(pb_case *c)
{
	EVP_MD_CTX *ctx = c->ctx = EVP_MD_CTX_new();
	c->out_len = c->row->output;
	return ctx && EVP_DigestInit_ex(ctx, GIVEN(c, digest_of), NULL)
		       ? 0
		       : library_fail(c, "EVP_DigestInit_ex");
}

static void digest_close(pb_case *c)
{
	EVP_MD_CTX_free(c->ctx);
	c->ctx = NULL;
}

static void digest_begin(pb_case *c)
{
	c->failures += !EVP_DigestInit_ex(c->ctx, GIVEN(c, digest_of), NULL);
}

static void digest_finish(pb_case *c)
{
	c->failures += !EVP_DigestFinal_ex(c->ctx, c->out, NULL);
}

PB_LOOP(digest_oneshot, EVP_MD_CTX,
	!EVP_DigestInit_ex(state, EVP_MD_CTX_md(state), NULL) || !EVP_DigestUpdate(state, in, size) ||
		!EVP_DigestFinal_ex(state, out, NULL))
PB_LOOP(digest_stream, EVP_MD_CTX, !EVP_DigestUpdate(state, in, size))

static const pb_variant digest_variants[] = {
	{"digest", "oneshot/1", "EVP_DigestInit_ex, EVP_DigestUpdate, EVP_DigestFinal_ex", digest_begin,
	 digest_oneshot, NULL},
	{"digest", "stream/1", "EVP_DigestUpdate", digest_begin, digest_stream, digest_finish},
	PB_END_OF_VARIANTS,
};
const pb_family digest_family = {digest_open, digest_close, digest_variants};

#define HASH(ID, NAME, LENGTH)                                                                               \
	{                                                                                                    \
		ID, &digest_family, FUNCTION(digest_of, EVP_##NAME), 0, 0, 1, LENGTH                         \
	}

const pb_row digest_rows[] = {
	HASH("md5", md5, 16),
	HASH("sha-1", sha1, 20),
	HASH("sha-224", sha224, 28),
	HASH("sha-256", sha256, 32),
	HASH("sha-384", sha384, 48),
	HASH("sha-512", sha512, 64),
	HASH("sha3-256", sha3_256, 32),
	HASH("sha3-384", sha3_384, 48),
	HASH("sha3-512", sha3_512, 64),
	HASH("blake2b-256", blake2b256, 32),
	PB_END_OF_ROWS,
};

/* ---- MACs ---- */

struct mac {
	HMAC_CTX *hmac;
	CMAC_CTX *cmac;
	poly1305_state poly;
	uint64_t sip[PB_RING][2];
};

static int mac_open(pb_case *c)
{
	struct mac *mac = c->ctx = calloc(1, sizeof *mac);
	c->out_len = c->row->output;
	if (!mac)
		return pb_fail(c, "out of memory");
	for (int i = 0; i < PB_RING && c->key_len == sizeof mac->sip[0]; i++)
		memcpy(mac->sip[i], c->key[i], sizeof mac->sip[i]);
	mac->hmac = HMAC_CTX_new();
	mac->cmac = CMAC_CTX_new();
	return mac->hmac && mac->cmac ? 0 : library_fail(c, "HMAC_CTX_new, CMAC_CTX_new");
}

static void mac_close(pb_case *c)
{
	struct mac *mac = c->ctx;
	if (mac) {
		HMAC_CTX_free(mac->hmac);
		CMAC_CTX_free(mac->cmac);
	}
	free(mac);
	c->ctx = NULL;
}

static void hmac_begin(pb_case *c)
{
	struct mac *mac = c->ctx;
	c->failures += !HMAC_Init_ex(mac->hmac, c->key[0], c->key_len, GIVEN(c, digest_of), NULL);
}

static void cmac_begin(pb_case *c)
{
	struct mac *mac = c->ctx;
	c->failures += !CMAC_Init(mac->cmac, c->key[0], c->key_len, GIVEN(c, cipher_of), NULL);
}

static int hmac_one(HMAC_CTX *ctx, const uint8_t *in, size_t size, uint8_t *out)
{
	unsigned length;
	return HMAC_Update(ctx, in, size) && HMAC_Final(ctx, out, &length);
}

static int cmac_one(CMAC_CTX *ctx, const uint8_t *in, size_t size, uint8_t *out)
{
	size_t length;
	return CMAC_Update(ctx, in, size) && CMAC_Final(ctx, out, &length);
}

static int poly_one(poly1305_state *state, const uint8_t *key, const uint8_t *in, size_t size, uint8_t *out)
{
	CRYPTO_poly1305_init(state, key);
	CRYPTO_poly1305_update(state, in, size);
	CRYPTO_poly1305_finish(state, out);
	return 1;
}

static int sip_one(const uint64_t key[2], const uint8_t *in, size_t size, uint8_t *out)
{
	uint64_t tag = SIPHASH_24(key, in, size);
	memcpy(out, &tag, sizeof tag);
	return 1;
}

PB_LOOP(hmac_message, struct mac,
	!HMAC_Init_ex(state->hmac, NULL, 0, NULL, NULL) || !hmac_one(state->hmac, in, size, out))
PB_LOOP(hmac_rekey, struct mac,
	!HMAC_Init_ex(state->hmac, PB_TURN(key, turn), key_len, NULL, NULL) ||
		!hmac_one(state->hmac, in, size, out))
PB_LOOP(cmac_message, struct mac, !CMAC_Reset(state->cmac) || !cmac_one(state->cmac, in, size, out))
PB_LOOP(poly_rekey, struct mac, !poly_one(&state->poly, PB_TURN(key, turn), in, size, out))
PB_LOOP(sip_message, struct mac, !sip_one(state->sip[0], in, size, out))

static const pb_variant hmac_variants[] = {
	{"mac", "message/1", "HMAC_Init_ex(NULL), HMAC_Update, HMAC_Final", hmac_begin, hmac_message, NULL},
	{"mac", "rekey/1", "HMAC_Init_ex(key), HMAC_Update, HMAC_Final", hmac_begin, hmac_rekey, NULL},
	PB_END_OF_VARIANTS,
};
static const pb_variant cmac_variants[] = {
	{"mac", "message/1", "CMAC_Reset, CMAC_Update, CMAC_Final", cmac_begin, cmac_message, NULL},
	PB_END_OF_VARIANTS,
};
static const pb_variant poly_variants[] = {
	{"mac", "rekey/1", "CRYPTO_poly1305_init, CRYPTO_poly1305_update, CRYPTO_poly1305_finish", NULL,
	 poly_rekey, NULL},
	PB_END_OF_VARIANTS,
};
static const pb_variant sip_variants[] = {
	{"mac", "message/1", "SIPHASH_24", NULL, sip_message, NULL},
	PB_END_OF_VARIANTS,
};
static const pb_family hmac_family = {mac_open, mac_close, hmac_variants};
static const pb_family cmac_family = {mac_open, mac_close, cmac_variants};
static const pb_family poly_family = {mac_open, mac_close, poly_variants};
static const pb_family sip_family = {mac_open, mac_close, sip_variants};

const pb_row mac_rows[] = {
	{"hmac-sha-1", &hmac_family, FUNCTION(digest_of, EVP_sha1), 20, 0, 1, 20},
	{"hmac-sha-256", &hmac_family, FUNCTION(digest_of, EVP_sha256), 32, 0, 1, 32},
	{"hmac-sha-384", &hmac_family, FUNCTION(digest_of, EVP_sha384), 48, 0, 1, 48},
	{"hmac-sha-512", &hmac_family, FUNCTION(digest_of, EVP_sha512), 64, 0, 1, 64},
	{"aes-128-cmac", &cmac_family, FUNCTION(cipher_of, EVP_aes_128_cbc), 16, 0, 1, 16},
	{"aes-256-cmac", &cmac_family, FUNCTION(cipher_of, EVP_aes_256_cbc), 32, 0, 1, 16},
	{"poly1305", &poly_family, NULL, 32, 0, 1, 16},
	{"siphash-2-4", &sip_family, NULL, 16, 0, 1, 8},
	PB_END_OF_ROWS,
};

/* ---- key derivation and password hashes ---- */

static int nothing_to_open(pb_case *c)
{
	(void)c;
	return 0;
}

static void nothing_to_close(pb_case *c)
{
	(void)c;
}

static int hash_open(pb_case *c)
{
	c->out_len = c->row->output;
	return 0;
}

PB_LOOP(expand_256, void,
	!HKDF(out, size, EVP_sha256(), key[0], key_len, PB_TURN(nonce, turn), nonce_len, aad, aad_len))
PB_LOOP(expand_512, void,
	!HKDF(out, size, EVP_sha512(), key[0], key_len, PB_TURN(nonce, turn), nonce_len, aad, aad_len))
#define PBKDF2(ITERATIONS)                                                                                   \
	!PKCS5_PBKDF2_HMAC((const char *)in, size, PB_TURN(nonce, turn), nonce_len, ITERATIONS,              \
			   EVP_sha256(), out_max, out)
PB_LOOP(pbkdf2_4096, void, PBKDF2(4096))
PB_LOOP(pbkdf2_600000, void, PBKDF2(600000))
PB_LOOP(scrypt_16384, void,
	!EVP_PBE_scrypt((const char *)in, size, PB_TURN(nonce, turn), nonce_len, 16384, 8, 1, 1 << 26, out,
			out_max))

#define ONE(NAME, OPERATION, CONTRACT, CALLS, OPEN)                                                          \
	static const pb_variant NAME##_variants[] = {{OPERATION, CONTRACT, CALLS, NULL, NAME, NULL},         \
						     PB_END_OF_VARIANTS};                                    \
	static const pb_family NAME##_family = {OPEN, nothing_to_close, NAME##_variants};
ONE(expand_256, "expand", "expand/1", "HKDF", nothing_to_open)
ONE(expand_512, "expand", "expand/1", "HKDF", nothing_to_open)
ONE(pbkdf2_4096, "hash", "password/1", "PKCS5_PBKDF2_HMAC", hash_open)
ONE(pbkdf2_600000, "hash", "password/1", "PKCS5_PBKDF2_HMAC", hash_open)
ONE(scrypt_16384, "hash", "password/1", "EVP_PBE_scrypt", hash_open)

const pb_row kdf_rows[] = {
	{"hkdf-sha-256", &expand_256_family, NULL, 32, 32, 1, 0},
	{"hkdf-sha-512", &expand_512_family, NULL, 32, 32, 1, 0},
	{"pbkdf2-sha-256-4096", &pbkdf2_4096_family, NULL, 0, 16, 1, 32},
	{"pbkdf2-sha-256-600000", &pbkdf2_600000_family, NULL, 0, 16, 1, 32},
	{"scrypt-16384-8-1", &scrypt_16384_family, NULL, 0, 16, 1, 64},
	PB_END_OF_ROWS,
};
