/* Signatures over the message itself (Ed25519, Ed448, ML-DSA, SLH-DSA), and ECDSA over a digest. Keys and
 * contexts are made beforehand. */
#include "pkey.h"

#include <openssl/ecdsa.h>

#include <stdlib.h>
#include <string.h>

enum { DER_ROOM = 160 };

struct state {
	EVP_PKEY *key, *made;
	EVP_PKEY_CTX *ctx, *maker;
	EVP_MD_CTX *md;
	size_t length;
	uint8_t der[DER_ROOM]; /* ECDSA: what verify gets */
	size_t der_len;
	BIO *text;        /* what store gave last, as text */
	uint8_t *encoded; /* the private key, as load gets it */
	long encoded_len;
};

static int is_ecdsa(const pb_case *c)
{
	return c->row->family == &evp_ecdsa_family;
}

static void signature_close(pb_case *c)
{
	struct state *state = c->ctx;
	if (!state)
		return;
	EVP_MD_CTX_free(state->md);
	EVP_PKEY_CTX_free(state->ctx);
	EVP_PKEY_CTX_free(state->maker);
	EVP_PKEY_free(state->made);
	EVP_PKEY_free(state->key);
	OPENSSL_free(state->encoded);
	BIO_free(state->text);
	free(state);
	c->ctx = NULL;
}

/* OpenSSL 3.4 has a context that signs whole messages again and again; before it EVP_DigestSign did. */
#if OPENSSL_VERSION_NUMBER >= 0x30400000L
static int start_messages(const pb_case *c, struct state *state)
{
	const struct pkey_kind *kind = c->row->param;
	EVP_SIGNATURE *method = EVP_SIGNATURE_fetch(NULL, kind->name, NULL);
	int done = method && (c->inverse ? EVP_PKEY_verify_message_init(state->ctx, method, NULL)
					 : EVP_PKEY_sign_message_init(state->ctx, method, NULL)) == 1;
	EVP_SIGNATURE_free(method);
	return done;
}
#define SIGN_CALL       "EVP_PKEY_sign"
#define VERIFY_CALL     "EVP_PKEY_verify"
#define SIGN(S, M, N)   EVP_PKEY_sign(state->ctx, S, &state->length, M, N)
#define VERIFY(S, M, N) EVP_PKEY_verify(state->ctx, S, out_max, M, N)
#else
static int start_messages(const pb_case *c, struct state *state)
{
	return (c->inverse ? EVP_DigestVerifyInit(state->md, NULL, NULL, NULL, state->key)
			   : EVP_DigestSignInit(state->md, NULL, NULL, NULL, state->key)) == 1;
}
#if OPENSSL_VERSION_NUMBER >= 0x30200000L
/* OpenSSL 3.2 and 3.3 refuse a second message until the context is started again, with the key that it has. */
#define SIGN_CALL    "EVP_DigestSignInit, EVP_DigestSign"
#define VERIFY_CALL  "EVP_DigestVerifyInit, EVP_DigestVerify"
#define AGAIN(START) START(state->md, NULL, NULL, NULL, NULL) == 1 &&
#else
#define SIGN_CALL   "EVP_DigestSign"
#define VERIFY_CALL "EVP_DigestVerify"
#define AGAIN(START)
#endif
#define SIGN(S, M, N)   (AGAIN(EVP_DigestSignInit) EVP_DigestSign(state->md, S, &state->length, M, N) == 1)
#define VERIFY(S, M, N) (AGAIN(EVP_DigestVerifyInit) EVP_DigestVerify(state->md, S, out_max, M, N) == 1)
#endif

