/* blst: BLS signatures on BLS12-381, public keys in G1, signatures in G2, the scheme with proof of possession. */
#include <perbyte.h>

#include <blst.h>
#include <blst_aux.h>
#include <version.h>

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

enum { KEY = 32, PUBLIC = 48, SIGNATURE = 96 };

static const uint8_t scheme[] = "BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_POP_";
enum { SCHEME = sizeof scheme - 1 };

struct state {
	blst_scalar private, made;
	blst_p1_affine public;
	uint8_t made_public[PUBLIC];
	uint8_t *signatures; /* to be aggregated, one after another */
	size_t count;
	blst_pairing *pairing;
};

/* The private number; its first two bits count as 0, so that it is below the order. */
static void private_of(blst_scalar *private, const uint8_t key[KEY])
{
	uint8_t number[KEY];
	memcpy(number, key, KEY);
	number[0] &= 0x3f;
	blst_scalar_from_bendian(private, number);
}

static void sign_one(uint8_t out[SIGNATURE], const blst_scalar *private, const uint8_t *message, size_t size)
{
	blst_p2 hash, signature;
	blst_hash_to_g2(&hash, message, size, scheme, SCHEME, NULL, 0);
	blst_sign_pk_in_g1(&signature, &hash, private);
	blst_p2_compress(out, &signature);
}

static int refused(struct state *state, const blst_p1_affine *public, const uint8_t *message, size_t size,
		   const uint8_t given[SIGNATURE])
{
	blst_p2_affine signature;
	if (blst_p2_uncompress(&signature, given) != BLST_SUCCESS)
		return 1;
	blst_pairing_init(state->pairing, 1, scheme, SCHEME);
	if (blst_pairing_chk_n_aggr_pk_in_g1(state->pairing, public, 0, &signature, 1, message, size, NULL,
					     0) != BLST_SUCCESS)
		return 1;
	blst_pairing_commit(state->pairing);
	return !blst_pairing_finalverify(state->pairing, NULL);
}

/* The same signature so often, in one pairing: each weighted by a random number, so that errors do not cancel out. */
static int many_refused(struct state *state, const uint8_t *message, size_t size,
			const uint8_t given[SIGNATURE], unsigned many)
{
	enum { WEIGHT = 8 };
	uint8_t weights[PB_RING * WEIGHT];
	if (getrandom(weights, many * WEIGHT, 0) != (ssize_t)(many * WEIGHT))
		return 1;
	blst_pairing_init(state->pairing, 1, scheme, SCHEME);
	for (unsigned i = 0; i < many; i++) {
		blst_p2_affine signature;
		weights[i * WEIGHT] |= 1; /* not zero */
		if (blst_p2_uncompress(&signature, given) != BLST_SUCCESS ||
		    blst_pairing_chk_n_mul_n_aggr_pk_in_g1(state->pairing, &state->public, 0, &signature, 1,
							   weights + i * WEIGHT, 8 * WEIGHT, message, size,
							   NULL, 0) != BLST_SUCCESS)
			return 1;
	}
	blst_pairing_commit(state->pairing);
	return !blst_pairing_finalverify(state->pairing, NULL);
}

static void verify_many(pb_case *c, uint64_t n)
{
	for (unsigned many; n; n -= many) {
		many = n < PB_RING ? (unsigned)n : PB_RING;
		if (many_refused(c->ctx, c->in, c->size, c->in + c->size, many))
			c->failures += many;
	}
}

static int aggregate_all(const struct state *state, uint8_t out[SIGNATURE])
{
	blst_p2 sum;
	int bad = 0;
	for (size_t i = 0; i < state->count; i++)
		bad += blst_aggregate_in_g2(&sum, i ? &sum : NULL, state->signatures + i * SIGNATURE) !=
		       BLST_SUCCESS;
	blst_p2_compress(out, &sum);
	return bad;
}

