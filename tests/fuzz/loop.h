/* A runner that computes nothing worth knowing, quickly: what the fuzzer's server offers. */
#ifndef LOOP_H
#define LOOP_H

#include "perbyte.h"

static int open_loop(pb_case *c)
{
	c->out_len = c->inverse && c->in_len >= c->row->output ? c->in_len - c->row->output
							       : c->size + (c->inverse ? 0 : c->row->output);
	return c->key_len > 64 ? pb_fail(c, "a key of %zu bytes", c->key_len) : 0;
}

static void close_loop(pb_case *c)
{
	(void)c;
}

/* Seals by adding the first byte of the key and a sum as a tag; opens by looking at the sum. */
static void run_loop(pb_case *c, uint64_t n)
{
	size_t data = c->inverse ? c->out_len : c->size;
	for (uint64_t k = 0; k < n; k++) {
		uint8_t key = c->key_len ? c->key[k % PB_RING][0] : 0, sum = key;
		for (size_t i = 0; i < data; i++) {
			c->out[i] = (uint8_t)(c->inverse ? c->in[i] - key : c->in[i] + key);
			sum = (uint8_t)(sum * 3 + (c->inverse ? c->in[i] : c->out[i]));
		}
		for (size_t i = 0; i < c->row->output; i++) {
			if (!c->inverse)
				c->out[data + i] = sum;
			else if (c->in[data + i] != sum)
				c->failures++;
		}
	}
}

static const pb_variant loop_variants[] = {
	{"encrypt", "message/1", "loop", NULL, run_loop, NULL},
	{"decrypt", "message/1", "loop", NULL, run_loop, NULL},
	{"seal", "message/1", "loop", NULL, run_loop, NULL},
	{"open", "message/1", "loop", NULL, run_loop, NULL},
	PB_END_OF_VARIANTS,
};
static const pb_family loop_family = {open_loop, close_loop, loop_variants};
static const pb_row loop_rows[] = {
	{"aes-128-ctr", &loop_family, NULL, 16, 12, 1, 0},
	{"aes-128-cbc", &loop_family, NULL, 16, 16, 16, 0},
	{"aes-128-gcm", &loop_family, NULL, 16, 12, 1, 16},
	PB_END_OF_ROWS,
};
static const pb_row *const loop_tables[] = {loop_rows, NULL};

static const char *loop_version(void)
{
	return "1";
}

static const pb_runner loop_runner = {
	.name = "loop",
	.library = "none",
	.license = "Apache-2.0",
	.version = loop_version,
	.object = (const void *)run_loop,
	.tables = loop_tables,
};

#endif
