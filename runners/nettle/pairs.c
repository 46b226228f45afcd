/* New RSA pairs, draw/1. The library leaves randomness to its user: here it is the kernel's. */
#include "tables.h"

#include <nettle/bignum.h>
#include <nettle/rsa.h>

#include <stdlib.h>
#include <sys/random.h>

struct pairs {
	struct rsa_public_key public;
	struct rsa_private_key secret;
	mpz_t signature;
	uint64_t failures;
};

static void draw(void *failures, size_t length, uint8_t *to)
{
	*(uint64_t *)failures += getrandom(to, length, 0) != (ssize_t)length;
}

static int pairs_open(pb_case *c)
{
	struct pairs *pairs = c->ctx = calloc(1, sizeof *pairs);
	if (!pairs)
		return pb_fail(c, "out of memory");
	rsa_public_key_init(&pairs->public);
	rsa_private_key_init(&pairs->secret);
	mpz_init(pairs->signature);
	mpz_set_ui(pairs->public.e, 65537);
	c->out_len = c->row->output;
	return 0;
}

static void pairs_close(pb_case *c)
{
	struct pairs *pairs = c->ctx;
	if (!pairs)
		return;
	rsa_public_key_clear(&pairs->public);
	rsa_private_key_clear(&pairs->secret);
	mpz_clear(pairs->signature);
	free(pairs);
	c->ctx = NULL;
}

/* With an e_size of 0 the exponent is the user's. */
PB_LOOP(make_pairs, struct pairs,
	!rsa_generate_keypair(&state->public, &state->secret, &state->failures, draw, NULL, NULL,
			      8 * (unsigned)out_max, 0))

/* What the last pair signs, it must verify; the modulus has all of its bits. */
static void show_modulus(pb_case *c)
{
	struct pairs *pairs = c->ctx;
	size_t length = (size_t)c->row->output, size = c->size < 32 ? c->size : 32;
	c->failures += pairs->failures || mpz_sizeinbase(pairs->public.n, 2) != 8 * length ||
		       mpz_cmp_ui(pairs->public.e, 65537) != 0 ||
		       !rsa_pkcs1_sign_tr(&pairs->public, &pairs->secret, &pairs->failures, draw, size, c->in,
					  pairs->signature) ||
		       !rsa_pkcs1_verify(&pairs->public, size, c->in, pairs->signature);
	nettle_mpz_get_str_256(length, c->out, pairs->public.n);
}

static const pb_variant variants[] = {
	{"keygen", "draw/1", "rsa_generate_keypair, getrandom", NULL, make_pairs, show_modulus},
	PB_END_OF_VARIANTS,
};
static const pb_family family = {pairs_open, pairs_close, variants};

const pb_row pair_rows[] = {
	{"rsa-2048", &family, NULL, 256, 0, 1, 256},
	{"rsa-3072", &family, NULL, 384, 0, 1, 384},
	PB_END_OF_ROWS,
};
