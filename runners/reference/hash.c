/* RIPEMD under the contracts of hashes. */
#include <stdlib.h>

#include "families.h"
#include "ripemd.h"

static int open_hash(pb_case *c)
{
	c->ctx = calloc(1, sizeof(ripemd));
	return c->ctx ? 0 : pb_fail(c, "out of memory");
}

static void close_hash(pb_case *c)
{
	free(c->ctx);
}

static void oneshot(pb_case *c, uint64_t n)
{
	ripemd *state = c->ctx;
	const uint8_t *in = c->in;
	uint8_t *out = c->out;
	size_t size = c->size;
	PB_REPEAT(n, turn, {
		ripemd_init(state);
		ripemd_update(state, in, size);
		ripemd_final(state, out);
	});
	c->out_len = RIPEMD_DIGEST;
}

static void begin_stream(pb_case *c)
{
	ripemd_init(c->ctx);
}

static void stream(pb_case *c, uint64_t n)
{
	ripemd *state = c->ctx;
	const uint8_t *in = c->in;
	size_t size = c->size;
	PB_REPEAT(n, turn, ripemd_update(state, in, size));
}

static void show_stream(pb_case *c)
{
	ripemd_final(c->ctx, c->out);
	c->out_len = RIPEMD_DIGEST;
}

static const pb_variant variants[] = {
	{"digest", "oneshot/1", "ripemd_init, ripemd_update, ripemd_final", NULL, oneshot, NULL},
	{"digest", "stream/1", "ripemd_update", begin_stream, stream, show_stream},
	PB_END_OF_VARIANTS,
};
const pb_family ripemd_family = {open_hash, close_hash, variants};
