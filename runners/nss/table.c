/* NSS by PK11_*, the only interface that its packages install: the software token, without a database. */
#include <perbyte.h>

#include <nss.h>
#include <pk11pub.h>
#include <prerror.h>
#include <secoid.h>

#include <stdlib.h>
#include <string.h>

/* param of a row */
struct kind {
	CK_MECHANISM_TYPE mechanism;
	SECOidTag hash;
};

struct state {
	PK11SlotInfo *slot;
	PK11SymKey *key;
	PK11Context *context;
	CK_MECHANISM_TYPE mechanism;
	CK_ATTRIBUTE_TYPE use;
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
	if (state->context)
		PK11_DestroyContext(state->context, PR_TRUE);
	if (state->key)
		PK11_FreeSymKey(state->key);
	if (state->slot)
		PK11_FreeSlot(state->slot);
	free(state);
	c->ctx = NULL;
}

static int failed(pb_case *c, const char *call)
{
	close_state(c);
	return pb_fail(c, "%s: error %d", call, PR_GetError());
}

/* A key, and a context that works with it from now on. */
static int take_key(struct state *state, const uint8_t *key, size_t length)
{
	SECItem item = {siBuffer, (unsigned char *)(uintptr_t)key, (unsigned)length};
	SECItem none = {siBuffer, NULL, 0};
	CK_ATTRIBUTE_TYPE flag = state->use & ~(CK_ATTRIBUTE_TYPE)CKA_NSS_MESSAGE_MASK;
	state->key = PK11_ImportSymKey(state->slot, state->mechanism, PK11_OriginUnwrap, flag, &item, NULL);
	if (state->key)
		state->context = PK11_CreateContextBySymKey(state->mechanism, state->use, state->key, &none);
	return state->context != NULL;
}

static int keyed_open(pb_case *c, CK_ATTRIBUTE_TYPE use)
{
	struct state *state = c->ctx = calloc(1, sizeof *state);
	if (!state)
		return pb_fail(c, "out of memory");
	state->slot = PK11_GetInternalSlot();
	state->mechanism = kind_of(c)->mechanism;
	state->use = use;
	return state->slot && take_key(state, c->key[0], c->key_len)
		       ? 0
		       : failed(c, "PK11_CreateContextBySymKey");
}

/* ---- AEADs, by the message interface: a context for all messages under a key ---- */

static int aead_open(pb_case *c)
{
	c->out_len = c->inverse ? c->size : c->size + c->row->output;
	return keyed_open(c, CKA_NSS_MESSAGE | (c->inverse ? CKA_DECRYPT : CKA_ENCRYPT));
}

static int worked(struct state *state, const uint8_t *nonce, size_t nonce_len, const uint8_t *aad,
		  size_t aad_len, const uint8_t *in, size_t size, uint8_t *out, uint8_t *tag, size_t tag_len)
{
	int length = 0;
	uint8_t iv[16]; /* is written to */
	memcpy(iv, nonce, nonce_len);
	return PK11_AEADOp(state->context, CKG_NO_GENERATE, 0, iv, (int)nonce_len, aad, (int)aad_len, out,
			   &length, (int)size, tag, (int)tag_len, in, (int)size) == SECSuccess &&
	       length == (int)size;
}

static int renewed(struct state *state, const uint8_t *key, size_t length)
{
	PK11_DestroyContext(state->context, PR_TRUE);
	PK11_FreeSymKey(state->key);
	state->context = NULL;
	state->key = NULL;
	return take_key(state, key, length);
}

#define SEAL_ONE                                                                                             \
	worked(state, PB_TURN(nonce, turn), nonce_len, aad, aad_len, in, size, out, out + size, out_max)
#define OPEN_ONE                                                                                             \
	worked(state, nonce[0], nonce_len, aad, aad_len, in, size, out, (uint8_t *)(uintptr_t)in + size,     \
	       out_max)
PB_LOOP(seal, struct state, !SEAL_ONE)
PB_LOOP(open_one, struct state, !OPEN_ONE)
PB_LOOP(seal_rekey, struct state, !(renewed(state, PB_TURN(key, turn), key_len) && SEAL_ONE))
PB_LOOP(open_rekey, struct state, !(renewed(state, key[0], key_len) && OPEN_ONE))
#define NEW_KEY "PK11_DestroyContext, PK11_FreeSymKey, PK11_ImportSymKey, PK11_CreateContextBySymKey, "
static const pb_variant aead_variants[] = {
	{"seal", "message/1", "PK11_AEADOp", NULL, seal, NULL},
	{"open", "message/1", "PK11_AEADOp", NULL, open_one, NULL},
	{"seal", "rekey/1", NEW_KEY "PK11_AEADOp", NULL, seal_rekey, NULL},
	{"open", "rekey/1", NEW_KEY "PK11_AEADOp", NULL, open_rekey, NULL},
	PB_END_OF_VARIANTS,
};
static const pb_family aead_family = {aead_open, close_state, aead_variants};

