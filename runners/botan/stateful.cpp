// Signatures whose private key has a state: LMS in two levels (HSS) and XMSS. They are verified only; the library signs
// what is verified, each time with the next leaf of the pair.
#include <botan/hss_lms.h>
#include <botan/pubkey.h>
#include <botan/system_rng.h>
#include <botan/xmss.h>

#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "families.h"

namespace
{

using Bytes = std::span<const uint8_t>;
using Private = std::shared_ptr<Botan::Private_Key>;
using Public = std::shared_ptr<Botan::Public_Key>;

// `types` is what a public key begins with where the key of a row may be one (LMS), and else empty.
struct scheme {
	Private (*make)(Bytes, const char *);
	Public (*load)(Bytes);
	const char *name;
	std::string types;
};

struct signing {
	Private key;
	Public public_key;
	std::unique_ptr<Botan::PK_Signer> signer;
	std::unique_ptr<Botan::PK_Verifier> verifier;
};

CLOSE(close_state, signing)

// A pair takes up to seconds to make, so a process keeps those it has made.
Private pair_of(const scheme &of, Bytes material)
{
	static std::map<std::pair<const scheme *, std::vector<uint8_t>>, Private> kept;
	auto &known = kept[{&of, std::vector<uint8_t>(material.begin(), material.end())}];
	if (!known)
		known = of.make(material, of.name);
	return known;
}

signing *new_stateful(pb_case *c)
{
	const auto &of = *static_cast<const scheme *>(c->row->param);
	Bytes material(c->key[0], c->key_len);
	auto made = std::make_unique<signing>();
	if (!of.types.empty() && memcmp(material.data(), of.types.data(), of.types.size()) == 0) {
		made->public_key = of.load(material);
	} else {
		made->key = pair_of(of, material);
		made->public_key = made->key->public_key();
	}
	if (c->inverse)
		made->verifier = std::make_unique<Botan::PK_Verifier>(*made->public_key, "");
	else if (made->key)
		made->signer = std::make_unique<Botan::PK_Signer>(*made->key, Botan::system_rng(), "");
	c->out_len = c->inverse ? 0 : c->row->output;
	return made.release();
}

int signed_one(signing *own, uint8_t *out, size_t length, const uint8_t *message, size_t size)
{
	if (!own->signer)
		return 1;
	auto signature = own->signer->sign_message(message, size, Botan::system_rng());
	if (signature.size() != length)
		return 1;
	memcpy(out, signature.data(), length);
	return 0;
}

OPEN(stateful_open, new_stateful(c))
LOOP(sign, signing, signed_one(state, out, out_max, in, size))
LOOP(verify, signing, !state->verifier->verify_message(in, size, in + size, out_max))
const pb_variant stateful_variants[] = {
	{"sign", PB_UNTIMED, "", nullptr, sign, nullptr},
	{"verify", "pk/1", "PK_Verifier::verify_message", nullptr, verify, nullptr},
	PB_END_OF_VARIANTS,
};
const pb_family stateful_family = {stateful_open, close_state, stateful_variants};

Private lms(Bytes material, const char *name)
{
	Given random(material.first(48));
	return std::make_shared<Botan::HSS_LMS_PrivateKey>(random, name);
}

Public lms_public(Bytes bits)
{
	return std::make_shared<Botan::HSS_LMS_PublicKey>(bits);
}

// The library draws the public seed, the PRF's key and the secret seed, in this order; a row's key has them the other way.
Private xmss(Bytes material, const char *name)
{
	std::vector<uint8_t> turned;
	for (size_t at : {64, 32, 0})
		turned.insert(turned.end(), material.begin() + at, material.begin() + at + 32);
	Given random(turned);
	return std::make_shared<Botan::XMSS_PrivateKey>(Botan::XMSS_Parameters::from_name(name).oid(),
							random);
}

using namespace std::string_literals;
const scheme h5w8 = {lms, lms_public, "HSS-LMS(SHA-256,HW(5,8),HW(5,8))", "\0\0\0\2\0\0\0\5\0\0\0\4"s},
	     h10w4 = {lms, lms_public, "HSS-LMS(SHA-256,HW(10,4),HW(5,8))", "\0\0\0\2\0\0\0\6\0\0\0\3"s},
	     xmss_sha2 = {xmss, nullptr, "XMSS-SHA2_10_256", ""},
	     xmss_shake = {xmss, nullptr, "XMSS-SHAKE256_10_256", ""};

} // namespace

#define ROW(ID, PARAM, KEY, OUTPUT)                                                                          \
	{                                                                                                    \
		ID, &stateful_family, &PARAM, KEY, 0, 1, OUTPUT                                              \
	}

extern const pb_row stateful_rows[] = {
	ROW("hss-sha256-h5w8-h5w8", h5w8, 60, 2644),
	ROW("hss-sha256-h10w4-h5w8", h10w4, 60, 3860),
	ROW("xmss-sha2-10-256", xmss_sha2, 96, 2500),
	ROW("xmss-shake256-10-256", xmss_shake, 96, 2500),
	PB_END_OF_ROWS,
};
