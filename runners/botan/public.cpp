// Key agreement, KEMs, signatures, and who answers. Random draws come from the system's generator.
#include <botan/block_cipher.h>
#include <botan/dh.h>
#include <botan/dl_group.h>
#include <botan/ec_group.h>
#include <botan/ecdh.h>
#include <botan/ecdsa.h>
#include <botan/ed25519.h>
#include <botan/ed448.h>
#include <botan/ml_dsa.h>
#include <botan/ml_kem.h>
#include <botan/pubkey.h>
#include <botan/slh_dsa.h>
#include <botan/system_rng.h>
#include <botan/version.h>
#include <botan/x25519.h>
#include <botan/x448.h>

#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>

#include "families.h"

namespace
{

using Bytes = std::span<const uint8_t>;
using Botan::Private_Key;
using Key = std::unique_ptr<Private_Key>;

// What tells the rows apart: how a pair is made of the run's material, and how one is drawn.
struct kind {
	Key (*from)(Bytes);
	Key (*drawn)();
	const char *padding;
	bool rejects;
};

Botan::RandomNumberGenerator &rng()
{
	return Botan::system_rng();
}

const kind &kind_of(const pb_case *c)
{
	return *static_cast<const kind *>(c->row->param);
}

struct pair {
	Key key, peer, made;
	std::vector<uint8_t> public_key;
	std::unique_ptr<Botan::PK_Key_Agreement> agreement;
	std::unique_ptr<Botan::PK_KEM_Encryptor> encryptor;
	std::unique_ptr<Botan::PK_KEM_Decryptor> decryptor;
	std::unique_ptr<Botan::PK_Signer> signer;
	std::unique_ptr<Botan::PK_Verifier> verifier;
	const kind *of;
	size_t length = 0;
	bool digest = false; // what is signed was hashed beforehand
};

CLOSE(close_state, pair)

std::unique_ptr<pair> new_state(const pb_case *c)
{
	auto made = std::make_unique<pair>();
	made->of = &kind_of(c);
	made->key = made->of->from({c->key[0], c->key_len});
	return made;
}

std::vector<uint8_t> public_value(const Private_Key &key)
{
	if (const auto *agreeing = dynamic_cast<const Botan::PK_Key_Agreement_Key *>(&key))
		return agreeing->public_value();
	return key.public_key()->raw_public_key_bits();
}

void show_public(pb_case *c, const Private_Key &key)
{
	auto bits = public_value(key);
	memcpy(c->out, bits.data(), c->out_len = bits.size());
}

LOOP(keygen, pair, (state->made = state->of->drawn(), 0))

// Whether the last pair made works; an exception means that it does not.
#define SHOW(NAME, WORKS)                                                                                    \
	void NAME(pb_case *c)                                                                                \
	{                                                                                                    \
		auto *own = static_cast<pair *>(c->ctx);                                                     \
		try {                                                                                        \
			c->failures += !(WORKS);                                                             \
			show_public(c, *own->made);                                                          \
		} catch (const std::exception &) {                                                           \
			c->failures++;                                                                       \
		}                                                                                            \
	}

pair *new_agreement(pb_case *c)
{
	auto made = new_state(c);
	made->agreement = std::make_unique<Botan::PK_Key_Agreement>(*made->key, rng(), "Raw");
	if (c->given)
		made->public_key.assign(c->in, c->in + c->in_len);
	else
		made->public_key = public_value(*made->of->from({c->nonce[0], c->nonce_len}));
	c->out_len = c->row->output;
	return made.release();
}

int derived(pair *own, uint8_t *out, size_t length)
{
	auto secret = own->agreement->derive_key(0, own->public_key);
	if (secret.size() != length)
		return 1;
	memcpy(out, secret.begin(), length);
	return 0;
}

bool agrees(const pair &own)
{
	Botan::PK_Key_Agreement one(*own.made, rng(), "Raw"), other(*own.key, rng(), "Raw");
	return one.derive_key(0, public_value(*own.key)) == other.derive_key(0, public_value(*own.made));
}

OPEN(agreement_open, new_agreement(c))
LOOP(derive, pair, derived(state, out, out_max))
SHOW(agreement_show, agrees(*own))
const pb_variant agreement_variants[] = {
	{"derive", "pk/1", "PK_Key_Agreement::derive_key", nullptr, derive, nullptr},
	{"keygen", "pk/1", "constructor with a generator, destructor", nullptr, keygen, agreement_show},
	PB_END_OF_VARIANTS,
};
const pb_family agreement_family = {agreement_open, close_state, agreement_variants};

pair *new_kem(pb_case *c)
{
	auto made = new_state(c);
	made->encryptor = std::make_unique<Botan::PK_KEM_Encryptor>(*made->key, "Raw");
	made->decryptor = std::make_unique<Botan::PK_KEM_Decryptor>(*made->key, rng(), "Raw");
	made->length = made->encryptor->encapsulated_key_length();
	c->out_len = c->inverse ? c->row->output : made->length + c->row->output;
	return made.release();
}

int encapsulated(pair *own, uint8_t *out, size_t secret)
{
	own->encryptor->encrypt(std::span(out, own->length), std::span(out + own->length, secret), rng(),
				secret);
	return 0;
}

int decapsulated(pair *own, uint8_t *out, size_t secret, const uint8_t *in, size_t size)
{
	own->decryptor->decrypt(std::span(out, secret), Bytes(in, size), secret);
	return 0;
}

bool opens(const pair &own)
{
	Botan::PK_KEM_Encryptor encryptor(*own.made, "Raw");
	Botan::PK_KEM_Decryptor decryptor(*own.made, rng(), "Raw");
	auto sent = encryptor.encrypt(rng());
	return decryptor.decrypt(sent.encapsulated_shared_key(), 32) == sent.shared_key();
}

OPEN(kem_open, new_kem(c))
LOOP(encapsulate, pair, encapsulated(state, out, out_max))
LOOP(decapsulate, pair, decapsulated(state, out, out_max, in, in_len))
SHOW(kem_show, opens(*own))
const pb_variant kem_variants[] = {
	{"encapsulate", "pk/1", "PK_KEM_Encryptor::encrypt (with its random draw)", nullptr, encapsulate,
	 nullptr},
	{"decapsulate", "pk/1", "PK_KEM_Decryptor::decrypt", nullptr, decapsulate, nullptr},
	{"keygen", "pk/1", "constructor with a generator, destructor", nullptr, keygen, kem_show},
	PB_END_OF_VARIANTS,
};
const pb_family kem_family = {kem_open, close_state, kem_variants};

// ML-DSA and SLH-DSA have a word for how it is signed, and none for how it is verified.
const char *checked(const kind &of)
{
	return strcmp(of.padding, "Randomized") == 0 ? "" : of.padding;
}

pair *new_signature(pb_case *c)
{
	auto made = new_state(c);
	if (c->inverse)
		made->verifier = std::make_unique<Botan::PK_Verifier>(*made->key, checked(*made->of));
	else
		made->signer = std::make_unique<Botan::PK_Signer>(*made->key, rng(), made->of->padding);
	made->digest = strcmp(made->of->padding, "Raw") == 0;
	c->turns = made->of->rejects ? PB_RING : 0;
	c->out_len = c->inverse ? 0 : c->row->output;
	return made.release();
}

int signed_one(pair *own, uint8_t *out, size_t length, const uint8_t *message, size_t size)
{
	auto signature = own->signer->sign_message(message, size, rng());
	if (signature.size() != length)
		return 1;
	memcpy(out, signature.data(), length);
	return 0;
}

bool verifies(const pair &own, Bytes message)
{
	Botan::PK_Signer signer(*own.made, rng(), own.of->padding);
	Botan::PK_Verifier verifier(*own.made, checked(*own.of));
	return verifier.verify_message(message, signer.sign_message(message, rng()));
}

OPEN(signature_open, new_signature(c))
LOOP(sign, pair, signed_one(state, out, out_max, state->digest ? in : PB_TURN(message, turn), size))
LOOP(verify, pair, !state->verifier->verify_message(in, size, in + size, out_max))
SHOW(signature_show, verifies(*own, Bytes(c->in, c->size)))
const pb_variant signature_variants[] = {
	{"sign", "pk/1", "PK_Signer::sign_message, copy out", nullptr, sign, nullptr},
	{"verify", "pk/1", "PK_Verifier::verify_message", nullptr, verify, nullptr},
	{"keygen", "pk/1", "constructor with a generator, destructor", nullptr, keygen, signature_show},
	PB_END_OF_VARIANTS,
};
const pb_family signature_family = {signature_open, close_state, signature_variants};

template <class K> Key raw(Bytes bits)
{
	return std::make_unique<K>(bits);
}

template <class K> Key drawn()
{
	return std::make_unique<K>(rng());
}

Key ed25519_seed(Bytes bits)
{
	return std::make_unique<Botan::Ed25519_PrivateKey>(Botan::Ed25519_PrivateKey::from_seed(bits));
}

// On Brainpool's curves a number that is not below the order stands for itself less the order (../openssl/brainpool.h).
#define CURVE(NAME, CLASS, GROUP)                                                                            \
	Key NAME##_from(Bytes bits)                                                                          \
	{                                                                                                    \
		auto group = Botan::EC_Group::from_name(GROUP);                                              \
		auto number = Botan::BigInt::from_bytes(bits);                                               \
		if (number >= group.get_order())                                                             \
			number -= group.get_order();                                                         \
		return std::make_unique<Botan::CLASS>(rng(), group, number);                                 \
	}                                                                                                    \
	Key NAME##_drawn()                                                                                   \
	{                                                                                                    \
		return std::make_unique<Botan::CLASS>(rng(), Botan::EC_Group::from_name(GROUP));             \
	}
CURVE(ecdh256, ECDH_PrivateKey, "secp256r1")
CURVE(ecdh384, ECDH_PrivateKey, "secp384r1")
CURVE(ecdsa256, ECDSA_PrivateKey, "secp256r1")
CURVE(ecdsa384, ECDSA_PrivateKey, "secp384r1")
CURVE(ecdh_brainpool256, ECDH_PrivateKey, "brainpool256r1")
CURVE(ecdh_brainpool384, ECDH_PrivateKey, "brainpool384r1")
CURVE(ecdh_brainpool512, ECDH_PrivateKey, "brainpool512r1")
CURVE(ecdsa_brainpool256, ECDSA_PrivateKey, "brainpool256r1")
CURVE(ecdsa_brainpool384, ECDSA_PrivateKey, "brainpool384r1")
CURVE(ecdsa_brainpool512, ECDSA_PrivateKey, "brainpool512r1")

// The exponent is as long as RFC 7919, section 5.2, has it; TOP are the bits of its first byte.
#define GROUP(NAME, PRIME, TOP)                                                                              \
	Key NAME##_from(Bytes bits)                                                                          \
	{                                                                                                    \
		std::vector<uint8_t> number(bits.begin(), bits.end());                                       \
		number[0] = static_cast<uint8_t>((number[0] & (TOP)) | (((TOP) + 1) >> 1));                  \
		return std::make_unique<Botan::DH_PrivateKey>(Botan::DL_Group::from_name(PRIME),             \
							      Botan::BigInt::from_bytes(number));            \
	}                                                                                                    \
	Key NAME##_drawn()                                                                                   \
	{                                                                                                    \
		return std::make_unique<Botan::DH_PrivateKey>(rng(), Botan::DL_Group::from_name(PRIME));     \
	}
GROUP(ffdhe2048, "ffdhe/ietf/2048", 1)
GROUP(ffdhe3072, "ffdhe/ietf/3072", 7)

#define LATTICE(NAME, CLASS, MODE)                                                                           \
	Key NAME##_from(Bytes seed)                                                                          \
	{                                                                                                    \
		return std::make_unique<Botan::CLASS##_PrivateKey>(seed, Botan::CLASS##_Mode(MODE));         \
	}                                                                                                    \
	Key NAME##_drawn()                                                                                   \
	{                                                                                                    \
		return std::make_unique<Botan::CLASS##_PrivateKey>(rng(), Botan::CLASS##_Mode(MODE));        \
	}
LATTICE(kem512, ML_KEM, "ML-KEM-512")
LATTICE(kem768, ML_KEM, "ML-KEM-768")
LATTICE(kem1024, ML_KEM, "ML-KEM-1024")
LATTICE(dsa44, ML_DSA, "ML-DSA-4x4")
LATTICE(dsa65, ML_DSA, "ML-DSA-6x5")
LATTICE(dsa87, ML_DSA, "ML-DSA-8x7")

#define SLH(NAME, SET, HASH)                                                                                 \
	Key NAME##_made(Botan::RandomNumberGenerator &random)                                                \
	{                                                                                                    \
		return std::make_unique<Botan::SLH_DSA_PrivateKey>(                                          \
			random, Botan::SLH_DSA_Parameters::create(Botan::SLH_DSA_Parameter_Set::SET,         \
								  Botan::SLH_DSA_Hash_Type::HASH));          \
	}                                                                                                    \
	Key NAME##_from(Bytes seed)                                                                          \
	{                                                                                                    \
		Given random(seed);                                                                          \
		return NAME##_made(random);                                                                  \
	}                                                                                                    \
	Key NAME##_drawn()                                                                                   \
	{                                                                                                    \
		return NAME##_made(rng());                                                                   \
	}
SLH(slh_sha2_s, SLHDSA128Small, Sha256)
SLH(slh_sha2_f, SLHDSA128Fast, Sha256)
SLH(slh_shake_s, SLHDSA128Small, Shake256)
SLH(slh_shake_f, SLHDSA128Fast, Shake256)

const kind x25519 = {raw<Botan::X25519_PrivateKey>, drawn<Botan::X25519_PrivateKey>, "", false},
	   x448 = {raw<Botan::X448_PrivateKey>, drawn<Botan::X448_PrivateKey>, "", false},
	   ed25519 = {ed25519_seed, drawn<Botan::Ed25519_PrivateKey>, "Pure", false},
	   ed448 = {raw<Botan::Ed448_PrivateKey>, drawn<Botan::Ed448_PrivateKey>, "Pure", false};
#define KIND(NAME, PADDING, REJECTS) const kind NAME = {NAME##_from, NAME##_drawn, PADDING, REJECTS}
KIND(ecdh256, "", false);
KIND(ecdh384, "", false);
KIND(ecdsa256, "Raw", false);
KIND(ecdsa384, "Raw", false);
KIND(ecdh_brainpool256, "", false);
KIND(ecdh_brainpool384, "", false);
KIND(ecdh_brainpool512, "", false);
KIND(ecdsa_brainpool256, "Raw", false);
KIND(ecdsa_brainpool384, "Raw", false);
KIND(ecdsa_brainpool512, "Raw", false);
KIND(ffdhe2048, "", false);
KIND(ffdhe3072, "", false);
KIND(kem512, "", false);
KIND(kem768, "", false);
KIND(kem1024, "", false);
KIND(dsa44, "Randomized", true);
KIND(dsa65, "Randomized", true);
KIND(dsa87, "Randomized", true);
KIND(slh_sha2_s, "Randomized", false);
KIND(slh_sha2_f, "Randomized", false);
KIND(slh_shake_s, "Randomized", false);
KIND(slh_shake_f, "Randomized", false);

int start(const char *tier)
{
	std::string aes = Botan::BlockCipher::create_or_throw("AES-128")->provider();
	if (strcmp(tier, "soft") == 0)
		return aes.find("aes") == std::string::npos ? 0
							    : -1; // it names the feature: "aesni", "ssse3"
	return strcmp(tier, "full") == 0 && !getenv("BOTAN_CLEAR_CPUID") ? 0 : -1;
}

} // namespace

