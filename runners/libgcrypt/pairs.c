/* New RSA pairs by S-expressions, draw/1. The library draws them with the strongest of its generators, as it does
 * for everybody who does not ask for less (the flag transient-key). */
#include <stdlib.h>
#include <string.h>

#include "families.h"

struct pairs {
	gcry_sexp_t wanted, made;
};

static void pairs_close(pb_case *c)
{
	struct pairs *pairs = c->ctx;
	if (!pairs)
		return;
	gcry_sexp_release(pairs->wanted);
	gcry_sexp_release(pairs->made);
	free(pairs);
	c->ctx = NULL;
}

static int pairs_open(pb_case *c)
{
	struct pairs *pairs = c->ctx = calloc(1, sizeof *pairs);
	if (!pairs)
		return pb_fail(c, "out of memory");
	c->out_len = c->row->output;
	if (!refuse(c, "the parameters",
		    gcry_sexp_build(&pairs->wanted, NULL, "(genkey(rsa(nbits %d)(rsa-use-e 5:65537)))",
				    8 * c->row->output)))
		return 0;
	pairs_close(c);
	return -1;
}

PB_LOOP(make_pairs, struct pairs,
	(gcry_sexp_release(state->made), state->made = NULL, gcry_pk_genkey(&state->made, state->wanted)))

static int show_number(gcry_sexp_t public, uint8_t *out, size_t length)
{
	size_t got = 0;
	gcry_sexp_t found = gcry_sexp_find_token(public, "n", 0);
	const char *bytes = found ? gcry_sexp_nth_data(found, 1, &got) : NULL;
	if (bytes && got > length && !*bytes) /* a sign byte */
		bytes++, got--;
	int full = bytes && got == length && (bytes[0] & 0x80);
	if (full)
		memcpy(out, bytes, length);
	gcry_sexp_release(found);
	return full;
}

/* What the last pair signs, it must verify; the modulus has all of its bits. */
static void show_modulus(pb_case *c)
{
	struct pairs *pairs = c->ctx;
	gcry_sexp_t public = gcry_sexp_find_token(pairs->made, "public-key", 0),
		    secret = gcry_sexp_find_token(pairs->made, "private-key", 0), data = NULL,
		    signature = NULL;
	int size = c->size < 32 ? (int)c->size : 32;
	c->failures += !public || !secret ||
		       gcry_sexp_build(&data, NULL, "(data(flags pkcs1-raw)(value %b))", size, c->in) ||
		       gcry_pk_sign(&signature, data, secret) || gcry_pk_verify(signature, data, public) ||
		       !show_number(public, c->out, (size_t)c->row->output);
	gcry_sexp_release(signature);
	gcry_sexp_release(data);
	gcry_sexp_release(secret);
	gcry_sexp_release(public);
}

static const pb_variant variants[] = {
	{"keygen", "draw/1", "gcry_pk_genkey, gcry_sexp_release", NULL, make_pairs, show_modulus},
	PB_END_OF_VARIANTS,
};
static const pb_family family = {pairs_open, pairs_close, variants};

const pb_row pair_rows[] = {
	{"rsa-2048", &family, NULL, 256, 0, 1, 256},
	{"rsa-3072", &family, NULL, 384, 0, 1, 384},
	PB_END_OF_ROWS,
};
