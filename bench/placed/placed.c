/* Functions whose cost by place is known, for bench/placement.py. `alias` depends on what the core does with a load that
 * looks like an earlier store modulo 4096, so that a core may show nothing; the others do more work at some places by
 * themselves, and show on every core. */
#include "perbyte.h"

#include <stdint.h>
#include <unistd.h>

static int open_it(pb_case *c)
{
	c->ctx = c;
	return 0;
}

static void close_it(pb_case *c)
{
	(void)c;
}

/* So many additions, each of which waits for the one before. */
static inline uint64_t chain(uint64_t x, unsigned steps)
{
	for (unsigned i = 0; i < steps; i++)
		__asm__ volatile("add %1, %0" : "+r"(x) : "r"(x | 1));
	return x;
}

enum { USUAL = 200, MORE = 30 };

static void none(pb_case *c, uint64_t n)
{
	uint64_t x = c->size;
	PB_REPEAT(n, turn, x = chain(x, USUAL));
	c->out[0] = (uint8_t)x;
}

/* 15 % more where the stack lies in a sixteenth of a page. */
static void stack(pb_case *c, uint64_t n)
{
	uint64_t x = c->size;
	unsigned steps = USUAL + ((uintptr_t)&x % 4096 / 256 == 5 ? MORE : 0);
	PB_REPEAT(n, turn, x = chain(x, steps));
	c->out[0] = (uint8_t)x;
}

/* 15 % more where the output begins up to 512 bytes behind the input, modulo a page. */
static void distance(pb_case *c, uint64_t n)
{
	uint64_t x = c->size;
	unsigned steps = USUAL + ((uintptr_t)(c->out - c->in) % 4096 < 512 ? MORE : 0);
	PB_REPEAT(n, turn, x = chain(x, steps));
	c->out[0] = (uint8_t)x;
}

/* 15 % more where the C library lies more than 2 GiB away. */
static void far(pb_case *c, uint64_t n)
{
	uint64_t x = c->size;
	intptr_t apart = (intptr_t)(uintptr_t)getpid - (intptr_t)(uintptr_t)far;
	unsigned steps = USUAL + (apart > INT32_MAX || apart < INT32_MIN ? MORE : 0);
	PB_REPEAT(n, turn, x = chain(x, steps));
	c->out[0] = (uint8_t)x;
}

/* Each load has the page offset of the store before it where the output lies 64 bytes before the input, modulo 4096. */
static void alias(pb_case *c, uint64_t n)
{
	const uint8_t *in = c->in;
	uint8_t *out = c->out;
	uint64_t x = 0;
	PB_REPEAT(n, turn, {
		for (int i = 0; i < 64; i++) {
			*(volatile uint64_t *)(void *)(out + 8 * i) = x;
			x = (x + *(const volatile uint64_t *)(const void *)(in + 8 * i)) | 1;
		}
	});
	c->out[0] = (uint8_t)x;
}

#define VARIANTS(NAME)                                                                                       \
	static const pb_variant NAME##_variants[] = {{"encrypt", "stream/1", #NAME, NULL, NAME, NULL},       \
						     PB_END_OF_VARIANTS};                                    \
	static const pb_family NAME##_family = {open_it, close_it, NAME##_variants};
VARIANTS(none)
VARIANTS(stack)
VARIANTS(distance)
VARIANTS(far)
VARIANTS(alias)

static const pb_row rows[] = {
	{"none", &none_family, NULL, 0, 0, 1, 0},         {"stack", &stack_family, NULL, 0, 0, 1, 0},
	{"distance", &distance_family, NULL, 0, 0, 1, 0}, {"far", &far_family, NULL, 0, 0, 1, 0},

	{"alias", &alias_family, NULL, 0, 0, 1, 0},       PB_END_OF_ROWS,
};
static const pb_row *const tables[] = {rows, NULL};

static const char *version(void)
{
	return "1";
}

static const pb_runner runner = {
	.name = "placed",
	.library = "functions whose cost by place is known",
	.license = "Apache-2.0",
	.version = version,
	.object = (const void *)(uintptr_t)getpid,
	.tables = tables,
};

int main(int argc, char **argv)
{
	return pb_runner_main(&runner, argc, argv);
}
