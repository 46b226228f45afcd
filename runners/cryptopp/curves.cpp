/* X25519, Ed25519, ECDH and ECDSA, by the classes of the library. */
#include <algorithm>
#include <cstring>
#include <memory>

#include <cryptopp/eccrypto.h>
#include <cryptopp/filters.h>
#include <cryptopp/oids.h>
#include <cryptopp/osrng.h>
#include <cryptopp/xed25519.h>

#include "families.h"

namespace
{

using namespace CryptoPP;

struct Curve {
	x25519 own;
	std::unique_ptr<ed25519Signer> signer;
	std::unique_ptr<ed25519Verifier> verifier;
	uint8_t peer[32];
};

/* The library wants its own order of bytes in numbers, and takes arrays as RFC 7748 and RFC 8032 have them.
 */
int x25519_open(pb_case *c)
{
	c->ctx = nullptr;
	c->out_len = c->row->output;
	int status = guarded(c, [=] {
		auto curve = std::make_unique<Curve>();
		curve->own = x25519(c->key[0]);
		if (c->given)
			memcpy(curve->peer, c->in, sizeof curve->peer);
		else
			x25519(c->nonce[0]).GeneratePublicKey(NullRNG(), c->nonce[0], curve->peer);
		c->ctx = curve.release();
	});
	return status;
}

void close_curve(pb_case *c)
{
	delete static_cast<Curve *>(c->ctx);
	c->ctx = nullptr;
}

void derive(pb_case *c, uint64_t n)
{
	guarded(c, [=] {
		const Curve &curve = *static_cast<Curve *>(c->ctx);
		const uint8_t *key = c->key[0];
		uint8_t *out = c->out;
		uint64_t refused = 0;
		PB_REPEAT(n, turn, refused += !curve.own.Agree(out, key, curve.peer));
		c->failures += refused;
	});
}

int ed25519_open(pb_case *c)
{
	c->ctx = nullptr;
	c->out_len = c->inverse ? 0 : c->row->output;
	return guarded(c, [=] {
		auto curve = std::make_unique<Curve>();
		curve->signer = std::make_unique<ed25519Signer>(c->key[0]);
		curve->verifier = std::make_unique<ed25519Verifier>(*curve->signer);
		c->ctx = curve.release();
	});
}

void sign(pb_case *c, uint64_t n)
{
	guarded(c, [=] {
		const ed25519Signer &signer = *static_cast<Curve *>(c->ctx)->signer;
		const uint8_t *const *message = c->message;
		uint8_t *out = c->out;
		size_t size = c->size;
		PB_REPEAT(n, turn, signer.SignMessage(NullRNG(), PB_TURN(message, turn), size, out));
	});
}

void verify(pb_case *c, uint64_t n)
{
	guarded(c, [=] {
		const ed25519Verifier &verifier = *static_cast<Curve *>(c->ctx)->verifier;
		const uint8_t *in = c->in;
		size_t size = c->size, length = c->row->output;
		uint64_t refused = 0;
		PB_REPEAT(n, turn, refused += !verifier.VerifyMessage(in, size, in + size, length));
		c->failures += refused;
	});
}

/* ---- the curves of NIST ---- */

/* What stands where a hash is expected, for digests that were computed beforehand. */
class Precomputed : public HashTransformation
{
      public:
	CRYPTOPP_CONSTANT(DIGESTSIZE = 32);
	static const char *StaticAlgorithmName()
	{
		return "precomputed";
	}
	unsigned int DigestSize() const override
	{
		return static_cast<unsigned int>(length);
	}
	void Update(const byte *input, size_t size) override
	{
		length = std::min(size, sizeof digest);
		memcpy(digest, input, length);
	}
	void TruncatedFinal(byte *out, size_t size) override
	{
		memcpy(out, digest, std::min(size, length));
	}

      private:
	byte digest[64];
	size_t length = DIGESTSIZE;
};

using Ecdsa = ECDSA<ECP, Precomputed>;

struct Pair {
	explicit Pair(const OID &oid) : domain(oid), curve(oid)
	{
	}

