/* X25519, Ed25519, ML-KEM-768, and who answers. */
#include "families.h"

#include <direct.h>

#include <sodium.h>

#include <stdlib.h>
#include <string.h>

struct state {
	uint8_t public[crypto_kem_mlkem768_PUBLICKEYBYTES], private[crypto_kem_mlkem768_SECRETKEYBYTES];
	uint8_t made_public[crypto_kem_mlkem768_PUBLICKEYBYTES], made[crypto_kem_mlkem768_SECRETKEYBYTES];
};

static struct state *new_state(pb_case *c)
{
	struct state *state = c->ctx = calloc(1, sizeof *state);
	if (!state)
		pb_fail(c, "out of memory");
	return state;
}

static void close_state(pb_case *c)
{
	free(c->ctx);
	c->ctx = NULL;
}

static void show_public(pb_case *c, size_t length)
{
	memcpy(c->out, ((struct state *)c->ctx)->made_public, c->out_len = length);
}

static int x25519_open(pb_case *c)
{
	struct state *state = new_state(c);
	c->out_len = c->row->output;
	if (!state)
		return -1;
	if (c->given && c->in_len == crypto_scalarmult_BYTES)
		memcpy(state->public, c->in, crypto_scalarmult_BYTES);
	return c->given ? 0 : crypto_scalarmult_base(state->public, c->nonce[0]);
}

static void x25519_show(pb_case *c)
{
	struct state *state = c->ctx;
	uint8_t own[32], one[32], other[32];
	c->failures += crypto_scalarmult_base(own, c->key[0]) || crypto_scalarmult(one, state->made, own) ||
		       crypto_scalarmult(other, c->key[0], state->made_public) || memcmp(one, other, 32) != 0;
	show_public(c, crypto_scalarmult_BYTES);
}

PB_LOOP(derive, struct state, crypto_scalarmult(out, key[0], state->public))
PB_LOOP(x25519_keygen, struct state, crypto_box_keypair(state->made_public, state->made))

static const pb_variant x25519_variants[] = {
	{"derive", "pk/1", "crypto_scalarmult", NULL, derive, NULL},
	{"keygen", "pk/1", "crypto_box_keypair", NULL, x25519_keygen, x25519_show},
	PB_END_OF_VARIANTS,
};
static const pb_family x25519_family = {x25519_open, close_state, x25519_variants};

static int ed25519_open(pb_case *c)
{
	struct state *state = new_state(c);
	c->out_len = c->inverse ? 0 : c->row->output;
	return state ? crypto_sign_seed_keypair(state->public, state->private, c->key[0]) : -1;
}

static void ed25519_show(pb_case *c)
{
	struct state *state = c->ctx;
	uint8_t signature[crypto_sign_BYTES];
	c->failures += crypto_sign_detached(signature, NULL, c->in, c->size, state->made) ||
		       crypto_sign_verify_detached(signature, c->in, c->size, state->made_public);
	show_public(c, crypto_sign_PUBLICKEYBYTES);
}

PB_LOOP(sign, struct state, crypto_sign_detached(out, NULL, PB_TURN(message, turn), size, state->private))
PB_LOOP(verify, struct state, crypto_sign_verify_detached(in + size, in, size, state->public))
PB_LOOP(ed25519_keygen, struct state, crypto_sign_keypair(state->made_public, state->made))

static const pb_variant ed25519_variants[] = {
	{"sign", "pk/1", "crypto_sign_detached", NULL, sign, NULL},
	{"verify", "pk/1", "crypto_sign_verify_detached", NULL, verify, NULL},
	{"keygen", "pk/1", "crypto_sign_keypair", NULL, ed25519_keygen, ed25519_show},
	PB_END_OF_VARIANTS,
};
static const pb_family ed25519_family = {ed25519_open, close_state, ed25519_variants};

static int kem_open(pb_case *c)
{
	struct state *state = new_state(c);
	c->out_len = c->inverse ? c->row->output : crypto_kem_mlkem768_CIPHERTEXTBYTES + c->row->output;
	return state ? crypto_kem_mlkem768_seed_keypair(state->public, state->private, c->key[0]) : -1;
}

static void kem_show(pb_case *c)
{
	struct state *state = c->ctx;
	uint8_t sealed[crypto_kem_mlkem768_CIPHERTEXTBYTES], sent[32], got[32];
	c->failures += crypto_kem_mlkem768_enc(sealed, sent, state->made_public) ||
		       crypto_kem_mlkem768_dec(got, sealed, state->made) || memcmp(sent, got, 32) != 0;
	show_public(c, crypto_kem_mlkem768_PUBLICKEYBYTES);
}

PB_LOOP(encapsulate, struct state,
	crypto_kem_mlkem768_enc(out, out + crypto_kem_mlkem768_CIPHERTEXTBYTES, state->public))
PB_LOOP(decapsulate, struct state, crypto_kem_mlkem768_dec(out, in, state->private))
PB_LOOP(kem_keygen, struct state, crypto_kem_mlkem768_keypair(state->made_public, state->made))

static const pb_variant kem_variants[] = {
	{"encapsulate", "pk/1", "crypto_kem_mlkem768_enc (with its random draw)", NULL, encapsulate, NULL},
	{"decapsulate", "pk/1", "crypto_kem_mlkem768_dec", NULL, decapsulate, NULL},
	{"keygen", "pk/1", "crypto_kem_mlkem768_keypair", NULL, kem_keygen, kem_show},
	PB_END_OF_VARIANTS,
};
static const pb_family kem_family = {kem_open, close_state, kem_variants};

const pb_row public_rows[] = {
	ROW("x25519", x25519_family, 32, 32, 32),
	ROW("ed25519", ed25519_family, 32, 0, 64),
	ROW("ml-kem-768", kem_family, 64, 0, 32),
	PB_END_OF_ROWS,
};

static int start(const char *tier)
{
	return sodium_init() < 0 || strcmp(tier, "full") != 0 ? -1 : 0;
}

static int offers(const pb_row *row)
{
	return strcmp(row->algorithm, "aes-256-gcm") != 0 || crypto_aead_aes256gcm_is_available();
}

PB_DIRECT_RANDOM(random, "random-bytes", "randombytes_buf", (randombytes_buf(out, size), 0));

static const pb_row *const tables[] = {secret_rows, hash_rows, public_rows, random_rows, NULL};

static const pb_runner runner = {
	.name = RUNNER_NAME,
	.library = "libsodium",
	.license = "ISC",
	.version = sodium_version_string,
	.object = (const void *)sodium_version_string,
	.start = start,
	.offers = offers,
	.tables = tables,
};

int main(int argc, char **argv)
{
	return pb_runner_main(&runner, argc, argv);
}
