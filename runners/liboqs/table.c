/* liboqs: KEMs and signatures by the names that the library gives them. */
#include "stateful.h"

#include <oqs/oqs.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct state {
	OQS_KEM *kem;
	OQS_SIG *sig;
	uint8_t *public, *private, *made_public, *made;
	size_t length;
};

static void close_state(pb_case *c)
{
	struct state *state = c->ctx;
	if (!state)
		return;
	OQS_KEM_free(state->kem);
	OQS_SIG_free(state->sig);
	free(state->public);
	free(state->private);
	free(state->made_public);
	free(state->made);
	free(state);
	c->ctx = NULL;
}

static int room(struct state *state, size_t public, size_t private)
{
	state->public = malloc(public);
	state->private = malloc(private);
	state->made_public = malloc(public);
	state->made = malloc(private);
	return state->public && state->private && state->made_public && state->made;
}

static int failed(pb_case *c, const char *what)
{
	close_state(c);
	return pb_fail(c, "%s: %s", (const char *)c->row->param, what);
}

/* What has no function for a key pair of a given seed draws it at random: first, and nothing before it. */
static const uint8_t *seed;
static size_t seed_left;

static void give_seed(uint8_t *out, size_t length)
{
	for (size_t i = 0; i < length; i++)
		out[i] = seed_left ? (seed_left--, *seed++) : 0;
}

void begin_draw(const uint8_t *from, size_t length)
{
	seed = from;
	seed_left = length;
	if (length)
		OQS_randombytes_custom_algorithm(give_seed);
}

int end_draw(int failed)
{
	OQS_randombytes_switch_algorithm(OQS_RAND_alg_system);
	return failed || seed_left;
}

static int kem_open(pb_case *c)
{
	struct state *state = c->ctx = calloc(1, sizeof *state);
	if (!state || !(state->kem = OQS_KEM_new(c->row->param)) ||
	    !room(state, state->kem->length_public_key, state->kem->length_secret_key))
		return failed(c, "OQS_KEM_new");
	if (strncmp(c->row->param, "ML-KEM", 6) == 0) {
		if (OQS_KEM_keypair_derand(state->kem, state->public, state->private, c->key[0]) !=
		    OQS_SUCCESS)
			return failed(c, "OQS_KEM_keypair_derand");
	} else {
		begin_draw(c->key[0], c->key_len);
		if (end_draw(OQS_KEM_keypair(state->kem, state->public, state->private) != OQS_SUCCESS))
			return failed(c, "OQS_KEM_keypair");
	}
	state->length = state->kem->length_ciphertext;
	c->out_len = c->inverse ? c->row->output : state->length + c->row->output;
	return 0;
}

static void kem_show(pb_case *c)
{
	struct state *state = c->ctx;
	static uint8_t sealed[24576];
	uint8_t sent[64] = {0}, got[64] = {0};
	c->failures += OQS_KEM_encaps(state->kem, sealed, sent, state->made_public) != OQS_SUCCESS ||
		       OQS_KEM_decaps(state->kem, got, sealed, state->made) != OQS_SUCCESS ||
		       memcmp(sent, got, sizeof got) != 0;
	memcpy(c->out, state->made_public, c->out_len = state->kem->length_public_key);
}

PB_LOOP(encapsulate, struct state, OQS_KEM_encaps(state->kem, out, out + state->length, state->public))
PB_LOOP(decapsulate, struct state, OQS_KEM_decaps(state->kem, out, in, state->private))
PB_LOOP(kem_keygen, struct state, OQS_KEM_keypair(state->kem, state->made_public, state->made))

static const pb_variant kem_variants[] = {
	{"encapsulate", "pk/1", "OQS_KEM_encaps (with its random draw: getrandom)", NULL, encapsulate, NULL},
	{"decapsulate", "pk/1", "OQS_KEM_decaps", NULL, decapsulate, NULL},
	{"keygen", "pk/1", "OQS_KEM_keypair", NULL, kem_keygen, kem_show},
	PB_END_OF_VARIANTS,
};
static const pb_family kem_family = {kem_open, close_state, kem_variants};

