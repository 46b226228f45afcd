/* Intel's multi-buffer library for IPsec: by its direct functions, one call for one message; HMAC by bursts of jobs, which
 * work on many messages at once. */
#include <perbyte.h>

#include <intel-ipsec-mb.h>

#include <stdlib.h>
#include <string.h>

static IMB_MGR *manager;
static const char *tier_of_all;

/* A manager of the tier, NULL where it cannot be had. The tiers are the library's own: which of its initialisers is
 * called. */
static IMB_MGR *new_manager(const char *tier)
{
	IMB_MGR *made = alloc_mb_mgr(0);
	IMB_ARCH arch = IMB_ARCH_NONE, wanted = IMB_ARCH_NONE;
	if (!made)
		return NULL;
	if (strcmp(tier, "full") == 0) {
		init_mb_mgr_auto(made, &arch);
		wanted = arch;
	} else if (strcmp(tier, "sse") == 0) {
		init_mb_mgr_sse(made);
		wanted = IMB_ARCH_SSE;
	} else if (strcmp(tier, "avx2") == 0) {
		init_mb_mgr_avx2(made);
		wanted = IMB_ARCH_AVX2;
	}
	if (wanted != IMB_ARCH_NONE && !imb_get_errno(made) && made->used_arch == (uint32_t)wanted)
		return made;
	free_mb_mgr(made);
	return NULL;
}

struct state {
	struct gcm_key_data key __attribute__((aligned(64)));
	struct gcm_context_data gcm;
	struct chacha20_poly1305_context_data chacha;
	uint8_t tag[16];
};

static struct state *new_state(pb_case *c)
{
	struct state *state = c->ctx = aligned_alloc(64, (sizeof *state + 63) & ~(size_t)63);
	c->out_len = c->inverse ? c->size : c->size + c->row->output;
	if (!state)
		pb_fail(c, "out of memory");
	return state;
}

static void close_state(pb_case *c)
{
	free(c->ctx);
	c->ctx = NULL;
}

/* The library does not compare tags: a user does, and so the comparison is part of opening. */
static int differ(const uint8_t *one, const uint8_t *other)
{
	uint8_t any = 0;
	for (int i = 0; i < 16; i++)
		any |= one[i] ^ other[i];
	return any != 0;
}

