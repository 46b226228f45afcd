/* The reference runner: what is Perbyte's own. RIPEMD of 1992, which no library has, and loops of known cost.
 */
#include <string.h>
#include <sys/random.h>

#include "direct.h"
#include "families.h"
#include "ripemd.h"

static const pb_row rows[] = {
	{"ripemd", &ripemd_family, NULL, 0, 0, 1, RIPEMD_DIGEST},
	{"probe-imul", &probe_imul_family, NULL, 0, 0, 1, 0},
	{"probe-imul-add", &probe_imul_add_family, NULL, 0, 0, 1, 0},
	{"probe-crc32", &probe_crc32_family, NULL, 0, 0, 1, 0},
	{"probe-aesenc", &probe_aesenc_family, NULL, 0, 0, 1, 0},
	{"probe-empty", &probe_empty_family, NULL, 0, 0, 1, 0},
	{"copy", &copy_family, NULL, 0, 0, 1, 0},
	{"limit-aes", &limit_aes_family, NULL, 0, 0, 16, 0},
	{"limit-vaes", &limit_vaes_family, NULL, 0, 0, 16, 0},
	{"limit-clmul", &limit_clmul_family, NULL, 0, 0, 16, 0},
	{"limit-vclmul", &limit_vclmul_family, NULL, 0, 0, 16, 0},
	{"limit-sha", &limit_sha_family, NULL, 0, 0, 16, 0},
	{"limit-multiply", &limit_multiply_family, NULL, 0, 0, 16, 0},
	{"limit-load", &limit_load_family, NULL, 0, 0, 16, 0},
	{"limit-store", &limit_store_family, NULL, 0, 0, 16, 0},
	{"limit-vaes512", &limit_vaes512_family, NULL, 0, 0, 16, 0},
	{"limit-vclmul512", &limit_vclmul512_family, NULL, 0, 0, 16, 0},
	{"limit-multiply512", &limit_multiply512_family, NULL, 0, 0, 16, 0},
	{"limit-load512", &limit_load512_family, NULL, 0, 0, 16, 0},
	{"limit-store512", &limit_store512_family, NULL, 0, 0, 16, 0},
	{"limit-add", &limit_add_family, NULL, 0, 0, 16, 0},
	{"limit-add512", &limit_add512_family, NULL, 0, 0, 16, 0},
	{"limit-ifma512", &limit_ifma512_family, NULL, 0, 0, 16, 0},
	{"limit-gfni", &limit_gfni_family, NULL, 0, 0, 16, 0},
	{"limit-gfni512", &limit_gfni512_family, NULL, 0, 0, 16, 0},
	{"limit-mul64", &limit_mul64_family, NULL, 0, 0, 16, 0},
	{"limit-sha512", &limit_sha512_family, NULL, 0, 0, 16, 0},
	PB_END_OF_ROWS,
};

PB_DIRECT_RANDOM(random, "getrandom", "getrandom", getrandom(out, size, 0) != (ssize_t)size);

static const pb_row *const tables[] = {rows, random_rows, NULL};

/* The version of the SDK that this code belongs to. */
static const char *version(void)
{
	return "1";
}

static int offers(const pb_row *row)
{
	if (row == random_rows)
		return 1;
	return strncmp(row->algorithm, "limit-", 6) ? probe_runs_here(row->family)
						    : limit_runs_here(row->family);
}

static const pb_runner runner = {
	.name = "reference",
	.library = "Perbyte reference",
	.license = "Apache-2.0",
	.version = version,
	.object = (const void *)ripemd_init,
	.offers = offers,
	.tables = tables,
};

int main(int argc, char **argv)
{
	return pb_runner_main(&runner, argc, argv);
}
