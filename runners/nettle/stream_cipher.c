/* RC4 and ChaCha20. RC4 (arcfour) has no nonce: what begins a message is the key, so there is no message/1.
 * Nettle's ChaCha drops what is left of a key stream block at the end of a call, so there is no stream/1 of
 * any size. */
#include "tables.h"

#include <nettle/arcfour.h>
#include <nettle/chacha.h>

SET(rc4_set, struct arcfour_ctx)
{
	(void)inverse;
	arcfour_set_key(keys, key_len, key);
	return 0;
}

APPLY(rc4, struct arcfour_ctx)
{
	(void)at;
	(void)encrypt;
	arcfour_crypt(keys, size, out, in);
}

PB_DIRECT_STATE(rc4, struct arcfour_ctx, 0, rc4_set)
PB_DIRECT_LOOPS(rc4, encrypt, 1, struct arcfour_ctx, 0, rc4_set, rc4)
PB_DIRECT_LOOPS(rc4, decrypt, 0, struct arcfour_ctx, 0, rc4_set, rc4)

static void rc4_restart(pb_case *c)
{
	arcfour_set_key(&((struct rc4_state *)c->ctx)->keys, c->key_len, c->key[0]);
}

static const pb_variant rc4_variants[] = {
	PB_DIRECT_STREAM(rc4, encrypt, rc4_restart, "arcfour_crypt"),
	PB_DIRECT_REKEY(rc4, encrypt, "arcfour_set_key, arcfour_crypt"),
	PB_DIRECT_SETUP(rc4, encrypt, "arcfour_set_key"),
	PB_DIRECT_STREAM(rc4, decrypt, rc4_restart, "arcfour_crypt"),
	PB_DIRECT_REKEY(rc4, decrypt, "arcfour_set_key, arcfour_crypt"),
	PB_DIRECT_SETUP(rc4, decrypt, "arcfour_set_key"),
	PB_END_OF_VARIANTS,
};

static const pb_family rc4_family = {rc4_open, rc4_close, rc4_variants};

SET(chacha_set, struct chacha_ctx)
{
	(void)inverse;
	chacha_set_key(keys, key);
	return key_len != CHACHA_KEY_SIZE;
}

APPLY(chacha, struct chacha_ctx)
{
	(void)encrypt;
	chacha_set_nonce96(keys, at->iv);
	chacha_crypt32(keys, size, out, in);
}

PB_DIRECT_STATE(chacha, struct chacha_ctx, CHACHA_NONCE96_SIZE, chacha_set)
PB_DIRECT_LOOPS(chacha, encrypt, 1, struct chacha_ctx, CHACHA_NONCE96_SIZE, chacha_set, chacha)
PB_DIRECT_LOOPS(chacha, decrypt, 0, struct chacha_ctx, CHACHA_NONCE96_SIZE, chacha_set, chacha)

#define CHACHA_VARIANTS(WAY)                                                                                 \
	PB_DIRECT_MESSAGE(chacha, WAY, "chacha_set_nonce96, chacha_crypt32"),                                \
		PB_DIRECT_REKEY(chacha, WAY, "chacha_set_key, chacha_set_nonce96, chacha_crypt32"),          \
		PB_DIRECT_SETUP(chacha, WAY, "chacha_set_key")

static const pb_variant chacha_variants[] = {
	CHACHA_VARIANTS(encrypt),
	CHACHA_VARIANTS(decrypt),
	PB_END_OF_VARIANTS,
};

static const pb_family chacha_family = {chacha_open, chacha_close, chacha_variants};

const pb_row stream_cipher_rows[] = {
	{"rc4", &rc4_family, NULL, 16, 0, 1, 0},
	{"chacha20", &chacha_family, NULL, 32, 12, 1, 0},
	PB_END_OF_ROWS,
};
