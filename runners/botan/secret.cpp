// AEADs, block cipher modes, hashes, MACs, key derivation and password hashes. AEADs and modes work on the
// library's own vectors, in place: the data are copied in and out, as a user has to who keeps them elsewhere.
#include <botan/aead.h>
#include <botan/bcrypt.h>
#include <botan/cipher_mode.h>
#include <botan/hash.h>
#include <botan/kdf.h>
#include <botan/mac.h>
#include <botan/pwdhash.h>
#include <botan/stream_cipher.h>

#include <cstring>
#include <memory>

#include "families.h"

namespace
{

using Botan::Cipher_Dir;

const char *name_of(const pb_case *c)
{
	return static_cast<const char *>(c->row->param);
}

struct mode {
	std::unique_ptr<Botan::Cipher_Mode> cipher;
	Botan::AEAD_Mode *aead;
	Botan::secure_vector<uint8_t> buffer;

	int one(uint8_t *out, const uint8_t *nonce, size_t nonce_len, const uint8_t *in, size_t size,
		const uint8_t *aad, size_t aad_len)
	{
		buffer.assign(in, in + size);
		if (aead)
			aead->set_associated_data(aad, aad_len);
		cipher->start(nonce, nonce_len);
		cipher->finish(buffer);
		memcpy(out, buffer.data(), buffer.size());
		return 0;
	}

