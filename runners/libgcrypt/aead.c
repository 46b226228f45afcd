/* AES-GCM, CCM, OCB, GCM-SIV and ChaCha20-Poly1305: a whole message with additional data and a 16-byte tag
 * behind it.
 *
 * gcry_cipher_setiv begins a message; a handle is used for any number of them. */
#include <stdint.h>

#include "families.h"

enum { TAG = 16 };

#define INLINE static inline __attribute__((always_inline))

static int open_aead(pb_case *c)
{
	const struct algorithm *a = algorithm_of(c);
	gcry_cipher_hd_t handle;
	if (refuse(c, "gcry_cipher_open", gcry_cipher_open(&handle, a->algo, a->mode, 0)))
		return -1;
	c->ctx = handle;
	if (refuse(c, "gcry_cipher_setkey", gcry_cipher_setkey(handle, c->key[0], c->key_len))) {
		gcry_cipher_close(handle);
		return -1;
	}
	return 0;
}

static void close_aead(pb_case *c)
{
	gcry_cipher_close(c->ctx);
}

/* What a mode wants beside the rest: CCM its lengths beforehand, OCB to know what is the last part, GCM-SIV
 * the tag before it opens. */
enum way { PLAIN, CCM, OCB, GCM_SIV };

INLINE gcry_error_t started(gcry_cipher_hd_t handle, enum way way, const uint8_t *nonce, size_t nonce_len,
			    size_t size, const uint8_t *aad, size_t aad_len)
{
	gcry_error_t error = way == GCM_SIV ? gcry_cipher_reset(handle) : 0;
	if (!error)
		error = gcry_cipher_setiv(handle, nonce, nonce_len);
	if (way == CCM && !error) {
		uint64_t lengths[] = {size, aad_len, TAG};
		error = gcry_cipher_ctl(handle, GCRYCTL_SET_CCM_LENGTHS, lengths, sizeof lengths);
	}
	if (!error)
		error = gcry_cipher_authenticate(handle, aad, aad_len);
	return way == OCB && !error ? gcry_cipher_final(handle) : error;
}

INLINE void seal(pb_case *c, uint64_t n, int rekey, enum way way)
{
	gcry_cipher_hd_t handle = c->ctx;
	const uint8_t *const *key = c->key, *const *nonce = c->nonce, *in = c->in, *aad = c->aad;
	uint8_t *out = c->out;
	size_t size = c->size, key_len = c->key_len, nonce_len = c->nonce_len, aad_len = c->aad_len;
	uint64_t failures = 0;
	PB_REPEAT(n, turn, {
		if (rekey)
			failures += gcry_cipher_setkey(handle, PB_TURN(key, turn), key_len) != 0;
		failures += started(handle, way, PB_TURN(nonce, turn), nonce_len, size, aad, aad_len) != 0;
		failures += gcry_cipher_encrypt(handle, out, size, in, size) != 0;
		failures += gcry_cipher_gettag(handle, out + size, TAG) != 0;
	});
	c->failures += failures;
	c->out_len = size + TAG;
}

/* What is opened was sealed with key 0 and nonce 0, so both are in force in every call. */
INLINE void open_sealed(pb_case *c, uint64_t n, int rekey, enum way way)
{
	gcry_cipher_hd_t handle = c->ctx;
	const uint8_t *key = c->key[0], *nonce = c->nonce[0], *in = c->in, *aad = c->aad;
	uint8_t *out = c->out;
	size_t size = c->size, key_len = c->key_len, nonce_len = c->nonce_len, aad_len = c->aad_len;
	uint64_t failures = 0;
	PB_REPEAT(n, turn, {
		if (rekey)
			failures += gcry_cipher_setkey(handle, key, key_len) != 0;
		failures += started(handle, way, nonce, nonce_len, size, aad, aad_len) != 0;
		if (way == GCM_SIV)
			failures += gcry_cipher_set_decryption_tag(handle, in + size, TAG) != 0;
		failures += gcry_cipher_decrypt(handle, out, size, in, size) != 0;
		failures += gcry_cipher_checktag(handle, in + size, TAG) != 0;
	});
	c->failures += failures;
	c->out_len = size;
}

#define SEAL "gcry_cipher_encrypt, gcry_cipher_gettag"
#define OPEN "gcry_cipher_decrypt, gcry_cipher_checktag"

#define FAMILY(NAME, WAY, SETIV, BEFORE_OPENING)                                                             \
	static void NAME##_seal(pb_case *c, uint64_t n)                                                      \
	{                                                                                                    \
		seal(c, n, 0, WAY);                                                                          \
	}                                                                                                    \
	static void NAME##_seal_rekey(pb_case *c, uint64_t n)                                                \
	{                                                                                                    \
		seal(c, n, 1, WAY);                                                                          \
	}                                                                                                    \
	static void NAME##_open(pb_case *c, uint64_t n)                                                      \
	{                                                                                                    \
		open_sealed(c, n, 0, WAY);                                                                   \
	}                                                                                                    \
	static void NAME##_open_rekey(pb_case *c, uint64_t n)                                                \
	{                                                                                                    \
		open_sealed(c, n, 1, WAY);                                                                   \
	}                                                                                                    \
	static const pb_variant NAME##_variants[] = {                                                        \
		{"seal", "message/1", SETIV SEAL, NULL, NAME##_seal, NULL},                                  \
		{"seal", "rekey/1", "gcry_cipher_setkey, " SETIV SEAL, NULL, NAME##_seal_rekey, NULL},       \
		{"open", "message/1", SETIV BEFORE_OPENING OPEN, NULL, NAME##_open, NULL},                   \
		{"open", "rekey/1", "gcry_cipher_setkey, " SETIV BEFORE_OPENING OPEN, NULL,                  \
		 NAME##_open_rekey, NULL},                                                                   \
		PB_END_OF_VARIANTS,                                                                          \
	};                                                                                                   \
	const pb_family NAME##_family = {open_aead, close_aead, NAME##_variants};
FAMILY(aead, PLAIN, "gcry_cipher_setiv, gcry_cipher_authenticate, ", "")
FAMILY(ccm, CCM, "gcry_cipher_setiv, gcry_cipher_ctl(SET_CCM_LENGTHS), gcry_cipher_authenticate, ", "")
FAMILY(ocb, OCB, "gcry_cipher_setiv, gcry_cipher_authenticate, gcry_cipher_final, ", "")
FAMILY(gcm_siv, GCM_SIV, "gcry_cipher_reset, gcry_cipher_setiv, gcry_cipher_authenticate, ",
       "gcry_cipher_set_decryption_tag, ")
