/* A runner whose calls say, by failing, which secret they saw: for the tests of `pairs`. */
#include "perbyte.h"

#include <stdlib.h>
#include <string.h>

enum { KEY = 16, TAG = 16 };

static int open_case(pb_case *c)
{
	uint8_t *kept = c->ctx = malloc(KEY);
	if (!kept)
		return pb_fail(c, "out of memory");
	memcpy(kept, c->key[0], KEY); /* as a library that sets its key once */
	c->out_len = c->inverse ? c->size : c->size + c->row->output;
	return 0;
}

static void close_case(pb_case *c)
{
	free(c->ctx);
}

static int bits(const uint8_t *bytes, size_t length)
{
	int count = 0;
	for (size_t i = 0; i < length; i++)
		count += __builtin_popcount(bytes[i]);
	return count;
}

/* Fails on a sparse key, on data of zeros, and where the key of the context is not the one in place. */
static void encrypt(pb_case *c, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		int sparse = bits(c->ctx, KEY) <= 4, zeros = bits(c->in, c->size) == 0;
		c->failures += sparse || zeros || memcmp(c->ctx, c->key[0], KEY) != 0;
		memcpy(c->out, c->in, c->size);
	}
}

/* Fails on data whose last byte is odd, and on a key whose first byte is: which of both goes by the row's key. */
static void look(pb_case *c, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		c->failures += (c->key_len > KEY ? c->key[0][0] : c->in[c->size - 1]) & 1;
		memcpy(c->out, c->in, c->size);
	}
}

static void seal(pb_case *c, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		memcpy(c->out, c->in, c->size);
		memset(c->out + c->size, 0x5a, TAG);
	}
}

/* Fails on a first byte of the tag that is wrong, and on nothing else. */
static void open_sealed(pb_case *c, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		c->failures += c->in[c->size] != 0x5a;
		memcpy(c->out, c->in, c->size);
	}
}

static const pb_variant ciphers[] = {
	{"encrypt", "message/1", "nothing", NULL, encrypt, NULL},
	PB_END_OF_VARIANTS,
};
static const pb_variant lookers[] = {
	{"encrypt", "message/1", "nothing", NULL, look, NULL},
	PB_END_OF_VARIANTS,
};
static const pb_variant sealed[] = {
	{"seal", "message/1", "nothing", NULL, seal, NULL},
	{"open", "message/1", "nothing", NULL, open_sealed, NULL},
	PB_END_OF_VARIANTS,
};
static const pb_family cipher = {open_case, close_case, ciphers}, aead = {open_case, close_case, sealed},
		       looker = {open_case, close_case, lookers};
static const pb_row rows[] = {
	{"aes-128-ecb", &cipher, NULL, KEY, 0, 16, 0},
	{"aes-128-gcm", &aead, NULL, KEY, 12, 1, TAG},
	{"seed-ecb", &looker, NULL, KEY, 0, 16, 0},
	{"aes-256-ecb", &looker, NULL, 2 * KEY, 0, 16, 0},
	PB_END_OF_ROWS,
};
static const pb_row *const tables[] = {rows, NULL};

static const char *version(void)
{
	return "1";
}

static const pb_runner runner = {
	.name = "secretive",
	.library = "none",
	.license = "Apache-2.0",
	.version = version,
	.object = (const void *)open_case,
	.tables = tables,
};

int main(int argc, char **argv)
{
	return pb_runner_main(&runner, argc, argv);
}
