/* Key agreement and KEMs. Keys, contexts and the peer's public key are made beforehand. */
#include "pkey.h"

#include <openssl/dh.h>

#include <stdlib.h>
#include <string.h>

struct state {
	EVP_PKEY *key, *peer, *made;
	EVP_PKEY_CTX *ctx, *maker;
	size_t length, secret; /* of what derive, encapsulate, decapsulate write */
};

static void exchange_close(pb_case *c)
{
	struct state *state = c->ctx;
	if (!state)
		return;
	EVP_PKEY_CTX_free(state->ctx);
	EVP_PKEY_CTX_free(state->maker);
	EVP_PKEY_free(state->made);
	EVP_PKEY_free(state->peer);
	EVP_PKEY_free(state->key);
	free(state);
	c->ctx = NULL;
}

static struct state *begin_state(pb_case *c)
{
	struct state *state = c->ctx = calloc(1, sizeof *state);
	const struct pkey_kind *kind = c->row->param;
	if (!state) {
		pb_fail(c, "out of memory");
		return NULL;
	}
	state->key = pkey_of(c, kind, c->key[0]);
	state->maker = pkey_maker(kind);
	state->ctx = state->key ? EVP_PKEY_CTX_new_from_pkey(NULL, state->key, NULL) : NULL;
	return state->ctx ? state : NULL;
}

static int exchange_open(pb_case *c)
{
	const struct pkey_kind *kind = c->row->param;
	struct state *state = begin_state(c);
	if (state && (state->peer = c->given ? pkey_public(c, kind, c->in, c->in_len)
					     : pkey_of(c, kind, c->nonce[0]))) {
		c->out_len = c->row->output;
		if (EVP_PKEY_derive_init(state->ctx) == 1 &&
		    (kind->form != PKEY_DH || EVP_PKEY_CTX_set_dh_pad(state->ctx, 1) == 1) &&
		    EVP_PKEY_derive_set_peer(state->ctx, state->peer) == 1)
			return 0;
		evp_fail(c, "EVP_PKEY_derive_set_peer");
	}
	exchange_close(c);
	return -1;
}

PB_LOOP(derive, struct state,
	(state->length = out_max, EVP_PKEY_derive(state->ctx, out, &state->length) != 1))
PKEY_KEYGEN(exchange_keygen, struct state)

static int derived(const pb_case *c, EVP_PKEY *own, EVP_PKEY *peer, uint8_t *secret, size_t *length)
{
	const struct pkey_kind *kind = c->row->param;
	EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_from_pkey(NULL, own, NULL);
	int done = ctx && EVP_PKEY_derive_init(ctx) == 1 &&
		   (kind->form != PKEY_DH || EVP_PKEY_CTX_set_dh_pad(ctx, 1) == 1) &&
		   EVP_PKEY_derive_set_peer(ctx, peer) == 1 && EVP_PKEY_derive(ctx, secret, length) == 1;
	EVP_PKEY_CTX_free(ctx);
	return done;
}

/* The last pair made and the case's own must come to the same secret from both sides. */
static void show_exchange(pb_case *c)
{
	enum { LONGEST = 512 };
	struct state *state = c->ctx;
	uint8_t one[LONGEST], other[LONGEST];
	size_t one_len = LONGEST, other_len = LONGEST;
	c->failures += !derived(c, state->made, state->key, one, &one_len) ||
		       !derived(c, state->key, state->made, other, &other_len) || one_len != other_len ||
		       memcmp(one, other, one_len) != 0 || !pkey_show(c, state->made);
}

PB_LOOP(derive_object, struct state,
	(state->length = out_max, !derived(c, state->key, state->peer, out, &state->length)))
PB_LOOP(derive_peer, struct state,
	(state->length = out_max, EVP_PKEY_derive_set_peer(state->ctx, state->peer) != 1 ||
					  EVP_PKEY_derive(state->ctx, out, &state->length) != 1))

static const pb_variant exchange_variants[] = {
	{"derive", "pk/1", "EVP_PKEY_derive", NULL, derive, NULL},
	{"derive", "peer/1", "EVP_PKEY_derive_set_peer, EVP_PKEY_derive", NULL, derive_peer, NULL},
	{"derive", "context/1",
	 "EVP_PKEY_CTX_new, EVP_PKEY_derive_init, EVP_PKEY_derive_set_peer, EVP_PKEY_derive, "
	 "EVP_PKEY_CTX_free",
	 NULL, derive_object, NULL},
	{"keygen", "pk/1", PKEY_KEYGEN_CALLS, NULL, exchange_keygen, show_exchange},
	PB_END_OF_VARIANTS,
};

const pb_family evp_exchange_family = {exchange_open, exchange_close, exchange_variants};

