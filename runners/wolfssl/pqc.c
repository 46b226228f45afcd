/* ML-KEM and ML-DSA of wolfCrypt, where the build has them. */
#include "families.h"

#include <wolfssl/wolfcrypt/random.h>
#ifdef WOLFSSL_HAVE_MLKEM
#include <wolfssl/wolfcrypt/wc_mlkem.h>
#endif
#ifdef WOLFSSL_HAVE_MLDSA
#include <wolfssl/wolfcrypt/wc_mldsa.h>
#endif

#include <string.h>

/* ---- ML-KEM ---- */

#ifdef WOLFSSL_HAVE_MLKEM
struct kem {
	MlKemKey own, made;
	word32 length;
};

static int kem_open(pb_case *c)
{
	struct kem *s = new_context(c, sizeof *s);
	int kind = *(const int *)c->row->param;
	if (!s)
		return opened(c, MEMORY_E, "a context");
	int error = wc_MlKemKey_Init(&s->own, kind, NULL, INVALID_DEVID) ||
		    wc_MlKemKey_Init(&s->made, kind, NULL, INVALID_DEVID);
	error = error ? error : wc_MlKemKey_MakeKeyWithRandom(&s->own, c->key[0], (int)c->key_len);
	error = error ? error : wc_MlKemKey_CipherTextSize(&s->own, &s->length);
	c->out_len = c->inverse ? c->row->output : s->length + c->row->output;
	return opened(c, error, "wc_MlKemKey_MakeKeyWithRandom");
}

static void kem_close(pb_case *c)
{
	struct kem *s = c->ctx;
	if (s) {
		wc_MlKemKey_Free(&s->own);
		wc_MlKemKey_Free(&s->made);
	}
	free_context(c);
}

static void kem_show(pb_case *c)
{
	struct kem *s = c->ctx;
	static uint8_t sealed[4096];
	uint8_t sent[32], got[32];
	word32 length = 0;
	c->failures += wc_MlKemKey_Encapsulate(&s->made, sealed, sent, &rng) ||
		       wc_MlKemKey_Decapsulate(&s->made, got, sealed, s->length) ||
		       memcmp(sent, got, sizeof got) != 0 || wc_MlKemKey_PublicKeySize(&s->made, &length) ||
		       wc_MlKemKey_EncodePublicKey(&s->made, c->out, length);
	c->out_len = length;
}

PB_LOOP(encapsulate, struct kem, wc_MlKemKey_Encapsulate(&state->own, out, out + state->length, &rng))
PB_LOOP(decapsulate, struct kem, wc_MlKemKey_Decapsulate(&state->own, out, in, state->length))
PB_LOOP(kem_keygen, struct kem, wc_MlKemKey_MakeKey(&state->made, &rng))
static const pb_variant kem_variants[] = {
	{"encapsulate", "pk/1", "wc_MlKemKey_Encapsulate (with its random draw)", NULL, encapsulate, NULL},
	{"decapsulate", "pk/1", "wc_MlKemKey_Decapsulate", NULL, decapsulate, NULL},
	{"keygen", "pk/1", "wc_MlKemKey_MakeKey", NULL, kem_keygen, kem_show},
	PB_END_OF_VARIANTS,
};
static const pb_family kem_family = {kem_open, kem_close, kem_variants};
#endif

/* ---- ML-DSA ---- */

#ifdef WOLFSSL_HAVE_MLDSA
struct dsa {
	wc_MlDsaKey own, made;
	word32 length;
	int valid;
};

static int dsa_open(pb_case *c)
{
	struct dsa *s = new_context(c, sizeof *s);
	uint8_t level = (uint8_t) * (const int *)c->row->param;
	c->out_len = c->inverse ? 0 : c->row->output;
	c->turns = PB_RING;
	if (!s)
		return opened(c, MEMORY_E, "a context");
	int error = wc_MlDsaKey_Init(&s->own, NULL, INVALID_DEVID) ||
		    wc_MlDsaKey_Init(&s->made, NULL, INVALID_DEVID) ||
		    wc_MlDsaKey_SetParams(&s->own, level) || wc_MlDsaKey_SetParams(&s->made, level);
	error = error ? error : wc_MlDsaKey_MakeKeyFromSeed(&s->own, c->key[0]);
	return opened(c, error, "wc_MlDsaKey_MakeKeyFromSeed");
}

static void dsa_close(pb_case *c)
{
	struct dsa *s = c->ctx;
	if (s) {
		wc_MlDsaKey_Free(&s->own);
		wc_MlDsaKey_Free(&s->made);
	}
	free_context(c);
}

static int dsa_verified(struct dsa *s, wc_MlDsaKey *key, const uint8_t *in, size_t size,
			const uint8_t *signature, size_t length)
{
	s->valid = 0;
	return wc_MlDsaKey_VerifyCtx(key, signature, (word32)length, NULL, 0, in, (word32)size, &s->valid) ==
		       0 &&
	       s->valid;
}

static void dsa_show(pb_case *c)
{
	struct dsa *s = c->ctx;
	static uint8_t signature[5000];
	word32 length = sizeof signature, public = 8192;
	c->failures +=
		wc_MlDsaKey_SignCtx(&s->made, NULL, 0, signature, &length, c->in, (word32)c->size, &rng) ||
		!dsa_verified(s, &s->made, c->in, c->size, signature, length) ||
		wc_MlDsaKey_ExportPubRaw(&s->made, c->out, &public);
	c->out_len = public;
}

PB_LOOP(dsa_sign, struct dsa,
	(state->length = (word32)out_max, wc_MlDsaKey_SignCtx(&state->own, NULL, 0, out, &state->length,
							      PB_TURN(message, turn), (word32)size, &rng)))
PB_LOOP(dsa_verify, struct dsa, !dsa_verified(state, &state->own, in, size, in + size, out_max))
PB_LOOP(dsa_keygen, struct dsa, wc_MlDsaKey_MakeKey(&state->made, &rng))
static const pb_variant dsa_variants[] = {
	{"sign", "pk/1", "wc_MlDsaKey_SignCtx (with its random draw)", NULL, dsa_sign, NULL},
	{"verify", "pk/1", "wc_MlDsaKey_VerifyCtx", NULL, dsa_verify, NULL},
	{"keygen", "pk/1", "wc_MlDsaKey_MakeKey", NULL, dsa_keygen, dsa_show},
	PB_END_OF_VARIANTS,
};
static const pb_family dsa_family = {dsa_open, dsa_close, dsa_variants};
#endif

const pb_row pqc_rows[] = {
#ifdef WOLFSSL_HAVE_MLKEM
	{"ml-kem-512", &kem_family, &(const int){WC_ML_KEM_512}, 64, 0, 1, 32},
	{"ml-kem-768", &kem_family, &(const int){WC_ML_KEM_768}, 64, 0, 1, 32},
	{"ml-kem-1024", &kem_family, &(const int){WC_ML_KEM_1024}, 64, 0, 1, 32},
#endif
#ifdef WOLFSSL_HAVE_MLDSA
	{"ml-dsa-44", &dsa_family, &(const int){WC_ML_DSA_44}, 32, 0, 1, 2420},
	{"ml-dsa-65", &dsa_family, &(const int){WC_ML_DSA_65}, 32, 0, 1, 3309},
	{"ml-dsa-87", &dsa_family, &(const int){WC_ML_DSA_87}, 32, 0, 1, 4627},
#endif
	PB_END_OF_ROWS,
};
