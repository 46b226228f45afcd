/* X25519 and Ed25519, by the classes of the library. */
#include <cstring>
#include <memory>

#include <cryptopp/filters.h>
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
	PB_END_OF_ROWS,
};
