/* Hashes and SHAKE: the one-shot functions, and the streams below them. */
#include "families.h"

#include <sodium.h>

#include <stdlib.h>

union state {
	crypto_hash_sha256_state sha256;
	crypto_hash_sha512_state sha512;
	crypto_hash_sha3256_state sha3256;
	crypto_hash_sha3512_state sha3512;
	crypto_generichash_blake2b_state blake2b;
	crypto_xof_shake128_state shake128;
	crypto_xof_shake256_state shake256;
};

static int hash_open(pb_case *c)
{
	c->out_len = c->row->output;
	c->ctx = aligned_alloc(64, (sizeof(union state) + 63) & ~(size_t)63);
	return c->ctx ? 0 : pb_fail(c, "out of memory");
}

static void hash_close(pb_case *c)
{
	free(c->ctx);
	c->ctx = NULL;
}

/* WHOLE(out, in, size), INIT(state), UPDATE(state, in, size), FINAL(state, out): 0 where all went well. */
#define HASH(ID, WHOLE, INIT, UPDATE, FINAL, CALLS, UPDATES)                                                 \
	static void ID##_begin(pb_case *c)                                                                   \
	{                                                                                                    \
		union state *state = c->ctx;                                                                 \
		c->failures += INIT != 0;                                                                    \
	}                                                                                                    \
	static void ID##_finish(pb_case *c)                                                                  \
	{                                                                                                    \
		union state *state = c->ctx;                                                                 \
		uint8_t *out = c->out;                                                                       \
		size_t out_max = c->row->output;                                                             \
		(void)out_max;                                                                               \
		c->failures += FINAL != 0;                                                                   \
	}                                                                                                    \
	PB_LOOP(ID##_oneshot, void, WHOLE)                                                                   \
	PB_LOOP(ID##_stream, union state, UPDATE)                                                            \
	static const pb_variant ID##_variants[] = {                                                          \
		{"digest", "oneshot/1", CALLS, NULL, ID##_oneshot, NULL},                                    \
		{"digest", "stream/1", UPDATES, ID##_begin, ID##_stream, ID##_finish},                       \
		PB_END_OF_VARIANTS,                                                                          \
	};                                                                                                   \
	static const pb_family ID##_family __attribute__((unused)) = {hash_open, hash_close, ID##_variants};
#define PLAIN(ID, NAME)                                                                                      \
	HASH(ID, NAME(out, in, size), NAME##_init(&state->ID), NAME##_update(&state->ID, in, size),          \
	     NAME##_final(&state->ID, out), #NAME, #NAME "_update")
PLAIN(sha256, crypto_hash_sha256)
PLAIN(sha512, crypto_hash_sha512)
PLAIN(sha3256, crypto_hash_sha3256)
PLAIN(sha3512, crypto_hash_sha3512)
HASH(blake2b, crypto_generichash(out, out_max, in, size, NULL, 0),
     crypto_generichash_init(&state->blake2b, NULL, 0, c->row->output),
     crypto_generichash_update(&state->blake2b, in, size),
     crypto_generichash_final(&state->blake2b, out, out_max), "crypto_generichash",
     "crypto_generichash_update")

#define XOF(ID)                                                                                              \
	HASH(ID, crypto_xof_##ID(out, out_max, in, size), crypto_xof_##ID##_init(&state->ID),                \
	     crypto_xof_##ID##_update(&state->ID, in, size),                                                 \
	     crypto_xof_##ID##_squeeze(&state->ID, out, out_max), "crypto_xof_" #ID,                         \
	     "crypto_xof_" #ID "_update")                                                                    \
	static void ID##_size(pb_case *c)                                                                    \
	{                                                                                                    \
		c->out_len = c->size;                                                                        \
	}                                                                                                    \
	PB_LOOP(ID##_squeeze, void, crypto_xof_##ID(out, size, PB_TURN(nonce, turn), nonce_len))             \
	static const pb_variant ID##_all[] = {                                                               \
		{"digest", "oneshot/1", "crypto_xof_" #ID, NULL, ID##_oneshot, NULL},                        \
		{"digest", "stream/1", "crypto_xof_" #ID "_update", ID##_begin, ID##_stream, ID##_finish},   \
		{"squeeze", "expand/1", "crypto_xof_" #ID, ID##_size, ID##_squeeze, NULL},                   \
		PB_END_OF_VARIANTS,                                                                          \
	};                                                                                                   \
	static const pb_family ID##_xof = {hash_open, hash_close, ID##_all};
XOF(shake128)
XOF(shake256)

const pb_row hash_rows[] = {
	ROW("sha-256", sha256_family, 0, 0, 32),
	ROW("sha-512", sha512_family, 0, 0, 64),
	ROW("sha3-256", sha3256_family, 0, 0, 32),
	ROW("sha3-512", sha3512_family, 0, 0, 64),
	ROW("blake2b-512", blake2b_family, 0, 0, 64),
	ROW("blake2b-256", blake2b_family, 0, 0, 32),
	ROW("shake128", shake128_xof, 0, 32, 32),
	ROW("shake256", shake256_xof, 0, 32, 64),
	PB_END_OF_ROWS,
};