#define AES_GCM(BITS)                                                                                        \
	static int gcm##BITS##_open(pb_case *c)                                                              \
	{                                                                                                    \
		struct state *state = new_state(c);                                                          \
		if (state)                                                                                   \
			IMB_AES##BITS##_GCM_PRE(manager, c->key[0], &state->key);                            \
		return state ? 0 : -1;                                                                       \
	}                                                                                                    \
	static void gcm##BITS##_begin(pb_case *c)                                                            \
	{                                                                                                    \
		IMB_AES##BITS##_GCM_PRE(manager, c->key[0], &((struct state *)c->ctx)->key);                 \
	}                                                                                                    \
	PB_LOOP(gcm##BITS##_seal, struct state,                                                              \
		(IMB_AES##BITS##_GCM_ENC(manager, &state->key, &state->gcm, out, in, size,                   \
					 PB_TURN(nonce, turn), aad, aad_len, out + size, 16),                \
		 0))                                                                                         \
	PB_LOOP(gcm##BITS##_open_one, struct state,                                                          \
		(IMB_AES##BITS##_GCM_DEC(manager, &state->key, &state->gcm, out, in, size, nonce[0], aad,    \
					 aad_len, state->tag, 16),                                           \
		 differ(state->tag, in + size)))                                                             \
	PB_LOOP(gcm##BITS##_rekey, struct state,                                                             \
		(IMB_AES##BITS##_GCM_PRE(manager, PB_TURN(key, turn), &state->key),                          \
		 IMB_AES##BITS##_GCM_ENC(manager, &state->key, &state->gcm, out, in, size,                   \
					 PB_TURN(nonce, turn), aad, aad_len, out + size, 16),                \
		 0))                                                                                         \
	PB_LOOP(gcm##BITS##_open_rekey, struct state,                                                        \
		(IMB_AES##BITS##_GCM_PRE(manager, key[0], &state->key),                                      \
		 IMB_AES##BITS##_GCM_DEC(manager, &state->key, &state->gcm, out, in, size, nonce[0], aad,    \
					 aad_len, state->tag, 16),                                           \
		 differ(state->tag, in + size)))                                                             \
	static const pb_variant gcm##BITS##_variants[] = {                                                   \
		{"seal", "message/1", "IMB_AES" #BITS "_GCM_ENC", gcm##BITS##_begin, gcm##BITS##_seal,       \
		 NULL},                                                                                      \
		{"open", "message/1", "IMB_AES" #BITS "_GCM_DEC, comparison of the tags", NULL,              \
		 gcm##BITS##_open_one, NULL},                                                                \
		{"seal", "rekey/1", "IMB_AES" #BITS "_GCM_PRE, IMB_AES" #BITS "_GCM_ENC", NULL,              \
		 gcm##BITS##_rekey, NULL},                                                                   \
		{"open", "rekey/1",                                                                          \
		 "IMB_AES" #BITS "_GCM_PRE, IMB_AES" #BITS "_GCM_DEC, comparison of the tags", NULL,         \
		 gcm##BITS##_open_rekey, NULL},                                                              \
		PB_END_OF_VARIANTS,                                                                          \
	};                                                                                                   \
	static const pb_family gcm##BITS##_family = {gcm##BITS##_open, close_state, gcm##BITS##_variants};
AES_GCM(128)
AES_GCM(192)
AES_GCM(256)

static int chacha_open(pb_case *c)
{
	return new_state(c) ? 0 : -1;
}

static void sealed(struct state *state, const uint8_t *key, const uint8_t *nonce, const uint8_t *in,
		   uint8_t *out, size_t size, const uint8_t *aad, size_t aad_len)
{
	IMB_CHACHA20_POLY1305_INIT(manager, key, &state->chacha, nonce, aad, aad_len);
	IMB_CHACHA20_POLY1305_ENC_UPDATE(manager, key, &state->chacha, out, in, size);
	IMB_CHACHA20_POLY1305_ENC_FINALIZE(manager, &state->chacha, out + size, 16);
}

static int opened(struct state *state, const uint8_t *key, const uint8_t *nonce, const uint8_t *in,
		  uint8_t *out, size_t size, const uint8_t *aad, size_t aad_len)
{
	IMB_CHACHA20_POLY1305_INIT(manager, key, &state->chacha, nonce, aad, aad_len);
	IMB_CHACHA20_POLY1305_DEC_UPDATE(manager, key, &state->chacha, out, in, size);
	IMB_CHACHA20_POLY1305_DEC_FINALIZE(manager, &state->chacha, state->tag, 16);
	return differ(state->tag, in + size);
}

PB_LOOP(chacha_seal, struct state,
	(sealed(state, key[0], PB_TURN(nonce, turn), in, out, size, aad, aad_len), 0))
PB_LOOP(chacha_rekey, struct state,
	(sealed(state, PB_TURN(key, turn), PB_TURN(nonce, turn), in, out, size, aad, aad_len), 0))
PB_LOOP(chacha_open_one, struct state, opened(state, key[0], nonce[0], in, out, size, aad, aad_len))

#define CHACHA "IMB_CHACHA20_POLY1305_INIT, _UPDATE, _FINALIZE"
static const pb_variant chacha_variants[] = {
	{"seal", "message/1", CHACHA, NULL, chacha_seal, NULL},
	{"open", "message/1", CHACHA ", comparison of the tags", NULL, chacha_open_one, NULL},
	{"seal", "rekey/1", CHACHA, NULL, chacha_rekey, NULL},
	{"open", "rekey/1", CHACHA ", comparison of the tags", NULL, chacha_open_one, NULL},
	PB_END_OF_VARIANTS,
};
static const pb_family chacha_family = {chacha_open, close_state, chacha_variants};

static int hash_open(pb_case *c)
{
	c->out_len = c->row->output;
	return 0;
}

static void hash_close(pb_case *c)
{
	(void)c;
}

#define HASH(NAME)                                                                                           \
	PB_LOOP(NAME##_oneshot, void, (IMB_##NAME(manager, in, size, out), 0))                               \
	static const pb_variant NAME##_variants[] = {                                                        \
		{"digest", "oneshot/1", "IMB_" #NAME, NULL, NAME##_oneshot, NULL}, PB_END_OF_VARIANTS};      \
	static const pb_family NAME##_family = {hash_open, hash_close, NAME##_variants};
HASH(SHA1)
HASH(SHA224)
HASH(SHA256)
HASH(SHA384)
HASH(SHA512)

/* ---- HMAC of many messages at once ---- */

struct macs {
	uint8_t inner[64] __attribute__((aligned(64))), outer[64]; /* hashes of the two padded keys */
	uint8_t tag[PB_RING][64];
	IMB_JOB job[PB_RING];
	IMB_MGR *jobs; /* of this case: a manager's jobs are one thread's */
};

static void macs_close(pb_case *c)
{
	struct macs *state = c->ctx;
	if (state && state->jobs)
		free_mb_mgr(state->jobs);
	free(state);
	c->ctx = NULL;
}

/* As many as are left, sixteen at the most; the tags must be alike, for so are messages and key. */
static void take_macs(pb_case *c, uint64_t n, IMB_HASH_ALG hash)
{
	struct macs *state = c->ctx;
	for (unsigned many; n; n -= many) {
		many = n < PB_RING ? (unsigned)n : PB_RING;
		for (unsigned i = 0; i < many; i++) {
			IMB_JOB *job = &state->job[i];
			job->src = c->in;
			job->msg_len_to_hash_in_bytes = c->size;
			job->auth_tag_output = state->tag[i];
			job->auth_tag_output_len_in_bytes = c->row->output;
			job->u.HMAC._hashed_auth_key_xor_ipad = state->inner;
			job->u.HMAC._hashed_auth_key_xor_opad = state->outer;
		}
		if (IMB_SUBMIT_HASH_BURST(state->jobs, state->job, many, hash) != many)
			c->failures += many;
	}
}

static void show_macs(pb_case *c)
{
	const struct macs *state = c->ctx;
	unsigned many = c->calls && c->calls < PB_RING ? (unsigned)c->calls : PB_RING;
	memcpy(c->out, state->tag[0], c->out_len);
	for (unsigned i = 1; c->calls && i < many; i++)
		c->failures += memcmp(state->tag[i], state->tag[0], c->out_len) != 0;
}

#define MACS(NAME, HASH, BLOCK)                                                                              \
	static int NAME##_macs_open(pb_case *c)                                                              \
	{                                                                                                    \
		struct macs *state = c->ctx = aligned_alloc(64, (sizeof *state + 63) & ~(size_t)63);         \
		uint8_t inner[BLOCK], outer[BLOCK];                                                          \
		if (state)                                                                                   \
			memset(state, 0, sizeof *state);                                                     \
		if (!state || c->key_len > BLOCK || !c->size) {                                              \
			macs_close(c);                                                                       \
			return pb_fail(c, "no message, or a key beyond a block") + PB_UNFIT;                 \
		}                                                                                            \
		if (!(state->jobs = new_manager(tier_of_all))) {                                             \
			macs_close(c);                                                                       \
			return pb_fail(c, "no further manager of jobs");                                     \
		}                                                                                            \
		for (size_t i = 0; i < BLOCK; i++) {                                                         \
			uint8_t byte = i < c->key_len ? c->key[0][i] : 0;                                    \
			inner[i] = byte ^ 0x36;                                                              \
			outer[i] = byte ^ 0x5c;                                                              \
		}                                                                                            \
		IMB_##NAME##_ONE_BLOCK(manager, inner, state->inner);                                        \
		IMB_##NAME##_ONE_BLOCK(manager, outer, state->outer);                                        \
		c->turns = PB_RING;                                                                          \
		c->out_len = c->row->output;                                                                 \
		return 0;                                                                                    \
	}                                                                                                    \
	static void NAME##_macs(pb_case *c, uint64_t n)                                                      \
	{                                                                                                    \
		take_macs(c, n, HASH);                                                                       \
	}                                                                                                    \
	static const pb_variant NAME##_macs_variants[] = {                                                   \
		{"mac", "many/1", "IMB_SUBMIT_HASH_BURST", NULL, NAME##_macs, show_macs},                    \
		PB_END_OF_VARIANTS};                                                                         \
	static const pb_family NAME##_macs_family = {NAME##_macs_open, macs_close, NAME##_macs_variants};
MACS(SHA1, IMB_AUTH_HMAC_SHA_1, 64)
MACS(SHA256, IMB_AUTH_HMAC_SHA_256, 64)
MACS(SHA512, IMB_AUTH_HMAC_SHA_512, 128)

static const pb_row rows[] = {
	{"aes-128-gcm", &gcm128_family, NULL, 16, 12, 1, 16},
	{"aes-192-gcm", &gcm192_family, NULL, 24, 12, 1, 16},
	{"aes-256-gcm", &gcm256_family, NULL, 32, 12, 1, 16},
	{"chacha20-poly1305", &chacha_family, NULL, 32, 12, 1, 16},
	{"sha-1", &SHA1_family, NULL, 0, 0, 1, 20},
	{"sha-224", &SHA224_family, NULL, 0, 0, 1, 28},
	{"sha-256", &SHA256_family, NULL, 0, 0, 1, 32},
	{"sha-384", &SHA384_family, NULL, 0, 0, 1, 48},
	{"sha-512", &SHA512_family, NULL, 0, 0, 1, 64},
	{"hmac-sha-1", &SHA1_macs_family, NULL, 20, 0, 1, 20},
	{"hmac-sha-256", &SHA256_macs_family, NULL, 32, 0, 1, 32},
	{"hmac-sha-512", &SHA512_macs_family, NULL, 64, 0, 1, 64},
	PB_END_OF_ROWS,
};
static const pb_row *const tables[] = {rows, NULL};

static const char *arch_name(void)
{
	switch (manager->used_arch) {
	case IMB_ARCH_NOAESNI:
		return "SSE without AES-NI";
	case IMB_ARCH_SSE:
		return "SSE";
	case IMB_ARCH_AVX:
		return "AVX";
	case IMB_ARCH_AVX2:
		return "AVX2";
	case IMB_ARCH_AVX512:
		return "AVX-512";
	default:
		return "none";
	}
}

static const char *code_path(const pb_row *row)
{
	(void)row;
	return arch_name();
}

static int start(const char *tier)
{
	tier_of_all = tier;
	return (manager = new_manager(tier)) ? 0 : -1;
}

static const pb_runner runner = {
	.name = "ipsec-mb",
	.library = "Intel IPsec-MB",
	.license = "BSD-3-Clause",
	.version = imb_get_version_str,
	.cpu_features = arch_name,
	.object = (const void *)alloc_mb_mgr,
	.start = start,
	.code_path = code_path,
	.tables = tables,
};

int main(int argc, char **argv)
{
	return pb_runner_main(&runner, argc, argv);
}