#define ROW(ID, FAMILY, PARAM, KEY, NONCE, OUTPUT)                                                           \
	{                                                                                                    \
		ID, &FAMILY, &PARAM, KEY, NONCE, 1, OUTPUT                                                   \
	}

extern const pb_row public_rows[] = {
	ROW("x25519", agreement_family, x25519, 32, 32, 32),
	ROW("x448", agreement_family, x448, 56, 56, 56),
	ROW("ecdh-p256", agreement_family, ecdh256, 32, 32, 32),
	ROW("ecdh-p384", agreement_family, ecdh384, 48, 48, 48),
	ROW("ecdh-brainpoolp256r1", agreement_family, ecdh_brainpool256, 32, 32, 32),
	ROW("ecdh-brainpoolp384r1", agreement_family, ecdh_brainpool384, 48, 48, 48),
	ROW("ecdh-brainpoolp512r1", agreement_family, ecdh_brainpool512, 64, 64, 64),
	ROW("ffdhe2048", agreement_family, ffdhe2048, 29, 29, 256),
	ROW("ffdhe3072", agreement_family, ffdhe3072, 35, 35, 384),
	ROW("ml-kem-512", kem_family, kem512, 64, 0, 32),
	ROW("ml-kem-768", kem_family, kem768, 64, 0, 32),
	ROW("ml-kem-1024", kem_family, kem1024, 64, 0, 32),
	ROW("ed25519", signature_family, ed25519, 32, 0, 64),
	ROW("ed448", signature_family, ed448, 57, 0, 114),
	ROW("ecdsa-p256", signature_family, ecdsa256, 32, 0, 64),
	ROW("ecdsa-p384", signature_family, ecdsa384, 48, 0, 96),
	ROW("ecdsa-brainpoolp256r1", signature_family, ecdsa_brainpool256, 32, 0, 64),
	ROW("ecdsa-brainpoolp384r1", signature_family, ecdsa_brainpool384, 48, 0, 96),
	ROW("ecdsa-brainpoolp512r1", signature_family, ecdsa_brainpool512, 64, 0, 128),
	ROW("ml-dsa-44", signature_family, dsa44, 32, 0, 2420),
	ROW("ml-dsa-65", signature_family, dsa65, 32, 0, 3309),
	ROW("ml-dsa-87", signature_family, dsa87, 32, 0, 4627),
	ROW("slh-dsa-sha2-128s", signature_family, slh_sha2_s, 48, 0, 7856),
	ROW("slh-dsa-sha2-128f", signature_family, slh_sha2_f, 48, 0, 17088),
	ROW("slh-dsa-shake-128s", signature_family, slh_shake_s, 48, 0, 7856),
	ROW("slh-dsa-shake-128f", signature_family, slh_shake_f, 48, 0, 17088),
	PB_END_OF_ROWS,
};

int main(int argc, char **argv)
{
	static const pb_row *const tables[] = {secret_rows, public_rows, stateful_rows, nullptr};
	pb_runner runner = {};
	runner.name = RUNNER_NAME;
	runner.library = "Botan";
	runner.license = "BSD-2-Clause";
	runner.version = Botan::short_version_cstr;
	runner.object = reinterpret_cast<const void *>(Botan::short_version_cstr);
	runner.start = start;
	runner.tables = tables;
	return pb_runner_main(&runner, argc, argv);
}
