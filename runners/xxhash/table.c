/* xxHash by its one-shot functions. */
#include <perbyte.h>

#include <xxhash.h>

#include <stdio.h>

static int open_digest(pb_case *c)
{
	c->out_len = c->row->output;
	return 0;
}

static void close_digest(pb_case *c)
{
	(void)c;
}

#define DIGEST(NAME, CALL, FORM, KIND)                                                                       \
	PB_LOOP(NAME##_loop, void, (FORM((KIND *)out, CALL), 0))                                             \
	static const pb_variant NAME##_variants[] = {                                                        \
		{"digest", "oneshot/1", #CALL ", " #FORM, NULL, NAME##_loop, NULL},                          \
		PB_END_OF_VARIANTS,                                                                          \
	};                                                                                                   \
	static const pb_family NAME##_family = {open_digest, close_digest, NAME##_variants};
DIGEST(xxh64, XXH64(in, size, 0), XXH64_canonicalFromHash, XXH64_canonical_t)
DIGEST(xxh3_64, XXH3_64bits(in, size), XXH64_canonicalFromHash, XXH64_canonical_t)
DIGEST(xxh3_128, XXH3_128bits(in, size), XXH128_canonicalFromHash, XXH128_canonical_t)

static const pb_row rows[] = {
	{"xxh64", &xxh64_family, NULL, 0, 0, 1, 8},
	{"xxh3-64", &xxh3_64_family, NULL, 0, 0, 1, 8},
	{"xxh3-128", &xxh3_128_family, NULL, 0, 0, 1, 16},
	PB_END_OF_ROWS,
};
static const pb_row *const tables[] = {rows, NULL};

static const char *version(void)
{
	static char text[24];
	unsigned number = XXH_versionNumber();
	snprintf(text, sizeof text, "%u.%u.%u", number / 10000, number / 100 % 100, number % 100);
	return text;
}

static const pb_runner runner = {
	.name = "xxhash",
	.library = "xxHash",
	.license = "BSD-2-Clause",
	.version = version,
	.object = (const void *)XXH64,
	.tables = tables,
};

int main(int argc, char **argv)
{
	return pb_runner_main(&runner, argc, argv);
}
