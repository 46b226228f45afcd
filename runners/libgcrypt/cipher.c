/* Block ciphers in their modes, and RC4. One gcry_cipher handle per case serves both directions.
 *
 * libgcrypt makes the decryption half of an AES key schedule at the first decryption, so that it is part of
 * rekey/1 but never of setup/1. */
#include <stdint.h>

#include "families.h"

typedef gcry_error_t crypt_call(gcry_cipher_hd_t, void *, size_t, const void *, size_t);
typedef gcry_error_t nonce_call(gcry_cipher_hd_t, const void *, size_t);

#define INLINE static inline __attribute__((always_inline))

INLINE gcry_error_t no_nonce(gcry_cipher_hd_t handle, const void *nonce, size_t length)
{
	(void)handle, (void)nonce, (void)length;
	return 0;
}

static int open_cipher(pb_case *c)
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

static void close_cipher(pb_case *c)
{
	gcry_cipher_close(c->ctx);
}

INLINE void stream(pb_case *c, uint64_t n, crypt_call *crypt)
{
	gcry_cipher_hd_t handle = c->ctx;
	const uint8_t *in = c->in;
	uint8_t *out = c->out;
	size_t size = c->size;
	uint64_t failures = 0;
	PB_REPEAT(n, turn, failures += crypt(handle, out, size, in, size) != 0);
	c->failures += failures;
}

INLINE void message(pb_case *c, uint64_t n, nonce_call *set_nonce, crypt_call *crypt)
{
	gcry_cipher_hd_t handle = c->ctx;
	const uint8_t *const *nonce = c->nonce, *in = c->in;
	uint8_t *out = c->out;
	size_t size = c->size, nonce_len = c->nonce_len;
	uint64_t failures = 0;
	PB_REPEAT(n, turn, {
		failures += set_nonce(handle, PB_TURN(nonce, turn), nonce_len) != 0;
		failures += crypt(handle, out, size, in, size) != 0;
	});
	c->failures += failures;
}

INLINE void rekey(pb_case *c, uint64_t n, nonce_call *set_nonce, crypt_call *crypt)
{
	gcry_cipher_hd_t handle = c->ctx;
	const uint8_t *const *key = c->key, *const *nonce = c->nonce, *in = c->in;
	uint8_t *out = c->out;
	size_t size = c->size, key_len = c->key_len, nonce_len = c->nonce_len;
	uint64_t failures = 0;
	PB_REPEAT(n, turn, {
		failures += gcry_cipher_setkey(handle, PB_TURN(key, turn), key_len) != 0;
		failures += set_nonce(handle, PB_TURN(nonce, turn), nonce_len) != 0;
		failures += crypt(handle, out, size, in, size) != 0;
	});
	c->failures += failures;
}

static void setup(pb_case *c, uint64_t n)
{
	gcry_cipher_hd_t handle = c->ctx;
	const uint8_t *const *key = c->key;
	size_t key_len = c->key_len;
	uint64_t failures = 0;
	PB_REPEAT(n, turn, failures += gcry_cipher_setkey(handle, PB_TURN(key, turn), key_len) != 0);
	c->failures += failures;
}

/* The message of the first 16 bytes under the last key and nonce 0. */
INLINE void show_setup(pb_case *c, nonce_call *set_nonce, crypt_call *crypt)
{
	size_t size = c->size < 16 ? c->size : 16;
	c->failures += set_nonce(c->ctx, c->nonce[0], c->nonce_len) != 0;
	c->failures += crypt(c->ctx, c->out, size, c->in, size) != 0;
	c->out_len = size;
}

/* The loops of one direction; `set_nonce` and `crypt` are known at compile time, so that they are called
 * directly. */
