/* libsecp256k1: ECDSA, Schnorr signatures and ECDH on the one curve that it has. */
#include <perbyte.h>

#include <secp256k1.h>
#include <secp256k1_ecdh.h>
#include <secp256k1_preallocated.h>
#if __has_include(<secp256k1_schnorrsig.h>)
#include <secp256k1_schnorrsig.h>
#define HAS_SCHNORR
#endif
#include <version.h>

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

enum { POINT = 65, NUMBER = 32, SIGNATURE = 64 };
enum { USES = SECP256K1_CONTEXT_SIGN | SECP256K1_CONTEXT_VERIFY }; /* newer versions need no word on this */

static secp256k1_context *context;

struct state {
	secp256k1_pubkey public, made_public;
	secp256k1_ecdsa_signature signature;
#ifdef HAS_SCHNORR
	secp256k1_keypair pair, made;
	secp256k1_xonly_pubkey short_public;
#endif
	uint8_t private[NUMBER];
};

static struct state *new_state(pb_case *c)
{
	struct state *state = c->ctx = calloc(1, sizeof *state);
	if (!state)
		pb_fail(c, "out of memory");
	else if (!secp256k1_ec_pubkey_create(context, &state->public, c->key[0]))
		pb_fail(c, "secp256k1_ec_pubkey_create");
	else
		return state;
	free(state);
	return c->ctx = NULL;
}

static void close_state(pb_case *c)
{
	free(c->ctx);
	c->ctx = NULL;
}

static int failed(pb_case *c, const char *what)
{
	close_state(c);
	return pb_fail(c, "%s", what);
}

/* A private number as its user draws it. */
static int draw(uint8_t number[NUMBER])
{
	do {
		if (getrandom(number, NUMBER, 0) != NUMBER)
			return 0;
	} while (!secp256k1_ec_seckey_verify(context, number));
	return 1;
}

static int new_pair(struct state *state)
{
	return draw(state->private) &&
	       secp256k1_ec_pubkey_create(context, &state->made_public, state->private);
}

static void show_point(pb_case *c)
{
	struct state *state = c->ctx;
	c->out_len = POINT;
	c->failures += !secp256k1_ec_pubkey_serialize(context, c->out, &c->out_len, &state->made_public,
						      SECP256K1_EC_UNCOMPRESSED);
}

PB_LOOP(ec_keygen, struct state, !new_pair(state))
#define EC_KEYGEN "getrandom, secp256k1_ec_seckey_verify, secp256k1_ec_pubkey_create"

/* ---- ECDH ---- */

/* The x coordinate as it is, where the library would hash the point. */
static int plain(unsigned char *out, const unsigned char *x, const unsigned char *y, void *data)
{
	(void)y, (void)data;
	memcpy(out, x, NUMBER);
	return 1;
}

static int ecdh_open(pb_case *c)
{
	struct state *state = new_state(c);
	if (!state)
		return -1;
	c->out_len = c->row->output;
	int there = c->given ? secp256k1_ec_pubkey_parse(context, &state->public, c->in, c->in_len)
			     : secp256k1_ec_pubkey_create(context, &state->public, c->nonce[0]);
	return there ? 0 : failed(c, "the public key was refused");
}

PB_LOOP(ecdh_derive, struct state, !secp256k1_ecdh(context, out, &state->public, key[0], plain, NULL))

static void ecdh_show(pb_case *c)
{
	struct state *state = c->ctx;
	secp256k1_pubkey own;
	uint8_t one[NUMBER], other[NUMBER];
	c->failures += !secp256k1_ec_pubkey_create(context, &own, c->key[0]) ||
		       !secp256k1_ecdh(context, one, &own, state->private, plain, NULL) ||
		       !secp256k1_ecdh(context, other, &state->made_public, c->key[0], plain, NULL) ||
		       memcmp(one, other, NUMBER) != 0;
	show_point(c);
}

static const pb_variant ecdh_variants[] = {
	{"derive", "pk/1", "secp256k1_ecdh (the x coordinate, no hash)", NULL, ecdh_derive, NULL},
	{"keygen", "pk/1", EC_KEYGEN, NULL, ec_keygen, ecdh_show},
	PB_END_OF_VARIANTS,
};
static const pb_family ecdh_family = {ecdh_open, close_state, ecdh_variants};

/* ---- ECDSA ---- */

static int ecdsa_open(pb_case *c)
{
	if (c->size != NUMBER)
		return pb_fail(c, "a digest has 32 bytes") + PB_UNFIT;
	c->out_len = c->inverse ? 0 : c->row->output;
	return new_state(c) ? 0 : -1;
}

PB_LOOP(ecdsa_sign, struct state, !secp256k1_ecdsa_sign(context, &state->signature, in, key[0], NULL, NULL))
PB_LOOP(ecdsa_verify, struct state, !secp256k1_ecdsa_verify(context, &state->signature, in, &state->public))

static void ecdsa_show(pb_case *c)
{
	struct state *state = c->ctx;
	secp256k1_ecdsa_signature_serialize_compact(context, c->out, &state->signature);
}

/* r || s into the library's form, and s below half the order, as it wants it; before every sample, because a
 * forgery may have changed it. */
static void take_numbers(pb_case *c)
{
	struct state *state = c->ctx;
	if (!secp256k1_ecdsa_signature_parse_compact(context, &state->signature, c->in + c->size))
		memset(&state->signature, 0, sizeof state->signature);
	secp256k1_ecdsa_signature_normalize(context, &state->signature, &state->signature);
}

static void ecdsa_pair_show(pb_case *c)
{
	struct state *state = c->ctx;
	c->failures += !secp256k1_ecdsa_sign(context, &state->signature, c->in, state->private, NULL, NULL) ||
		       !secp256k1_ecdsa_verify(context, &state->signature, c->in, &state->made_public);
	show_point(c);
}

