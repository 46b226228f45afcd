/* ML-KEM, ML-DSA and SLH-DSA through the functions of their names. The keys are unpacked structures that were
 * made beforehand. */
#include "../aws-lc/families.h"

#include <openssl/mldsa.h>
#include <openssl/mlkem.h>
#include <openssl/slhdsa.h>

#include <stdlib.h>
#include <string.h>

static void close_state(pb_case *c)
{
	free(c->ctx);
	c->ctx = NULL;
}

#define KEM(N, CIPHERTEXT, PUBLIC)                                                                           \
	struct kem##N {                                                                                      \
		struct MLKEM##N##_private_key private, made;                                                 \
		struct MLKEM##N##_public_key public, made_public;                                            \
		uint8_t encoded[PUBLIC];                                                                     \
	};                                                                                                   \
	static int kem##N##_open(pb_case *c)                                                                 \
	{                                                                                                    \
		struct kem##N *state = c->ctx = calloc(1, sizeof *state);                                    \
		if (!state || !MLKEM##N##_private_key_from_seed(&state->private, c->key[0], c->key_len))     \
			return library_fail(c, "MLKEM" #N "_private_key_from_seed");                         \
		MLKEM##N##_public_from_private(&state->public, &state->private);                             \
		c->out_len = c->inverse ? c->row->output : CIPHERTEXT + c->row->output;                      \
		return 0;                                                                                    \
	}                                                                                                    \
	PB_LOOP(encapsulate##N, struct kem##N, (MLKEM##N##_encap(out, out + CIPHERTEXT, &state->public), 0)) \
	PB_LOOP(decapsulate##N, struct kem##N, !MLKEM##N##_decap(out, in, in_len, &state->private))          \
	PB_LOOP(kem_keygen##N, struct kem##N,                                                                \
		(MLKEM##N##_generate_key(state->encoded, NULL, &state->made), 0))                            \
	static void kem_show##N(pb_case *c)                                                                  \
	{                                                                                                    \
		struct kem##N *state = c->ctx;                                                               \
		static uint8_t sealed[CIPHERTEXT];                                                           \
		uint8_t sent[32], got[32];                                                                   \
		MLKEM##N##_public_from_private(&state->made_public, &state->made);                           \
		MLKEM##N##_encap(sealed, sent, &state->made_public);                                         \
		c->failures += !MLKEM##N##_decap(got, sealed, sizeof sealed, &state->made) ||                \
			       memcmp(sent, got, sizeof got) != 0;                                           \
		memcpy(c->out, state->encoded, c->out_len = PUBLIC);                                         \
	}                                                                                                    \
	static const pb_variant kem_variants##N[] = {                                                        \
		{"encapsulate", "pk/1", "MLKEM" #N "_encap (with its random draw)", NULL, encapsulate##N,    \
		 NULL},                                                                                      \
		{"decapsulate", "pk/1", "MLKEM" #N "_decap", NULL, decapsulate##N, NULL},                    \
		{"keygen", "pk/1", "MLKEM" #N "_generate_key", NULL, kem_keygen##N, kem_show##N},            \
		PB_END_OF_VARIANTS,                                                                          \
	};                                                                                                   \
	static const pb_family kem_family##N = {kem##N##_open, close_state, kem_variants##N};

KEM(768, 1088, 1184)
KEM(1024, 1568, 1568)

#define DSA(N, PUBLIC, SIGNATURE)                                                                            \
	struct dsa##N {                                                                                      \
		struct MLDSA##N##_private_key private, made;                                                 \
		struct MLDSA##N##_public_key public, made_public;                                            \
		uint8_t encoded[PUBLIC], seed[MLDSA_SEED_BYTES];                                             \
	};                                                                                                   \
	static int dsa##N##_open(pb_case *c)                                                                 \
	{                                                                                                    \
		struct dsa##N *state = c->ctx = calloc(1, sizeof *state);                                    \
		c->turns = PB_RING;                                                                          \
		c->out_len = c->inverse ? 0 : c->row->output;                                                \
		if (state && MLDSA##N##_private_key_from_seed(&state->private, c->key[0], c->key_len) &&     \
		    MLDSA##N##_public_from_private(&state->public, &state->private))                         \
			return 0;                                                                            \
		return library_fail(c, "MLDSA" #N "_private_key_from_seed");                                 \
	}                                                                                                    \
	PB_LOOP(sign##N, struct dsa##N,                                                                      \
		!MLDSA##N##_sign(out, &state->private, PB_TURN(message, turn), size, NULL, 0))               \
	PB_LOOP(verify##N, struct dsa##N,                                                                    \
		!MLDSA##N##_verify(&state->public, in + size, SIGNATURE, in, size, NULL, 0))                 \
	PB_LOOP(dsa_keygen##N, struct dsa##N,                                                                \
		!MLDSA##N##_generate_key(state->encoded, state->seed, &state->made))                         \
	static void dsa_show##N(pb_case *c)                                                                  \
	{                                                                                                    \
		struct dsa##N *state = c->ctx;                                                               \
		static uint8_t signature[SIGNATURE];                                                         \
		c->failures += !MLDSA##N##_public_from_private(&state->made_public, &state->made) ||         \
			       !MLDSA##N##_sign(signature, &state->made, c->in, c->size, NULL, 0) ||         \
			       !MLDSA##N##_verify(&state->made_public, signature, SIGNATURE, c->in, c->size, \
						  NULL, 0);                                                  \
		memcpy(c->out, state->encoded, c->out_len = PUBLIC);                                         \
	}                                                                                                    \
	static const pb_variant dsa_variants##N[] = {                                                        \
		{"sign", "pk/1", "MLDSA" #N "_sign", NULL, sign##N, NULL},                                   \
		{"verify", "pk/1", "MLDSA" #N "_verify", NULL, verify##N, NULL},                             \
		{"keygen", "pk/1", "MLDSA" #N "_generate_key", NULL, dsa_keygen##N, dsa_show##N},            \
		PB_END_OF_VARIANTS,                                                                          \
	};                                                                                                   \
	static const pb_family dsa_family##N = {dsa##N##_open, close_state, dsa_variants##N};

DSA(65, 1952, 3309)
DSA(87, 2592, 4627)

struct slh {
	uint8_t public[SLHDSA_SHA2_128S_PUBLIC_KEY_BYTES], private[SLHDSA_SHA2_128S_PRIVATE_KEY_BYTES];
	uint8_t made_public[SLHDSA_SHA2_128S_PUBLIC_KEY_BYTES], made[SLHDSA_SHA2_128S_PRIVATE_KEY_BYTES];
};

static int slh_open(pb_case *c)
{
	struct slh *state = c->ctx = calloc(1, sizeof *state);
	if (!state)
		return pb_fail(c, "out of memory");
	SLHDSA_SHA2_128S_generate_key_from_seed(state->public, state->private, c->key[0]);
	c->out_len = c->inverse ? 0 : c->row->output;
	return 0;
}

PB_LOOP(slh_sign, struct slh,
	!SLHDSA_SHA2_128S_sign(out, state->private, PB_TURN(message, turn), size, NULL, 0))
PB_LOOP(slh_verify, struct slh,
	!SLHDSA_SHA2_128S_verify(in + size, out_max, state->public, in, size, NULL, 0))
PB_LOOP(slh_keygen, struct slh, (SLHDSA_SHA2_128S_generate_key(state->made_public, state->made), 0))

static void slh_show(pb_case *c)
{
	struct slh *state = c->ctx;
	static uint8_t signature[SLHDSA_SHA2_128S_SIGNATURE_BYTES];
	c->failures += !SLHDSA_SHA2_128S_sign(signature, state->made, c->in, c->size, NULL, 0) ||
		       !SLHDSA_SHA2_128S_verify(signature, sizeof signature, state->made_public, c->in,
						c->size, NULL, 0);
	memcpy(c->out, state->made_public, c->out_len = sizeof state->made_public);
}

static const pb_variant slh_variants[] = {
	{"sign", "pk/1", "SLHDSA_SHA2_128S_sign", NULL, slh_sign, NULL},
	{"verify", "pk/1", "SLHDSA_SHA2_128S_verify", NULL, slh_verify, NULL},
	{"keygen", "pk/1", "SLHDSA_SHA2_128S_generate_key", NULL, slh_keygen, slh_show},
	PB_END_OF_VARIANTS,
};
static const pb_family slh_family = {slh_open, close_state, slh_variants};

const pb_row pqc_rows[] = {
	{"ml-kem-768", &kem_family768, NULL, 64, 0, 1, 32},
	{"ml-kem-1024", &kem_family1024, NULL, 64, 0, 1, 32},
	{"ml-dsa-65", &dsa_family65, NULL, 32, 0, 1, 3309},
	{"ml-dsa-87", &dsa_family87, NULL, 32, 0, 1, 4627},
	{"slh-dsa-sha2-128s", &slh_family, NULL, 48, 0, 1, 7856},
	PB_END_OF_ROWS,
};

const pb_row own_digest_rows[] = {PB_END_OF_ROWS};