#define DIRECTION(operation, kind, set_nonce, crypt)                                                         \
	static void operation##_stream_##kind(pb_case *c, uint64_t n)                                        \
	{                                                                                                    \
		stream(c, n, crypt);                                                                         \
	}                                                                                                    \
	static void operation##_message_##kind(pb_case *c, uint64_t n)                                       \
	{                                                                                                    \
		message(c, n, set_nonce, crypt);                                                             \
	}                                                                                                    \
	static void operation##_rekey_##kind(pb_case *c, uint64_t n)                                         \
	{                                                                                                    \
		rekey(c, n, set_nonce, crypt);                                                               \
	}                                                                                                    \
	static void operation##_show_##kind(pb_case *c)                                                      \
	{                                                                                                    \
		show_setup(c, set_nonce, crypt);                                                             \
	}

#define SETKEY  "gcry_cipher_setkey"
#define ENCRYPT "gcry_cipher_encrypt"
#define DECRYPT "gcry_cipher_decrypt"

/* Everything that one way of giving a nonce needs: begin, both directions, the table, the family. `says` is
 * how the way is told to readers. */
#define FAMILY(kind, set_nonce, says)                                                                        \
	static void begin_##kind(pb_case *c)                                                                 \
	{                                                                                                    \
		c->failures += set_nonce(c->ctx, c->nonce[0], c->nonce_len) != 0;                            \
	}                                                                                                    \
	DIRECTION(encrypt, kind, set_nonce, gcry_cipher_encrypt)                                             \
	DIRECTION(decrypt, kind, set_nonce, gcry_cipher_decrypt)                                             \
	static const pb_variant variants_##kind[] = {                                                        \
		{"encrypt", "stream/1", ENCRYPT, begin_##kind, encrypt_stream_##kind, NULL},                 \
		{"encrypt", "message/1", says ENCRYPT, NULL, encrypt_message_##kind, NULL},                  \
		{"encrypt", "rekey/1", SETKEY ", " says ENCRYPT, NULL, encrypt_rekey_##kind, NULL},          \
		{"encrypt", "setup/1", SETKEY, NULL, setup, encrypt_show_##kind},                            \
		{"decrypt", "stream/1", DECRYPT, begin_##kind, decrypt_stream_##kind, NULL},                 \
		{"decrypt", "message/1", says DECRYPT, NULL, decrypt_message_##kind, NULL},                  \
		{"decrypt", "rekey/1", SETKEY ", " says DECRYPT, NULL, decrypt_rekey_##kind, NULL},          \
		{"decrypt", "setup/1", SETKEY, NULL, setup, decrypt_show_##kind},                            \
		PB_END_OF_VARIANTS,                                                                          \
	};                                                                                                   \
	const pb_family kind##_family = {open_cipher, close_cipher, variants_##kind}

FAMILY(ecb, no_nonce, "");
FAMILY(iv, gcry_cipher_setiv, "gcry_cipher_setiv, ");
FAMILY(ctr, gcry_cipher_setctr, "gcry_cipher_setctr, ");

/* RC4's state begins with the key: a message under a key that is already set does not exist. */
static void begin_keystream(pb_case *c)
{
	c->failures += gcry_cipher_setkey(c->ctx, c->key[0], c->key_len) != 0;
}

static const pb_variant variants_keystream[] = {
	{"encrypt", "stream/1", ENCRYPT, begin_keystream, encrypt_stream_ecb, NULL},
	{"encrypt", "rekey/1", SETKEY ", " ENCRYPT, NULL, encrypt_rekey_ecb, NULL},
	{"encrypt", "setup/1", SETKEY, NULL, setup, encrypt_show_ecb},
	{"decrypt", "stream/1", DECRYPT, begin_keystream, decrypt_stream_ecb, NULL},
	{"decrypt", "rekey/1", SETKEY ", " DECRYPT, NULL, decrypt_rekey_ecb, NULL},
	{"decrypt", "setup/1", SETKEY, NULL, setup, decrypt_show_ecb},
	PB_END_OF_VARIANTS,
};
const pb_family keystream_family = {open_cipher, close_cipher, variants_keystream};
