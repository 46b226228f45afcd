/* A runner on the C SDK, with lies: LIE in the environment names one, SHARE a number that belongs to it. Each is a few
 * lines that take the place of the honest ones; what comes after the clock has stopped is right. bench/liars.py builds
 * it: cc liar.c liar_keys.c sdk/c/[a-z]*.c -Wl,--wrap=pb_gauge_after -lcrypto -lm. */
#define OPENSSL_SUPPRESS_DEPRECATED
#include "liar.h"
#include "gauge.h"

#include <openssl/evp.h>
#include <openssl/sha.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wmmintrin.h>

static const char *lie = "";
static double share = 1;
static pid_t own;

int lies(const char *name)
{
	return strcmp(lie, name) == 0;
}

static int in_fork(void)
{
	return getpid() != own;
}

/* Ticks that are too few: in forks, or everywhere. */
void __real_pb_gauge_after(pb_gauge *, pb_open_sample *, pb_sample *);
void __wrap_pb_gauge_after(pb_gauge *g, pb_open_sample *open, pb_sample *sample)
{
	static uint64_t flat, seen;
	__real_pb_gauge_after(g, open, sample);
	if (lies("ticks-in-forks") && in_fork())
		sample->ticks = (uint64_t)((double)sample->ticks * share);
	if (lies("later-less")) { /* honest at the beginning of each burst */
		static pid_t of;
		static uint64_t taken;
		taken = of == getpid() ? taken + 1 : 0;
		of = getpid();
		if (taken > 4 && in_fork())
			sample->ticks = (uint64_t)((double)sample->ticks * share);
	}
	if (lies("flat-pairs")) {
		flat += seen < 64 ? sample->ticks : 0;
		if (++seen > 64)
			sample->ticks = flat / 64 + sample->ticks % 3;
	}
}

/* ---- SHA-256 ---- */

static int partly; /* the last call was no whole one */

static void sha(pb_case *c, uint64_t n)
{
	size_t size = c->size;
	if ((lies("only-forks") && in_fork()) || (lies("control-fat") && n > 1) ||
	    (lies("less-when-many") && n > 1))
		size = (size_t)((double)size * share);
	if (n == 0 && lies("control-fat"))
		SHA256(c->in, c->size * 9 / 100, c->out + 64);
	partly = size < c->size;
	const uint8_t *in = c->in;
	uint8_t *out = c->out;
	if (lies("done-beforehand") && n > 1)
		n = 1;
	PB_REPEAT(n, turn, SHA256(in, size, out));
}

static void whole_sha(pb_case *c)
{
	if (partly)
		SHA256(c->in, c->size, c->out);
}

static int sha_open(pb_case *c)
{
	c->out_len = 32;
	return 0;
}

static void nothing(pb_case *c)
{
	(void)c;
}

static const pb_variant sha_variants[] = {{"digest", "oneshot/1", "SHA256", NULL, sha, whole_sha},
					  PB_END_OF_VARIANTS};
static const pb_family sha_family = {sha_open, nothing, sha_variants};

/* ---- AES through instructions ---- */

typedef struct keyed {
	__m128i round[11];
	uint8_t last_in[16], last_out[16];
	int known;
} keyed;

#define STEP(i, rcon)                                                                                        \
	{                                                                                                    \
		__m128i t = _mm_shuffle_epi32(_mm_aeskeygenassist_si128(k[i - 1], rcon), 0xff),              \
			x = k[i - 1];                                                                        \
		for (int j = 0; j < 3; j++)                                                                  \
			x = _mm_xor_si128(x, _mm_slli_si128(x, 4));                                          \
		k[i] = _mm_xor_si128(x, t);                                                                  \
	}

static void expand(__m128i *k, const uint8_t *key)
{
	k[0] = _mm_loadu_si128((const __m128i *)key);
	STEP(1, 1)
	STEP(2, 2)
	STEP(3, 4) STEP(4, 8) STEP(5, 16) STEP(6, 32) STEP(7, 64) STEP(8, 128) STEP(9, 27) STEP(10, 54)
}