/* HQC gives another secret for a changed ciphertext, and an error besides, as its reference code does. */
PB_LOOP(decapsulate_hqc, struct state, (OQS_KEM_decaps(state->kem, out, in, state->private), 0))

static const pb_variant hqc_variants[] = {
	{"encapsulate", "pk/1", "OQS_KEM_encaps (with its random draw: getrandom)", NULL, encapsulate, NULL},
	{"decapsulate", "pk/1", "OQS_KEM_decaps", NULL, decapsulate_hqc, NULL},
	{"keygen", "pk/1", "OQS_KEM_keypair", NULL, kem_keygen, kem_show},
	PB_END_OF_VARIANTS,
};
static const pb_family hqc_family = {kem_open, close_state, hqc_variants};

/* Without keygen: a public key is longer than what an answer holds. */
static const pb_variant large_variants[] = {
	{"encapsulate", "pk/1", "OQS_KEM_encaps (with its random draw: getrandom)", NULL, encapsulate, NULL},
	{"decapsulate", "pk/1", "OQS_KEM_decaps", NULL, decapsulate, NULL},
	PB_END_OF_VARIANTS,
};
static const pb_family large_family = {kem_open, close_state, large_variants};

static int sig_open(pb_case *c)
{
	/* Falcon: a pair of our own, the same in all cases of a row */
	static struct {
		uint8_t *public, *private;
	} pairs[2];
	uint8_t **own_public = &pairs[c->row->output > 666].public;
	uint8_t **own_private = &pairs[c->row->output > 666].private;
	struct state *state = c->ctx = calloc(1, sizeof *state);
	if (!state || !(state->sig = OQS_SIG_new(c->row->param)) ||
	    !room(state, state->sig->length_public_key, state->sig->length_secret_key))
		return failed(c, "OQS_SIG_new");
	size_t public = state->sig->length_public_key, private = state->sig->length_secret_key;
	int made = *own_public && !c->key_len;
	if (made) {
		memcpy(state->public, *own_public, public);
		memcpy(state->private, *own_private, private);
	} else {
		begin_draw(c->key[0], c->key_len);
		if (end_draw(OQS_SIG_keypair(state->sig, state->public, state->private) != OQS_SUCCESS))
			return failed(c, "OQS_SIG_keypair");
	}
	if (!c->key_len && !*own_public && (*own_public = malloc(public)) &&
	    (*own_private = malloc(private))) {
		memcpy(*own_public, state->public, public);
		memcpy(*own_private, state->private, private);
	}
	c->turns = PB_RING;
	c->out_len = c->inverse ? 0 : c->row->output;
	return 0;
}

static void sig_show(pb_case *c)
{
	struct state *state = c->ctx;
	static uint8_t signature[8192];
	size_t length = 0;
	c->failures +=
		OQS_SIG_sign(state->sig, signature, &length, c->in, c->size, state->made) != OQS_SUCCESS ||
		OQS_SIG_verify(state->sig, c->in, c->size, signature, length, state->made_public) !=
			OQS_SUCCESS;
	memcpy(c->out, state->made_public, c->out_len = state->sig->length_public_key);
}

PB_LOOP(sign, struct state,
	OQS_SIG_sign(state->sig, out, &state->length, PB_TURN(message, turn), size, state->private))
PB_LOOP(verify, struct state, OQS_SIG_verify(state->sig, in, size, in + size, out_max, state->public))
PB_LOOP(sig_keygen, struct state, OQS_SIG_keypair(state->sig, state->made_public, state->made))

static const pb_variant sig_variants[] = {
	{"sign", "pk/1", "OQS_SIG_sign (with its random draw: getrandom)", NULL, sign, NULL},
	{"verify", "pk/1", "OQS_SIG_verify", NULL, verify, NULL},
	{"keygen", "pk/1", "OQS_SIG_keypair", NULL, sig_keygen, sig_show},
	PB_END_OF_VARIANTS,
};
static const pb_family sig_family = {sig_open, close_state, sig_variants};

