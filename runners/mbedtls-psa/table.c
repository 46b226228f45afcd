/* Mbed TLS by the PSA interface, the only one that its version 4 has left: psa_*_encrypt, psa_hash_compute and
 * the like on imported keys. */
#include <perbyte.h>

#include "../openssl/brainpool.h"

#include <psa/crypto.h>

#include <mbedtls/version.h>

#include <stdlib.h>
#include <string.h>

enum { LONGEST = 66, POINT = 2 * LONGEST + 1 };

/* param of a row */
struct kind {
	psa_algorithm_t algorithm;
	psa_key_type_t type;
	size_t bits; /* of a curve */
};

struct state {
	psa_key_id_t key, made;
	psa_algorithm_t algorithm;
	psa_key_attributes_t attributes;
	psa_hash_operation_t hash;
	uint8_t peer[POINT];
	size_t peer_len;
};

static const struct kind *kind_of(const pb_case *c)
{
	return c->row->param;
}

static void close_state(pb_case *c)
{
	struct state *state = c->ctx;
	if (!state)
		return;
	psa_destroy_key(state->key);
	psa_destroy_key(state->made);
	psa_hash_abort(&state->hash);
	free(state);
	c->ctx = NULL;
}

static int failed(pb_case *c, const char *call, psa_status_t status)
{
	if (status == PSA_SUCCESS)
		return 0;
	close_state(c);
	return pb_fail(c, "%s: %d", call, (int)status);
}

/* A private number; in P-521 only the last bit of its first byte counts, on Brainpool's curves it is below the order. */
static psa_status_t import(const struct state *state, const uint8_t *key, size_t length, psa_key_id_t *id)
{
	uint8_t number[LONGEST];
	psa_key_type_t type = psa_get_key_type(&state->attributes);
	if (PSA_KEY_TYPE_IS_ECC(type) && length <= LONGEST) {
		key = memcpy(number, key, length);
		if (length == LONGEST)
			number[0] &= 1;
		if (PSA_KEY_TYPE_ECC_GET_FAMILY(type) == PSA_ECC_FAMILY_BRAINPOOL_P_R1)
			brainpool_number(number, length);
	}
	return psa_import_key(&state->attributes, key, length, id);
}

static struct state *new_state(pb_case *c, psa_key_usage_t usage)
{
	const struct kind *kind = kind_of(c);
	struct state *state = c->ctx = calloc(1, sizeof *state);
	if (!state) {
		pb_fail(c, "out of memory");
		return NULL;
	}
	state->algorithm = kind->algorithm;
	state->attributes = psa_key_attributes_init();
	psa_set_key_type(&state->attributes, kind->type);
	psa_set_key_algorithm(&state->attributes, kind->algorithm);
	psa_set_key_usage_flags(&state->attributes, usage);
	if (kind->bits)
		psa_set_key_bits(&state->attributes, kind->bits);
	if (c->key_len && failed(c, "psa_import_key", import(state, c->key[0], c->key_len, &state->key)))
		return NULL;
	return state;
}

/* ---- AEADs ---- */

static int aead_open(pb_case *c)
{
	c->out_len = c->inverse ? c->size : c->size + c->row->output;
	return new_state(c, PSA_KEY_USAGE_ENCRYPT | PSA_KEY_USAGE_DECRYPT) ? 0 : -1;
}

static int sealed(const struct state *state, const uint8_t *nonce, size_t nonce_len, const uint8_t *aad,
		  size_t aad_len, const uint8_t *in, size_t size, uint8_t *out, size_t tag)
{
	size_t length;
	return psa_aead_encrypt(state->key, state->algorithm, nonce, nonce_len, aad, aad_len, in, size, out,
				size + tag, &length) == PSA_SUCCESS;
}

static int opened(const struct state *state, const uint8_t *nonce, size_t nonce_len, const uint8_t *aad,
		  size_t aad_len, const uint8_t *in, size_t size, uint8_t *out, size_t tag)
{
	size_t length;
	return psa_aead_decrypt(state->key, state->algorithm, nonce, nonce_len, aad, aad_len, in, size + tag,
				out, size, &length) == PSA_SUCCESS;
}

static int renewed(struct state *state, const uint8_t *key, size_t length)
{
	return psa_destroy_key(state->key) == PSA_SUCCESS &&
	       psa_import_key(&state->attributes, key, length, &state->key) == PSA_SUCCESS;
}