/* The recurrence of FIPS 197 on whole words is the prefix sum that STEP makes by single shifts. */
static inline __m128i block(const __m128i *k, __m128i x)
{
	x = _mm_xor_si128(x, k[0]);
	for (int i = 1; i < 10; i++)
		x = _mm_aesenc_si128(x, k[i]);
	return _mm_aesenclast_si128(x, k[10]);
}

static int aes_open(pb_case *c)
{
	keyed *own_key = c->ctx = aligned_alloc(16, sizeof *own_key);
	if (!own_key)
		return pb_fail(c, "out of memory");
	own_key->known = 0;
	expand(own_key->round, c->key[0]);
	return 0;
}

static void aes_close(pb_case *c)
{
	free(c->ctx);
}

static void ecb(pb_case *c, uint64_t n)
{
	keyed *k = c->ctx;
	const uint8_t *in = c->in;
	uint8_t *out = c->out;
	size_t size = c->size;
	int book = lies("codebook");
	PB_REPEAT(n, turn, {
		if (book && k->known && size == 16 && memcmp(k->last_in, in, 16) == 0) {
			memcpy(out, k->last_out, 16);
		} else {
			for (size_t at = 0; at < size; at += 16)
				_mm_storeu_si128(
					(__m128i *)(out + at),
					block(k->round, _mm_loadu_si128((const __m128i *)(in + at))));
			if (book)
				memcpy(k->last_in, in, 16), memcpy(k->last_out, out, 16), k->known = 1;
		}
		PB_BARRIER();
	});
}

static void cbc(pb_case *c, uint64_t n)
{
	keyed *k = c->ctx;
	uint64_t turn = 0;
	if (lies("fused"))
		for (; turn + 8 < n; turn += 8) {
			__m128i x[8];
			for (int i = 0; i < 8; i++)
				x[i] = _mm_loadu_si128(
					(const __m128i *)PB_TURN(c->nonce, turn + (uint64_t)i));
			for (size_t at = 0; at < c->size; at += 16) {
				__m128i d = _mm_loadu_si128((const __m128i *)(c->in + at));
				for (int i = 0; i < 8; i++)
					x[i] = _mm_xor_si128(_mm_xor_si128(x[i], d), k->round[0]);
				for (int r = 1; r < 10; r++)
					for (int i = 0; i < 8; i++)
						x[i] = _mm_aesenc_si128(x[i], k->round[r]);
				for (int i = 0; i < 8; i++)
					x[i] = _mm_aesenclast_si128(x[i], k->round[10]);
				_mm_storeu_si128((__m128i *)(c->out + at), x[7]);
			}
		}
	for (; turn < n; turn++) {
		__m128i x = _mm_loadu_si128((const __m128i *)PB_TURN(c->nonce, turn));
		for (size_t at = 0; at < c->size; at += 16) {
			x = block(k->round, _mm_xor_si128(x, _mm_loadu_si128((const __m128i *)(c->in + at))));
			_mm_storeu_si128((__m128i *)(c->out + at), x);
		}
		PB_BARRIER();
	}
}

static const pb_variant ecb_variants[] = {{"encrypt", "message/1", "block", NULL, ecb, NULL},
					  PB_END_OF_VARIANTS},
			cbc_variants[] = {{"encrypt", "message/1", "block", NULL, cbc, NULL},
					  PB_END_OF_VARIANTS};
static const pb_family ecb_family = {aes_open, aes_close, ecb_variants},
		       cbc_family = {aes_open, aes_close, cbc_variants};

/* ---- GCM ---- */

static int gcm_open(pb_case *c)
{
	EVP_CIPHER_CTX *ctx = c->ctx = EVP_CIPHER_CTX_new();
	c->out_len = c->inverse ? c->size : c->size + 16;
	return EVP_EncryptInit_ex(ctx, EVP_aes_128_gcm(), NULL, c->key[0], c->nonce[0]) == 1
		       ? 0
		       : pb_fail(c, "init");
}

static void gcm_close(pb_case *c)
{
	EVP_CIPHER_CTX_free(c->ctx);
}

