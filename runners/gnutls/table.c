/* GnuTLS by gnutls/crypto.h: AEADs, hashes, HMAC, key derivation. */
#include "tls.h"

#include <direct.h>
#include <perbyte.h>

#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>

#include <string.h>

static int algorithm_of(const pb_case *c)
{
	return *(const int *)c->row->param;
}

static int refuse(pb_case *c, const char *call, int error)
{
	return error ? pb_fail(c, "%s: %s", call, gnutls_strerror(error)) : 0;
}

/* Keys are given as pairs of pointer and length, which are not written to. */
static gnutls_datum_t datum(const uint8_t *data, size_t size)
{
	return (gnutls_datum_t){(unsigned char *)(uintptr_t)data, (unsigned)size};
}

/* ---- AEADs ---- */

static int aead_open(pb_case *c)
{
	gnutls_datum_t key = datum(c->key[0], c->key_len);
	c->out_len = c->inverse ? c->size : c->size + c->row->output;
	return refuse(c, "gnutls_aead_cipher_init",
		      gnutls_aead_cipher_init((gnutls_aead_cipher_hd_t *)&c->ctx, algorithm_of(c), &key));
}

static void aead_close(pb_case *c)
{
	gnutls_aead_cipher_deinit(c->ctx);
	c->ctx = NULL;
}

static int sealed(gnutls_aead_cipher_hd_t handle, const uint8_t *nonce, size_t nonce_len, const uint8_t *aad,
		  size_t aad_len, size_t tag, const uint8_t *in, size_t size, uint8_t *out)
{
	size_t length = size + tag;
	return gnutls_aead_cipher_encrypt(handle, nonce, nonce_len, aad, aad_len, tag, in, size, out,
					  &length);
}

static int unsealed(gnutls_aead_cipher_hd_t handle, const uint8_t *nonce, size_t nonce_len,
		    const uint8_t *aad, size_t aad_len, size_t tag, const uint8_t *in, size_t size,
		    uint8_t *out)
{
	size_t length = size;
	return gnutls_aead_cipher_decrypt(handle, nonce, nonce_len, aad, aad_len, tag, in, size + tag, out,
					  &length);
}

typedef struct api_aead_cipher_hd_st aead;
PB_LOOP(seal, aead, sealed(state, PB_TURN(nonce, turn), nonce_len, aad, aad_len, out_max, in, size, out))
PB_LOOP(open_one, aead, unsealed(state, nonce[0], nonce_len, aad, aad_len, out_max, in, size, out))
static const pb_variant aead_variants[] = {
	{"seal", "message/1", "gnutls_aead_cipher_encrypt", NULL, seal, NULL},
	{"open", "message/1", "gnutls_aead_cipher_decrypt", NULL, open_one, NULL},
	PB_END_OF_VARIANTS,
};
static const pb_family aead_family = {aead_open, aead_close, aead_variants};

/* ---- hashes and HMAC: the output leaves both ready for the next message ---- */

static int hash_open(pb_case *c)
{
	c->out_len = c->row->output;
	if (c->key_len)
		return refuse(c, "gnutls_hmac_init",
			      gnutls_hmac_init((gnutls_hmac_hd_t *)&c->ctx, algorithm_of(c), c->key[0],
					       c->key_len));
	return refuse(c, "gnutls_hash_init", gnutls_hash_init((gnutls_hash_hd_t *)&c->ctx, algorithm_of(c)));
}

static void hash_close(pb_case *c)
{
	uint8_t last[64];
	if (c->key_len)
		gnutls_hmac_deinit(c->ctx, last);
	else
		gnutls_hash_deinit(c->ctx, last);
	c->ctx = NULL;
}

static void hash_begin(pb_case *c)
{
	gnutls_hash_output(c->ctx, c->out);
}

static void hash_finish(pb_case *c)
{
	gnutls_hash_output(c->ctx, c->out);
}