#define SEAL_ONE sealed(state, PB_TURN(nonce, turn), nonce_len, aad, aad_len, in, size, out, out_max)
#define OPEN_ONE opened(state, nonce[0], nonce_len, aad, aad_len, in, size, out, out_max)
PB_LOOP(seal, struct state, !SEAL_ONE)
PB_LOOP(open_one, struct state, !OPEN_ONE)
PB_LOOP(seal_rekey, struct state, !(renewed(state, PB_TURN(key, turn), key_len) && SEAL_ONE))
PB_LOOP(open_rekey, struct state, !(renewed(state, key[0], key_len) && OPEN_ONE))
static const pb_variant aead_variants[] = {
	{"seal", "message/1", "psa_aead_encrypt", NULL, seal, NULL},
	{"open", "message/1", "psa_aead_decrypt", NULL, open_one, NULL},
	{"seal", "rekey/1", "psa_destroy_key, psa_import_key, psa_aead_encrypt", NULL, seal_rekey, NULL},
	{"open", "rekey/1", "psa_destroy_key, psa_import_key, psa_aead_decrypt", NULL, open_rekey, NULL},
	PB_END_OF_VARIANTS,
};
static const pb_family aead_family = {aead_open, close_state, aead_variants};

/* ---- hashes and HMAC ---- */

static int hash_open(pb_case *c)
{
	c->out_len = c->row->output;
	return new_state(c, PSA_KEY_USAGE_SIGN_MESSAGE) ? 0 : -1;
}

static int digested(psa_algorithm_t algorithm, const uint8_t *in, size_t size, uint8_t *out, size_t room)
{
	size_t length;
	return psa_hash_compute(algorithm, in, size, out, room, &length) == PSA_SUCCESS;
}

static int authenticated(const struct state *state, const uint8_t *in, size_t size, uint8_t *out, size_t room)
{
	size_t length;
	return psa_mac_compute(state->key, state->algorithm, in, size, out, room, &length) == PSA_SUCCESS;
}

static void begin(pb_case *c)
{
	struct state *state = c->ctx;
	psa_hash_abort(&state->hash);
	c->failures += psa_hash_setup(&state->hash, state->algorithm) != PSA_SUCCESS;
}

static void finish(pb_case *c)
{
	struct state *state = c->ctx;
	size_t length;
	c->failures += psa_hash_finish(&state->hash, c->out, c->row->output, &length) != PSA_SUCCESS;
}

PB_LOOP(digest, struct state, !digested(state->algorithm, in, size, out, out_max))
PB_LOOP(stream, struct state, psa_hash_update(&state->hash, in, size) != PSA_SUCCESS)
PB_LOOP(mac, struct state, !authenticated(state, in, size, out, out_max))
static const pb_variant hash_variants[] = {
	{"digest", "oneshot/1", "psa_hash_compute", NULL, digest, NULL},
	{"digest", "stream/1", "psa_hash_update", begin, stream, finish},
	PB_END_OF_VARIANTS,
};
static const pb_variant mac_variants[] = {
	{"mac", "message/1", "psa_mac_compute", NULL, mac, NULL},
	PB_END_OF_VARIANTS,
};
static const pb_family hash_family = {hash_open, close_state, hash_variants};
static const pb_family mac_family = {hash_open, close_state, mac_variants};

/* ---- curves: the peer's public key comes as bytes in each call, as the interface has it ---- */

static int public_of(psa_key_id_t key, uint8_t *out, size_t *length)
{
	return psa_export_public_key(key, out, POINT, length) == PSA_SUCCESS;
}

static int agreement_open(pb_case *c)
{
	struct state *state = new_state(c, PSA_KEY_USAGE_DERIVE);
	psa_key_id_t peer = 0;
	if (!state)
		return -1;
	c->out_len = c->row->output;
	if (c->given) {
		if (c->in_len > POINT)
			return failed(c, "the peer's public key", PSA_ERROR_INVALID_ARGUMENT);
		memcpy(state->peer, c->in, state->peer_len = c->in_len);
		return 0;
	}
	psa_status_t status = import(state, c->nonce[0], c->nonce_len, &peer);
	int there = status == PSA_SUCCESS && public_of(peer, state->peer, &state->peer_len);
	psa_destroy_key(peer);
	return there ? 0 : failed(c, "psa_export_public_key", PSA_ERROR_GENERIC_ERROR);
}

static int agreed(const struct state *state, psa_key_id_t key, const uint8_t *peer, size_t peer_len,
		  uint8_t *out, size_t room)
{
	size_t length;
	return psa_raw_key_agreement(state->algorithm, key, peer, peer_len, out, room, &length) ==
	       PSA_SUCCESS;
}

