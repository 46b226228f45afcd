/* Hashes through EVP, on one context that lives as long as the case. The convenience one-shots EVP_Digest and
 * EVP_Q_digest make and free a context (the latter also fetches) at every call: that would time the
 * allocator. */
#include "evp.h"

#include <openssl/evp.h>

#include <stdlib.h>

struct state {
	EVP_MD *md;
	EVP_MD_CTX *ctx;
};

static EVP_MD_CTX *context(const pb_case *c)
{
	return ((struct state *)c->ctx)->ctx;
}

static void digest_close(pb_case *c)
{
	struct state *state = c->ctx;
	if (!state)
		return;
	EVP_MD_CTX_free(state->ctx);
	EVP_MD_free(state->md);
	free(state);
	c->ctx = NULL;
}

static int digest_open(pb_case *c)
{
	struct state *state = c->ctx = calloc(1, sizeof *state);
	if (!state)
		return pb_fail(c, "out of memory");
	state->md = EVP_MD_fetch(NULL, c->row->param, NULL);
	state->ctx = EVP_MD_CTX_new();
	if (state->md && state->ctx && EVP_DigestInit_ex2(state->ctx, state->md, NULL)) {
		c->out_len = c->row->output;
		return 0;
	}
	evp_fail(c, "EVP_MD_fetch, EVP_DigestInit_ex2");
	digest_close(c);
	return -1;
}

static void start(pb_case *c)
{
	c->failures += EVP_DigestInit_ex2(context(c), NULL, NULL) != 1;
}

static void finish(pb_case *c)
{
	c->failures += EVP_DigestFinal_ex(context(c), c->out, NULL) != 1;
}

static void digest_oneshot(pb_case *c, uint64_t n)
{
	EVP_MD_CTX *ctx = context(c);
	const uint8_t *in = c->in;
	uint8_t *out = c->out;
	size_t size = c->size;
	uint64_t bad = 0;
	PB_REPEAT(n, turn, {
		bad += EVP_DigestInit_ex2(ctx, NULL, NULL) != 1;
		bad += EVP_DigestUpdate(ctx, in, size) != 1;
		bad += EVP_DigestFinal_ex(ctx, out, NULL) != 1;
	});
	c->failures += bad;
}

static void digest_stream(pb_case *c, uint64_t n)
{
	EVP_MD_CTX *ctx = context(c);
	const uint8_t *in = c->in;
	size_t size = c->size;
	uint64_t bad = 0;
	PB_REPEAT(n, turn, bad += EVP_DigestUpdate(ctx, in, size) != 1);
	c->failures += bad;
}

static int digested(const EVP_MD *md, const uint8_t *in, size_t size, uint8_t *out)
{
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();
	int bad = !ctx || EVP_DigestInit_ex2(ctx, md, NULL) != 1 || EVP_DigestUpdate(ctx, in, size) != 1 ||
		  EVP_DigestFinal_ex(ctx, out, NULL) != 1;
	EVP_MD_CTX_free(ctx);
	return bad;
}

static int looked_up(const char *name, const uint8_t *in, size_t size, uint8_t *out)
{
	EVP_MD *md = EVP_MD_fetch(NULL, name, NULL);
	int bad = !md || digested(md, in, size, out);
	EVP_MD_free(md);
	return bad;
}

PB_LOOP(digest_object, struct state, digested(state->md, in, size, out))
PB_LOOP(digest_fetch, struct state, looked_up(c->row->param, in, size, out))

#define OBJECT_CALLS                                                                                         \
	"EVP_MD_CTX_new, EVP_DigestInit" EX2 ", EVP_DigestUpdate, EVP_DigestFinal_ex, EVP_MD_CTX_free"

static const pb_variant digest_variants[] = {
	{"digest", "oneshot/1", DIGEST_AGAIN ", EVP_DigestUpdate, EVP_DigestFinal_ex", NULL, digest_oneshot,
	 NULL},
	{"digest", "stream/1", "EVP_DigestUpdate", start, digest_stream, finish},
	{"digest", "object/1", OBJECT_CALLS, NULL, digest_object, NULL},
	{"digest", "fetch/1", FETCH_CALLS ", " OBJECT_CALLS, NULL, digest_fetch, NULL},
	PB_END_OF_VARIANTS,
};

const pb_family evp_digest_family = {digest_open, digest_close, digest_variants};

static void finish_xof(pb_case *c)
{
	c->failures += EVP_DigestFinalXOF(context(c), c->out, c->row->output) != 1;
}

static void give_size(pb_case *c)
{
	c->out_len = c->size;
}

PB_LOOP(xof_oneshot, struct state,
	EVP_DigestInit_ex2(state->ctx, NULL, NULL) != 1 || EVP_DigestUpdate(state->ctx, in, size) != 1 ||
		EVP_DigestFinalXOF(state->ctx, out, out_max) != 1)
PB_LOOP(squeeze, struct state,
	EVP_DigestInit_ex2(state->ctx, NULL, NULL) != 1 ||
		EVP_DigestUpdate(state->ctx, PB_TURN(nonce, turn), nonce_len) != 1 ||
		EVP_DigestFinalXOF(state->ctx, out, size) != 1)

static const pb_variant xof_variants[] = {
	{"digest", "oneshot/1", DIGEST_AGAIN ", EVP_DigestUpdate, EVP_DigestFinalXOF", NULL, xof_oneshot,
	 NULL},
	{"digest", "stream/1", "EVP_DigestUpdate", start, digest_stream, finish_xof},
	{"squeeze", "expand/1", DIGEST_AGAIN ", EVP_DigestUpdate, EVP_DigestFinalXOF", give_size, squeeze,
	 NULL},
	PB_END_OF_VARIANTS,
};

const pb_family evp_xof_family = {digest_open, digest_close, xof_variants};