static const pb_variant ecdsa_variants[] = {
	{"sign", "pk/1", "secp256k1_ecdsa_sign (nonce of RFC 6979)", NULL, ecdsa_sign, ecdsa_show},
	{"verify", "pk/1", "secp256k1_ecdsa_verify", take_numbers, ecdsa_verify, NULL},
	{"keygen", "pk/1", EC_KEYGEN, NULL, ec_keygen, ecdsa_pair_show},
	PB_END_OF_VARIANTS,
};
static const pb_family ecdsa_family = {ecdsa_open, close_state, ecdsa_variants};

/* ---- Schnorr ---- */

#ifdef HAS_SCHNORR
/* Older versions sign 32 bytes and nothing else. */
#ifdef SECP256K1_SCHNORRSIG_EXTRAPARAMS_INIT
#define SCHNORR_SIGN(OUT, IN, SIZE, PAIR) secp256k1_schnorrsig_sign_custom(context, OUT, IN, SIZE, PAIR, NULL)
#define SCHNORR_VERIFY(SIGNATURE, IN, SIZE, PUBLIC)                                                          \
	secp256k1_schnorrsig_verify(context, SIGNATURE, IN, SIZE, PUBLIC)
#define SCHNORR_CALL "secp256k1_schnorrsig_sign_custom (no auxiliary random bytes)"
enum { ONE_LENGTH = 0 };
#else
#define SCHNORR_SIGN(OUT, IN, SIZE, PAIR) secp256k1_schnorrsig_sign(context, OUT, IN, PAIR, NULL, NULL)
#define SCHNORR_VERIFY(SIGNATURE, IN, SIZE, PUBLIC)                                                          \
	secp256k1_schnorrsig_verify(context, SIGNATURE, IN, PUBLIC)
#define SCHNORR_CALL "secp256k1_schnorrsig_sign (no auxiliary random bytes)"
enum { ONE_LENGTH = 1 };
#endif

static int schnorr_open(pb_case *c)
{
	if (ONE_LENGTH && c->size != NUMBER)
		return pb_fail(c, "a message has 32 bytes") + PB_UNFIT;
	c->out_len = c->inverse ? 0 : c->row->output;
	struct state *state = new_state(c);
	if (!state)
		return -1;
	return secp256k1_keypair_create(context, &state->pair, c->key[0]) &&
			       secp256k1_keypair_xonly_pub(context, &state->short_public, NULL, &state->pair)
		       ? 0
		       : failed(c, "secp256k1_keypair_create");
}

static int made_of_random(struct state *state)
{
	return draw(state->private) && secp256k1_keypair_create(context, &state->made, state->private);
}

PB_LOOP(schnorr_sign, struct state, !SCHNORR_SIGN(out, PB_TURN(message, turn), size, &state->pair))
PB_LOOP(schnorr_verify, struct state, !SCHNORR_VERIFY(in + size, in, size, &state->short_public))
PB_LOOP(schnorr_keygen, struct state, !made_of_random(state))

static void schnorr_show(pb_case *c)
{
	struct state *state = c->ctx;
	secp256k1_xonly_pubkey public;
	uint8_t signature[SIGNATURE];
	c->failures += !secp256k1_keypair_xonly_pub(context, &public, NULL, &state->made) ||
		       !SCHNORR_SIGN(signature, c->in, c->size, &state->made) ||
		       !SCHNORR_VERIFY(signature, c->in, c->size, &public);
	secp256k1_xonly_pubkey_serialize(context, c->out, &public);
	c->out_len = NUMBER;
}

static const pb_variant schnorr_variants[] = {
	{"sign", "pk/1", SCHNORR_CALL, NULL, schnorr_sign, NULL},
	{"verify", "pk/1", "secp256k1_schnorrsig_verify", NULL, schnorr_verify, NULL},
	{"keygen", "pk/1", "getrandom, secp256k1_ec_seckey_verify, secp256k1_keypair_create", NULL,
	 schnorr_keygen, schnorr_show},
	PB_END_OF_VARIANTS,
};
static const pb_family schnorr_family = {schnorr_open, close_state, schnorr_variants};
#endif

static const pb_row rows[] = {
	{"ecdh-secp256k1", &ecdh_family, NULL, NUMBER, NUMBER, 1, NUMBER},
	{"ecdsa-secp256k1", &ecdsa_family, NULL, NUMBER, 0, 1, SIGNATURE},
#ifdef HAS_SCHNORR
	{"schnorr-secp256k1", &schnorr_family, NULL, NUMBER, 0, 1, SIGNATURE},
#endif
	PB_END_OF_ROWS,
};
static const pb_row *const tables[] = {rows, NULL};

/* Randomised once against what leaks from the chip, as the library's manual asks. */
static int start(const char *tier)
{
	uint8_t seed[NUMBER];
	size_t room = secp256k1_context_preallocated_size(USES);
	void *memory = malloc(room);
	if (memory)
		context = secp256k1_context_preallocated_create(memory, USES);
	return context && getrandom(seed, sizeof seed, 0) == sizeof seed &&
			       secp256k1_context_randomize(context, seed) && strcmp(tier, "full") == 0
		       ? 0
		       : -1;
}

static const char *version(void)
{
	return SECP256K1_VERSION;
}

static const pb_runner runner = {
	.name = RUNNER_NAME,
	.library = "libsecp256k1",
	.license = "MIT",
	.version = version,
	.object = (const void *)secp256k1_ecdsa_sign,
	.start = start,
	.tables = tables,
};

int main(int argc, char **argv)
{
	return pb_runner_main(&runner, argc, argv);
}
