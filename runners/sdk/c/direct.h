/* Families for libraries whose functions are called directly on a key schedule or a hash state, with no
 * context object in between: a mode of operation is then two inline functions, and the eight variants follow
 * from them.
 *
 *   static inline int SET(KEYS *, const uint8_t *key, size_t key_len, int inverse);      0, or 1 for an error
 *   static inline void APPLY(const uint8_t *in, uint8_t *out, size_t size, KEYS *, pb_position *,
 *                            int encrypt);
 *
 * SET makes the key schedule, for decryption if `inverse`; APPLY works on the next `size` bytes of a message
 * and moves the position on. Both are inlined into the timed loops with constant `encrypt` and IV length, so
 * that what remains is the library's call and the copying of an IV. A header of its own: most runners do not
 * need it. */
#ifndef PERBYTE_DIRECT_H
#define PERBYTE_DIRECT_H

#include "perbyte.h"

#include <stdlib.h>
#include <string.h>

enum { PB_SHOWN = 16 }; /* bytes of the message by which setup/1 shows the key that it set */

/* Where a mode stands within a message. */
typedef struct pb_position {
	uint8_t iv[32];
	uint8_t stream[16]; /* rest of a key stream block, for libraries that keep it with the caller */
	int used;           /* how much of it is used up */
} pb_position;

/* The first position of a message; iv_len is a constant where it matters. */
static inline void pb_start_message(pb_position *at, const uint8_t *iv, size_t iv_len)
{
	memcpy(at->iv, iv, iv_len);
	at->used = 0;
}

/* Not every cipher has every contract: without a nonce there is no message/1, and some libraries cannot go on
 * within a message. */
#define PB_UNUSED __attribute__((unused))