	void rekey(const uint8_t *key, size_t key_len)
	{
		cipher->set_key(key, key_len);
	}
};

mode *new_mode(pb_case *c, bool aead)
{
	Cipher_Dir way = c->inverse ? Cipher_Dir::Decryption : Cipher_Dir::Encryption;
	std::unique_ptr<mode> made(new mode);
	if (aead) {
		auto one = Botan::AEAD_Mode::create_or_throw(name_of(c), way);
		made->aead = one.get();
		made->cipher = std::move(one);
		c->out_len = c->inverse ? c->size : c->size + c->row->output;
	} else {
		made->aead = nullptr;
		made->cipher = Botan::Cipher_Mode::create_or_throw(name_of(c), way);
	}
	made->rekey(c->key[0], c->key_len);
	made->buffer.reserve(c->size + 64);
	return made.release();
}

OPEN(aead_open, new_mode(c, true))
OPEN(cipher_open, new_mode(c, false))
CLOSE(mode_close, mode)

void first_key(pb_case *c)
{
	static_cast<mode *>(c->ctx)->rekey(c->key[0], c->key_len);
}

LOOP(forward, mode, state->one(out, PB_TURN(nonce, turn), nonce_len, in, size, aad, aad_len))
LOOP(backward, mode, state->one(out, nonce[0], nonce_len, in, in_len, aad, aad_len))
LOOP(forward_rekey, mode,
     (state->rekey(PB_TURN(key, turn), key_len),
      state->one(out, PB_TURN(nonce, turn), nonce_len, in, size, aad, aad_len)))
LOOP(backward_rekey, mode,
     (state->rekey(key[0], key_len), state->one(out, nonce[0], nonce_len, in, in_len, aad, aad_len)))

#define COPIED "copy in, set_associated_data, start, finish, copy out"
const pb_variant aead_variants[] = {
	{"seal", "message/1", COPIED, nullptr, forward, nullptr},
	{"open", "message/1", COPIED, nullptr, backward, nullptr},
	{"seal", "rekey/1", "set_key, " COPIED, first_key, forward_rekey, nullptr},
	{"open", "rekey/1", "set_key, " COPIED, nullptr, backward_rekey, nullptr},
	PB_END_OF_VARIANTS,
};
const pb_family aead_family = {aead_open, mode_close, aead_variants};

#define IN_PLACE "copy in, start, finish, copy out"
const pb_variant cipher_variants[] = {
	{"encrypt", "message/1", IN_PLACE, nullptr, forward, nullptr},
	{"decrypt", "message/1", IN_PLACE, nullptr, forward, nullptr},
	{"encrypt", "rekey/1", "set_key, " IN_PLACE, first_key, forward_rekey, nullptr},
	{"decrypt", "rekey/1", "set_key, " IN_PLACE, first_key, forward_rekey, nullptr},
	PB_END_OF_VARIANTS,
};
const pb_family cipher_family = {cipher_open, mode_close, cipher_variants};

// CTR and ChaCha20 are stream ciphers of the library and need no copy.
Botan::StreamCipher *new_stream(pb_case *c)
{
	auto made = Botan::StreamCipher::create_or_throw(name_of(c));
	made->set_key(c->key[0], c->key_len);
	made->set_iv(c->nonce[0], c->nonce_len);
	return made.release();
}

OPEN(stream_open, new_stream(c))
CLOSE(stream_close, Botan::StreamCipher)

void stream_begin(pb_case *c)
{
	auto *cipher = static_cast<Botan::StreamCipher *>(c->ctx);
	cipher->set_key(c->key[0], c->key_len);
	cipher->set_iv(c->nonce[0], c->nonce_len);
}

LOOP(stream_next, Botan::StreamCipher, (state->cipher(in, out, size), 0))
LOOP(stream_message, Botan::StreamCipher,
     (state->set_iv(PB_TURN(nonce, turn), nonce_len), state->cipher(in, out, size), 0))
LOOP(stream_rekey, Botan::StreamCipher,
     (state->set_key(PB_TURN(key, turn), key_len), state->set_iv(PB_TURN(nonce, turn), nonce_len),
      state->cipher(in, out, size), 0))

#define STREAM_WAY(NAME)                                                                                     \
	{NAME, "stream/1", "StreamCipher::cipher", stream_begin, stream_next, nullptr},                      \
		{NAME, "message/1", "set_iv, cipher", stream_begin, stream_message, nullptr},                \
	{                                                                                                    \
		NAME, "rekey/1", "set_key, set_iv, cipher", nullptr, stream_rekey, nullptr                   \
	}
const pb_variant stream_variants[] = {STREAM_WAY("encrypt"), STREAM_WAY("decrypt"), PB_END_OF_VARIANTS};
const pb_family stream_family = {stream_open, stream_close, stream_variants};

Botan::HashFunction *new_hash(pb_case *c)
{
	c->out_len = c->row->output;
	return Botan::HashFunction::create_or_throw(name_of(c)).release();
}

OPEN(hash_open, new_hash(c))
CLOSE(hash_close, Botan::HashFunction)

void hash_begin(pb_case *c)
{
	static_cast<Botan::HashFunction *>(c->ctx)->clear();
}

void hash_finish(pb_case *c)
{
	static_cast<Botan::HashFunction *>(c->ctx)->final(c->out);
}

LOOP(hash_oneshot, Botan::HashFunction, (state->update(in, size), state->final(out), 0))
LOOP(hash_stream, Botan::HashFunction, (state->update(in, size), 0))

const pb_variant hash_variants[] = {
	{"digest", "oneshot/1", "HashFunction::update, final", hash_begin, hash_oneshot, nullptr},
	{"digest", "stream/1", "HashFunction::update", hash_begin, hash_stream, hash_finish},
	PB_END_OF_VARIANTS,
};
const pb_family hash_family = {hash_open, hash_close, hash_variants};

using Mac = Botan::MessageAuthenticationCode;

Mac *new_mac(pb_case *c)
{
	auto made = Mac::create_or_throw(name_of(c));
	made->set_key(c->key[0], c->key_len);
	c->out_len = c->row->output;
	return made.release();
}

OPEN(mac_open, new_mac(c))
CLOSE(mac_close, Mac)

void mac_begin(pb_case *c)
{
	static_cast<Mac *>(c->ctx)->set_key(c->key[0], c->key_len);
}

LOOP(mac_message, Mac, (state->update(in, size), state->final(out), 0))
LOOP(mac_rekey, Mac,
     (state->set_key(PB_TURN(key, turn), key_len), state->update(in, size), state->final(out), 0))
LOOP(gmac_message, Mac,
     (state->start(PB_TURN(nonce, turn), nonce_len), state->update(in, size), state->final(out), 0))

#define REKEY                                                                                                \
	{                                                                                                    \
		"mac", "rekey/1", "set_key, update, final", nullptr, mac_rekey, nullptr                      \
	}
const pb_variant mac_variants[] = {
	{"mac", "message/1", "update, final", mac_begin, mac_message, nullptr},
	REKEY,
	PB_END_OF_VARIANTS,
};
const pb_variant onetime_variants[] = {REKEY, PB_END_OF_VARIANTS};
const pb_variant gmac_variants[] = {
	{"mac", "message/1", "start, update, final", mac_begin, gmac_message, nullptr},
	PB_END_OF_VARIANTS,
};
const pb_family mac_family = {mac_open, mac_close, mac_variants};
const pb_family onetime_family = {mac_open, mac_close, onetime_variants};
const pb_family gmac_family = {mac_open, mac_close, gmac_variants};

OPEN(kdf_open, Botan::KDF::create_or_throw(name_of(c)).release())
CLOSE(kdf_close, Botan::KDF)

int expanded(Botan::KDF *kdf, uint8_t *out, size_t size, const uint8_t *key, size_t key_len,
	     const uint8_t *salt, size_t salt_len, const uint8_t *info, size_t info_len)
{
	kdf->derive_key({out, size}, {key, key_len}, {salt, salt_len}, {info, info_len});
	return 0;
}

LOOP(expand, Botan::KDF,
     expanded(state, out, size, key[0], key_len, PB_TURN(nonce, turn), nonce_len, aad, aad_len))
const pb_variant kdf_variants[] = {
	{"expand", "expand/1", "KDF::derive_key", nullptr, expand, nullptr},
	PB_END_OF_VARIANTS,
};
const pb_family kdf_family = {kdf_open, kdf_close, kdf_variants};

struct cost {
	const char *name;
	size_t one, two, three;
};

Botan::PasswordHash *new_password(pb_case *c)
{
	const cost &given = *static_cast<const cost *>(c->row->param);
	c->out_len = c->row->output;
	return Botan::PasswordHashFamily::create_or_throw(given.name)
		->from_params(given.one, given.two, given.three)
		.release();
}

OPEN(password_open, new_password(c))
CLOSE(password_close, Botan::PasswordHash)
LOOP(hash_password, Botan::PasswordHash,
     (state->derive_key(out, out_max, reinterpret_cast<const char *>(in), size, PB_TURN(nonce, turn),
			nonce_len),
      0))
const pb_variant password_variants[] = {
	{"hash", "password/1", "PasswordHash::derive_key", nullptr, hash_password, nullptr},
	PB_END_OF_VARIANTS,
};
const pb_family password_family = {password_open, password_close, password_variants};
const cost pbkdf2_4096 = {"PBKDF2(SHA-256)", 4096, 0, 0}, pbkdf2_600000 = {"PBKDF2(SHA-256)", 600000, 0, 0},
	   scrypt = {"Scrypt", 16384, 8, 1}, argon2id = {"Argon2id", 65536, 2, 1};

// bcrypt: the library draws the salt and gives a line of text, which is decoded outside any timing.
struct line {
	std::string text;
};

line *new_line(pb_case *c)
{
	c->out_len = c->row->output;
	return new line;
}

void show_line(pb_case *c)
{
	const std::string digits = "./ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
			  &text = static_cast<line *>(c->ctx)->text;
	const size_t prefix = strlen("$2b$10$") + 22;
	unsigned bits = 0, held = 0;
	uint8_t *out = c->out, *end = out + c->row->output;
	for (size_t i = prefix; i < text.size() && out < end; i++) {
		bits = bits << 6 | static_cast<unsigned>(digits.find(text[i]) & 63);
		held += 6;
		if (held >= 8)
			*out++ = static_cast<uint8_t>(bits >> (held -= 8));
	}
	c->failures += out != end;
}

int bcrypted(line *own, const uint8_t *in, size_t size, const uint8_t *salt, size_t salt_len)
{
	Given random({salt, salt_len});
	own->text = Botan::generate_bcrypt({reinterpret_cast<const char *>(in), size}, random, 10, 'b');
	return 0;
}

OPEN(bcrypt_open, new_line(c))
CLOSE(bcrypt_close, line)
LOOP(bcrypt_hash, line, bcrypted(state, in, size, PB_TURN(nonce, turn), nonce_len))
const pb_variant bcrypt_variants[] = {
	{"hash", "password/1", "generate_bcrypt (its text; the salt is given by a generator)", nullptr,
	 bcrypt_hash, show_line},
	PB_END_OF_VARIANTS,
};
const pb_family bcrypt_family = {bcrypt_open, bcrypt_close, bcrypt_variants};

} // namespace

