/* The tables are in Zig. What is here is what the compiler was told, and whether both sides mean the same structures. */
#include <perbyte.h>

#include <string.h>

extern const pb_row *const perbyte_zig_tables[];
extern const size_t perbyte_zig_layout[];
extern const char *const perbyte_zig_features, *const perbyte_zig_version;

static const size_t layout[] = {
	sizeof(pb_case),
	offsetof(pb_case, in),
	offsetof(pb_case, message),
	offsetof(pb_case, nonce),
	offsetof(pb_case, aad),
	offsetof(pb_case, in_len),
	offsetof(pb_case, out_len),
	offsetof(pb_case, failures),
	offsetof(pb_case, turns),
	offsetof(pb_case, calls),
	offsetof(pb_case, ctx),
	offsetof(pb_case, error),
	sizeof(pb_variant),
	offsetof(pb_variant, begin),
	offsetof(pb_variant, show),
	sizeof(pb_family),
	offsetof(pb_family, variants),
	sizeof(pb_row),
	offsetof(pb_row, key),
	offsetof(pb_row, output),
};

static const char *version(void)
{
	return perbyte_zig_version;
}

static const char *cpu_features(void)
{
	return perbyte_zig_features;
}

/* One tier is one build. */
static int start(const char *tier)
{
	return strcmp(tier, RUNNER_TIER) == 0 && memcmp(layout, perbyte_zig_layout, sizeof layout) == 0 ? 0
													: -1;
}

static const pb_runner runner = {
	.name = "zig",
	.library = "Zig's std.crypto",
	.license = "MIT",
	.version = version,
	.cpu_features = cpu_features,
	.object = (const void *)version,
	.start = start,
	.tables = perbyte_zig_tables,
};

int main(int argc, char **argv)
{
	return pb_runner_main(&runner, argc, argv);
}
