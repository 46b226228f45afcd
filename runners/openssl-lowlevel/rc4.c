/* RC4. It has no nonce: what begins a message is the key, so there is no message/1. */
#include "tables.h"

#include <openssl/rc4.h>

static inline int rc4_set(RC4_KEY *keys, const uint8_t *key, size_t key_len, int inverse)
{
	(void)inverse;
	RC4_set_key(keys, (int)key_len, key);
	return 0;
}

static inline void rc4(const uint8_t *in, uint8_t *out, size_t size, RC4_KEY *keys, pb_position *at,
		       int encrypt)
{
	(void)at;
	(void)encrypt;
	RC4(keys, size, in, out);
}

PB_DIRECT_STATE(rc4, RC4_KEY, 0, rc4_set)
PB_DIRECT_LOOPS(rc4, encrypt, 1, RC4_KEY, 0, rc4_set, rc4)
PB_DIRECT_LOOPS(rc4, decrypt, 0, RC4_KEY, 0, rc4_set, rc4)

static void rc4_restart(pb_case *c)
{
	RC4_set_key(&((struct rc4_state *)c->ctx)->keys, (int)c->key_len, c->key[0]);
}

static const pb_variant rc4_variants[] = {
	PB_DIRECT_STREAM(rc4, encrypt, rc4_restart, "RC4"),
	PB_DIRECT_REKEY(rc4, encrypt, "RC4_set_key, RC4"),
	PB_DIRECT_SETUP(rc4, encrypt, "RC4_set_key"),
	PB_DIRECT_STREAM(rc4, decrypt, rc4_restart, "RC4"),
	PB_DIRECT_REKEY(rc4, decrypt, "RC4_set_key, RC4"),
	PB_DIRECT_SETUP(rc4, decrypt, "RC4_set_key"),
	PB_END_OF_VARIANTS,
};

static const pb_family rc4_family = {rc4_open, rc4_close, rc4_variants};

const pb_row rc4_rows[] = {{"rc4", &rc4_family, NULL, 16, 0, 1, 0}, PB_END_OF_ROWS};