/* A key as its user draws it: of 32 random bytes, by HKDF. */
static int new_pair(struct state *state)
{
	uint8_t drawn[KEY];
	blst_p1 point;
	if (getrandom(drawn, sizeof drawn, 0) != sizeof drawn)
		return 1;
	blst_keygen(&state->made, drawn, sizeof drawn, NULL, 0);
	blst_sk_to_pk_in_g1(&point, &state->made);
	blst_p1_compress(state->made_public, &point);
	return 0;
}

static void close_state(pb_case *c)
{
	struct state *state = c->ctx;
	if (!state)
		return;
	free(state->signatures);
	free(state->pairing);
	free(state);
	c->ctx = NULL;
}

/* What `aggregate` works on: those of a known answer, or of all 16 keys under the data. */
static int lay_out_signatures(pb_case *c, struct state *state)
{
	state->count = c->given ? c->in_len / SIGNATURE : PB_RING;
	if (!state->count)
		return 1; /* some other operation, with less data than that */
	state->signatures = malloc(state->count * SIGNATURE);
	for (size_t i = 0; state->signatures && i < state->count; i++) {
		uint8_t *at = state->signatures + i * SIGNATURE;
		blst_scalar private;
		if (c->given) {
			memcpy(at, c->in + i * SIGNATURE, SIGNATURE);
		} else {
			private_of(&private, c->key[i]);
			sign_one(at, &private, c->in, c->size);
		}
	}
	return state->signatures != NULL;
}

static int open_state(pb_case *c)
{
	struct state *state = c->ctx = calloc(1, sizeof *state);
	blst_p1 point;
	if (!state || !(state->pairing = malloc(blst_pairing_sizeof())) || !lay_out_signatures(c, state)) {
		close_state(c);
		return pb_fail(c, "out of memory");
	}
	private_of(&state->private, c->key[0]);
	blst_sk_to_pk_in_g1(&point, &state->private);
	blst_p1_to_affine(&state->public, &point);
	c->out_len = c->inverse ? 0 : c->row->output;
	return 0;
}

PB_LOOP(sign, struct state, (sign_one(out, &state->private, PB_TURN(message, turn), size), 0))
PB_LOOP(verify, struct state, refused(state, &state->public, in, size, in + size))
PB_LOOP(aggregate, struct state, aggregate_all(state, out))
PB_LOOP(keygen, struct state, new_pair(state))

static void show_pair(pb_case *c)
{
	struct state *state = c->ctx;
	blst_p1_affine public;
	uint8_t signature[SIGNATURE];
	sign_one(signature, &state->made, c->in, c->size);
	c->failures += blst_p1_uncompress(&public, state->made_public) != BLST_SUCCESS ||
		       !blst_p1_affine_in_g1(&public) || refused(state, &public, c->in, c->size, signature);
	memcpy(c->out, state->made_public, c->out_len = PUBLIC);
}

static const pb_variant variants[] = {
	{"sign", "pk/1", "blst_hash_to_g2, blst_sign_pk_in_g1, blst_p2_compress", NULL, sign, NULL},
	{"verify", "pk/1",
	 "blst_p2_uncompress, blst_pairing_init, blst_pairing_chk_n_aggr_pk_in_g1, blst_pairing_commit, "
	 "blst_pairing_finalverify",
	 NULL, verify, NULL},
	{"aggregate", "pk/1", "16 times blst_aggregate_in_g2, blst_p2_compress", NULL, aggregate, NULL},
	{"keygen", "pk/1", "getrandom, blst_keygen, blst_sk_to_pk_in_g1, blst_p1_compress", NULL, keygen,
	 show_pair},
	PB_END_OF_VARIANTS,
};
static const pb_family family = {open_state, close_state, variants};

static int open_many(pb_case *c)
{
	c->turns = PB_RING;
	return open_state(c);
}

static const pb_variant many_variants[] = {
	{"sign", PB_UNTIMED, "", NULL, sign, NULL},
	{"verify", "many/1",
	 "getrandom, blst_pairing_init, 16 times blst_p2_uncompress and "
	 "blst_pairing_chk_n_mul_n_aggr_pk_in_g1, "
	 "blst_pairing_commit, blst_pairing_finalverify",
	 NULL, verify_many, NULL},
	PB_END_OF_VARIANTS,
};
static const pb_family many_family = {open_many, close_state, many_variants};