	ECDH<ECP>::Domain domain;
	OID curve;
	AutoSeededRandomPool random;
	std::unique_ptr<Ecdsa::Signer> signer;
	std::unique_ptr<Ecdsa::Verifier> verifier;
	SecByteBlock own, peer;
};

/* The private number; in P-521 only the last bit of its first byte counts. */
SecByteBlock number_of(const pb_case *c, const uint8_t *bytes)
{
	SecByteBlock number(bytes, c->key_len);
	if (c->key_len == 66)
		number[0] &= 1;
	return number;
}

std::unique_ptr<Pair> new_pair(const pb_case *c)
{
	bool koblitz = strstr(c->row->algorithm, "secp256k1") != nullptr;
	auto pair = std::make_unique<Pair>(koblitz            ? ASN1::secp256k1()
					   : c->key_len == 32 ? ASN1::secp256r1()
					   : c->key_len == 48 ? ASN1::secp384r1()
							      : ASN1::secp521r1());
	pair->own = number_of(c, c->key[0]);
	return pair;
}

void close_pair(pb_case *c)
{
	delete static_cast<Pair *>(c->ctx);
	c->ctx = nullptr;
}

/* A point has a byte for its form in front. */
int ecdh_open(pb_case *c)
{
	c->ctx = nullptr;
	c->out_len = c->row->output;
	auto length = 2 * c->key_len + 1;
	if (c->given && c->in_len != length)
		return pb_fail(c, "a point has another length") + PB_UNFIT;
	return guarded(c, [=] {
		auto pair = new_pair(c);
		pair->peer.resize(length);
		if (c->given)
			memcpy(pair->peer, c->in, length);
		else
			pair->domain.GeneratePublicKey(NullRNG(), number_of(c, c->nonce[0]), pair->peer);
		c->ctx = pair.release();
	});
}

void ecdh_derive(pb_case *c, uint64_t n)
{
	guarded(c, [=] {
		const Pair &pair = *static_cast<Pair *>(c->ctx);
		const uint8_t *key = pair.own, *peer = pair.peer;
		uint8_t *out = c->out;
		uint64_t refused = 0;
		PB_REPEAT(n, turn, refused += !pair.domain.Agree(out, key, peer));
		c->failures += refused;
	});
}

int ecdsa_open(pb_case *c)
{
	c->ctx = nullptr;
	c->out_len = c->inverse ? 0 : c->row->output;
	return guarded(c, [=] {
		auto pair = new_pair(c);
		Ecdsa::PrivateKey key;
		key.Initialize(pair->curve, Integer(pair->own, pair->own.size()));
		pair->signer = std::make_unique<Ecdsa::Signer>(key);
		pair->verifier = std::make_unique<Ecdsa::Verifier>(*pair->signer);
		c->ctx = pair.release();
	});
}

void ecdsa_sign(pb_case *c, uint64_t n)
{
	guarded(c, [=] {
		Pair &pair = *static_cast<Pair *>(c->ctx);
		const uint8_t *in = c->in;
		uint8_t *out = c->out;
		size_t size = std::min(c->size, c->key_len);
		PB_REPEAT(n, turn, pair.signer->SignMessage(pair.random, in, size, out));
	});
}

void ecdsa_verify(pb_case *c, uint64_t n)
{
	guarded(c, [=] {
		const Ecdsa::Verifier &verifier = *static_cast<Pair *>(c->ctx)->verifier;
		const uint8_t *in = c->in, *signature = in + c->size;
		size_t size = std::min(c->size, c->key_len), length = c->row->output;
		uint64_t refused = 0;
		PB_REPEAT(n, turn, refused += !verifier.VerifyMessage(in, size, signature, length));
		c->failures += refused;
	});
}

const pb_variant ecdh_variants[] = {
	{"derive", "pk/1", "ECDH<ECP>::Domain::Agree", nullptr, ecdh_derive, nullptr},
	PB_END_OF_VARIANTS,
};
const pb_variant ecdsa_variants[] = {
	{"sign", "pk/1", "SignMessage (of a hash that gives back its input), AutoSeededRandomPool", nullptr,
	 ecdsa_sign, nullptr},
	{"verify", "pk/1", "VerifyMessage (of a hash that gives back its input)", nullptr, ecdsa_verify,
	 nullptr},
	PB_END_OF_VARIANTS,
};
const pb_family ecdh_family = {ecdh_open, close_pair, ecdh_variants};
const pb_family ecdsa_family = {ecdsa_open, close_pair, ecdsa_variants};

const pb_variant x25519_variants[] = {
	{"derive", "pk/1", "x25519::Agree", nullptr, derive, nullptr},
	PB_END_OF_VARIANTS,
};
const pb_variant ed25519_variants[] = {
	{"sign", "pk/1", "ed25519Signer::SignMessage", nullptr, sign, nullptr},
	{"verify", "pk/1", "ed25519Verifier::VerifyMessage", nullptr, verify, nullptr},
	PB_END_OF_VARIANTS,
};
const pb_family x25519_family = {x25519_open, close_curve, x25519_variants};
const pb_family ed25519_family = {ed25519_open, close_curve, ed25519_variants};

} // namespace

const pb_row curves[] = {
	{"x25519", &x25519_family, nullptr, 32, 32, 1, 32},
	{"ed25519", &ed25519_family, nullptr, 32, 0, 1, 64},
	{"ecdh-p256", &ecdh_family, nullptr, 32, 32, 1, 32},
	{"ecdh-p384", &ecdh_family, nullptr, 48, 48, 1, 48},
	{"ecdsa-p256", &ecdsa_family, nullptr, 32, 0, 1, 64},
	{"ecdsa-p384", &ecdsa_family, nullptr, 48, 0, 1, 96},
	{"ecdh-p521", &ecdh_family, nullptr, 66, 66, 1, 66},
	{"ecdsa-p521", &ecdsa_family, nullptr, 66, 0, 1, 132},
	{"ecdh-secp256k1", &ecdh_family, nullptr, 32, 32, 1, 32},
	{"ecdsa-secp256k1", &ecdsa_family, nullptr, 32, 0, 1, 64},
	PB_END_OF_ROWS,
};
