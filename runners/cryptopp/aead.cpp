/* GCM, CCM, ChaCha20-Poly1305 and XChaCha20-Poly1305: a whole message with additional data and a 16-byte tag behind it.
 *
 * message/1 is the library's own one-call interface. An AEAD object cannot be given a key without an IV, and
 * the one-call interface sets the IV once more, so rekey/1 makes the calls that stand inside it without the
 * second IV. */
#include <cstddef>
#include <cstdint>

#include "families.h"

namespace
{

using CryptoPP::AuthenticatedSymmetricCipher;

enum { TAG = 16 };

int open_aead(pb_case *c)
{
	return open_object<AuthenticatedSymmetricCipher>(c, [=](AuthenticatedSymmetricCipher &aead) {
		aead.SetKeyWithIV(c->key[0], c->key_len, c->nonce[0], c->nonce_len);
	});
}

AuthenticatedSymmetricCipher &aead_of(pb_case *c)
{
	return *static_cast<AuthenticatedSymmetricCipher *>(c->ctx);
}

void seal(pb_case *c, uint64_t n)
{
	guarded(c, [=] {
		AuthenticatedSymmetricCipher &aead = aead_of(c);
		const uint8_t *const *nonce = c->nonce, *in = c->in, *aad = c->aad;
		uint8_t *out = c->out;
		size_t size = c->size, aad_len = c->aad_len;
		int nonce_len = static_cast<int>(c->nonce_len);
		PB_REPEAT(n, turn,
			  aead.EncryptAndAuthenticate(out, out + size, TAG, PB_TURN(nonce, turn), nonce_len,
						      aad, aad_len, in, size));
	});
	c->out_len = c->size + TAG;
}

template <bool lengths> void seal_rekey(pb_case *c, uint64_t n)
{
	guarded(c, [=] {
		AuthenticatedSymmetricCipher &aead = aead_of(c);
		const uint8_t *const *key = c->key, *const *nonce = c->nonce, *in = c->in, *aad = c->aad;
		uint8_t *out = c->out;
		size_t size = c->size, key_len = c->key_len, nonce_len = c->nonce_len, aad_len = c->aad_len;
		PB_REPEAT(n, turn, {
			aead.SetKeyWithIV(PB_TURN(key, turn), key_len, PB_TURN(nonce, turn), nonce_len);
			if (lengths)
				aead.SpecifyDataLengths(aad_len, size);
			aead.Update(aad, aad_len);
			aead.ProcessData(out, in, size);
			aead.TruncatedFinal(out + size, TAG);
		});
	});
	c->out_len = c->size + TAG;
}

/* What is opened was sealed with key 0 and nonce 0, so both are in force in every call. */
void open_sealed(pb_case *c, uint64_t n)
{
	guarded(c, [=] {
		AuthenticatedSymmetricCipher &aead = aead_of(c);
		const uint8_t *nonce = c->nonce[0], *in = c->in, *aad = c->aad;
		uint8_t *out = c->out;
		size_t size = c->size, aad_len = c->aad_len;
		int nonce_len = static_cast<int>(c->nonce_len);
		uint64_t refused = 0;
		PB_REPEAT(n, turn,
			  refused += !aead.DecryptAndVerify(out, in + size, TAG, nonce, nonce_len, aad,
							    aad_len, in, size));
		c->failures += refused;
	});
	c->out_len = c->size;
}

template <bool lengths> void open_rekey(pb_case *c, uint64_t n)
{
	guarded(c, [=] {
		AuthenticatedSymmetricCipher &aead = aead_of(c);
		const uint8_t *key = c->key[0], *nonce = c->nonce[0], *in = c->in, *aad = c->aad;
		uint8_t *out = c->out;
		size_t size = c->size, key_len = c->key_len, nonce_len = c->nonce_len, aad_len = c->aad_len;
		uint64_t refused = 0;
		PB_REPEAT(n, turn, {
			aead.SetKeyWithIV(key, key_len, nonce, nonce_len);
			if (lengths)
				aead.SpecifyDataLengths(aad_len, size);
			aead.Update(aad, aad_len);
			aead.ProcessData(out, in, size);
			refused += !aead.TruncatedVerify(in + size, TAG);
		});
		c->failures += refused;
	});
	c->out_len = c->size;
}

#define VARIANTS(LENGTHS, CALL)                                                                              \
	{                                                                                                    \
		{"seal", "message/1", "EncryptAndAuthenticate", nullptr, seal, nullptr},                     \
			{"seal",                                                                             \
			 "rekey/1",                                                                          \
			 "SetKeyWithIV, " CALL "Update, ProcessData, TruncatedFinal",                        \
			 nullptr,                                                                            \
			 seal_rekey<LENGTHS>,                                                                \
			 nullptr},                                                                           \
			{"open", "message/1", "DecryptAndVerify", nullptr, open_sealed, nullptr},            \
			{"open",                                                                             \
			 "rekey/1",                                                                          \
			 "SetKeyWithIV, " CALL "Update, ProcessData, TruncatedVerify",                       \
			 nullptr,                                                                            \
			 open_rekey<LENGTHS>,                                                                \
			 nullptr},                                                                           \
			PB_END_OF_VARIANTS,                                                                  \
	}
const pb_variant variants[] = VARIANTS(false, "");
const pb_variant ccm_variants[] = VARIANTS(true, "SpecifyDataLengths, ");

} // namespace

const pb_family aead_family = {open_aead, close_object<AuthenticatedSymmetricCipher>, variants};
const pb_family ccm_family = {open_aead, close_object<AuthenticatedSymmetricCipher>, ccm_variants};
