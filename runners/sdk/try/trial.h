/* What surrounds the calls of a user's functions in the table that `perbyte try` writes. Before it the table defines:
 *
 *   TRIAL_BLOCK, TRIAL_CIPHERTEXT   bytes of the algorithm's block (1 without) and of a KEM's ciphertext
 *   TRIAL_ROOM                      bytes of the largest key of a pair
 *   TRIAL_GIVES_BACK                the function that frees the state that a function of the user's returns
 *   TRIAL_TAKES_OUT                 the function that frees the output that one returns
 *   TRIAL_KEYPAIR                   the call that makes a key pair
 *   TRIAL_SEEDED                    where a key pair that is another one each time is refused
 *   TRIAL_BASE                      where a public key is made by a function of its own
 *
 * Behind it the table has `trial_prepare`, which is called once the state is there, the loops, `trial_variants`, and
 * trial_main.h. All functions and variables begin with trial_, so that a user's function may have another name. */
#include "perbyte.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCK = TRIAL_BLOCK, CIPHERTEXT = TRIAL_CIPHERTEXT };

struct trial_state {
	_Alignas(64) uint8_t context[1 << 16];
	_Alignas(64) uint8_t public_key[TRIAL_ROOM];
	_Alignas(64) uint8_t secret_key[TRIAL_ROOM];
	uint64_t length;
	void *made;
	int answer, accepted;
};

static int trial_accepted;
__attribute__((unused)) static int trial_learnt;
/* Learns the answer for genuine input: the process signs or seals for itself before, where it can. FORWARD makes what
   GIVEN accepts; MESSAGE is copied first where FORWARD does not write it, so that both lie one behind the other. */
#define TRIAL_LEARN(ABLE, MESSAGE, BEHIND, FORWARD, GIVEN)                                                   \
	if (c->inverse && !trial_learnt && (ABLE)) {                                                         \
		size_t apart = (c->size + c->row->output + 64) / 64 * 64; /* both begin where buffers lie */ \
		uint8_t *own = aligned_alloc(64, 2 * apart), *out = c->out;                                  \
		const uint8_t *in = c->in;                                                                   \
		if (own) {                                                                                   \
			memset(own, 0, 2 * apart);                                                           \
			MESSAGE;                                                                             \
			c->in = own + apart;                                                                 \
			c->out = own + (BEHIND);                                                             \
			FORWARD;                                                                             \
			c->in = own;                                                                         \
			c->out = out;                                                                        \
			trial_accepted = GIVEN;                                                              \
			trial_learnt = 1;                                                                    \
			c->in = in;                                                                          \
			free(own);                                                                           \
		}                                                                                            \
	}
#define TRIAL_LEARN_SIGNED(FORWARD, GIVEN)                                                                   \
	TRIAL_LEARN(c->message[0], memcpy(own, c->message[0], c->size), c->size, FORWARD, GIVEN)
#define TRIAL_LEARN_SEALED(FORWARD, GIVEN) TRIAL_LEARN(1, , 0, FORWARD, GIVEN)
static int trial_prepare(pb_case *c, struct trial_state *state);

#ifdef TRIAL_GIVES_BACK
static void trial_give_back(struct trial_state *state)
{
	if (state->made)
		TRIAL_GIVES_BACK(state->made);
	state->made = NULL;
}
#endif

#ifdef TRIAL_TAKES_OUT
static void trial_take_out(void *out, const void *made, size_t bytes)
{
	if (made)
		memcpy(out, made, bytes);
	TRIAL_TAKES_OUT((void *)made);
}
#endif

/* A checksum or MAC that is returned as a number of so many bytes, the highest first or last. */
__attribute__((unused)) static void trial_put_number(uint8_t *out, uint64_t number, unsigned bytes,
						     int highest_first)
{
	for (unsigned i = 0; i < bytes; i++)
		out[i] = (uint8_t)(number >> 8 * (highest_first ? bytes - 1 - i : i));
}

