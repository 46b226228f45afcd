/* The rows of the ciphers that older studies compare. Which of several forms a row takes is said in
 * README.md. */
#define CRYPTOPP_ENABLE_NAMESPACE_WEAK 1

#include <cryptopp/3way.h>
#include <cryptopp/arc4.h>
#include <cryptopp/blowfish.h>
#include <cryptopp/cast.h>
#include <cryptopp/gost.h>
#include <cryptopp/idea.h>
#include <cryptopp/mars.h>
#include <cryptopp/modes.h>
#include <cryptopp/rc2.h>
#include <cryptopp/rc5.h>
#include <cryptopp/rc6.h>
#include <cryptopp/safer.h>
#include <cryptopp/salsa.h>
#include <cryptopp/seal.h>
#include <cryptopp/seed.h>
#include <cryptopp/sosemanuk.h>
#include <cryptopp/wake.h>

#include "families.h"

using namespace CryptoPP;

template <class T> constexpr const Recipe *cipher = &two_way<T, SymmetricCipher>;

/* RC2 takes 1024 effective key bits unless told otherwise; everyone else takes as many as the key has. */
template <class T> constexpr const Recipe *rc2 = &with_effective_bits<T, 128>;

const pb_row historic_ciphers[] = {
	{"blowfish-ecb", &ecb_family, cipher<ECB_Mode<Blowfish>>, 16, 0, 8, 0},
	{"blowfish-cbc", &iv_family, cipher<CBC_Mode<Blowfish>>, 16, 8, 8, 0},
	{"blowfish-ofb", &iv_family, cipher<OFB_Mode<Blowfish>>, 16, 8, 1, 0},
	{"blowfish-64-ecb", &ecb_family, cipher<ECB_Mode<Blowfish>>, 8, 0, 8, 0},
	{"blowfish-64-cbc", &iv_family, cipher<CBC_Mode<Blowfish>>, 8, 8, 8, 0},
	{"rc2-ecb", &tuned_ecb_family, rc2<ECB_Mode<RC2>>, 16, 0, 8, 0},
	{"rc2-cbc", &tuned_iv_family, rc2<CBC_Mode<RC2>>, 16, 8, 8, 0},
	{"rc2-ofb", &tuned_iv_family, rc2<OFB_Mode<RC2>>, 16, 8, 1, 0},
	{"cast5-ecb", &ecb_family, cipher<ECB_Mode<CAST128>>, 16, 0, 8, 0},
	{"cast5-cbc", &iv_family, cipher<CBC_Mode<CAST128>>, 16, 8, 8, 0},
	{"idea-ecb", &ecb_family, cipher<ECB_Mode<IDEA>>, 16, 0, 8, 0},
	{"idea-cbc", &iv_family, cipher<CBC_Mode<IDEA>>, 16, 8, 8, 0},
	{"seed-ecb", &ecb_family, cipher<ECB_Mode<SEED>>, 16, 0, 16, 0},
	{"seed-cbc", &iv_family, cipher<CBC_Mode<SEED>>, 16, 16, 16, 0},
	{"rc5-32-12-ecb", &tuned_ecb_family, &with_rounds<ECB_Mode<RC5>, 12>, 16, 0, 8, 0},
	{"rc5-32-12-cbc", &tuned_iv_family, &with_rounds<CBC_Mode<RC5>, 12>, 16, 8, 8, 0},
	{"rc5-32-32-ecb", &tuned_ecb_family, &with_rounds<ECB_Mode<RC5>, 32>, 20, 0, 8, 0},
	{"rc5-32-32-cbc", &tuned_iv_family, &with_rounds<CBC_Mode<RC5>, 32>, 20, 8, 8, 0},
	{"safer-k64-6-ecb", &tuned_ecb_family, &with_rounds<ECB_Mode<SAFER_K>, 6>, 8, 0, 8, 0},
	{"safer-k64-6-cbc", &tuned_iv_family, &with_rounds<CBC_Mode<SAFER_K>, 6>, 8, 8, 8, 0},
	{"gost28147-ecb", &ecb_family, cipher<ECB_Mode<GOST>>, 32, 0, 8, 0},
	{"gost28147-cbc", &iv_family, cipher<CBC_Mode<GOST>>, 32, 8, 8, 0},
	{"3-way-ecb", &ecb_family, cipher<ECB_Mode<ThreeWay>>, 12, 0, 12, 0},
	{"3-way-cbc", &iv_family, cipher<CBC_Mode<ThreeWay>>, 12, 12, 12, 0},
	{"rc6-128-ecb", &ecb_family, cipher<ECB_Mode<RC6>>, 16, 0, 16, 0},
	{"rc6-128-cbc", &iv_family, cipher<CBC_Mode<RC6>>, 16, 16, 16, 0},
	{"rc6-128-ctr", &iv_family, cipher<CTR_Mode<RC6>>, 16, 16, 1, 0},
	{"mars-128-ecb", &ecb_family, cipher<ECB_Mode<MARS>>, 16, 0, 16, 0},
	{"mars-128-cbc", &iv_family, cipher<CBC_Mode<MARS>>, 16, 16, 16, 0},
	{"mars-128-ctr", &iv_family, cipher<CTR_Mode<MARS>>, 16, 16, 1, 0},
	{"cast-256-128-ecb", &ecb_family, cipher<ECB_Mode<CAST256>>, 16, 0, 16, 0},
	{"cast-256-128-cbc", &iv_family, cipher<CBC_Mode<CAST256>>, 16, 16, 16, 0},
	{"cast-256-128-ctr", &iv_family, cipher<CTR_Mode<CAST256>>, 16, 16, 1, 0},
	{"rc4", &keystream_family, cipher<Weak::ARC4>, 16, 0, 1, 0},
	{"wake", &keystream_family, cipher<WAKE_OFB<LittleEndian>>, 32, 0, 4, 0},
	{"seal-3.0", &generator_family, cipher<SEAL<BigEndian>>, 20, 4, 4, 0},
	{"salsa20", &generator_family, cipher<Salsa20>, 32, 8, 1, 0},
	{"salsa20-12", &tuned_iv_family, &with_rounds<Salsa20, 12>, 32, 8, 1, 0},
	{"sosemanuk", &generator_family, cipher<Sosemanuk>, 32, 16, 1, 0},
	PB_END_OF_ROWS,
};
