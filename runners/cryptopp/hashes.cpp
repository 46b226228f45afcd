/* The rows of the hashes and of HMAC. */
#define CRYPTOPP_ENABLE_NAMESPACE_WEAK 1

#include <algorithm>

#include <cryptopp/adler32.h>
#include <cryptopp/aes.h>
#include <cryptopp/blake2.h>
#include <cryptopp/cmac.h>
#include <cryptopp/crc.h>
#include <cryptopp/hmac.h>
#include <cryptopp/md2.h>
#include <cryptopp/md4.h>
#include <cryptopp/md5.h>
#include <cryptopp/ripemd.h>
#include <cryptopp/sha.h>
#include <cryptopp/sha3.h>
#include <cryptopp/shake.h>
#include <cryptopp/siphash.h>
#include <cryptopp/tiger.h>
#include <cryptopp/whrlpool.h>

#include "families.h"

using namespace CryptoPP;

template <class T> constexpr const Recipe *hash = &one_way<T, HashTransformation>;
template <class T> constexpr const Recipe *mac = &one_way<T, MessageAuthenticationCode>;

/* The library gives a CRC's lowest byte first; a checksum is written as a number, highest byte first. */
template <class T> struct HighestFirst : T {
	void TruncatedFinal(byte *digest, size_t size) override
	{
		T::TruncatedFinal(digest, size);
		std::reverse(digest, digest + size);
	}
};

const pb_row hashes[] = {
	{"md2", &hash_family, hash<Weak::MD2>, 0, 0, 1, 16},
	{"md4", &hash_family, hash<Weak::MD4>, 0, 0, 1, 16},
	{"md5", &hash_family, hash<Weak::MD5>, 0, 0, 1, 16},
	{"sha-1", &hash_family, hash<SHA1>, 0, 0, 1, 20},
	{"sha-224", &hash_family, hash<SHA224>, 0, 0, 1, 28},
	{"sha-256", &hash_family, hash<SHA256>, 0, 0, 1, 32},
	{"sha-384", &hash_family, hash<SHA384>, 0, 0, 1, 48},
	{"sha-512", &hash_family, hash<SHA512>, 0, 0, 1, 64},
	{"sha3-224", &hash_family, hash<SHA3_224>, 0, 0, 1, 28},
	{"sha3-256", &hash_family, hash<SHA3_256>, 0, 0, 1, 32},
	{"sha3-384", &hash_family, hash<SHA3_384>, 0, 0, 1, 48},
	{"sha3-512", &hash_family, hash<SHA3_512>, 0, 0, 1, 64},
	{"shake128", &xof_family, hash<SHAKE128>, 0, 32, 1, 32},
	{"shake256", &xof_family, hash<SHAKE256>, 0, 32, 1, 64},
	{"blake2b-512", &hash_family, hash<BLAKE2b>, 0, 0, 1, 64},
	{"blake2s-256", &hash_family, hash<BLAKE2s>, 0, 0, 1, 32},
	{"ripemd-128", &hash_family, hash<RIPEMD128>, 0, 0, 1, 16},
	{"ripemd-160", &hash_family, hash<RIPEMD160>, 0, 0, 1, 20},
	{"ripemd-256", &hash_family, hash<RIPEMD256>, 0, 0, 1, 32},
	{"ripemd-320", &hash_family, hash<RIPEMD320>, 0, 0, 1, 40},
	{"whirlpool", &hash_family, hash<Whirlpool>, 0, 0, 1, 64},
	{"tiger", &hash_family, hash<Tiger>, 0, 0, 1, 24},
	{"crc32", &hash_family, hash<HighestFirst<CRC32>>, 0, 0, 1, 4},
	{"crc32c", &hash_family, hash<HighestFirst<CRC32C>>, 0, 0, 1, 4},
	{"adler32", &hash_family, hash<Adler32>, 0, 0, 1, 4},
	PB_END_OF_ROWS,
};

const pb_row macs[] = {
	{"hmac-sha-256", &mac_family, mac<HMAC<SHA256>>, 32, 0, 1, 32},
	{"hmac-sha-1", &mac_family, mac<HMAC<SHA1>>, 20, 0, 1, 20},
	{"hmac-md5", &mac_family, mac<HMAC<Weak::MD5>>, 16, 0, 1, 16},
	{"hmac-sha-384", &mac_family, mac<HMAC<SHA384>>, 48, 0, 1, 48},
	{"hmac-sha-512", &mac_family, mac<HMAC<SHA512>>, 64, 0, 1, 64},
	{"aes-128-cmac", &mac_family, mac<CMAC<AES>>, 16, 0, 1, 16},
	{"aes-256-cmac", &mac_family, mac<CMAC<AES>>, 32, 0, 1, 16},
	{"siphash-2-4", &mac_family, mac<SipHash<2, 4, false>>, 16, 0, 1, 8},
	PB_END_OF_ROWS,
};