static const pb_row rows[] = {
	{"ml-kem-512", &kem_family, "ML-KEM-512", 64, 0, 1, 32},
	{"ml-kem-768", &kem_family, "ML-KEM-768", 64, 0, 1, 32},
	{"ml-kem-1024", &kem_family, "ML-KEM-1024", 64, 0, 1, 32},
	{"efrodokem-640-aes", &kem_family, "FrodoKEM-640-AES", 48, 0, 1, 16},
	{"efrodokem-640-shake", &kem_family, "FrodoKEM-640-SHAKE", 48, 0, 1, 16},
	{"efrodokem-976-aes", &kem_family, "FrodoKEM-976-AES", 64, 0, 1, 24},
	{"efrodokem-976-shake", &kem_family, "FrodoKEM-976-SHAKE", 64, 0, 1, 24},
	{"efrodokem-1344-aes", &kem_family, "FrodoKEM-1344-AES", 80, 0, 1, 32},
	{"efrodokem-1344-shake", &kem_family, "FrodoKEM-1344-SHAKE", 80, 0, 1, 32},
	{"classic-mceliece-348864", &large_family, "Classic-McEliece-348864", 32, 0, 1, 32},
	{"classic-mceliece-460896", &large_family, "Classic-McEliece-460896", 32, 0, 1, 32},
	{"classic-mceliece-6688128", &large_family, "Classic-McEliece-6688128", 32, 0, 1, 32},
	{"hqc-128-2023", &hqc_family, "HQC-128", 96, 0, 1, 64},
	{"hqc-192-2023", &hqc_family, "HQC-192", 104, 0, 1, 64},
	{"hqc-256-2023", &hqc_family, "HQC-256", 112, 0, 1, 64},
	{"ml-dsa-44", &sig_family, "ML-DSA-44", 32, 0, 1, 2420},
	{"ml-dsa-65", &sig_family, "ML-DSA-65", 32, 0, 1, 3309},
	{"ml-dsa-87", &sig_family, "ML-DSA-87", 32, 0, 1, 4627},
	{"falcon-512", &sig_family, "Falcon-padded-512", 0, 0, 1, 666},
	{"falcon-1024", &sig_family, "Falcon-padded-1024", 0, 0, 1, 1280},
	PB_END_OF_ROWS,
};
static const pb_row *const tables[] = {rows, stateful_rows, NULL};

static int start(const char *tier)
{
	OQS_init();
	return strcmp(tier, BUILT_AS) == 0 ? 0 : -1;
}

static int offers(const pb_row *row)
{
	if (row->family == &stateful_family)
		return stateful_offers(row);
	return row->family != &sig_family ? OQS_KEM_alg_is_enabled(row->param)
					  : OQS_SIG_alg_is_enabled(row->param);
}

static const char *cpu_features(void)
{
	static char text[80];
	if (strcmp(BUILT_AS, "full") != 0)
		return "";
	snprintf(text, sizeof text, "%s%s%s%s", OQS_CPU_has_extension(OQS_CPU_EXT_AES) ? "AES " : "",
		 OQS_CPU_has_extension(OQS_CPU_EXT_AVX2) ? "AVX2 " : "",
		 OQS_CPU_has_extension(OQS_CPU_EXT_BMI2) ? "BMI2 " : "",
		 OQS_CPU_has_extension(OQS_CPU_EXT_AVX512) ? "AVX-512" : "");
	return text;
}

static const pb_runner runner = {
	.name = RUNNER_NAME,
	.library = "liboqs",
	.license = "MIT",
	.version = OQS_version,
	.cpu_features = cpu_features,
	.object = (const void *)OQS_KEM_encaps,
	.start = start,
	.offers = offers,
	.tables = tables,
};

int main(int argc, char **argv)
{
	return pb_runner_main(&runner, argc, argv);
}
