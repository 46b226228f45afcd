#include "stateful.h"

#include <oqs/oqs.h>

#include <stdlib.h>
#include <string.h>

/* `public` is what a public key begins with where the key of a row may be one (LMS), and else NULL. */
struct scheme {
	const char *name;
	const char *public;
	size_t seeds;
};

enum { TYPES = 12, PUBLIC = 68, KEY = 96, KEPT = 4 };

/* A pair takes up to seconds to make, so a process keeps those it has made. Its leaves are spent in turn. */
struct pair {
	const struct scheme *of;
	uint8_t key[KEY], public[PUBLIC];
	OQS_SIG_STFL_SECRET_KEY *secret;
};

static struct pair kept[KEPT];
static unsigned next_place;

struct state {
	OQS_SIG_STFL *sig;
	struct pair *pair;
	uint8_t public[PUBLIC];
	size_t length;
};

static void close_state(pb_case *c)
{
	struct state *state = c->ctx;
	if (!state)
		return;
	OQS_SIG_STFL_free(state->sig);
	free(state);
	c->ctx = NULL;
}

/* Nothing is stored: the key signs the run's own data alone, and dies with the process. */
static OQS_STATUS no_store(uint8_t *key, size_t length, void *context)
{
	(void)key, (void)length, (void)context;
	return OQS_SUCCESS;
}

static struct pair *pair_of(const pb_case *c, OQS_SIG_STFL *sig, const struct scheme *scheme)
{
	for (struct pair *known = kept; known < kept + KEPT; known++)
		if (known->of == scheme && memcmp(known->key, c->key[0], c->key_len) == 0)
			return known;
	struct pair *made = &kept[next_place++ % KEPT];
	OQS_SIG_STFL_SECRET_KEY_free(made->secret);
	memset(made, 0, sizeof *made);
	made->secret = OQS_SIG_STFL_SECRET_KEY_new(scheme->name);
	if (!made->secret)
		return NULL;
	OQS_SIG_STFL_SECRET_KEY_SET_store_cb(made->secret, no_store, made); /* LMS wants some context */
	begin_draw(c->key[0], scheme->seeds);
	if (end_draw(OQS_SIG_STFL_keypair(sig, made->public, made->secret) != OQS_SUCCESS))
		return NULL;
	memcpy(made->key, c->key[0], c->key_len);
	made->of = scheme;
	return made;
}

static int stateful_open(pb_case *c)
{
	const struct scheme *scheme = c->row->param;
	struct state *state = c->ctx = calloc(1, sizeof *state);
	if (!state || !(state->sig = OQS_SIG_STFL_new(scheme->name))) {
		close_state(c);
		return pb_fail(c, "%s: OQS_SIG_STFL_new", scheme->name);
	}
	if (scheme->public && memcmp(c->key[0], scheme->public, TYPES) == 0) {
		memcpy(state->public, c->key[0], c->key_len);
	} else if ((state->pair = pair_of(c, state->sig, scheme))) {
		memcpy(state->public, state->pair->public, PUBLIC);
	} else {
		close_state(c);
		return pb_fail(c, "%s: OQS_SIG_STFL_keypair", scheme->name);
	}
	c->out_len = c->inverse ? 0 : c->row->output;
	return 0;
}

PB_LOOP(sign, struct state,
	!state->pair || OQS_SIG_STFL_sign(state->sig, out, &state->length, in, size, state->pair->secret) !=
				OQS_SUCCESS)
PB_LOOP(verify, struct state, OQS_SIG_STFL_verify(state->sig, in, size, in + size, out_max, state->public))

static const pb_variant stateful_variants[] = {
	{"sign", PB_UNTIMED, "", NULL, sign, NULL},
	{"verify", "pk/1", "OQS_SIG_STFL_verify", NULL, verify, NULL},
	PB_END_OF_VARIANTS,
};
const pb_family stateful_family = {stateful_open, close_state, stateful_variants};

static const struct scheme h5w8 = {OQS_SIG_STFL_alg_lms_sha256_h5_w8_h5_w8, "\0\0\0\2\0\0\0\5\0\0\0\4", 48},
			   h10w4 = {OQS_SIG_STFL_alg_lms_sha256_h10_w4_h5_w8, "\0\0\0\2\0\0\0\6\0\0\0\3", 48},
			   xmss_sha2 = {OQS_SIG_STFL_alg_xmss_sha256_h10, NULL, 96},
			   xmss_shake = {OQS_SIG_STFL_alg_xmss_shake256_h10_256, NULL, 96};

const pb_row stateful_rows[] = {
	{"hss-sha256-h5w8-h5w8", &stateful_family, &h5w8, 60, 0, 1, 2644},
	{"hss-sha256-h10w4-h5w8", &stateful_family, &h10w4, 60, 0, 1, 3860},
	{"xmss-sha2-10-256", &stateful_family, &xmss_sha2, 96, 0, 1, 2500},
	{"xmss-shake256-10-256", &stateful_family, &xmss_shake, 96, 0, 1, 2500},
	PB_END_OF_ROWS,
};

int stateful_offers(const pb_row *row)
{
	return OQS_SIG_STFL_alg_is_enabled(((const struct scheme *)row->param)->name);
}