/* ---- a weighted sum of points: multi-scalar multiplication ---- */

enum { POINTS = 256 };

struct sum {
	blst_p2_affine point[POINTS]; /* multiples of the data's point */
	uint8_t weight[POINTS][KEY];  /* of the 16 keys, with their number */
	const blst_p2_affine *points[POINTS];
	const byte *weights[POINTS];
	limb_t *scratch;
};

static void close_sum(pb_case *c)
{
	struct sum *sum = c->ctx;
	if (sum)
		free(sum->scratch);
	free(sum);
	c->ctx = NULL;
}

static int open_sum(pb_case *c)
{
	blst_p2 hash, multiple;
	struct sum *sum = c->given ? NULL : calloc(1, sizeof *sum);
	c->ctx = sum;
	if (c->given)
		return pb_fail(c, "weights and points are the run's own") + PB_UNFIT;
	if (!sum || !(sum->scratch = malloc(blst_p2s_mult_pippenger_scratch_sizeof(POINTS)))) {
		close_sum(c);
		return pb_fail(c, "out of memory");
	}
	blst_hash_to_g2(&hash, c->in, c->size, scheme, SCHEME, NULL, 0);
	multiple = hash;
	for (unsigned i = 0; i < POINTS; i++) {
		blst_p2_to_affine(&sum->point[i], &multiple);
		blst_p2_add_or_double(&multiple, &multiple, &hash);
		memcpy(sum->weight[i], c->key[i % PB_RING], KEY);
		sum->weight[i][0] ^= (uint8_t)i;
		sum->weight[i][KEY - 1] &= 0x3f; /* the least significant byte is the first */
		sum->points[i] = &sum->point[i];
		sum->weights[i] = sum->weight[i];
	}
	c->out_len = SIGNATURE;
	return 0;
}

static int summed(struct sum *sum, uint8_t out[SIGNATURE])
{
	blst_p2 total;
	blst_p2s_mult_pippenger(&total, sum->points, POINTS, sum->weights, 8 * KEY - 2, sum->scratch);
	blst_p2_compress(out, &total);
	return 0;
}

PB_LOOP(weigh, struct sum, summed(state, out))

/* The same by one multiplication and one addition after the other. */
static void show_sum(pb_case *c)
{
	const struct sum *sum = c->ctx;
	uint8_t plain[SIGNATURE];
	blst_p2 total, part;
	for (unsigned i = 0; i < POINTS; i++) {
		blst_p2_from_affine(&part, &sum->point[i]);
		blst_p2_mult(&part, &part, sum->weight[i], 8 * KEY - 2);
		if (i)
			blst_p2_add_or_double(&total, &total, &part);
		else
			total = part;
	}
	blst_p2_compress(plain, &total);
	c->failures += memcmp(plain, c->out, SIGNATURE) != 0;
}

static const pb_variant sum_variants[] = {
	{"sum", "sum/1", "blst_p2s_mult_pippenger, blst_p2_compress", NULL, weigh, show_sum},
	PB_END_OF_VARIANTS,
};
static const pb_family sum_family = {open_sum, close_sum, sum_variants};

static const pb_row rows[] = {
	{"bls12-381-min-pk", &family, NULL, KEY, 0, 1, SIGNATURE},
	{"bls12-381-min-pk", &many_family, NULL, KEY, 0, 1, SIGNATURE},
	{"bls12-381-min-pk", &sum_family, NULL, KEY, 0, 1, SIGNATURE},
	PB_END_OF_ROWS,
};
static const pb_row *const tables[] = {rows, NULL};

static int start(const char *tier)
{
	return strcmp(tier, BUILT_AS) == 0 ? 0 : -1;
}

static const char *version(void)
{
	return BLST_VERSION;
}

static const pb_runner runner = {
	.name = RUNNER_NAME,
	.library = "blst",
	.license = "Apache-2.0",
	.version = version,
	.object = (const void *)blst_keygen,
	.start = start,
	.tables = tables,
};

int main(int argc, char **argv)
{
	return pb_runner_main(&runner, argc, argv);
}
