/* BLAKE3 in the C of its authors. */
#include <perbyte.h>

#include <blake3.h>
#include <blake3_impl.h>

#include <stdlib.h>
#include <string.h>

static int hash_open(pb_case *c)
{
	blake3_hasher *hasher = c->ctx = malloc(sizeof *hasher);
	if (!hasher)
		return pb_fail(c, "out of memory");
	blake3_hasher_init(hasher);
	c->out_len = c->row->output;
	return 0;
}

static void hash_close(pb_case *c)
{
	free(c->ctx);
	c->ctx = NULL;
}

static void hash_begin(pb_case *c)
{
	blake3_hasher_init(c->ctx);
}

static void hash_finish(pb_case *c)
{
	blake3_hasher_finalize(c->ctx, c->out, c->row->output);
}

PB_LOOP(oneshot, blake3_hasher,
	(blake3_hasher_init(state), blake3_hasher_update(state, in, size),
	 blake3_hasher_finalize(state, out, out_max), 0))
PB_LOOP(stream, blake3_hasher, (blake3_hasher_update(state, in, size), 0))

static const pb_variant variants[] = {
	{"digest", "oneshot/1", "blake3_hasher_init, blake3_hasher_update, blake3_hasher_finalize", NULL,
	 oneshot, NULL},
	{"digest", "stream/1", "blake3_hasher_update", hash_begin, stream, hash_finish},
	PB_END_OF_VARIANTS,
};
static const pb_family family = {hash_open, hash_close, variants};

static const pb_row rows[] = {
	{"blake3", &family, NULL, 0, 0, 1, 32},
	PB_END_OF_ROWS,
};
static const pb_row *const tables[] = {rows, NULL};

/* A tier is a build of its own (build.sh), which says what it was built as. */
static int start(const char *tier)
{
	return strcmp(tier, BUILT_AS) == 0 ? 0 : -1;
}

/* The library's own words for it: how many blocks its dispatch takes at once, and the features it has found.
 */
static const char *cpu_features(void)
{
	switch (blake3_simd_degree()) {
	case 16:
		return "AVX-512: 16 blocks at once";
	case 8:
		return "AVX2: 8 blocks at once";
	case 4:
		return "SSE or NEON: 4 blocks at once";
	default:
		return "portable: 1 block at a time";
	}
}

static const char *code_path(const pb_row *row)
{
	(void)row;
	return cpu_features();
}

static const pb_runner runner = {
	.name = RUNNER_NAME,
	.library = "BLAKE3",
	.license = "CC0-1.0 OR Apache-2.0",
	.version = blake3_version,
	.cpu_features = cpu_features,
	.code_path = code_path,
	.object = (const void *)blake3_hasher_update,
	.start = start,
	.tables = tables,
};

int main(int argc, char **argv)
{
	return pb_runner_main(&runner, argc, argv);
}