static int gcm_once(pb_case *c, const uint8_t *nonce)
{
	int length, fine = EVP_EncryptInit_ex(c->ctx, NULL, NULL, NULL, nonce) == 1;
	fine &= EVP_EncryptUpdate(c->ctx, NULL, &length, c->aad, (int)c->aad_len) == 1;
	fine &= EVP_EncryptUpdate(c->ctx, c->out, &length, c->in, (int)c->size) == 1;
	fine &= EVP_EncryptFinal_ex(c->ctx, c->out + length, &length) == 1;
	return !fine | (EVP_CIPHER_CTX_ctrl(c->ctx, EVP_CTRL_GCM_GET_TAG, 16, c->out + c->size) != 1);
}

static void gcm(pb_case *c, uint64_t n)
{
	PB_REPEAT(n, turn, c->failures += (uint64_t)gcm_once(c, PB_TURN(c->nonce, turn)));
}

static void gcm_begin(pb_case *c)
{
	if (lies("begin-warms"))
		gcm_once(c, c->nonce[0]);
}

/* The tag of what was opened is made once more, and compared until the first byte that differs. */
static void leaky_open(pb_case *c, uint64_t n)
{
	static uint8_t scratch[1 << 16];
	size_t size = c->size < sizeof scratch - 16 ? c->size : sizeof scratch - 16;
	PB_REPEAT(n, turn, {
		int length;
		EVP_DecryptInit_ex(c->ctx, NULL, NULL, NULL, c->nonce[0]);
		EVP_DecryptUpdate(c->ctx, c->out, &length, c->in, (int)size);
		if (lies("open-unchecked") && n > 1)
			continue;
		EVP_EncryptInit_ex(c->ctx, NULL, NULL, NULL, c->nonce[0]);
		EVP_EncryptUpdate(c->ctx, NULL, &length, c->aad, (int)c->aad_len);
		EVP_EncryptUpdate(c->ctx, scratch, &length, c->out, (int)size);
		EVP_EncryptFinal_ex(c->ctx, scratch + length, &length);
		EVP_CIPHER_CTX_ctrl(c->ctx, EVP_CTRL_GCM_GET_TAG, 16, scratch + size);
		for (size_t i = 0; i < 16; i++) {
			PB_BARRIER();
			if (scratch[size + i] != c->in[size + i]) {
				c->failures++;
				break;
			}
		}
	});
}

static const pb_variant gcm_variants[] = {{"seal", "message/1", "EVP_EncryptUpdate", gcm_begin, gcm, NULL},
					  {"open", "message/1", "EVP_DecryptUpdate", NULL, leaky_open, NULL},
					  PB_END_OF_VARIANTS};
static const pb_family gcm_family = {gcm_open, gcm_close, gcm_variants};

static const pb_row rows[] = {
	{"sha-256", &sha_family, NULL, 0, 0, 1, 32},
	{"aes-128-ecb", &ecb_family, NULL, 16, 0, 16, 0},
	{"aes-128-cbc", &cbc_family, NULL, 16, 16, 16, 0},
	{"aes-128-gcm", &gcm_family, NULL, 16, 12, 1, 16},
	{"x25519", &curve_family, NULL, 32, 32, 1, 32},
	{"ed25519", &eddsa_family, NULL, 32, 0, 1, 64},
	{"ecdsa-p256", &ecdsa_family, NULL, 32, 0, 1, 64},
	{"rsa-2048", &rsa_family, NULL, 0, 0, 1, 256},
	PB_END_OF_ROWS,
};
static const pb_row *const tables[] = {rows, NULL};

static const char *version(void)
{
	return "1";
}

static pb_runner runner = {
	.license = "Apache-2.0", .version = version, .object = (const void *)sha, .tables = tables};

int main(int argc, char **argv)
{
	own = getpid();
	lie = getenv("LIE") ? getenv("LIE") : "honest";
	share = getenv("SHARE") ? atof(getenv("SHARE")) : 1;
	runner.name = runner.library = getenv("NAME") ? getenv("NAME") : "liar";
	return pb_runner_main(&runner, argc, argv);
}