/* ---- hashes and HMAC ---- */

static int hash_open(pb_case *c)
{
	c->out_len = c->row->output;
	if (c->key_len)
		return keyed_open(c, CKA_SIGN);
	struct state *state = c->ctx = calloc(1, sizeof *state);
	if (!state)
		return pb_fail(c, "out of memory");
	state->context = PK11_CreateDigestContext(kind_of(c)->hash);
	return state->context ? 0 : failed(c, "PK11_CreateDigestContext");
}

static int whole(struct state *state, const uint8_t *in, size_t size, uint8_t *out, size_t length)
{
	unsigned written = 0;
	return PK11_DigestBegin(state->context) == SECSuccess &&
	       PK11_DigestOp(state->context, in, (unsigned)size) == SECSuccess &&
	       PK11_DigestFinal(state->context, out, &written, (unsigned)length) == SECSuccess &&
	       written == length;
}

static void begin(pb_case *c)
{
	c->failures += PK11_DigestBegin(((struct state *)c->ctx)->context) != SECSuccess;
}

static void finish(pb_case *c)
{
	unsigned written = 0;
	c->failures += PK11_DigestFinal(((struct state *)c->ctx)->context, c->out, &written,
					c->row->output) != SECSuccess;
}

PB_LOOP(digest, struct state, !whole(state, in, size, out, out_max))
PB_LOOP(stream, struct state, PK11_DigestOp(state->context, in, (unsigned)size) != SECSuccess)
#define WHOLE "PK11_DigestBegin, PK11_DigestOp, PK11_DigestFinal"
static const pb_variant hash_variants[] = {
	{"digest", "oneshot/1", WHOLE, NULL, digest, NULL},
	{"digest", "stream/1", "PK11_DigestOp", begin, stream, finish},
	PB_END_OF_VARIANTS,
};
static const pb_variant mac_variants[] = {
	{"mac", "message/1", WHOLE, NULL, digest, NULL},
	PB_END_OF_VARIANTS,
};
static const pb_family hash_family = {hash_open, close_state, hash_variants};
static const pb_family mac_family = {hash_open, close_state, mac_variants};

#define ROW(ID, FAMILY, MECHANISM, HASH, KEY, NONCE, OUTPUT)                                                 \
	{                                                                                                    \
		ID, &FAMILY##_family, &(const struct kind){MECHANISM, HASH}, KEY, NONCE, 1, OUTPUT           \
	}
static const pb_row rows[] = {
	ROW("aes-128-gcm", aead, CKM_AES_GCM, SEC_OID_UNKNOWN, 16, 12, 16),
	ROW("aes-192-gcm", aead, CKM_AES_GCM, SEC_OID_UNKNOWN, 24, 12, 16),
	ROW("aes-256-gcm", aead, CKM_AES_GCM, SEC_OID_UNKNOWN, 32, 12, 16),
	ROW("chacha20-poly1305", aead, CKM_CHACHA20_POLY1305, SEC_OID_UNKNOWN, 32, 12, 16),
	ROW("md5", hash, CKM_MD5, SEC_OID_MD5, 0, 0, 16),
	ROW("sha-1", hash, CKM_SHA_1, SEC_OID_SHA1, 0, 0, 20),
	ROW("sha-224", hash, CKM_SHA224, SEC_OID_SHA224, 0, 0, 28),
	ROW("sha-256", hash, CKM_SHA256, SEC_OID_SHA256, 0, 0, 32),
	ROW("sha-384", hash, CKM_SHA384, SEC_OID_SHA384, 0, 0, 48),
	ROW("sha-512", hash, CKM_SHA512, SEC_OID_SHA512, 0, 0, 64),
	ROW("hmac-sha-1", mac, CKM_SHA_1_HMAC, SEC_OID_UNKNOWN, 20, 0, 20),
	ROW("hmac-sha-256", mac, CKM_SHA256_HMAC, SEC_OID_UNKNOWN, 32, 0, 32),
	ROW("hmac-sha-384", mac, CKM_SHA384_HMAC, SEC_OID_UNKNOWN, 48, 0, 48),
	ROW("hmac-sha-512", mac, CKM_SHA512_HMAC, SEC_OID_UNKNOWN, 64, 0, 64),
	PB_END_OF_ROWS,
};
static const pb_row *const tables[] = {rows, NULL};

static const char *version(void)
{
	return NSS_GetVersion();
}

static int start(const char *tier)
{
	return (strcmp(tier, "full") != 0 && strcmp(tier, "soft") != 0) || NSS_NoDB_Init(NULL) != SECSuccess
		       ? -1
		       : 0;
}

int main(int argc, char **argv)
{
	static const pb_runner runner = {
		.name = "nss",
		.library = "NSS",
		.license = "MPL-2.0",
		.version = version,
		.object = (const void *)PK11_AEADOp,
		.start = start,
		.tables = tables,
	};
	return pb_runner_main(&runner, argc, argv);
}