static int signature_open(pb_case *c)
{
	const struct pkey_kind *kind = c->row->param;
	struct state *state = c->ctx = calloc(1, sizeof *state);
	if (!state)
		return pb_fail(c, "out of memory");
	state->md = EVP_MD_CTX_new();
	state->maker = pkey_maker(kind);
	state->key = pkey_of(c, kind, c->key[0]);
	state->ctx = state->key ? EVP_PKEY_CTX_new_from_pkey(NULL, state->key, NULL) : NULL;
	c->out_len = c->inverse ? 0 : c->row->output;
	if (strncmp(kind->name, "ML-DSA", 6) == 0)
		c->turns = PB_RING;
	if (state->md && state->maker && state->ctx &&
	    (!is_ecdsa(c) ? start_messages(c, state)
	     : c->inverse ? EVP_PKEY_verify_init(state->ctx) == 1
			  : EVP_PKEY_sign_init(state->ctx) == 1))
		return 0;
	if (!c->error[0])
		evp_fail(c, "the signature could not be started");
	signature_close(c);
	return -1;
}

PB_LOOP(sign_message, struct state, (state->length = out_max, SIGN(out, PB_TURN(message, turn), size) != 1))
PB_LOOP(verify_message, struct state, VERIFY(in + size, in, size) != 1)
PKEY_KEYGEN(signature_keygen, struct state)

/* What the last pair made signs, it must verify. */
static void show_pair(pb_case *c)
{
	struct state *state = c->ctx;
	static uint8_t signature[65536];
	size_t length = sizeof signature, size = c->size < 32 ? c->size : 32;
	EVP_MD_CTX *sign = EVP_MD_CTX_new(), *verify = EVP_MD_CTX_new();
	const char *digest = is_ecdsa(c) ? "SHA256" : NULL;
	c->failures += EVP_DigestSignInit_ex(sign, NULL, digest, NULL, NULL, state->made, NULL) != 1 ||
		       EVP_DigestSign(sign, signature, &length, c->in, size) != 1 ||
		       EVP_DigestVerifyInit_ex(verify, NULL, digest, NULL, NULL, state->made, NULL) != 1 ||
		       EVP_DigestVerify(verify, signature, length, c->in, size) != 1 ||
		       !pkey_show(c, state->made);
	EVP_MD_CTX_free(sign);
	EVP_MD_CTX_free(verify);
}

#include "key_forms.h"

static const char *kind_of(const pb_case *c)
{
	return ((const struct pkey_kind *)c->row->param)->name;
}

static void encode_public_raw(pb_case *c)
{
	struct state *state = c->ctx;
	if (!state->encoded && pkey_show(c, state->key)) {
		state->encoded = OPENSSL_memdup(c->out, c->out_len);
		state->encoded_len = (long)c->out_len;
	}
	c->failures += !state->encoded;
}

LOAD_ENCODED(load_public_raw, EVP_PKEY_new_raw_public_key_ex(NULL, kind_of(c), NULL, at, (size_t)length))
LOAD(load_raw, c->key[0], c->key_len,
     EVP_PKEY_new_raw_private_key_ex(NULL, kind_of(c), NULL, at, (size_t)length))

/* One message with objects of its own. */
static int signed_once(EVP_PKEY *key, const uint8_t *in, size_t size, uint8_t *out, size_t length)
{
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();
	int bad = !ctx || EVP_DigestSignInit(ctx, NULL, NULL, NULL, key) != 1 ||
		  EVP_DigestSign(ctx, out, &length, in, size) != 1;
	EVP_MD_CTX_free(ctx);
	return bad;
}

static int verified_once(EVP_PKEY *key, const uint8_t *in, size_t size, size_t length)
{
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();
	int bad = !ctx || EVP_DigestVerifyInit(ctx, NULL, NULL, NULL, key) != 1 ||
		  EVP_DigestVerify(ctx, in + size, length, in, size) != 1;
	EVP_MD_CTX_free(ctx);
	return bad;
}

PB_LOOP(sign_object, struct state, signed_once(state->key, PB_TURN(message, turn), size, out, out_max))
PB_LOOP(verify_object, struct state, verified_once(state->key, in, size, out_max))

