/* libaegis: the six variants of AEGIS, with tags of 32 bytes, each in one call. */
#include <perbyte.h>

#include <aegis.h>
#include <aegis128l.h>
#include <aegis128x2.h>
#include <aegis128x4.h>
#include <aegis256.h>
#include <aegis256x2.h>
#include <aegis256x4.h>

#include <string.h>

static int aegis_open(pb_case *c)
{
	c->out_len = c->inverse ? c->size : c->size + c->row->output;
	return 0;
}

static void aegis_close(pb_case *c)
{
	(void)c;
}

#define VARIANT(NAME)                                                                                        \
	PB_LOOP(NAME##_seal, void,                                                                           \
		NAME##_encrypt(out, out_max, in, size, aad, aad_len, PB_TURN(nonce, turn), key[0]))          \
	PB_LOOP(NAME##_rekey, void,                                                                          \
		NAME##_encrypt(out, out_max, in, size, aad, aad_len, PB_TURN(nonce, turn),                   \
			       PB_TURN(key, turn)))                                                          \
	PB_LOOP(NAME##_unseal, void,                                                                         \
		NAME##_decrypt(out, in, size + out_max, out_max, aad, aad_len, nonce[0], key[0]))            \
	static const pb_variant NAME##_variants[] = {                                                        \
		{"seal", "message/1", #NAME "_encrypt", NULL, NAME##_seal, NULL},                            \
		{"seal", "rekey/1", #NAME "_encrypt", NULL, NAME##_rekey, NULL},                             \
		{"open", "message/1", #NAME "_decrypt", NULL, NAME##_unseal, NULL},                          \
		{"open", "rekey/1", #NAME "_decrypt", NULL, NAME##_unseal, NULL},                            \
		PB_END_OF_VARIANTS,                                                                          \
	};                                                                                                   \
	static const pb_family NAME##_family = {aegis_open, aegis_close, NAME##_variants};

VARIANT(aegis128l)
VARIANT(aegis128x2)
VARIANT(aegis128x4)
VARIANT(aegis256)
VARIANT(aegis256x2)
VARIANT(aegis256x4)

static const pb_row rows[] = {
	{"aegis-128l", &aegis128l_family, NULL, 16, 16, 1, 32},
	{"aegis-128x2", &aegis128x2_family, NULL, 16, 16, 1, 32},
	{"aegis-128x4", &aegis128x4_family, NULL, 16, 16, 1, 32},
	{"aegis-256", &aegis256_family, NULL, 32, 32, 1, 32},
	{"aegis-256x2", &aegis256x2_family, NULL, 32, 32, 1, 32},
	{"aegis-256x4", &aegis256x4_family, NULL, 32, 32, 1, 32},
	PB_END_OF_ROWS,
};
static const pb_row *const tables[] = {rows, NULL};

/* The library chooses by the CPU, has no switch for that, and tells neither its choice nor its version. */
static int start(const char *tier)
{
	return strcmp(tier, "full") == 0 ? aegis_init() : -1;
}

static const char *version(void)
{
	return LIBRARY_VERSION;
}

static const pb_runner runner = {
	.name = RUNNER_NAME,
	.library = "libaegis",
	.license = "MIT",
	.version = version,
	.object = (const void *)aegis_init,
	.start = start,
	.tables = tables,
};

int main(int argc, char **argv)
{
	return pb_runner_main(&runner, argc, argv);
}
