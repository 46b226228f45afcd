/* Ciphers and AEADs of wolfCrypt. */
#include "families.h"

#include <wolfssl/wolfcrypt/aes.h>
#include <wolfssl/wolfcrypt/camellia.h>
#include <wolfssl/wolfcrypt/chacha20_poly1305.h>

/* ---- AES and Camellia in their modes ----
 * SETUP(state, key, key_len, iv, inverse), RESTART(state, iv) and the two directions are expressions that are
 * not zero where the library reports an error. */
#define MODE(ID, TYPE, INIT, SETUP, RESTART, ENCRYPT, DECRYPT, SETUPS, RESTARTS, CALLS)                      \
	static int ID##_setup(TYPE *state, const uint8_t *key, size_t key_len, const uint8_t *iv,            \
			      int inverse)                                                                   \
	{                                                                                                    \
		(void)inverse;                                                                               \
		return SETUP;                                                                                \
	}                                                                                                    \
	static int ID##_restart(TYPE *state, const uint8_t *iv)                                              \
	{                                                                                                    \
		return RESTART;                                                                              \
	}                                                                                                    \
	static int ID##_open(pb_case *c)                                                                     \
	{                                                                                                    \
		TYPE *state = new_context(c, sizeof(TYPE));                                                  \
		return opened(c,                                                                             \
			      !state ? MEMORY_E                                                              \
				     : (INIT) || ID##_setup(state, c->key[0], c->key_len, c->nonce[0],       \
							    c->inverse),                                     \
			      SETUPS);                                                                       \
	}                                                                                                    \
	static void ID##_begin(pb_case *c)                                                                   \
	{                                                                                                    \
		c->failures += ID##_setup(c->ctx, c->key[0], c->key_len, c->nonce[0], c->inverse) != 0;      \
	}                                                                                                    \
	PB_LOOP(ID##_encrypt_stream, TYPE, ENCRYPT)                                                          \
	PB_LOOP(ID##_decrypt_stream, TYPE, DECRYPT)                                                          \
	PB_LOOP(ID##_encrypt_message, TYPE, ID##_restart(state, PB_TURN(nonce, turn)) || ENCRYPT)            \
	PB_LOOP(ID##_decrypt_message, TYPE, ID##_restart(state, PB_TURN(nonce, turn)) || DECRYPT)            \
	PB_LOOP(ID##_encrypt_rekey, TYPE,                                                                    \
		ID##_setup(state, PB_TURN(key, turn), key_len, PB_TURN(nonce, turn), 0) || ENCRYPT)          \
	PB_LOOP(ID##_decrypt_rekey, TYPE,                                                                    \
		ID##_setup(state, PB_TURN(key, turn), key_len, PB_TURN(nonce, turn), 1) || DECRYPT)          \
	static const pb_variant ID##_variants[] = {                                                          \
		{"encrypt", "stream/1", CALLS "Encrypt", ID##_begin, ID##_encrypt_stream, NULL},             \
		{"decrypt", "stream/1", CALLS "Decrypt", ID##_begin, ID##_decrypt_stream, NULL},             \
		{"encrypt", "message/1", RESTARTS CALLS "Encrypt", ID##_begin, ID##_encrypt_message, NULL},  \
		{"decrypt", "message/1", RESTARTS CALLS "Decrypt", ID##_begin, ID##_decrypt_message, NULL},  \
		{"encrypt", "rekey/1", SETUPS ", " CALLS "Encrypt", NULL, ID##_encrypt_rekey, NULL},         \
		{"decrypt", "rekey/1", SETUPS ", " CALLS "Decrypt", NULL, ID##_decrypt_rekey, NULL},         \
		PB_END_OF_VARIANTS,                                                                          \
	};                                                                                                   \
	static const pb_family ID##_family = {ID##_open, free_context, ID##_variants};

#define AES_MODE(ID, SETUP, ENCRYPT, DECRYPT, CALLS)                                                         \
	MODE(ID, Aes, wc_AesInit(state, NULL, INVALID_DEVID), SETUP, wc_AesSetIV(state, iv), ENCRYPT,        \
	     DECRYPT, "wc_AesSetKey", "wc_AesSetIV, ", CALLS)
#define AES_KEY(DIRECTION) wc_AesSetKey(state, key, (word32)key_len, iv, DIRECTION)
#define EITHER             inverse ? AES_DECRYPTION : AES_ENCRYPTION
AES_MODE(cbc, AES_KEY(EITHER), wc_AesCbcEncrypt(state, out, in, (word32)size),
	 wc_AesCbcDecrypt(state, out, in, (word32)size), "wc_AesCbc")
AES_MODE(ctr, AES_KEY(AES_ENCRYPTION), wc_AesCtrEncrypt(state, out, in, (word32)size),
	 wc_AesCtrEncrypt(state, out, in, (word32)size), "wc_AesCtr")
MODE(camellia, Camellia, 0, wc_CamelliaSetKey(state, key, (word32)key_len, iv), wc_CamelliaSetIV(state, iv),
     wc_CamelliaCbcEncrypt(state, out, in, (word32)size), wc_CamelliaCbcDecrypt(state, out, in, (word32)size),
     "wc_CamelliaSetKey", "wc_CamelliaSetIV, ", "wc_CamelliaCbc")

static int xts_open(pb_case *c)
{
	XtsAes *state = new_context(c, sizeof *state);
	int way = c->inverse ? AES_DECRYPTION : AES_ENCRYPTION;
	return opened(
		c,
		!state ? MEMORY_E
		       : wc_AesXtsSetKey(state, c->key[0], (word32)c->key_len, way, NULL, INVALID_DEVID),
		"wc_AesXtsSetKey");
}
PB_LOOP(xts_encrypt, XtsAes, wc_AesXtsEncrypt(state, out, in, (word32)size, PB_TURN(nonce, turn), 16))
PB_LOOP(xts_decrypt, XtsAes, wc_AesXtsDecrypt(state, out, in, (word32)size, PB_TURN(nonce, turn), 16))
static const pb_variant xts_variants[] = {
	{"encrypt", "message/1", "wc_AesXtsEncrypt", NULL, xts_encrypt, NULL},
	{"decrypt", "message/1", "wc_AesXtsDecrypt", NULL, xts_decrypt, NULL},
	PB_END_OF_VARIANTS,
};
static const pb_family xts_family = {xts_open, free_context, xts_variants};

/* ---- AEADs ----
 * SET expands `key`; where the library has no key that could be kept, it is 0 and each call is given the key.
 */
static int aead_open(pb_case *c)
{
	Aes *aes = new_context(c, sizeof *aes);
	c->out_len = c->inverse ? c->size : c->size + c->row->output;
	return opened(c, !aes ? MEMORY_E : wc_AesInit(aes, NULL, INVALID_DEVID), "wc_AesInit");
}

#define AEAD(ID, SET, SEAL, OPEN, SETS, NOTE, SEALS, OPENS)                                                  \
	static void ID##_begin(pb_case *c)                                                                   \
	{                                                                                                    \
		Aes *state = c->ctx;                                                                         \
		const uint8_t *one_key = c->key[0];                                                          \
		word32 key_len = (word32)c->key_len;                                                         \
		(void)state, (void)one_key, (void)key_len;                                                   \
		c->failures += (SET) != 0;                                                                   \
	}                                                                                                    \
	static int ID##_seal_one(Aes *state, const uint8_t *one_key, word32 key_len, const uint8_t *nonce,   \
				 word32 nonce_len, const uint8_t *aad, word32 aad_len, const uint8_t *in,    \
				 word32 size, uint8_t *out, word32 tag_len)                                  \
	{                                                                                                    \
		(void)state, (void)one_key, (void)key_len, (void)nonce, (void)nonce_len, (void)tag_len;      \
		return SEAL;                                                                                 \
	}                                                                                                    \
	static int ID##_open_one(Aes *state, const uint8_t *one_key, word32 key_len, const uint8_t *nonce,   \
				 word32 nonce_len, const uint8_t *aad, word32 aad_len, const uint8_t *in,    \
				 word32 size, uint8_t *out, word32 tag_len)                                  \
	{                                                                                                    \
		(void)state, (void)one_key, (void)key_len, (void)nonce, (void)nonce_len, (void)tag_len;      \
		return OPEN;                                                                                 \
	}                                                                                                    \
	static int ID##_set(Aes *state, const uint8_t *one_key, word32 key_len)                              \
	{                                                                                                    \
		(void)state, (void)one_key, (void)key_len;                                                   \
		return SET;                                                                                  \
	}                                                                                                    \
	PB_LOOP(ID##_seal, Aes, ID##_seal_one(state, key[0], KEY_LEN, PB_TURN(nonce, turn), REST))           \
	PB_LOOP(ID##_open, Aes, ID##_open_one(state, key[0], KEY_LEN, nonce[0], REST))                       \
	PB_LOOP(ID##_seal_rekey, Aes,                                                                        \
		ID##_set(state, PB_TURN(key, turn), KEY_LEN) ||                                              \
			ID##_seal_one(state, PB_TURN(key, turn), KEY_LEN, PB_TURN(nonce, turn), REST))       \
	PB_LOOP(ID##_open_rekey, Aes,                                                                        \
		ID##_set(state, key[0], KEY_LEN) || ID##_open_one(state, key[0], KEY_LEN, nonce[0], REST))   \
	static const pb_variant ID##_variants[] = {                                                          \
		{"seal", "message/1", SEALS NOTE, ID##_begin, ID##_seal, NULL},                              \
		{"open", "message/1", OPENS NOTE, ID##_begin, ID##_open, NULL},                              \
		{"seal", "rekey/1", SETS SEALS, NULL, ID##_seal_rekey, NULL},                                \
		{"open", "rekey/1", SETS OPENS, NULL, ID##_open_rekey, NULL},                                \
		PB_END_OF_VARIANTS,                                                                          \
	};                                                                                                   \
	static const pb_family ID##_family = {aead_open, free_context, ID##_variants};
#define KEY_LEN (word32) key_len
#define REST    (word32) nonce_len, aad, (word32)aad_len, in, (word32)size, out, (word32)out_max

AEAD(gcm, wc_AesGcmSetKey(state, one_key, key_len),
     wc_AesGcmEncrypt(state, out, in, size, nonce, nonce_len, out + size, tag_len, aad, aad_len),
     wc_AesGcmDecrypt(state, out, in, size, nonce, nonce_len, in + size, tag_len, aad, aad_len),
     "wc_AesGcmSetKey, ", "", "wc_AesGcmEncrypt", "wc_AesGcmDecrypt")
AEAD(ccm, wc_AesCcmSetKey(state, one_key, key_len),
     wc_AesCcmEncrypt(state, out, in, size, nonce, nonce_len, out + size, tag_len, aad, aad_len),
     wc_AesCcmDecrypt(state, out, in, size, nonce, nonce_len, in + size, tag_len, aad, aad_len),
     "wc_AesCcmSetKey, ", "", "wc_AesCcmEncrypt", "wc_AesCcmDecrypt")
AEAD(chacha, 0, wc_ChaCha20Poly1305_Encrypt(one_key, nonce, aad, aad_len, in, size, out, out + size),
     wc_ChaCha20Poly1305_Decrypt(one_key, nonce, aad, aad_len, in, size, in + size, out), "", IMPLICIT,
     "wc_ChaCha20Poly1305_Encrypt", "wc_ChaCha20Poly1305_Decrypt")
#ifdef HAVE_XCHACHA
AEAD(xchacha, 0,
     wc_XChaCha20Poly1305_Encrypt(out, size + tag_len, in, size, aad, aad_len, nonce, nonce_len, one_key,
				  key_len),
     wc_XChaCha20Poly1305_Decrypt(out, size, in, size + tag_len, aad, aad_len, nonce, nonce_len, one_key,
				  key_len),
     "", IMPLICIT, "wc_XChaCha20Poly1305_Encrypt", "wc_XChaCha20Poly1305_Decrypt")
#endif
#ifdef WOLFSSL_AES_SIV
/* The interface for opening has a tag that is not const, and does not write to it. */
AEAD(siv, 0, wc_AesSivEncrypt(one_key, key_len, aad, aad_len, NULL, 0, in, size, out + size, out),
     wc_AesSivDecrypt(one_key, key_len, aad, aad_len, NULL, 0, in, size, (uint8_t *)(uintptr_t)(in + size),
		      out),
     "", IMPLICIT, "wc_AesSivEncrypt", "wc_AesSivDecrypt")
#endif
#ifdef WOLFSSL_AESGCM_SIV
AEAD(gcm_siv, 0,
     wc_AesGcmSivEncrypt(one_key, key_len, nonce, nonce_len, aad, aad_len, in, size, out, out + size,
			 tag_len),
     wc_AesGcmSivDecrypt(one_key, key_len, nonce, nonce_len, aad, aad_len, in, size, out, in + size, tag_len),
     "", IMPLICIT, "wc_AesGcmSivEncrypt", "wc_AesGcmSivDecrypt")
#endif

const pb_row cipher_rows[] = {
	ROW("aes-128-cbc", cbc, 16, 16, 16, 0),
	ROW("aes-192-cbc", cbc, 24, 16, 16, 0),
	ROW("aes-256-cbc", cbc, 32, 16, 16, 0),
	ROW("aes-128-ctr", ctr, 16, 16, 1, 0),
	ROW("aes-192-ctr", ctr, 24, 16, 1, 0),
	ROW("aes-256-ctr", ctr, 32, 16, 1, 0),
	ROW("camellia-128-cbc", camellia, 16, 16, 16, 0),
	ROW("camellia-256-cbc", camellia, 32, 16, 16, 0),
	ROW("aes-128-xts", xts, 32, 16, 16, 0),
	ROW("aes-256-xts", xts, 64, 16, 16, 0),
	ROW("aes-128-gcm", gcm, 16, 12, 1, 16),
	ROW("aes-192-gcm", gcm, 24, 12, 1, 16),
	ROW("aes-256-gcm", gcm, 32, 12, 1, 16),
	ROW("aes-128-ccm", ccm, 16, 12, 1, 16),
	ROW("aes-256-ccm", ccm, 32, 12, 1, 16),
	ROW("chacha20-poly1305", chacha, 32, 12, 1, 16),
#ifdef HAVE_XCHACHA
	ROW("xchacha20-poly1305", xchacha, 32, 24, 1, 16),
#endif
#ifdef WOLFSSL_AES_SIV
	ROW("aes-128-siv", siv, 32, 0, 1, 16),
	ROW("aes-256-siv", siv, 64, 0, 1, 16),
#endif
#ifdef WOLFSSL_AESGCM_SIV
	ROW("aes-128-gcm-siv", gcm_siv, 16, 12, 1, 16),
	ROW("aes-256-gcm-siv", gcm_siv, 32, 12, 1, 16),
#endif
	PB_END_OF_ROWS,
};