#define OF_MESSAGES                                                                                          \
	{"sign", "pk/1", SIGN_CALL, NULL, sign_message, NULL},                                               \
		{"verify", "pk/1", VERIFY_CALL, NULL, verify_message, NULL},                                 \
		{"sign", "context/1", "EVP_MD_CTX_new, EVP_DigestSignInit, EVP_DigestSign, EVP_MD_CTX_free", \
		 NULL,   sign_object, NULL},                                                                 \
		{"verify",                                                                                   \
		 "context/1",                                                                                \
		 "EVP_MD_CTX_new, EVP_DigestVerifyInit, EVP_DigestVerify, EVP_MD_CTX_free",                  \
		 NULL,                                                                                       \
		 verify_object,                                                                              \
		 NULL},                                                                                      \
	{                                                                                                    \
		"keygen", "pk/1", PKEY_KEYGEN_CALLS, NULL, signature_keygen, show_pair                       \
	}

static const pb_variant message_variants[] = {OF_MESSAGES, KEY_FORMS, PB_END_OF_VARIANTS};
static const pb_variant edwards_variants[] = {
	OF_MESSAGES,
	KEY_FORMS,
	{"load", "raw/1", "EVP_PKEY_new_raw_private_key, EVP_PKEY_free", NULL, load_raw, show_loaded},
	{"load", "publicraw/1", "EVP_PKEY_new_raw_public_key, EVP_PKEY_free", encode_public_raw,
	 load_public_raw, show_loaded},
	PB_END_OF_VARIANTS};

const pb_family evp_message_family = {signature_open, signature_close, message_variants};
const pb_family evp_edwards_family = {signature_open, signature_close, edwards_variants};

PB_LOOP(sign_digest, struct state,
	(state->length = DER_ROOM, EVP_PKEY_sign(state->ctx, out, &state->length, in, size) != 1))
PB_LOOP(verify_digest, struct state, EVP_PKEY_verify(state->ctx, state->der, state->der_len, in, size) != 1)

/* DER to r || s. */
static void show_numbers(pb_case *c)
{
	struct state *state = c->ctx;
	const uint8_t *from = c->out;
	int half = c->row->output / 2;
	ECDSA_SIG *sig = d2i_ECDSA_SIG(NULL, &from, (long)state->length);
	c->failures += !sig || BN_bn2binpad(ECDSA_SIG_get0_r(sig), c->out, half) != half ||
		       BN_bn2binpad(ECDSA_SIG_get0_s(sig), c->out + half, half) != half;
	ECDSA_SIG_free(sig);
}

/* r || s to DER; before every sample, because a forgery may have changed it. */
static void take_numbers(pb_case *c)
{
	struct state *state = c->ctx;
	int half = c->row->output / 2;
	const uint8_t *numbers = c->in + c->size;
	ECDSA_SIG *sig = ECDSA_SIG_new();
	BIGNUM *r = BN_bin2bn(numbers, half, NULL), *s = BN_bin2bn(numbers + half, half, NULL);
	uint8_t *to = state->der;
	if (sig && r && s && ECDSA_SIG_set0(sig, r, s))
		state->der_len = (size_t)i2d_ECDSA_SIG(sig, &to);
	else
		c->failures++;
	ECDSA_SIG_free(sig);
}

static int digest_signed_once(EVP_PKEY *key, const uint8_t *in, size_t size, uint8_t *out, size_t *length)
{
	EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_from_pkey(NULL, key, NULL);
	int bad = !ctx || EVP_PKEY_sign_init(ctx) != 1 || EVP_PKEY_sign(ctx, out, length, in, size) != 1;
	EVP_PKEY_CTX_free(ctx);
	return bad;
}

static int digest_verified_once(const struct state *state, const uint8_t *in, size_t size)
{
	EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_from_pkey(NULL, state->key, NULL);
	int bad = !ctx || EVP_PKEY_verify_init(ctx) != 1 ||
		  EVP_PKEY_verify(ctx, state->der, state->der_len, in, size) != 1;
	EVP_PKEY_CTX_free(ctx);
	return bad;
}