#if OPENSSL_VERSION_NUMBER >= 0x30000000L /* 1.1 has no KEM */
static int kem_open(pb_case *c)
{
	struct state *state = begin_state(c);
	if (state &&
	    (c->inverse ? EVP_PKEY_decapsulate_init(state->ctx, NULL)
			: EVP_PKEY_encapsulate_init(state->ctx, NULL)) == 1 &&
	    (c->inverse ||
	     EVP_PKEY_encapsulate(state->ctx, NULL, &state->length, NULL, &state->secret) == 1)) {
		c->out_len = state->length + c->row->output;
		return 0;
	}
	if (!c->error[0])
		evp_fail(c, "EVP_PKEY_encapsulate_init");
	exchange_close(c);
	return -1;
}

PB_LOOP(encapsulate, struct state,
	EVP_PKEY_encapsulate(state->ctx, out, &state->length, out + state->length, &state->secret) != 1)
PB_LOOP(decapsulate, struct state,
	(state->secret = out_max, EVP_PKEY_decapsulate(state->ctx, out, &state->secret, in, in_len) != 1))

/* What is encapsulated for the last pair made, it must be able to open. */
static void show_kem(pb_case *c)
{
	enum { LONGEST = 4096 };
	struct state *state = c->ctx;
	static uint8_t sealed[LONGEST];
	uint8_t sent[64], got[64];
	size_t length = LONGEST, sent_len = sizeof sent, got_len = sizeof got;
	EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_from_pkey(NULL, state->made, NULL);
	c->failures += !ctx || EVP_PKEY_encapsulate_init(ctx, NULL) != 1 ||
		       EVP_PKEY_encapsulate(ctx, sealed, &length, sent, &sent_len) != 1 ||
		       EVP_PKEY_decapsulate_init(ctx, NULL) != 1 ||
		       EVP_PKEY_decapsulate(ctx, got, &got_len, sealed, length) != 1 || got_len != sent_len ||
		       memcmp(sent, got, got_len) != 0 || !pkey_show(c, state->made);
	EVP_PKEY_CTX_free(ctx);
}

static const pb_variant kem_variants[] = {
	{"encapsulate", "pk/1", "EVP_PKEY_encapsulate (with its random draw)", NULL, encapsulate, NULL},
	{"decapsulate", "pk/1", "EVP_PKEY_decapsulate", NULL, decapsulate, NULL},
	{"keygen", "pk/1", PKEY_KEYGEN_CALLS, NULL, exchange_keygen, show_kem},
	PB_END_OF_VARIANTS,
};

const pb_family evp_kem_family = {kem_open, exchange_close, kem_variants};
#endif

#define CURVE(ID, NAME, GROUP, FORM, LENGTH)                                                                 \
	{                                                                                                    \
		ID, &evp_exchange_family, &(const struct pkey_kind){NAME, GROUP, FORM}, LENGTH, LENGTH, 1,   \
			LENGTH                                                                               \
	}
#define GROUP(ID, KEY, LENGTH)                                                                               \
	{                                                                                                    \
		ID, &evp_exchange_family, &(const struct pkey_kind){"DH", ID, PKEY_DH}, KEY, KEY, 1, LENGTH  \
	}
#define KEM(ID, NAME, FORM, KEY, SECRET)                                                                     \
	{                                                                                                    \
		ID, &evp_kem_family, &(const struct pkey_kind){NAME, NULL, FORM}, KEY, 0, 1, SECRET          \
	}

const pb_row evp_exchange_rows[] = {
	CURVE("x25519", "X25519", NULL, PKEY_RAW, 32),
	CURVE("x448", "X448", NULL, PKEY_RAW, 56),
	CURVE("ecdh-p256", "EC", "prime256v1", PKEY_EC, 32),
	CURVE("ecdh-p384", "EC", "secp384r1", PKEY_EC, 48),
	CURVE("ecdh-p521", "EC", "secp521r1", PKEY_EC, 66),
	CURVE("ecdh-secp256k1", "EC", "secp256k1", PKEY_EC, 32),
	CURVE("ecdh-brainpoolp256r1", "EC", "brainpoolP256r1", PKEY_EC, 32),
	CURVE("ecdh-brainpoolp384r1", "EC", "brainpoolP384r1", PKEY_EC, 48),
	CURVE("ecdh-brainpoolp512r1", "EC", "brainpoolP512r1", PKEY_EC, 64),
	GROUP("ffdhe2048", 29, 256),
	GROUP("ffdhe3072", 35, 384),
#if OPENSSL_VERSION_NUMBER >= 0x30000000L
	KEM("ml-kem-512", "ML-KEM-512", PKEY_SEED, 64, 32),
	KEM("ml-kem-768", "ML-KEM-768", PKEY_SEED, 64, 32),
	KEM("ml-kem-1024", "ML-KEM-1024", PKEY_SEED, 64, 32),
	KEM("x25519mlkem768", "X25519MLKEM768", PKEY_OWN, 0, 64),
#endif
	PB_END_OF_ROWS,
};
