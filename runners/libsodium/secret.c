/* AEADs, MACs, stream ciphers, key derivation and password hashes. But for AES-256-GCM the library has no key
 * schedule that could be kept: `message/1` gives the same key to each call, which expands it anew. */
#include "families.h"

#include <sodium.h>

#include <stdlib.h>

int open_fixed(pb_case *c)
{
	c->out_len = c->row->output;
	return 0;
}

int open_aead(pb_case *c)
{
	c->out_len = c->inverse ? c->size : c->size + c->row->output;
	return 0;
}

int open_size(pb_case *c)
{
	(void)c;
	return 0;
}

void close_nothing(pb_case *c)
{
	(void)c;
}

#define IMPLICIT " (with the expansion of its key)"

#define AEAD(ID, NAME)                                                                                       \
	PB_LOOP(ID##_seal, void,                                                                             \
		crypto_aead_##NAME##_encrypt(out, NULL, in, size, aad, aad_len, NULL, PB_TURN(nonce, turn),  \
					     key[0]))                                                        \
	PB_LOOP(ID##_seal_rekey, void,                                                                       \
		crypto_aead_##NAME##_encrypt(out, NULL, in, size, aad, aad_len, NULL, PB_TURN(nonce, turn),  \
					     PB_TURN(key, turn)))                                            \
	PB_LOOP(ID##_open, void,                                                                             \
		crypto_aead_##NAME##_decrypt(out, NULL, NULL, in, in_len, aad, aad_len, nonce[0], key[0]))   \
	static const pb_variant ID##_variants[] = {                                                          \
		{"seal", "message/1", "crypto_aead_" #NAME "_encrypt" IMPLICIT, NULL, ID##_seal, NULL},      \
		{"open", "message/1", "crypto_aead_" #NAME "_decrypt" IMPLICIT, NULL, ID##_open, NULL},      \
		{"seal", "rekey/1", "crypto_aead_" #NAME "_encrypt", NULL, ID##_seal_rekey, NULL},           \
		{"open", "rekey/1", "crypto_aead_" #NAME "_decrypt", NULL, ID##_open, NULL},                 \
		PB_END_OF_VARIANTS,                                                                          \
	};                                                                                                   \
	static const pb_family ID##_family = {open_aead, close_nothing, ID##_variants};

AEAD(chacha, chacha20poly1305_ietf)
AEAD(xchacha, xchacha20poly1305_ietf)
AEAD(aegis128l, aegis128l)
AEAD(aegis256, aegis256)

/* AES-256-GCM exists where the CPU has the instructions, and its key schedule can be kept. */
static int gcm_open(pb_case *c)
{
	if (!crypto_aead_aes256gcm_is_available())
		return pb_fail(c, "crypto_aead_aes256gcm needs AES and carry-less multiply instructions");
	c->ctx = aligned_alloc(64, (sizeof(crypto_aead_aes256gcm_state) + 63) & ~(size_t)63);
	if (!c->ctx || crypto_aead_aes256gcm_beforenm(c->ctx, c->key[0]))
		return pb_fail(c, "crypto_aead_aes256gcm_beforenm");
	return open_aead(c);
}

static void gcm_close(pb_case *c)
{
	free(c->ctx);
	c->ctx = NULL;
}

PB_LOOP(gcm_seal, crypto_aead_aes256gcm_state,
	crypto_aead_aes256gcm_encrypt_afternm(out, NULL, in, size, aad, aad_len, NULL, PB_TURN(nonce, turn),
					      state))
PB_LOOP(gcm_open_message, crypto_aead_aes256gcm_state,
	crypto_aead_aes256gcm_decrypt_afternm(out, NULL, NULL, in, in_len, aad, aad_len, nonce[0], state))
PB_LOOP(gcm_seal_rekey, void,
	crypto_aead_aes256gcm_encrypt(out, NULL, in, size, aad, aad_len, NULL, PB_TURN(nonce, turn),
				      PB_TURN(key, turn)))
PB_LOOP(gcm_open_rekey, void,
	crypto_aead_aes256gcm_decrypt(out, NULL, NULL, in, in_len, aad, aad_len, nonce[0], key[0]))

static const pb_variant gcm_variants[] = {
	{"seal", "message/1", "crypto_aead_aes256gcm_encrypt_afternm", NULL, gcm_seal, NULL},
	{"open", "message/1", "crypto_aead_aes256gcm_decrypt_afternm", NULL, gcm_open_message, NULL},
	{"seal", "rekey/1", "crypto_aead_aes256gcm_encrypt", NULL, gcm_seal_rekey, NULL},
	{"open", "rekey/1", "crypto_aead_aes256gcm_decrypt", NULL, gcm_open_rekey, NULL},
	PB_END_OF_VARIANTS,
};
static const pb_family gcm_family = {gcm_open, gcm_close, gcm_variants};

#define STREAM(ID, NAME)                                                                                     \
	PB_LOOP(ID##_message, void, NAME(out, in, size, PB_TURN(nonce, turn), key[0]))                       \
	PB_LOOP(ID##_rekey, void, NAME(out, in, size, PB_TURN(nonce, turn), PB_TURN(key, turn)))             \
	static const pb_variant ID##_variants[] = {                                                          \
		{"encrypt", "message/1", #NAME IMPLICIT, NULL, ID##_message, NULL},                          \
		{"decrypt", "message/1", #NAME IMPLICIT, NULL, ID##_message, NULL},                          \
		{"encrypt", "rekey/1", #NAME, NULL, ID##_rekey, NULL},                                       \
		{"decrypt", "rekey/1", #NAME, NULL, ID##_rekey, NULL},                                       \
		PB_END_OF_VARIANTS,                                                                          \
	};                                                                                                   \
	static const pb_family ID##_family = {open_size, close_nothing, ID##_variants};
STREAM(chacha20, crypto_stream_chacha20_ietf_xor)

#define MAC(ID, NAME)                                                                                        \
	PB_LOOP(ID##_message, void, NAME(out, in, size, key[0]))                                             \
	PB_LOOP(ID##_rekey, void, NAME(out, in, size, PB_TURN(key, turn)))                                   \
	static const pb_variant ID##_variants[] = {                                                          \
		{"mac", "rekey/1", #NAME, NULL, ID##_rekey, NULL},                                           \
		{"mac", "message/1", #NAME IMPLICIT, NULL, ID##_message, NULL},                              \
		PB_END_OF_VARIANTS,                                                                          \
	};                                                                                                   \
	static const pb_family ID##_family = {open_fixed, close_nothing, ID##_variants};
MAC(poly1305, crypto_onetimeauth_poly1305)
MAC(siphash, crypto_shorthash_siphash24)
/* crypto_auth_hmacsha512 has keys of 32 bytes, the catalogue those of 64: it is left out. */
MAC(hmac256, crypto_auth_hmacsha256)

static int expanded_256(uint8_t *out, size_t size, const uint8_t *key, size_t key_len, const uint8_t *salt,
			size_t salt_len, const uint8_t *info, size_t info_len)
{
	uint8_t extracted[crypto_kdf_hkdf_sha256_KEYBYTES];
	return crypto_kdf_hkdf_sha256_extract(extracted, salt, salt_len, key, key_len) ||
	       crypto_kdf_hkdf_sha256_expand(out, size, (const char *)info, info_len, extracted);
}

static int expanded_512(uint8_t *out, size_t size, const uint8_t *key, size_t key_len, const uint8_t *salt,
			size_t salt_len, const uint8_t *info, size_t info_len)
{
	uint8_t extracted[crypto_kdf_hkdf_sha512_KEYBYTES];
	return crypto_kdf_hkdf_sha512_extract(extracted, salt, salt_len, key, key_len) ||
	       crypto_kdf_hkdf_sha512_expand(out, size, (const char *)info, info_len, extracted);
}

PB_LOOP(expand_256, void,
	expanded_256(out, size, key[0], key_len, PB_TURN(nonce, turn), nonce_len, aad, aad_len))
PB_LOOP(expand_512, void,
	expanded_512(out, size, key[0], key_len, PB_TURN(nonce, turn), nonce_len, aad, aad_len))

static int argon2id_open(pb_case *c)
{
	if (c->nonce_len != crypto_pwhash_SALTBYTES)
		return pb_fail(c, "crypto_pwhash takes salts of %d bytes only",
			       (int)crypto_pwhash_SALTBYTES) +
		       PB_UNFIT;
	return open_fixed(c);
}

PB_LOOP(argon2id, void,
	crypto_pwhash(out, out_max, (const char *)in, size, PB_TURN(nonce, turn), 2, 64 << 20,
		      crypto_pwhash_ALG_ARGON2ID13))
PB_LOOP(scrypt, void,
	crypto_pwhash_scryptsalsa208sha256_ll(in, size, PB_TURN(nonce, turn), nonce_len, 16384, 8, 1, out,
					      out_max))

#define ONE(NAME, OPERATION, CONTRACT, CALLS, OPEN)                                                          \
	static const pb_variant NAME##_variants[] = {{OPERATION, CONTRACT, CALLS, NULL, NAME, NULL},         \
						     PB_END_OF_VARIANTS};                                    \
	static const pb_family NAME##_family = {OPEN, close_nothing, NAME##_variants};
ONE(expand_256, "expand", "expand/1", "crypto_kdf_hkdf_sha256_extract, crypto_kdf_hkdf_sha256_expand",
    open_size)
ONE(expand_512, "expand", "expand/1", "crypto_kdf_hkdf_sha512_extract, crypto_kdf_hkdf_sha512_expand",
    open_size)
ONE(argon2id, "hash", "password/1", "crypto_pwhash", argon2id_open)
ONE(scrypt, "hash", "password/1", "crypto_pwhash_scryptsalsa208sha256_ll", open_fixed)

const pb_row secret_rows[] = {
	ROW("aes-256-gcm", gcm_family, 32, 12, 16),
	ROW("chacha20-poly1305", chacha_family, 32, 12, 16),
	ROW("xchacha20-poly1305", xchacha_family, 32, 24, 16),
	ROW("aegis-128l", aegis128l_family, 16, 16, 32),
	ROW("aegis-256", aegis256_family, 32, 32, 32),
	ROW("chacha20", chacha20_family, 32, 12, 0),
	ROW("poly1305", poly1305_family, 32, 0, 16),
	ROW("siphash-2-4", siphash_family, 16, 0, 8),
	ROW("hmac-sha-256", hmac256_family, 32, 0, 32),
	ROW("hkdf-sha-256", expand_256_family, 32, 32, 0),
	ROW("hkdf-sha-512", expand_512_family, 32, 32, 0),
	ROW("argon2id-64mib-2-1", argon2id_family, 0, 16, 32),
	ROW("scrypt-16384-8-1", scrypt_family, 0, 16, 64),
	PB_END_OF_ROWS,
};
