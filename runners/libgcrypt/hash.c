/* Hashes. oneshot/1 is what a user who cares would write: gcry_md_hash_buffer where the library hashes a
 * buffer directly, and a kept handle where gcry_md_hash_buffer would open and free one in every call (MD4,
 * MD5, Tiger, Whirlpool, GOST: about 60 ns a call on the machine this was written on). */
#include <stdint.h>
#include <string.h>

#include "families.h"

static int open_hash(pb_case *c)
{
	gcry_md_hd_t handle;
	if (refuse(c, "gcry_md_open", gcry_md_open(&handle, algorithm_of(c)->algo, 0)))
		return -1;
	if (gcry_md_get_algo_dlen(algorithm_of(c)->algo) != c->row->output) {
		gcry_md_close(handle);
		return pb_fail(c, "the library's digest has another length than the row's");
	}
	c->ctx = handle;
	return 0;
}

static void close_hash(pb_case *c)
{
	gcry_md_close(c->ctx);
}

static void oneshot_buffer(pb_case *c, uint64_t n)
{
	const uint8_t *in = c->in;
	uint8_t *out = c->out;
	size_t size = c->size;
	int algo = algorithm_of(c)->algo;
	PB_REPEAT(n, turn, gcry_md_hash_buffer(algo, out, in, size));
	c->out_len = c->row->output;
}

static void oneshot_handle(pb_case *c, uint64_t n)
{
	gcry_md_hd_t handle = c->ctx;
	const uint8_t *in = c->in;
	uint8_t *out = c->out;
	size_t size = c->size, output = c->row->output;
	PB_REPEAT(n, turn, {
		gcry_md_reset(handle);
		gcry_md_write(handle, in, size);
		memcpy(out, gcry_md_read(handle, 0), output);
	});
	c->out_len = output;
}

static void begin_stream(pb_case *c)
{
	gcry_md_reset(c->ctx);
}

static void stream(pb_case *c, uint64_t n)
{
	gcry_md_hd_t handle = c->ctx;
	const uint8_t *in = c->in;
	size_t size = c->size;
	PB_REPEAT(n, turn, gcry_md_write(handle, in, size));
}

static void show_stream(pb_case *c)
{
	memcpy(c->out, gcry_md_read(c->ctx, 0), c->row->output);
	c->out_len = c->row->output;
}

#define STREAM                                                                                               \
	{                                                                                                    \
		"digest", "stream/1", "gcry_md_write", begin_stream, stream, show_stream                     \
	}

static const pb_variant buffer_variants[] = {
	{"digest", "oneshot/1", "gcry_md_hash_buffer", NULL, oneshot_buffer, NULL},
	STREAM,
	PB_END_OF_VARIANTS,
};
static const pb_variant handle_variants[] = {
	{"digest", "oneshot/1", "gcry_md_reset, gcry_md_write, gcry_md_read", NULL, oneshot_handle, NULL},
	STREAM,
	PB_END_OF_VARIANTS,
};
const pb_family hash_buffer_family = {open_hash, close_hash, buffer_variants};
const pb_family hash_handle_family = {open_hash, close_hash, handle_variants};
