/* Mbed TLS 2.28 or 3 by its low-level interface. */
#include "public.h"

#include <mbedtls/version.h>
#if MBEDTLS_VERSION_MAJOR >= 3
#define MBEDTLS_ALLOW_PRIVATE_ACCESS
#endif
#include <mbedtls/aes.h>
#include <mbedtls/ccm.h>
#include <mbedtls/chachapoly.h>
#include <mbedtls/cipher.h>
#include <mbedtls/gcm.h>
#include <mbedtls/hkdf.h>
#include <mbedtls/md.h>
#include <mbedtls/pkcs5.h>

#include <stdlib.h>
#include <string.h>

struct state {
	mbedtls_gcm_context gcm;
	mbedtls_ccm_context ccm;
	mbedtls_chachapoly_context chacha;
	mbedtls_aes_context aes, tweak;
	mbedtls_aes_xts_context xts;
	mbedtls_md_context_t md;
	const mbedtls_md_info_t *hash;
	size_t offset;
	uint8_t counter[16], stream[16];
};

static struct state *new_state(pb_case *c)
{
	struct state *s = c->ctx = calloc(1, sizeof *s);
	if (!s) {
		pb_fail(c, "out of memory");
		return NULL;
	}
	mbedtls_gcm_init(&s->gcm);
	mbedtls_ccm_init(&s->ccm);
	mbedtls_chachapoly_init(&s->chacha);
	mbedtls_aes_init(&s->aes);
	mbedtls_aes_xts_init(&s->xts);
	mbedtls_md_init(&s->md);
	return s;
}

static void close_state(pb_case *c)
{
	struct state *s = c->ctx;
	if (!s)
		return;
	mbedtls_gcm_free(&s->gcm);
	mbedtls_ccm_free(&s->ccm);
	mbedtls_chachapoly_free(&s->chacha);
	mbedtls_aes_free(&s->aes);
	mbedtls_aes_xts_free(&s->xts);
	mbedtls_md_free(&s->md);
	free(s);
	c->ctx = NULL;
}

static int opened(pb_case *c, int failed, const char *what)
{
	if (!failed)
		return 0;
	close_state(c);
	return pb_fail(c, "%s", what);
}

/* ---- AEADs ---- */