static void trial_close(pb_case *c)
{
#ifdef TRIAL_GIVES_BACK
	trial_give_back(c->ctx);
#endif
	free(c->ctx);
	c->ctx = NULL;
}

static int trial_open(pb_case *c)
{
	struct trial_state *state = c->ctx = aligned_alloc(64, sizeof *state);
	if (!state)
		return pb_fail(c, "out of memory");
	memset(state, 0, sizeof *state);
	return trial_prepare(c, state);
}

#if defined TRIAL_KEYPAIR || defined TRIAL_BASE
/* Undefined under Valgrind where `--leak=taint` looks. */
uint8_t *pb_trial_secret(const pb_case *c, size_t *length)
{
	struct trial_state *state = c->ctx;
	*length = sizeof state->secret_key;
	return state->secret_key;
}
#endif

/* Key pairs come from the run's seed in place of random bytes. Libraries draw by functions of a few well-known names:
 * those are provided here for the files of the user, hidden from shared libraries and weak, so that a function of the
 * user's own comes first. What is drawn in a timed call costs next to nothing (SplitMix64). */
static const uint8_t *trial_given;
static size_t trial_given_left;

__attribute__((unused)) static void trial_given_random(const uint8_t *bytes, size_t length)
{
	trial_given = bytes;
	trial_given_left = length;
}

static void trial_draw(uint8_t *out, size_t length)
{
	static uint64_t state = 1;
	for (; length && trial_given_left; length--, trial_given_left--)
		*out++ = *trial_given++;
	while (length) {
		uint64_t z = state += 0x9e3779b97f4a7c15;
		size_t part = length < 8 ? length : 8;
		z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
		z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
		z ^= z >> 31;
		memcpy(out, &z, part);
		out += part;
		length -= part;
	}
}

#define TRIAL_DRAWS __attribute__((weak, visibility("hidden")))
__attribute__((weak)) int randombytes(uint8_t *out, unsigned long long length)
{
	return trial_draw(out, (size_t)length), 0;
}
TRIAL_DRAWS void randombytes_buf(void *out, size_t length)
{
	trial_draw(out, length);
}
TRIAL_DRAWS long getrandom(void *out, size_t length, unsigned flags)
{
	return trial_draw(out, length), (void)flags, (long)length;
}
TRIAL_DRAWS int getentropy(void *out, size_t length)
{
	return trial_draw(out, length), 0;
}
TRIAL_DRAWS void arc4random_buf(void *out, size_t length)
{
	trial_draw(out, length);
}
TRIAL_DRAWS int RAND_bytes(unsigned char *out, int length)
{
	return trial_draw(out, (size_t)length), 1;
}

#ifdef TRIAL_KEYPAIR
static void trial_make_pair(pb_case *c, struct trial_state *state)
{
	trial_given_random(c->key[0], c->key_len);
	memcpy(state->context, c->key[0], c->key_len);    /* the seed, which a function may wipe */
	memcpy(state->secret_key, c->key[0], c->key_len); /* some only make the public key of it */
	TRIAL_KEYPAIR;
	trial_given_random(NULL, 0);
}

/* Make a key pair. Not zero, with the reason told, where the same seed then gives another one. */
static int trial_pair(pb_case *c, struct trial_state *state)
{
	trial_make_pair(c, state);
#ifdef TRIAL_SEEDED
	uint8_t *first = malloc(sizeof state->public_key);
	int differs = 0;
	if (first) {
		memcpy(first, state->public_key, sizeof state->public_key);
		trial_make_pair(c, state);
		differs = memcmp(first, state->public_key, sizeof state->public_key) != 0;
		free(first);
	}
	if (differs) {
		trial_close(c);
		return pb_fail(
			c, "another key pair each time: let keypair draw by randombytes, randombytes_buf, "
			   "getrandom, getentropy, arc4random_buf or RAND_bytes, or take a seed "
			   "(--signature keypair=public-key,secret-key,seed)");
	}
#endif
	return 0;
}
#endif
