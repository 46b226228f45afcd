/* What the files of the Crypto++ runner share: the families, and what a row tells its family.
 *
 * Objects are handled through the library's own interface classes (SymmetricCipher and so on): ProcessData,
 * Update and their like are virtual functions there, for every user of the library. */
#ifndef PB_CRYPTOPP_FAMILIES_H
#define PB_CRYPTOPP_FAMILIES_H

#include <exception>
#include <string>

#include <cryptopp/cryptlib.h>

#include "perbyte.h"

/* A row's param. */
struct Recipe {
	void *(*make)(bool inverse); /* a new object, as a pointer to the family's interface class */
	std::string (*provider)();   /* what the library says about the code behind it */
	const char *parameter; /* name of what else the key schedule needs, e.g. "Rounds"; may be NULL */
	int value;
};

template <class Interface, class Forward, class Backward> void *make(bool inverse)
{
	return inverse ? static_cast<Interface *>(new Backward) : static_cast<Interface *>(new Forward);
}

template <class Interface, class T> std::string provider()
{
	T object;
	return static_cast<const Interface &>(object).AlgorithmProvider();
}

template <class T, class Interface>
inline constexpr Recipe two_way = {make<Interface, typename T::Encryption, typename T::Decryption>,
				   provider<Interface, typename T::Encryption>, nullptr, 0};

template <class T, class Interface>
inline constexpr Recipe one_way = {make<Interface, T, T>, provider<Interface, T>, nullptr, 0};

/* Ciphers whose default is not the catalogue's. */
template <class T, int rounds>
inline constexpr Recipe with_rounds = {two_way<T, CryptoPP::SymmetricCipher>.make,
				       two_way<T, CryptoPP::SymmetricCipher>.provider, "Rounds", rounds};

template <class T, int bits>
inline constexpr Recipe with_effective_bits = {two_way<T, CryptoPP::SymmetricCipher>.make,
					       two_way<T, CryptoPP::SymmetricCipher>.provider,
					       "EffectiveKeyLength", bits};

extern const pb_family ecb_family;       /* no IV */
extern const pb_family iv_family;        /* modes and stream ciphers with an IV */
extern const pb_family sector_family;    /* XTS: whole sectors */
extern const pb_family tuned_ecb_family; /* the same two for ciphers that need `parameter` */
extern const pb_family tuned_iv_family;
extern const pb_family generator_family; /* stream ciphers with an IV that give their key stream alone, too */
extern const pb_family keystream_family; /* RC4, WAKE: the same, and the state starts with the key */
extern const pb_family aead_family;
extern const pb_family ccm_family; /* AEADs that must know the lengths first */
extern const pb_family hash_family;
extern const pb_family xof_family;
extern const pb_family mac_family;

/* The tables of rows, ended as perbyte.h says. */
extern const pb_row block_ciphers[], historic_ciphers[], aeads[], hashes[], macs[], curves[], kdfs[];

inline const Recipe &recipe_of(const pb_row *row)
{
	return *static_cast<const Recipe *>(row->param);
}

/* No exception may cross into the SDK, which is C. The library throws where other libraries return an error,
 * so it ends the loop and counts as a failed call. Returns 0, or -1 with the library's words kept. */
template <class Body> int guarded(pb_case *c, Body body)
{
	try {
		body();
		return 0;
	} catch (const std::exception &e) {
		c->failures++;
		return pb_fail(c, "%s", e.what());
	} catch (...) {
		c->failures++;
		return pb_fail(c, "an exception of unknown type");
	}
}

/* open and close of every family: the object lives in ctx. `set_key` puts key 0 and nonce 0 in force. */
template <class Interface, class SetKey> int open_object(pb_case *c, SetKey set_key)
{
	c->ctx = nullptr;
	int status = guarded(c, [=] {
		c->ctx = recipe_of(c->row).make(c->inverse != 0);
		set_key(*static_cast<Interface *>(c->ctx));
	});
	if (status != 0) {
		delete static_cast<Interface *>(c->ctx);
		c->ctx = nullptr;
	}
	return status;
}

template <class Interface> void close_object(pb_case *c)
{
	delete static_cast<Interface *>(c->ctx);
}

#endif