static int new_pair(struct state *state)
{
	psa_destroy_key(state->made);
	return psa_generate_key(&state->attributes, &state->made) == PSA_SUCCESS;
}

static void agreement_show(pb_case *c)
{
	struct state *state = c->ctx;
	uint8_t own[POINT], one[LONGEST], other[LONGEST];
	size_t own_len = 0, half = c->row->output;
	c->failures +=
		!public_of(state->key, own, &own_len) || !public_of(state->made, c->out, &c->out_len) ||
		!agreed(state, state->made, own, own_len, one, half) ||
		!agreed(state, state->key, c->out, c->out_len, other, half) || memcmp(one, other, half) != 0;
}

PB_LOOP(derive, struct state, !agreed(state, state->key, state->peer, state->peer_len, out, out_max))
PB_LOOP(keygen, struct state, !new_pair(state))
#define KEYGEN "psa_destroy_key, psa_generate_key"
static const pb_variant agreement_variants[] = {
	{"derive", "pk/1", "psa_raw_key_agreement", NULL, derive, NULL},
	{"keygen", "pk/1", KEYGEN, NULL, keygen, agreement_show},
	PB_END_OF_VARIANTS,
};
static const pb_family agreement_family = {agreement_open, close_state, agreement_variants};

/* The interface wants to know by which hash a digest was made; here its length tells. */
static psa_algorithm_t hash_of(size_t size)
{
	static const psa_algorithm_t hashes[] = {PSA_ALG_SHA_1, PSA_ALG_SHA_224, PSA_ALG_SHA_256,
						 PSA_ALG_SHA_384, PSA_ALG_SHA_512};
	for (size_t i = 0; i < sizeof hashes / sizeof *hashes; i++)
		if (PSA_HASH_LENGTH(hashes[i]) == size)
			return hashes[i];
	return PSA_ALG_NONE;
}

static int ecdsa_open(pb_case *c)
{
	psa_algorithm_t hash = hash_of(c->size);
	if (hash == PSA_ALG_NONE)
		return pb_fail(c, "no hash has a digest of that length") + PB_UNFIT;
	c->out_len = c->inverse ? 0 : c->row->output;
	struct state *state = new_state(c, PSA_KEY_USAGE_SIGN_HASH | PSA_KEY_USAGE_VERIFY_HASH);
	if (state)
		state->algorithm = PSA_ALG_ECDSA(hash);
	return state ? 0 : -1;
}

static int signed_one(const struct state *state, psa_key_id_t key, const uint8_t *in, size_t size,
		      uint8_t *out, size_t room)
{
	size_t length;
	return psa_sign_hash(key, state->algorithm, in, size, out, room, &length) == PSA_SUCCESS &&
	       length == room;
}

static void ecdsa_show(pb_case *c)
{
	struct state *state = c->ctx;
	uint8_t signature[2 * LONGEST];
	c->failures += !signed_one(state, state->made, c->in, c->size, signature, c->row->output) ||
		       psa_verify_hash(state->made, state->algorithm, c->in, c->size, signature,
				       c->row->output) != PSA_SUCCESS ||
		       !public_of(state->made, c->out, &c->out_len);
}

PB_LOOP(sign, struct state, !signed_one(state, state->key, in, size, out, out_max))
PB_LOOP(verify, struct state,
	psa_verify_hash(state->key, state->algorithm, in, size, in + size, out_max) != PSA_SUCCESS)
static const pb_variant ecdsa_variants[] = {
	{"sign", "pk/1", "psa_sign_hash", NULL, sign, NULL},
	{"verify", "pk/1", "psa_verify_hash (by the key pair)", NULL, verify, NULL},
	{"keygen", "pk/1", KEYGEN, NULL, keygen, ecdsa_show},
	PB_END_OF_VARIANTS,
};
static const pb_family ecdsa_family = {ecdsa_open, close_state, ecdsa_variants};

#define ROW(ID, FAMILY, ALGORITHM, TYPE, BITS, KEY, NONCE, OUTPUT)                                           \
	{                                                                                                    \
		ID, &FAMILY##_family, &(const struct kind){ALGORITHM, TYPE, BITS}, KEY, NONCE, 1, OUTPUT     \
	}
