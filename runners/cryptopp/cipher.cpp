/* Block ciphers in their modes, and stream ciphers. An object serves one direction; encrypt and decrypt are
 * the same calls on another object.
 *
 * The template parameter Way says how key and nonce are given. Its functions are inlined into the loops. */
#include <cstddef>
#include <cstdint>

#include <cryptopp/algparam.h>
#include <cryptopp/argnames.h>

#include "families.h"

namespace
{

using CryptoPP::SymmetricCipher;

struct Plain {
	static constexpr const char *message = "ProcessData";
	static constexpr const char *rekey = "SetKey, ProcessData";
	static constexpr const char *setup = "SetKey";
	static void set_key(SymmetricCipher &cipher, const Recipe &, const uint8_t *key, size_t key_len,
			    const uint8_t *, size_t)
	{
		cipher.SetKey(key, key_len);
	}
	static void set_nonce(SymmetricCipher &, const uint8_t *, size_t)
	{
	}
};

struct WithIv {
	static constexpr const char *message = "Resynchronize, ProcessData";
	static constexpr const char *rekey = "SetKeyWithIV, ProcessData";
	static constexpr const char *setup = "SetKeyWithIV";
	static void set_key(SymmetricCipher &cipher, const Recipe &, const uint8_t *key, size_t key_len,
			    const uint8_t *nonce, size_t nonce_len)
	{
		cipher.SetKeyWithIV(key, key_len, nonce, nonce_len);
	}
	static void set_nonce(SymmetricCipher &cipher, const uint8_t *nonce, size_t nonce_len)
	{
		cipher.Resynchronize(nonce, static_cast<int>(nonce_len));
	}
};

struct Tuned : Plain {
	static constexpr const char *rekey = "SetKey with parameters, ProcessData";
	static constexpr const char *setup = "SetKey with parameters";
	static void set_key(SymmetricCipher &cipher, const Recipe &a, const uint8_t *key, size_t key_len,
			    const uint8_t *, size_t)
	{
		cipher.SetKey(key, key_len, CryptoPP::MakeParameters(a.parameter, a.value));
	}
};

struct TunedWithIv : WithIv {
	static constexpr const char *rekey = "SetKey with parameters and IV, ProcessData";
	static constexpr const char *setup = "SetKey with parameters and IV";
	static void set_key(SymmetricCipher &cipher, const Recipe &a, const uint8_t *key, size_t key_len,
			    const uint8_t *nonce, size_t nonce_len)
	{
		cipher.SetKey(
			key, key_len,
			CryptoPP::MakeParameters(a.parameter, a.value)(
				CryptoPP::Name::IV(), CryptoPP::ConstByteArrayParameter(nonce, nonce_len)));
	}
};

template <class Way> void set_first_key(SymmetricCipher &cipher, const pb_case *c)
{
	Way::set_key(cipher, recipe_of(c->row), c->key[0], c->key_len, c->nonce[0], c->nonce_len);
}

template <class Way> int open_cipher(pb_case *c)
{
	return open_object<SymmetricCipher>(c,
					    [=](SymmetricCipher &cipher) { set_first_key<Way>(cipher, c); });
}

SymmetricCipher &cipher_of(pb_case *c)
{
	return *static_cast<SymmetricCipher *>(c->ctx);
}

template <class Way> void begin_stream(pb_case *c)
{
	guarded(c, [=] { Way::set_nonce(cipher_of(c), c->nonce[0], c->nonce_len); });
}

/* For ciphers without a nonce that keep a state: the state starts with the key. */
void begin_keystream(pb_case *c)
{
	guarded(c, [=] { set_first_key<Plain>(cipher_of(c), c); });
}

void stream(pb_case *c, uint64_t n)
{
	guarded(c, [=] {
		SymmetricCipher &cipher = cipher_of(c);
		const uint8_t *in = c->in;
		uint8_t *out = c->out;
		size_t size = c->size;
		PB_REPEAT(n, turn, cipher.ProcessData(out, in, size));
	});
}

/* A stream cipher as a generator: SymmetricCipher and RandomNumberGenerator are both interfaces of such objects. */
void keystream(pb_case *c, uint64_t n)
{
	guarded(c, [=] {
		auto &generator = dynamic_cast<CryptoPP::RandomNumberGenerator &>(cipher_of(c));
		uint8_t *out = c->out;
		size_t size = c->size;
		PB_REPEAT(n, turn, generator.GenerateBlock(out, size));
	});
}

/* What the last key stream makes of the data, so that known answers of encryption hold. */
void show_keystream(pb_case *c)
{
	for (size_t i = 0; i < c->size; i++)
		c->out[i] ^= c->in[i];
}

template <class Way> void message(pb_case *c, uint64_t n)
{
	guarded(c, [=] {
		SymmetricCipher &cipher = cipher_of(c);
		const uint8_t *const *nonce = c->nonce, *in = c->in;
		uint8_t *out = c->out;
		size_t size = c->size, nonce_len = c->nonce_len;
		PB_REPEAT(n, turn, {
			Way::set_nonce(cipher, PB_TURN(nonce, turn), nonce_len);
			cipher.ProcessData(out, in, size);
		});
	});
}

template <class Way> void rekey(pb_case *c, uint64_t n)
{
	guarded(c, [=] {
		SymmetricCipher &cipher = cipher_of(c);
		const Recipe &a = recipe_of(c->row);
		const uint8_t *const *key = c->key, *const *nonce = c->nonce, *in = c->in;
		uint8_t *out = c->out;
		size_t size = c->size, key_len = c->key_len, nonce_len = c->nonce_len;
		PB_REPEAT(n, turn, {
			Way::set_key(cipher, a, PB_TURN(key, turn), key_len, PB_TURN(nonce, turn), nonce_len);
			cipher.ProcessData(out, in, size);
		});
	});
}

template <class Way> void setup(pb_case *c, uint64_t n)
{
	guarded(c, [=] {
		SymmetricCipher &cipher = cipher_of(c);
		const Recipe &a = recipe_of(c->row);
		const uint8_t *const *key = c->key, *nonce = c->nonce[0];
		size_t key_len = c->key_len, nonce_len = c->nonce_len;
		PB_REPEAT(n, turn, Way::set_key(cipher, a, PB_TURN(key, turn), key_len, nonce, nonce_len));
	});
}

/* The message of the first 16 bytes (12 where a block has 12) under the last key, and nonce 0. */
void show_setup(pb_case *c)
{
	size_t whole = 16 - 16 % c->row->multiple;
	c->out_len = c->size < whole ? c->size : whole;
	guarded(c, [=] { cipher_of(c).ProcessData(c->out, c->in, c->out_len); });
}

template <class Way>
const pb_variant variants[] = {
	{"encrypt", "stream/1", "ProcessData", begin_stream<Way>, stream, nullptr},
	{"encrypt", "message/1", Way::message, nullptr, message<Way>, nullptr},
	{"encrypt", "rekey/1", Way::rekey, nullptr, rekey<Way>, nullptr},
	{"encrypt", "setup/1", Way::setup, nullptr, setup<Way>, show_setup},
	{"decrypt", "stream/1", "ProcessData", begin_stream<Way>, stream, nullptr},
	{"decrypt", "message/1", Way::message, nullptr, message<Way>, nullptr},
	{"decrypt", "rekey/1", Way::rekey, nullptr, rekey<Way>, nullptr},
	{"decrypt", "setup/1", Way::setup, nullptr, setup<Way>, show_setup},
	PB_END_OF_VARIANTS,
};

const pb_variant sector_variants[] = {
	{"encrypt", "message/1", WithIv::message, nullptr, message<WithIv>, nullptr},
	{"encrypt", "rekey/1", WithIv::rekey, nullptr, rekey<WithIv>, nullptr},
	{"decrypt", "message/1", WithIv::message, nullptr, message<WithIv>, nullptr},
	{"decrypt", "rekey/1", WithIv::rekey, nullptr, rekey<WithIv>, nullptr},
	PB_END_OF_VARIANTS,
};

const pb_variant generator_variants[] = {
	{"encrypt", "stream/1", "ProcessData", begin_stream<WithIv>, stream, nullptr},
	{"encrypt", "keystream/1", "GenerateBlock", begin_stream<WithIv>, keystream, show_keystream},
	{"encrypt", "message/1", WithIv::message, nullptr, message<WithIv>, nullptr},
	{"encrypt", "rekey/1", WithIv::rekey, nullptr, rekey<WithIv>, nullptr},
	{"encrypt", "setup/1", WithIv::setup, nullptr, setup<WithIv>, show_setup},
	{"decrypt", "stream/1", "ProcessData", begin_stream<WithIv>, stream, nullptr},
	{"decrypt", "message/1", WithIv::message, nullptr, message<WithIv>, nullptr},
	{"decrypt", "rekey/1", WithIv::rekey, nullptr, rekey<WithIv>, nullptr},
	{"decrypt", "setup/1", WithIv::setup, nullptr, setup<WithIv>, show_setup},
	PB_END_OF_VARIANTS,
};

const pb_variant keystream_variants[] = {
	{"encrypt", "stream/1", "ProcessData", begin_keystream, stream, nullptr},
	{"encrypt", "keystream/1", "GenerateBlock", begin_keystream, keystream, show_keystream},
	{"encrypt", "rekey/1", Plain::rekey, nullptr, rekey<Plain>, nullptr},
	{"encrypt", "setup/1", Plain::setup, nullptr, setup<Plain>, show_setup},
	{"decrypt", "stream/1", "ProcessData", begin_keystream, stream, nullptr},
	{"decrypt", "rekey/1", Plain::rekey, nullptr, rekey<Plain>, nullptr},
	{"decrypt", "setup/1", Plain::setup, nullptr, setup<Plain>, show_setup},
	PB_END_OF_VARIANTS,
};

} // namespace

const pb_family ecb_family = {open_cipher<Plain>, close_object<SymmetricCipher>, variants<Plain>};
const pb_family iv_family = {open_cipher<WithIv>, close_object<SymmetricCipher>, variants<WithIv>};
const pb_family sector_family = {open_cipher<WithIv>, close_object<SymmetricCipher>, sector_variants};
const pb_family tuned_ecb_family = {open_cipher<Tuned>, close_object<SymmetricCipher>, variants<Tuned>};
const pb_family tuned_iv_family = {open_cipher<TunedWithIv>, close_object<SymmetricCipher>,
				   variants<TunedWithIv>};
const pb_family generator_family = {open_cipher<WithIv>, close_object<SymmetricCipher>, generator_variants};
const pb_family keystream_family = {open_cipher<Plain>, close_object<SymmetricCipher>, keystream_variants};