typedef struct hash_hd_st hash;
typedef struct hmac_hd_st hmac;
PB_LOOP(oneshot, hash, gnutls_hash(state, in, size) || (gnutls_hash_output(state, out), 0))
PB_LOOP(stream, hash, gnutls_hash(state, in, size))
PB_LOOP(mac, hmac, gnutls_hmac(state, in, size) || (gnutls_hmac_output(state, out), 0))
static const pb_variant hash_variants[] = {
	{"digest", "oneshot/1", "gnutls_hash, gnutls_hash_output", hash_begin, oneshot, NULL},
	{"digest", "stream/1", "gnutls_hash", hash_begin, stream, hash_finish},
	PB_END_OF_VARIANTS,
};
static const pb_variant hmac_variants[] = {
	{"mac", "message/1", "gnutls_hmac, gnutls_hmac_output", NULL, mac, NULL},
	PB_END_OF_VARIANTS,
};
static const pb_family hash_family = {hash_open, hash_close, hash_variants};
static const pb_family hmac_family = {hash_open, hash_close, hmac_variants};

#define ROW(ID, FAMILY, ALGORITHM, KEY, NONCE, OUTPUT)                                                       \
	{                                                                                                    \
		ID, &FAMILY##_family, &(const int){ALGORITHM}, KEY, NONCE, 1, OUTPUT                         \
	}
static const pb_row rows[] = {
	ROW("aes-128-gcm", aead, GNUTLS_CIPHER_AES_128_GCM, 16, 12, 16),
	ROW("aes-192-gcm", aead, GNUTLS_CIPHER_AES_192_GCM, 24, 12, 16),
	ROW("aes-256-gcm", aead, GNUTLS_CIPHER_AES_256_GCM, 32, 12, 16),
	ROW("aes-128-ccm", aead, GNUTLS_CIPHER_AES_128_CCM, 16, 12, 16),
	ROW("aes-256-ccm", aead, GNUTLS_CIPHER_AES_256_CCM, 32, 12, 16),
	ROW("camellia-128-gcm", aead, GNUTLS_CIPHER_CAMELLIA_128_GCM, 16, 12, 16),
	ROW("camellia-256-gcm", aead, GNUTLS_CIPHER_CAMELLIA_256_GCM, 32, 12, 16),
	ROW("chacha20-poly1305", aead, GNUTLS_CIPHER_CHACHA20_POLY1305, 32, 12, 16),
	ROW("md5", hash, GNUTLS_DIG_MD5, 0, 0, 16),
	ROW("sha-1", hash, GNUTLS_DIG_SHA1, 0, 0, 20),
	ROW("sha-224", hash, GNUTLS_DIG_SHA224, 0, 0, 28),
	ROW("sha-256", hash, GNUTLS_DIG_SHA256, 0, 0, 32),
	ROW("sha-384", hash, GNUTLS_DIG_SHA384, 0, 0, 48),
	ROW("sha-512", hash, GNUTLS_DIG_SHA512, 0, 0, 64),
	ROW("sha3-256", hash, GNUTLS_DIG_SHA3_256, 0, 0, 32),
	ROW("sha3-512", hash, GNUTLS_DIG_SHA3_512, 0, 0, 64),
	ROW("hmac-sha-1", hmac, GNUTLS_MAC_SHA1, 20, 0, 20),
	ROW("hmac-sha-256", hmac, GNUTLS_MAC_SHA256, 32, 0, 32),
	ROW("hmac-sha-384", hmac, GNUTLS_MAC_SHA384, 48, 0, 48),
	ROW("hmac-sha-512", hmac, GNUTLS_MAC_SHA512, 64, 0, 64),
	PB_END_OF_ROWS,
};
/* ---- random bytes ---- */

PB_DIRECT_RANDOM(random, "random-bytes", "gnutls_rnd", gnutls_rnd(GNUTLS_RND_RANDOM, out, size) != 0);

static const pb_row *const tables[] = {rows, tls_rows, random_rows, NULL};

static int offers(const pb_row *row)
{
	return !pb_is_tls(row) || tls_there(row);
}

static const char *version(void)
{
	return gnutls_check_version(NULL);
}

static int start(const char *tier)
{
	return (strcmp(tier, "full") != 0 && strcmp(tier, "soft") != 0) || gnutls_global_init() ? -1 : 0;
}

int main(int argc, char **argv)
{
	static const pb_runner runner = {
		.name = "gnutls",
		.library = "GnuTLS",
		.license = "LGPL-2.1-or-later",
		.version = version,
		.object = (const void *)gnutls_aead_cipher_init,
		.start = start,
		.offers = offers,
		.tables = tables,
	};
	return pb_runner_main(&runner, argc, argv);
}