#define AEAD(ID, ALGORITHM, TYPE, KEY) ROW(ID, aead, ALGORITHM, TYPE, 0, KEY, 12, 16)
#define HASH(ID, ALGORITHM, LENGTH)    ROW(ID, hash, ALGORITHM, PSA_KEY_TYPE_NONE, 0, 0, 0, LENGTH)
#define MAC(ID, HASH, LENGTH)          ROW(ID, mac, PSA_ALG_HMAC(HASH), PSA_KEY_TYPE_HMAC, 0, LENGTH, 0, LENGTH)
#define CURVE(NAME, FAMILY, BITS, LENGTH)                                                                    \
	ROW("ecdh-" NAME, agreement, PSA_ALG_ECDH, PSA_KEY_TYPE_ECC_KEY_PAIR(FAMILY), BITS, LENGTH, LENGTH,  \
	    LENGTH),                                                                                         \
		ROW("ecdsa-" NAME, ecdsa, PSA_ALG_ECDSA(PSA_ALG_ANY_HASH),                                   \
		    PSA_KEY_TYPE_ECC_KEY_PAIR(FAMILY), BITS, LENGTH, 0, 2 * LENGTH)

static const pb_row rows[] = {
	AEAD("aes-128-gcm", PSA_ALG_GCM, PSA_KEY_TYPE_AES, 16),
	AEAD("aes-192-gcm", PSA_ALG_GCM, PSA_KEY_TYPE_AES, 24),
	AEAD("aes-256-gcm", PSA_ALG_GCM, PSA_KEY_TYPE_AES, 32),
	AEAD("aes-128-ccm", PSA_ALG_CCM, PSA_KEY_TYPE_AES, 16),
	AEAD("aes-256-ccm", PSA_ALG_CCM, PSA_KEY_TYPE_AES, 32),
	AEAD("chacha20-poly1305", PSA_ALG_CHACHA20_POLY1305, PSA_KEY_TYPE_CHACHA20, 32),
	HASH("md5", PSA_ALG_MD5, 16),
	HASH("ripemd-160", PSA_ALG_RIPEMD160, 20),
	HASH("sha-1", PSA_ALG_SHA_1, 20),
	HASH("sha-224", PSA_ALG_SHA_224, 28),
	HASH("sha-256", PSA_ALG_SHA_256, 32),
	HASH("sha-384", PSA_ALG_SHA_384, 48),
	HASH("sha-512", PSA_ALG_SHA_512, 64),
	HASH("sha3-224", PSA_ALG_SHA3_224, 28),
	HASH("sha3-256", PSA_ALG_SHA3_256, 32),
	HASH("sha3-384", PSA_ALG_SHA3_384, 48),
	HASH("sha3-512", PSA_ALG_SHA3_512, 64),
	MAC("hmac-sha-1", PSA_ALG_SHA_1, 20),
	MAC("hmac-sha-256", PSA_ALG_SHA_256, 32),
	MAC("hmac-sha-384", PSA_ALG_SHA_384, 48),
	MAC("hmac-sha-512", PSA_ALG_SHA_512, 64),
	ROW("x25519", agreement, PSA_ALG_ECDH, PSA_KEY_TYPE_ECC_KEY_PAIR(PSA_ECC_FAMILY_MONTGOMERY), 255, 32,
	    32, 32),
	CURVE("p256", PSA_ECC_FAMILY_SECP_R1, 256, 32),
	CURVE("p384", PSA_ECC_FAMILY_SECP_R1, 384, 48),
	CURVE("p521", PSA_ECC_FAMILY_SECP_R1, 521, 66),
	CURVE("secp256k1", PSA_ECC_FAMILY_SECP_K1, 256, 32),
	CURVE("brainpoolp256r1", PSA_ECC_FAMILY_BRAINPOOL_P_R1, 256, 32),
	CURVE("brainpoolp384r1", PSA_ECC_FAMILY_BRAINPOOL_P_R1, 384, 48),
	CURVE("brainpoolp512r1", PSA_ECC_FAMILY_BRAINPOOL_P_R1, 512, 64),
	PB_END_OF_ROWS,
};
static const pb_row *const tables[] = {rows, NULL};

static const char *version(void)
{
	static char text[32];
	mbedtls_version_get_string(text);
	return text;
}

static int start(const char *tier)
{
	return strcmp(tier, "full") == 0 && psa_crypto_init() == PSA_SUCCESS ? 0 : -1;
}

static const pb_runner runner = {
	.name = RUNNER_NAME,
	.library = "Mbed TLS",
	.license = "Apache-2.0 OR GPL-2.0-or-later",
	.version = version,
	.object = (const void *)psa_aead_encrypt,
	.start = start,
	.tables = tables,
};

int main(int argc, char **argv)
{
	return pb_runner_main(&runner, argc, argv);
}