PB_LOOP(sign_digest_object, struct state,
	(state->length = DER_ROOM, digest_signed_once(state->key, in, size, out, &state->length)))
PB_LOOP(verify_digest_object, struct state, digest_verified_once(state, in, size))

static const pb_variant ecdsa_variants[] = {
	{"sign", "pk/1", "EVP_PKEY_sign (DER)", NULL, sign_digest, show_numbers},
	{"verify", "pk/1", "EVP_PKEY_verify (DER)", take_numbers, verify_digest, NULL},
	{"keygen", "pk/1", PKEY_KEYGEN_CALLS, NULL, signature_keygen, show_pair},
	{"sign", "context/1", "EVP_PKEY_CTX_new, EVP_PKEY_sign_init, EVP_PKEY_sign, EVP_PKEY_CTX_free", NULL,
	 sign_digest_object, show_numbers},
	{"verify", "context/1", "EVP_PKEY_CTX_new, EVP_PKEY_verify_init, EVP_PKEY_verify, EVP_PKEY_CTX_free",
	 take_numbers, verify_digest_object, NULL},
	KEY_FORMS,
	PB_END_OF_VARIANTS,
};

const pb_family evp_ecdsa_family = {signature_open, signature_close, ecdsa_variants};

#define ROW(ID, FAMILY, NAME, GROUP, FORM, KEY, SIGNATURE)                                                   \
	{                                                                                                    \
		ID, &FAMILY, &(const struct pkey_kind){NAME, GROUP, FORM}, KEY, 0, 1, SIGNATURE              \
	}
#define SLH(SET, KEY, SIGNATURE)                                                                             \
	ROW("slh-dsa-" SET, evp_message_family, "SLH-DSA-" SET, NULL, PKEY_SEED, KEY, SIGNATURE)
#define SLH_ALL(HASH)                                                                                        \
	SLH(HASH "-128f", 48, 17088), SLH(HASH "-128s", 48, 7856), SLH(HASH "-192f", 72, 35664),             \
		SLH(HASH "-192s", 72, 16224), SLH(HASH "-256f", 96, 49856), SLH(HASH "-256s", 96, 29792)

const pb_row evp_message_rows[] = {
	ROW("ed25519", evp_edwards_family, "ED25519", NULL, PKEY_RAW, 32, 64),
	ROW("ed448", evp_edwards_family, "ED448", NULL, PKEY_RAW, 57, 114),
	ROW("ecdsa-p256", evp_ecdsa_family, "EC", "prime256v1", PKEY_EC, 32, 64),
	ROW("ecdsa-p384", evp_ecdsa_family, "EC", "secp384r1", PKEY_EC, 48, 96),
	ROW("ecdsa-p521", evp_ecdsa_family, "EC", "secp521r1", PKEY_EC, 66, 132),
	ROW("ecdsa-secp256k1", evp_ecdsa_family, "EC", "secp256k1", PKEY_EC, 32, 64),
	ROW("ecdsa-brainpoolp256r1", evp_ecdsa_family, "EC", "brainpoolP256r1", PKEY_EC, 32, 64),
	ROW("ecdsa-brainpoolp384r1", evp_ecdsa_family, "EC", "brainpoolP384r1", PKEY_EC, 48, 96),
	ROW("ecdsa-brainpoolp512r1", evp_ecdsa_family, "EC", "brainpoolP512r1", PKEY_EC, 64, 128),
	ROW("ml-dsa-44", evp_message_family, "ML-DSA-44", NULL, PKEY_SEED, 32, 2420),
	ROW("ml-dsa-65", evp_message_family, "ML-DSA-65", NULL, PKEY_SEED, 32, 3309),
	ROW("ml-dsa-87", evp_message_family, "ML-DSA-87", NULL, PKEY_SEED, 32, 4627),
	SLH_ALL("sha2"),
	SLH_ALL("shake"),
	PB_END_OF_ROWS,
};
