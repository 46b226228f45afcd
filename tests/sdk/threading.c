/* A runner of three sums over data: one whose state belongs to the case, one whose state belongs to the thread that made
 * it ready, and one whose calls differ by themselves. */
#include <perbyte.h>

#include <stdlib.h>
#include <string.h>

static _Thread_local int ready;
static volatile uint64_t drawn;

static int open_case(pb_case *c)
{
	ready = 1;
	return (c->ctx = calloc(1, sizeof(uint64_t))) ? 0 : pb_fail(c, "out of memory");
}

static void close_case(pb_case *c)
{
	free(c->ctx);
}

static void sum(pb_case *c, uint64_t n, uint64_t state)
{
	for (; n; n--) {
		uint64_t out = state + c->key[0][0];
		for (size_t i = 0; i < c->size; i++)
			out = 31 * out + c->in[i];
		for (size_t i = 0; i < c->size; i++)
			c->out[i] = (uint8_t)(out >> (8 * (i % 8)));
	}
}

static void own(pb_case *c, uint64_t n)
{
	sum(c, n, 0);
}

static void bound(pb_case *c, uint64_t n)
{
	sum(c, n, (uint64_t)ready);
}

static void random_one(pb_case *c, uint64_t n)
{
	for (; n; n--)
		memset(c->out, (int)++drawn, c->size);
}

#define FAMILY(NAME)                                                                                         \
	static const pb_variant NAME##_variants[] = {                                                        \
		{"encrypt", "stream/1", #NAME, NULL, NAME, NULL},                                            \
		PB_END_OF_VARIANTS,                                                                          \
	};                                                                                                   \
	static const pb_family NAME##_family = {open_case, close_case, NAME##_variants}
FAMILY(own);
FAMILY(bound);
FAMILY(random_one);

static const pb_row rows[] = {
	{"aes-128-ecb", &own_family, NULL, 16, 0, 16, 0},
	{"aes-192-ecb", &bound_family, NULL, 24, 0, 16, 0},
	{"aes-256-ecb", &random_one_family, NULL, 32, 0, 16, 0},
	PB_END_OF_ROWS,
};
static const pb_row *const tables[] = {rows, NULL};

static const char *version(void)
{
	return "1";
}

static const pb_runner runner = {
	.name = "threading",
	.library = "none",
	.license = "Apache-2.0",
	.version = version,
	.object = (const void *)version,
	.tables = tables,
};

int main(int argc, char **argv)
{
	return pb_runner_main(&runner, argc, argv);
}