#define ROW(ID, FAMILY, PARAM, KEY, NONCE, MULTIPLE, OUTPUT)                                                 \
	{                                                                                                    \
		ID, &FAMILY, PARAM, KEY, NONCE, MULTIPLE, OUTPUT                                             \
	}
#define AEAD(ID, NAME, KEY, NONCE) ROW(ID, aead_family, NAME, KEY, NONCE, 1, 16)
#define HASH(ID, NAME, LENGTH)     ROW(ID, hash_family, NAME, 0, 0, 1, LENGTH)

extern const pb_row secret_rows[] = {
	AEAD("aes-128-gcm", "AES-128/GCM", 16, 12),
	AEAD("aes-192-gcm", "AES-192/GCM", 24, 12),
	AEAD("aes-256-gcm", "AES-256/GCM", 32, 12),
	AEAD("aes-128-ccm", "AES-128/CCM(16,3)", 16, 12),
	AEAD("aes-256-ccm", "AES-256/CCM(16,3)", 32, 12),
	AEAD("aes-128-ocb", "AES-128/OCB", 16, 12),
	AEAD("aes-256-ocb", "AES-256/OCB", 32, 12),
	AEAD("aes-128-gcm-siv", "AES-128/GCM-SIV", 16, 12),
	AEAD("aes-256-gcm-siv", "AES-256/GCM-SIV", 32, 12),
	AEAD("camellia-128-gcm", "Camellia-128/GCM", 16, 12),
	AEAD("camellia-256-gcm", "Camellia-256/GCM", 32, 12),
	AEAD("aria-128-gcm", "ARIA-128/GCM", 16, 12),
	AEAD("aria-256-gcm", "ARIA-256/GCM", 32, 12),
	AEAD("chacha20-poly1305", "ChaCha20Poly1305", 32, 12),
	AEAD("xchacha20-poly1305", "ChaCha20Poly1305", 32, 24),
	AEAD("ascon-aead128", "Ascon-AEAD128", 16, 16),
	ROW("aes-128-cbc", cipher_family, "AES-128/CBC/NoPadding", 16, 16, 16, 0),
	ROW("aes-256-cbc", cipher_family, "AES-256/CBC/NoPadding", 32, 16, 16, 0),
	ROW("aes-128-xts", cipher_family, "AES-128/XTS", 32, 16, 16, 0),
	ROW("aes-256-xts", cipher_family, "AES-256/XTS", 64, 16, 16, 0),
	ROW("aes-128-ctr", stream_family, "CTR-BE(AES-128)", 16, 16, 1, 0),
	ROW("aes-192-ctr", stream_family, "CTR-BE(AES-192)", 24, 16, 1, 0),
	ROW("aes-256-ctr", stream_family, "CTR-BE(AES-256)", 32, 16, 1, 0),
	ROW("chacha20", stream_family, "ChaCha(20)", 32, 12, 1, 0),
	HASH("sha-1", "SHA-1", 20),
	HASH("sha-224", "SHA-224", 28),
	HASH("sha-256", "SHA-256", 32),
	HASH("sha-384", "SHA-384", 48),
	HASH("sha-512", "SHA-512", 64),
	HASH("sha3-224", "SHA-3(224)", 28),
	HASH("sha3-256", "SHA-3(256)", 32),
	HASH("sha3-384", "SHA-3(384)", 48),
	HASH("sha3-512", "SHA-3(512)", 64),
	ROW("shake128", hash_family, "SHAKE-128(256)", 0, 32, 1, 32),
	ROW("shake256", hash_family, "SHAKE-256(512)", 0, 32, 1, 64),
	HASH("blake2b-512", "BLAKE2b(512)", 64),
	HASH("blake2b-256", "BLAKE2b(256)", 32),
	HASH("blake2s-256", "BLAKE2s(256)", 32),
	HASH("ascon-hash256", "Ascon-Hash256", 32),
	ROW("hmac-sha-1", mac_family, "HMAC(SHA-1)", 20, 0, 1, 20),
	ROW("hmac-sha-256", mac_family, "HMAC(SHA-256)", 32, 0, 1, 32),
	ROW("hmac-sha-384", mac_family, "HMAC(SHA-384)", 48, 0, 1, 48),
	ROW("hmac-sha-512", mac_family, "HMAC(SHA-512)", 64, 0, 1, 64),
	ROW("aes-128-cmac", mac_family, "CMAC(AES-128)", 16, 0, 1, 16),
	ROW("aes-256-cmac", mac_family, "CMAC(AES-256)", 32, 0, 1, 16),
	ROW("aes-128-gmac", gmac_family, "GMAC(AES-128)", 16, 12, 1, 16),
	ROW("aes-256-gmac", gmac_family, "GMAC(AES-256)", 32, 12, 1, 16),
	ROW("siphash-2-4", mac_family, "SipHash(2,4)", 16, 0, 1, 8),
	ROW("poly1305", onetime_family, "Poly1305", 32, 0, 1, 16),
	ROW("hkdf-sha-256", kdf_family, "HKDF(SHA-256)", 32, 32, 1, 0),
	ROW("hkdf-sha-512", kdf_family, "HKDF(SHA-512)", 32, 32, 1, 0),
	ROW("pbkdf2-sha-256-4096", password_family, &pbkdf2_4096, 0, 16, 1, 32),
	ROW("pbkdf2-sha-256-600000", password_family, &pbkdf2_600000, 0, 16, 1, 32),
	ROW("scrypt-16384-8-1", password_family, &scrypt, 0, 16, 1, 64),
	ROW("argon2id-64mib-2-1", password_family, &argon2id, 0, 16, 1, 32),
	ROW("bcrypt-10", bcrypt_family, nullptr, 0, 16, 1, 23),
	PB_END_OF_ROWS,
};
