/* Key derivation and password hashes: the library's classes have no state, so one object serves all calls. */
#include <cryptopp/hkdf.h>
#include <cryptopp/pwdbased.h>
#include <cryptopp/scrypt.h>
#include <cryptopp/sha.h>

#include "families.h"

namespace
{

using namespace CryptoPP;

int open_kdf(pb_case *c)
{
	c->ctx = nullptr;
	c->out_len = c->row->output ? c->row->output : c->size;
	return 0;
}

void close_kdf(pb_case *)
{
}

template <class Hash> void expand(pb_case *c, uint64_t n)
{
	guarded(c, [=] {
		const HKDF<Hash> kdf;
		const uint8_t *key = c->key[0], *const *nonce = c->nonce, *aad = c->aad;
		uint8_t *out = c->out;
		size_t size = c->size, key_len = c->key_len, nonce_len = c->nonce_len, aad_len = c->aad_len;
		PB_REPEAT(n, turn,
			  kdf.DeriveKey(out, size, key, key_len, PB_TURN(nonce, turn), nonce_len, aad,
					aad_len));
	});
}

template <int iterations> void pbkdf2(pb_case *c, uint64_t n)
{
	guarded(c, [=] {
		const PKCS5_PBKDF2_HMAC<SHA256> kdf;
		const uint8_t *const *nonce = c->nonce, *in = c->in;
		uint8_t *out = c->out;
		size_t size = c->size, nonce_len = c->nonce_len, output = c->row->output;
		PB_REPEAT(
			n, turn,
			kdf.DeriveKey(out, output, 0, in, size, PB_TURN(nonce, turn), nonce_len, iterations));
	});
}

void scrypt(pb_case *c, uint64_t n)
{
	guarded(c, [=] {
		const Scrypt kdf;
		const uint8_t *const *nonce = c->nonce, *in = c->in;
		uint8_t *out = c->out;
		size_t size = c->size, nonce_len = c->nonce_len, output = c->row->output;
		PB_REPEAT(n, turn,
			  kdf.DeriveKey(out, output, in, size, PB_TURN(nonce, turn), nonce_len, 16384, 8, 1));
	});
}

template <void (*loop)(pb_case *, uint64_t)>
const pb_variant expand_variants[] = {{"expand", "expand/1", "HKDF::DeriveKey", nullptr, loop, nullptr},
				      PB_END_OF_VARIANTS};
template <void (*loop)(pb_case *, uint64_t)>
const pb_variant password_variants[] = {{"hash", "password/1", "DeriveKey", nullptr, loop, nullptr},
					PB_END_OF_VARIANTS};
template <void (*loop)(pb_case *, uint64_t)>
const pb_family expand_family = {open_kdf, close_kdf, expand_variants<loop>};
template <void (*loop)(pb_case *, uint64_t)>
const pb_family password_family = {open_kdf, close_kdf, password_variants<loop>};

} // namespace

const pb_row kdfs[] = {
	{"hkdf-sha-256", &expand_family<expand<SHA256>>, nullptr, 32, 32, 1, 0},
	{"hkdf-sha-512", &expand_family<expand<SHA512>>, nullptr, 32, 32, 1, 0},
	{"pbkdf2-sha-256-4096", &password_family<pbkdf2<4096>>, nullptr, 0, 16, 1, 32},
	{"pbkdf2-sha-256-600000", &password_family<pbkdf2<600000>>, nullptr, 0, 16, 1, 32},
	{"scrypt-16384-8-1", &password_family<scrypt>, nullptr, 0, 16, 1, 64},
	PB_END_OF_ROWS,
};
