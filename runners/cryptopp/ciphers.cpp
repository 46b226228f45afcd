/* The rows of the ciphers that are in use, and of DES. */
#include <cryptopp/aes.h>
#include <cryptopp/aria.h>
#include <cryptopp/camellia.h>
#include <cryptopp/ccm.h>
#include <cryptopp/chacha.h>
#include <cryptopp/chachapoly.h>
#include <cryptopp/des.h>
#include <cryptopp/gcm.h>
#include <cryptopp/modes.h>
#include <cryptopp/serpent.h>
#include <cryptopp/twofish.h>
#include <cryptopp/xts.h>

#include "families.h"

using namespace CryptoPP;

template <class T> constexpr const Recipe *cipher = &two_way<T, SymmetricCipher>;
template <class T> constexpr const Recipe *aead = &two_way<T, AuthenticatedSymmetricCipher>;

#define ECB(id, T, key, block)                                                                               \
	{                                                                                                    \
		id "-ecb", &ecb_family, cipher<ECB_Mode<T>>, key, 0, block, 0                                \
	}
#define CBC(id, T, key, block)                                                                               \
	{                                                                                                    \
		id "-cbc", &iv_family, cipher<CBC_Mode<T>>, key, block, block, 0                             \
	}
#define CTR(id, T, key, block)                                                                               \
	{                                                                                                    \
		id "-ctr", &iv_family, cipher<CTR_Mode<T>>, key, block, 1, 0                                 \
	}
#define OFB(id, T, key, block)                                                                               \
	{                                                                                                    \
		id "-ofb", &iv_family, cipher<OFB_Mode<T>>, key, block, 1, 0                                 \
	}
#define CFB(id, T, key, block)                                                                               \
	{                                                                                                    \
		id "-cfb", &iv_family, cipher<CFB_Mode<T>>, key, block, 1, 0                                 \
	}

#define XTS(id, T, keys)                                                                                     \
	{                                                                                                    \
		id "-xts", &sector_family, cipher<XTS_Mode<T>>, keys, 16, 16, 0                              \
	}

#define THREE_MODES(id, T, key, block) ECB(id, T, key, block), CBC(id, T, key, block), CTR(id, T, key, block)
#define FIVE_MODES(id, T, key, block)                                                                        \
	THREE_MODES(id, T, key, block), OFB(id, T, key, block), CFB(id, T, key, block)

const pb_row block_ciphers[] = {
	FIVE_MODES("aes-128", AES, 16, 16),
	FIVE_MODES("aes-192", AES, 24, 16),
	FIVE_MODES("aes-256", AES, 32, 16),
	THREE_MODES("camellia-128", Camellia, 16, 16),
	THREE_MODES("camellia-192", Camellia, 24, 16),
	THREE_MODES("camellia-256", Camellia, 32, 16),
	THREE_MODES("aria-128", ARIA, 16, 16),
	THREE_MODES("aria-192", ARIA, 24, 16),
	THREE_MODES("aria-256", ARIA, 32, 16),
	FIVE_MODES("des", DES, 8, 8),
	FIVE_MODES("des-ede3", DES_EDE3, 24, 8),
	THREE_MODES("serpent-128", Serpent, 16, 16),
	THREE_MODES("serpent-256", Serpent, 32, 16),
	THREE_MODES("twofish-128", Twofish, 16, 16),
	THREE_MODES("twofish-256", Twofish, 32, 16),
	XTS("aes-128", AES, 32),
	XTS("aes-256", AES, 64),
	XTS("serpent-256", Serpent, 64),
	XTS("twofish-256", Twofish, 64),
	XTS("camellia-256", Camellia, 64),
	{"chacha20", &iv_family, cipher<ChaChaTLS>, 32, 12, 1, 0},
	{"chacha8", &tuned_iv_family, &with_rounds<ChaCha, 8>, 32, 8, 1, 0},
	{"chacha12", &tuned_iv_family, &with_rounds<ChaCha, 12>, 32, 8, 1, 0},
	PB_END_OF_ROWS,
};

/* GCM with the library's default, tables of 2 KiB; they matter only where carry-less multiplication is
 * missing. */
const pb_row aeads[] = {
	{"aes-128-gcm", &aead_family, aead<GCM<AES>>, 16, 12, 1, 16},
	{"aes-192-gcm", &aead_family, aead<GCM<AES>>, 24, 12, 1, 16},
	{"aes-256-gcm", &aead_family, aead<GCM<AES>>, 32, 12, 1, 16},
	{"camellia-128-gcm", &aead_family, aead<GCM<Camellia>>, 16, 12, 1, 16},
	{"camellia-256-gcm", &aead_family, aead<GCM<Camellia>>, 32, 12, 1, 16},
	{"aria-128-gcm", &aead_family, aead<GCM<ARIA>>, 16, 12, 1, 16},
	{"aria-256-gcm", &aead_family, aead<GCM<ARIA>>, 32, 12, 1, 16},
	{"aes-128-ccm", &ccm_family, aead<CCM<AES, 16>>, 16, 12, 1, 16},
	{"aes-256-ccm", &ccm_family, aead<CCM<AES, 16>>, 32, 12, 1, 16},
	{"chacha20-poly1305", &aead_family, aead<ChaCha20Poly1305>, 32, 12, 1, 16},
	{"xchacha20-poly1305", &aead_family, aead<XChaCha20Poly1305>, 32, 24, 1, 16},
	PB_END_OF_ROWS,
};