#define AEAD(ID, SET, SEAL, OPEN, SETS, SEALS, OPENS)                                                        \
	static int ID##_set(struct state *state, const uint8_t *key, size_t key_len)                         \
	{                                                                                                    \
		(void)key_len;                                                                               \
		return SET;                                                                                  \
	}                                                                                                    \
	static int ID##_open(pb_case *c)                                                                     \
	{                                                                                                    \
		struct state *s = new_state(c);                                                              \
		c->out_len = c->inverse ? c->size : c->size + c->row->output;                                \
		return opened(c, !s || ID##_set(s, c->key[0], c->key_len), SETS);                            \
	}                                                                                                    \
	static void ID##_begin(pb_case *c)                                                                   \
	{                                                                                                    \
		c->failures += ID##_set(c->ctx, c->key[0], c->key_len) != 0;                                 \
	}                                                                                                    \
	PB_LOOP(ID##_seal, struct state, SEAL)                                                               \
	PB_LOOP(ID##_open_one, struct state, OPEN)                                                           \
	PB_LOOP(ID##_rekey, struct state, ID##_set(state, PB_TURN(key, turn), key_len) || SEAL)              \
	PB_LOOP(ID##_open_rekey, struct state, ID##_set(state, key[0], key_len) || OPEN)                     \
	static const pb_variant ID##_variants[] = {                                                          \
		{"seal", "message/1", SEALS, ID##_begin, ID##_seal, NULL},                                   \
		{"open", "message/1", OPENS, ID##_begin, ID##_open_one, NULL},                               \
		{"seal", "rekey/1", SETS ", " SEALS, NULL, ID##_rekey, NULL},                                \
		{"open", "rekey/1", SETS ", " OPENS, NULL, ID##_open_rekey, NULL},                           \
		PB_END_OF_VARIANTS,                                                                          \
	};                                                                                                   \
	static const pb_family ID##_family = {ID##_open, close_state, ID##_variants};

#define GCM(ID, CIPHER)                                                                                      \
	AEAD(ID, mbedtls_gcm_setkey(&state->gcm, CIPHER, key, (unsigned)key_len * 8),                        \
	     mbedtls_gcm_crypt_and_tag(&state->gcm, MBEDTLS_GCM_ENCRYPT, size, PB_TURN(nonce, turn),         \
				       nonce_len, aad, aad_len, in, out, out_max, out + size),               \
	     mbedtls_gcm_auth_decrypt(&state->gcm, size, nonce[0], nonce_len, aad, aad_len, in + size,       \
				      out_max, in, out),                                                     \
	     "mbedtls_gcm_setkey", "mbedtls_gcm_crypt_and_tag", "mbedtls_gcm_auth_decrypt")
GCM(gcm, MBEDTLS_CIPHER_ID_AES)
GCM(camellia, MBEDTLS_CIPHER_ID_CAMELLIA)
AEAD(ccm, mbedtls_ccm_setkey(&state->ccm, MBEDTLS_CIPHER_ID_AES, key, (unsigned)key_len * 8),
     mbedtls_ccm_encrypt_and_tag(&state->ccm, size, PB_TURN(nonce, turn), nonce_len, aad, aad_len, in, out,
				 out + size, out_max),
     mbedtls_ccm_auth_decrypt(&state->ccm, size, nonce[0], nonce_len, aad, aad_len, in, out, in + size,
			      out_max),
     "mbedtls_ccm_setkey", "mbedtls_ccm_encrypt_and_tag", "mbedtls_ccm_auth_decrypt")
AEAD(chacha, mbedtls_chachapoly_setkey(&state->chacha, key),
     mbedtls_chachapoly_encrypt_and_tag(&state->chacha, size, PB_TURN(nonce, turn), aad, aad_len, in, out,
					out + size),
     mbedtls_chachapoly_auth_decrypt(&state->chacha, size, nonce[0], aad, aad_len, in + size, in, out),
     "mbedtls_chachapoly_setkey", "mbedtls_chachapoly_encrypt_and_tag", "mbedtls_chachapoly_auth_decrypt")

/* ---- AES in CTR and XTS ---- */

static int ctr_open(pb_case *c)
{
	struct state *s = new_state(c);
	return opened(c, !s || mbedtls_aes_setkey_enc(&s->aes, c->key[0], (unsigned)c->key_len * 8),
		      "mbedtls_aes_setkey_enc");
}

static int ctr_start(struct state *s, const uint8_t *nonce)
{
	memcpy(s->counter, nonce, sizeof s->counter);
	s->offset = 0;
	return 0;
}

static void ctr_begin(pb_case *c)
{
	struct state *s = c->ctx;
	c->failures += mbedtls_aes_setkey_enc(&s->aes, c->key[0], (unsigned)c->key_len * 8) != 0;
	ctr_start(s, c->nonce[0]);
}

#define CTR mbedtls_aes_crypt_ctr(&state->aes, size, &state->offset, state->counter, state->stream, in, out)
PB_LOOP(ctr_stream, struct state, CTR)
PB_LOOP(ctr_message, struct state, ctr_start(state, PB_TURN(nonce, turn)) || CTR)
PB_LOOP(ctr_rekey, struct state,
	mbedtls_aes_setkey_enc(&state->aes, PB_TURN(key, turn), (unsigned)key_len * 8) ||
		ctr_start(state, PB_TURN(nonce, turn)) || CTR)
#define CTR_WAY(NAME)                                                                                        \
	{NAME, "stream/1", "mbedtls_aes_crypt_ctr", ctr_begin, ctr_stream, NULL},                            \
		{NAME, "message/1", "mbedtls_aes_crypt_ctr", ctr_begin, ctr_message, NULL},                  \
	{                                                                                                    \
		NAME, "rekey/1", "mbedtls_aes_setkey_enc, mbedtls_aes_crypt_ctr", NULL, ctr_rekey, NULL      \
	}
static const pb_variant ctr_variants[] = {CTR_WAY("encrypt"), CTR_WAY("decrypt"), PB_END_OF_VARIANTS};
static const pb_family ctr_family = {ctr_open, close_state, ctr_variants};

static int xts_open(pb_case *c)
{
	struct state *s = new_state(c);
	unsigned bits = (unsigned)c->key_len * 8;
	return opened(c,
		      !s || (c->inverse ? mbedtls_aes_xts_setkey_dec(&s->xts, c->key[0], bits)
					: mbedtls_aes_xts_setkey_enc(&s->xts, c->key[0], bits)),
		      "mbedtls_aes_xts_setkey_enc");
}

PB_LOOP(xts_encrypt, struct state,
	mbedtls_aes_crypt_xts(&state->xts, MBEDTLS_AES_ENCRYPT, size, PB_TURN(nonce, turn), in, out))
PB_LOOP(xts_decrypt, struct state,
	mbedtls_aes_crypt_xts(&state->xts, MBEDTLS_AES_DECRYPT, size, PB_TURN(nonce, turn), in, out))
static const pb_variant xts_variants[] = {
	{"encrypt", "message/1", "mbedtls_aes_crypt_xts", NULL, xts_encrypt, NULL},
	{"decrypt", "message/1", "mbedtls_aes_crypt_xts", NULL, xts_decrypt, NULL},
	PB_END_OF_VARIANTS,
};
static const pb_family xts_family = {xts_open, close_state, xts_variants};

/* ---- hashes, HMAC, key derivation ---- */

static const mbedtls_md_info_t *md_of(const pb_case *c)
{
	return mbedtls_md_info_from_string(c->row->param);
}

static int md_open(pb_case *c)
{
	struct state *s = new_state(c);
	int keyed = c->key_len > 0;
	c->out_len = c->row->output;
	return opened(c,
		      !s || !(s->hash = md_of(c)) || mbedtls_md_setup(&s->md, s->hash, keyed) ||
			      (keyed && mbedtls_md_hmac_starts(&s->md, c->key[0], c->key_len)),
		      "mbedtls_md_setup");
}

static void md_begin(pb_case *c)
{
	c->failures += mbedtls_md_starts(&((struct state *)c->ctx)->md) != 0;
}

static void md_finish(pb_case *c)
{
	c->failures += mbedtls_md_finish(&((struct state *)c->ctx)->md, c->out) != 0;
}

static void hmac_begin(pb_case *c)
{
	c->failures += mbedtls_md_hmac_starts(&((struct state *)c->ctx)->md, c->key[0], c->key_len) != 0;
}

PB_LOOP(md_oneshot, struct state,
	mbedtls_md_starts(&state->md) || mbedtls_md_update(&state->md, in, size) ||
		mbedtls_md_finish(&state->md, out))
PB_LOOP(md_stream, struct state, mbedtls_md_update(&state->md, in, size))
PB_LOOP(hmac_message, struct state,
	mbedtls_md_hmac_reset(&state->md) || mbedtls_md_hmac_update(&state->md, in, size) ||
		mbedtls_md_hmac_finish(&state->md, out))
PB_LOOP(hmac_rekey, struct state,
	mbedtls_md_hmac_starts(&state->md, PB_TURN(key, turn), key_len) ||
		mbedtls_md_hmac_update(&state->md, in, size) || mbedtls_md_hmac_finish(&state->md, out))
static const pb_variant md_variants[] = {
	{"digest", "oneshot/1", "mbedtls_md_starts, mbedtls_md_update, mbedtls_md_finish", NULL, md_oneshot,
	 NULL},
	{"digest", "stream/1", "mbedtls_md_update", md_begin, md_stream, md_finish},
	PB_END_OF_VARIANTS,
};
static const pb_variant hmac_variants[] = {
	{"mac", "message/1", "mbedtls_md_hmac_reset, mbedtls_md_hmac_update, mbedtls_md_hmac_finish",
	 hmac_begin, hmac_message, NULL},
	{"mac", "rekey/1", "mbedtls_md_hmac_starts, mbedtls_md_hmac_update, mbedtls_md_hmac_finish", NULL,
	 hmac_rekey, NULL},
	PB_END_OF_VARIANTS,
};
static const pb_family md_family = {md_open, close_state, md_variants};
static const pb_family hmac_family = {md_open, close_state, hmac_variants};

static int hkdf_open(pb_case *c)
{
	struct state *s = new_state(c);
	return opened(c, !s || !(s->hash = md_of(c)), "mbedtls_md_info_from_string");
}

PB_LOOP(expand, struct state,
	mbedtls_hkdf(state->hash, PB_TURN(nonce, turn), nonce_len, key[0], key_len, aad, aad_len, out, size))
static const pb_variant hkdf_variants[] = {
	{"expand", "expand/1", "mbedtls_hkdf", NULL, expand, NULL},
	PB_END_OF_VARIANTS,
};
static const pb_family hkdf_family = {hkdf_open, close_state, hkdf_variants};

static const pb_row rows[] = {
	{"aes-128-gcm", &gcm_family, NULL, 16, 12, 1, 16},
	{"aes-192-gcm", &gcm_family, NULL, 24, 12, 1, 16},
	{"aes-256-gcm", &gcm_family, NULL, 32, 12, 1, 16},
	{"aes-128-ccm", &ccm_family, NULL, 16, 12, 1, 16},
	{"aes-256-ccm", &ccm_family, NULL, 32, 12, 1, 16},
	{"camellia-128-gcm", &camellia_family, NULL, 16, 12, 1, 16},
	{"camellia-256-gcm", &camellia_family, NULL, 32, 12, 1, 16},
	{"chacha20-poly1305", &chacha_family, NULL, 32, 12, 1, 16},
	{"aes-128-ctr", &ctr_family, NULL, 16, 16, 1, 0},
	{"aes-192-ctr", &ctr_family, NULL, 24, 16, 1, 0},
	{"aes-256-ctr", &ctr_family, NULL, 32, 16, 1, 0},
	{"aes-128-xts", &xts_family, NULL, 32, 16, 16, 0},
	{"aes-256-xts", &xts_family, NULL, 64, 16, 16, 0},
	{"md5", &md_family, "MD5", 0, 0, 1, 16},
	{"sha-1", &md_family, "SHA1", 0, 0, 1, 20},
	{"sha-224", &md_family, "SHA224", 0, 0, 1, 28},
	{"sha-256", &md_family, "SHA256", 0, 0, 1, 32},
	{"sha-384", &md_family, "SHA384", 0, 0, 1, 48},
	{"sha-512", &md_family, "SHA512", 0, 0, 1, 64},
	{"hmac-sha-1", &hmac_family, "SHA1", 20, 0, 1, 20},
	{"hmac-sha-256", &hmac_family, "SHA256", 32, 0, 1, 32},
	{"hmac-sha-384", &hmac_family, "SHA384", 48, 0, 1, 48},
	{"hmac-sha-512", &hmac_family, "SHA512", 64, 0, 1, 64},
	{"hkdf-sha-256", &hkdf_family, "SHA256", 32, 32, 1, 0},
	{"hkdf-sha-512", &hkdf_family, "SHA512", 32, 32, 1, 0},
	PB_END_OF_ROWS,
};
static const pb_row *const tables[] = {rows, public_key_rows, tls_rows, NULL};

static int offers(const pb_row *row)
{
	return !pb_is_tls(row) || tls_there(row);
}

static const char *version(void)
{
	static char text[24];
	mbedtls_version_get_string(text);
	return text;
}

/* A runner of another build of Mbed TLS is made of these same files under a name of its own. */
#ifndef RUNNER_NAME
#define RUNNER_NAME "mbedtls"
#endif

static const pb_runner runner = {
	.name = RUNNER_NAME,
	.library = "Mbed TLS",
	.license = "Apache-2.0 OR GPL-2.0-or-later",
	.version = version,
	.object = (const void *)mbedtls_gcm_setkey,
	.offers = offers,
	.tables = tables,
};

int main(int argc, char **argv)
{
	return pb_runner_main(&runner, argc, argv);
}
