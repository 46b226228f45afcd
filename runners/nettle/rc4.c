/* RC4 (arcfour). It has no nonce: what begins a message is the key, so there is no message/1. */
#include "tables.h"

#include <nettle/arcfour.h>

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

const pb_row rc4_rows[] = {{"rc4", &rc4_family, NULL, 16, 0, 1, 0}, PB_END_OF_ROWS};