#define PB_DIRECT_STATE(ID, KEYS, IV, SET)                                                                   \
	struct ID##_state {                                                                                  \
		KEYS keys;                                                                                   \
		pb_position at;                                                                              \
	};                                                                                                   \
	static int ID##_open(pb_case *c)                                                                     \
	{                                                                                                    \
		struct ID##_state *state = c->ctx = calloc(1, sizeof *state);                                \
		if (!state)                                                                                  \
			return pb_fail(c, "out of memory");                                                  \
		if (c->nonce_len != (IV) || SET(&state->keys, c->key[0], c->key_len, c->inverse)) {          \
			free(state);                                                                         \
			c->ctx = NULL;                                                                       \
			return pb_fail(c, "the key or nonce was refused");                                   \
		}                                                                                            \
		pb_start_message(&state->at, c->nonce[0], IV);                                               \
		return 0;                                                                                    \
	}                                                                                                    \
	static void ID##_close(pb_case *c)                                                                   \
	{                                                                                                    \
		free(c->ctx);                                                                                \
		c->ctx = NULL;                                                                               \
	}                                                                                                    \
	PB_UNUSED static void ID##_begin(pb_case *c)                                                         \
	{                                                                                                    \
		pb_start_message(&((struct ID##_state *)c->ctx)->at, c->nonce[0], IV);                       \
	}

#define PB_DIRECT_LOOPS(ID, WAY, ENCRYPT, KEYS, IV, SET, APPLY)                                              \
	PB_UNUSED static void ID##_##WAY##_stream(pb_case *c, uint64_t n)                                    \
	{                                                                                                    \
		struct ID##_state *state = c->ctx;                                                           \
		KEYS *keys = &state->keys;                                                                   \
		pb_position *at = &state->at;                                                                \
		const uint8_t *in = c->in;                                                                   \
		uint8_t *out = c->out;                                                                       \
		size_t size = c->size;                                                                       \
		PB_REPEAT(n, turn, APPLY(in, out, size, keys, at, ENCRYPT));                                 \
	}                                                                                                    \
	PB_UNUSED static void ID##_##WAY##_message(pb_case *c, uint64_t n)                                   \
	{                                                                                                    \
		KEYS *keys = &((struct ID##_state *)c->ctx)->keys;                                           \
		const uint8_t *in = c->in, *const *nonce = c->nonce;                                         \
		uint8_t *out = c->out;                                                                       \
		size_t size = c->size;                                                                       \
		pb_position at;                                                                              \
		PB_REPEAT(n, turn, {                                                                         \
			pb_start_message(&at, PB_TURN(nonce, turn), IV);                                     \
			APPLY(in, out, size, keys, &at, ENCRYPT);                                            \
		});                                                                                          \
	}                                                                                                    \
	static void ID##_##WAY##_rekey(pb_case *c, uint64_t n)                                               \
	{                                                                                                    \
		KEYS *keys = &((struct ID##_state *)c->ctx)->keys;                                           \
		const uint8_t *in = c->in, *const *nonce = c->nonce, *const *key = c->key;                   \
		uint8_t *out = c->out;                                                                       \
		size_t size = c->size, key_len = c->key_len;                                                 \
		uint64_t bad = 0;                                                                            \
		pb_position at;                                                                              \
		PB_REPEAT(n, turn, {                                                                         \
			bad += (uint64_t)SET(keys, PB_TURN(key, turn), key_len, !(ENCRYPT));                 \
			pb_start_message(&at, PB_TURN(nonce, turn), IV);                                     \
			APPLY(in, out, size, keys, &at, ENCRYPT);                                            \
		});                                                                                          \
		c->failures += bad;                                                                          \
	}                                                                                                    \
	static void ID##_##WAY##_setup(pb_case *c, uint64_t n)                                               \
	{                                                                                                    \
		KEYS *keys = &((struct ID##_state *)c->ctx)->keys;                                           \
		const uint8_t *const *key = c->key;                                                          \
		size_t key_len = c->key_len;                                                                 \
		uint64_t bad = 0;                                                                            \
		PB_REPEAT(n, turn, bad += (uint64_t)SET(keys, PB_TURN(key, turn), key_len, !(ENCRYPT)));     \
		c->failures += bad;                                                                          \
	}                                                                                                    \
	static void ID##_##WAY##_shown(pb_case *c)                                                           \
	{                                                                                                    \
		struct ID##_state *state = c->ctx;                                                           \
		c->out_len = c->size < PB_SHOWN ? c->size : PB_SHOWN;                                        \
		pb_start_message(&state->at, c->nonce[0], IV);                                               \
		APPLY(c->in, c->out, c->out_len, &state->keys, &state->at, ENCRYPT);                         \
	}

/* A variant; the texts say what the contract calls. */
#define PB_DIRECT_STREAM(ID, WAY, BEGIN, CALLS)                                                              \
	{                                                                                                    \
#WAY, "stream/1", CALLS, BEGIN, ID##_##WAY##_stream, NULL                                    \
	}
#define PB_DIRECT_MESSAGE(ID, WAY, CALLS)                                                                    \
	{                                                                                                    \
#WAY, "message/1", CALLS, NULL, ID##_##WAY##_message, NULL                                   \
	}
#define PB_DIRECT_REKEY(ID, WAY, CALLS)                                                                      \
	{                                                                                                    \
#WAY, "rekey/1", CALLS, NULL, ID##_##WAY##_rekey, NULL                                       \
	}
#define PB_DIRECT_SETUP(ID, WAY, CALLS)                                                                      \
	{                                                                                                    \
#WAY, "setup/1", CALLS, NULL, ID##_##WAY##_setup, ID##_##WAY##_shown                         \
	}

#define PB_DIRECT_WAY(ID, WAY, SETS, APPLIES)                                                                \
	PB_DIRECT_STREAM(ID, WAY, ID##_begin, APPLIES), PB_DIRECT_MESSAGE(ID, WAY, APPLIES),                 \
		PB_DIRECT_REKEY(ID, WAY, SETS ", " APPLIES), PB_DIRECT_SETUP(ID, WAY, SETS)

/* A family for one cipher in one mode, `ID_family`. The four texts name the library's functions. */
#define PB_DIRECT_CIPHER(ID, KEYS, IV, SET, APPLY, SETS, APPLIES, INVERSE_SETS, INVERSE_APPLIES)             \
	PB_DIRECT_STATE(ID, KEYS, IV, SET)                                                                   \
	PB_DIRECT_LOOPS(ID, encrypt, 1, KEYS, IV, SET, APPLY)                                                \
	PB_DIRECT_LOOPS(ID, decrypt, 0, KEYS, IV, SET, APPLY)                                                \
	static const pb_variant ID##_variants[] = {                                                          \
		PB_DIRECT_WAY(ID, encrypt, SETS, APPLIES),                                                   \
		PB_DIRECT_WAY(ID, decrypt, INVERSE_SETS, INVERSE_APPLIES),                                   \
		PB_END_OF_VARIANTS,                                                                          \
	};                                                                                                   \
	static const pb_family ID##_family = {ID##_open, ID##_close, ID##_variants};

/* A family for one hash. INIT(STATE *), UPDATE(STATE *, in, size), FINISH(out, STATE *, length): expressions;
 * AGAIN(STATE *) starts the next message after FINISH, and is empty where FINISH has done that already. */
#define PB_DIRECT_HASH(ID, STATE, INIT, AGAIN, UPDATE, FINISH, ONESHOT_CALLS, STREAM_CALLS)                  \
	static int ID##_open(pb_case *c)                                                                     \
	{                                                                                                    \
		c->ctx = malloc(sizeof(STATE));                                                              \
		c->out_len = c->row->output;                                                                 \
		if (!c->ctx)                                                                                 \
			return pb_fail(c, "out of memory");                                                  \
		INIT((STATE *)c->ctx);                                                                       \
		return 0;                                                                                    \
	}                                                                                                    \
	static void ID##_close(pb_case *c)                                                                   \
	{                                                                                                    \
		free(c->ctx);                                                                                \
		c->ctx = NULL;                                                                               \
	}                                                                                                    \
	static void ID##_begin(pb_case *c)                                                                   \
	{                                                                                                    \
		INIT((STATE *)c->ctx);                                                                       \
	}                                                                                                    \
	static void ID##_show(pb_case *c)                                                                    \
	{                                                                                                    \
		FINISH(c->out, (STATE *)c->ctx, c->row->output);                                             \
	}                                                                                                    \
	static void ID##_oneshot(pb_case *c, uint64_t n)                                                     \
	{                                                                                                    \
		STATE *state = c->ctx;                                                                       \
		const uint8_t *in = c->in;                                                                   \
		uint8_t *out = c->out;                                                                       \
		size_t size = c->size, length = c->row->output;                                              \
		(void)length;                                                                                \
		PB_REPEAT(n, turn, {                                                                         \
			AGAIN(state);                                                                        \
			UPDATE(state, in, size);                                                             \
			FINISH(out, state, length);                                                          \
		});                                                                                          \
	}                                                                                                    \
	static void ID##_stream(pb_case *c, uint64_t n)                                                      \
	{                                                                                                    \
		STATE *state = c->ctx;                                                                       \
		const uint8_t *in = c->in;                                                                   \
		size_t size = c->size;                                                                       \
		PB_REPEAT(n, turn, UPDATE(state, in, size));                                                 \
	}                                                                                                    \
	static const pb_variant ID##_variants[] = {                                                          \
		{"digest", "oneshot/1", ONESHOT_CALLS, NULL, ID##_oneshot, NULL},                            \
		{"digest", "stream/1", STREAM_CALLS, ID##_begin, ID##_stream, ID##_show},                    \
		PB_END_OF_VARIANTS,                                                                          \
	};                                                                                                   \
	static const pb_family ID##_family = {ID##_open, ID##_close, ID##_variants};

/* Random bytes: a table of one row, made of one call of the library. ERROR is an expression as in PB_LOOP. */
#define PB_DIRECT_RANDOM(NAME, ID, CALLS, ERROR)                                                             \
	PB_LOOP(NAME##_draw, void, ERROR)                                                                    \
	static int NAME##_open(pb_case *c)                                                                   \
	{                                                                                                    \
		return c->given ? pb_fail(c, "nobody knows what is drawn") + PB_UNFIT : 0;                   \
	}                                                                                                    \
	static void NAME##_close(pb_case *c)                                                                 \
	{                                                                                                    \
		(void)c;                                                                                     \
	}                                                                                                    \
	static const pb_variant NAME##_variants[] = {{"draw", "random/1", CALLS, NULL, NAME##_draw, NULL},   \
						     PB_END_OF_VARIANTS};                                    \
	static const pb_family NAME##_family = {NAME##_open, NAME##_close, NAME##_variants};                 \
	const pb_row NAME##_rows[] = {{ID, &NAME##_family, NULL, 0, 0, 1, 0}, PB_END_OF_ROWS}

#endif
