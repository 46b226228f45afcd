/* One ordinary program that makes one call in a loop, placed by the system: what an engineer writes in an afternoon, for
 * bench/trueness.py. It shares no code with Perbyte and looks for no neighbours.
 *
 * Usage: ordinary LIBRARY WHAT SIZE CORE GRAIN. Buffers begin on any GRAIN bytes of a page. LIBRARY: openssl, libgcrypt, nettle, cryptopp; WHAT: ctr (AES-128), gcm
 * (AES-128, nonce of 12 bytes, 16 bytes of additional data), sha256, hmac (SHA-256), ed25519 (openssl, sign). Prints core
 * cycles of a call: samples of n and of 2 n calls alternate, and the difference of their medians is free of what
 * reading the clock costs. The core's clock is read off a chain of multiplications before and after each sample. */
#include <cryptopp/aes.h>
#include <cryptopp/gcm.h>
#include <cryptopp/hmac.h>
#include <cryptopp/modes.h>
#include <cryptopp/sha.h>
#include <gcrypt.h>
#include <nettle/aes.h>
#include <nettle/ctr.h>
#include <nettle/gcm.h>
#include <nettle/hmac.h>
#include <nettle/sha2.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <sched.h>
#include <x86intrin.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

enum { SAMPLES = 1200, CHAIN = 4000, CYCLES_A_SAMPLE = 40000, MOST = 16384, PAGE = 4096 };
static const double WARM = 3e7, CLOCK_AGREES = 1.01;

static uint64_t now()
{
	_mm_lfence();
	uint64_t ticks = __rdtsc();
	_mm_lfence();
	return ticks;
}

/* Two lengths, so that the cost of reading the counter drops out. */
static uint64_t chain(int length)
{
	uint64_t x = 3, start = now();
	for (int i = 0; i < length / 8; i++)
		__asm__ volatile("imul %0,%0\n\timul %0,%0\n\timul %0,%0\n\timul %0,%0\n\t"
				 "imul %0,%0\n\timul %0,%0\n\timul %0,%0\n\timul %0,%0"
				 : "+r"(x));
	return now() - start;
}

static double ticks_of_chain()
{
	return double(chain(CHAIN)) - double(chain(CHAIN / 2));
}

template <class Call> static double sample(Call &call, long calls)
{
	double before = ticks_of_chain();
	uint64_t start = now();
	for (long i = 0; i < calls; i++)
		call();
	double ticks = double(now() - start), after = ticks_of_chain();
	if (before > after * CLOCK_AGREES || after > before * CLOCK_AGREES)
		return 0;
	return ticks * 3 * (CHAIN / 2) / ((before + after) / 2);
}

static double median(std::vector<double> &values)
{
	std::sort(values.begin(), values.end());
	return values.empty() ? 0 : values[values.size() / 2];
}

template <class Call> static double cost(Call call)
{
	long calls = 1;
	while (sample(call, calls) < CYCLES_A_SAMPLE)
		calls *= 2;
	for (uint64_t start = now(); double(now() - start) < WARM;)
		call();
	std::vector<double> once, twice;
	for (int i = 0; i < SAMPLES; i++) {
		if (double t = sample(call, calls))
			once.push_back(t);
		if (double t = sample(call, 2 * calls))
			twice.push_back(t);
	}
	return (median(twice) - median(once)) / double(calls);
}

static unsigned char key[32], nonce[16], aad[16], tag[64];

static double openssl(const std::string &what, unsigned char *in, unsigned char *out, size_t size)
{
	EVP_CIPHER_CTX *c = EVP_CIPHER_CTX_new();
	int done;
	if (what == "ctr") {
		EVP_EncryptInit_ex2(c, EVP_CIPHER_fetch(nullptr, "AES-128-CTR", nullptr), key, nonce,
				    nullptr);
		return cost([&] { EVP_EncryptUpdate(c, out, &done, in, int(size)); });
	}
	if (what == "gcm") {
		EVP_EncryptInit_ex2(c, EVP_CIPHER_fetch(nullptr, "AES-128-GCM", nullptr), key, nonce,
				    nullptr);
		return cost([&] {
			EVP_EncryptInit_ex2(c, nullptr, nullptr, nonce, nullptr);
			EVP_EncryptUpdate(c, nullptr, &done, aad, sizeof aad);
			EVP_EncryptUpdate(c, out, &done, in, int(size));
			EVP_EncryptFinal_ex(c, out + done, &done);
			EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_AEAD_GET_TAG, 16, tag);
		});
	}
	if (what == "sha256") {
		EVP_MD_CTX *m = EVP_MD_CTX_new();
		EVP_DigestInit_ex2(m, EVP_MD_fetch(nullptr, "SHA2-256", nullptr), nullptr);
		return cost([&] {
			EVP_DigestInit_ex2(m, nullptr, nullptr);
			EVP_DigestUpdate(m, in, size);
			EVP_DigestFinal_ex(m, tag, nullptr);
		});
	}
	if (what == "hmac") {
		EVP_MAC_CTX *m = EVP_MAC_CTX_new(EVP_MAC_fetch(nullptr, "HMAC", nullptr));
		char name[] = "SHA2-256";
		OSSL_PARAM params[] = {OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, name, 0),
				       OSSL_PARAM_construct_end()};
		size_t length;
		EVP_MAC_init(m, key, 32, params);
		return cost([&] {
			EVP_MAC_init(m, nullptr, 0, nullptr);
			EVP_MAC_update(m, in, size);
			EVP_MAC_final(m, tag, &length, sizeof tag);
		});
	}
	EVP_PKEY *pair = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nullptr, key, 32);
	EVP_MD_CTX *m = EVP_MD_CTX_new();
	EVP_DigestSignInit(m, nullptr, nullptr, nullptr, pair);
	return cost([&] {
		size_t length = sizeof tag;
		EVP_DigestSign(m, tag, &length, in, size);
	});
}

static double libgcrypt(const std::string &what, unsigned char *in, unsigned char *out, size_t size)
{
	gcry_check_version(nullptr);
	gcry_control(GCRYCTL_INITIALIZATION_FINISHED, 0);
	gcry_cipher_hd_t c;
	if (what == "ctr" || what == "gcm") {
		gcry_cipher_open(&c, GCRY_CIPHER_AES128,
				 what == "ctr" ? GCRY_CIPHER_MODE_CTR : GCRY_CIPHER_MODE_GCM, 0);
		gcry_cipher_setkey(c, key, 16);
		gcry_cipher_setctr(c, nonce, 16);
	}
	if (what == "ctr")
		return cost([&] { gcry_cipher_encrypt(c, out, size, in, size); });
	if (what == "gcm")
		return cost([&] {
			gcry_cipher_setiv(c, nonce, 12);
			gcry_cipher_authenticate(c, aad, sizeof aad);
			gcry_cipher_encrypt(c, out, size, in, size);
			gcry_cipher_gettag(c, tag, 16);
		});
	if (what == "sha256")
		return cost([&] { gcry_md_hash_buffer(GCRY_MD_SHA256, tag, in, size); });
	gcry_mac_hd_t m;
	gcry_mac_open(&m, GCRY_MAC_HMAC_SHA256, 0, nullptr);
	gcry_mac_setkey(m, key, 32);
	return cost([&] {
		size_t length = sizeof tag;
		gcry_mac_reset(m);
		gcry_mac_write(m, in, size);
		gcry_mac_read(m, tag, &length);
	});
}

static double nettle(const std::string &what, unsigned char *in, unsigned char *out, size_t size)
{
	if (what == "ctr") {
		aes128_ctx c;
		aes128_set_encrypt_key(&c, key);
		return cost([&] {
			nettle_ctr_crypt(&c, reinterpret_cast<nettle_cipher_func *>(nettle_aes128_encrypt),
					 16, nonce, size, out, in);
		});
	}
	if (what == "gcm") {
		static gcm_aes128_ctx c;
		gcm_aes128_set_key(&c, key);
		return cost([&] {
			gcm_aes128_set_iv(&c, 12, nonce);
			gcm_aes128_update(&c, sizeof aad, aad);
			gcm_aes128_encrypt(&c, size, out, in);
			gcm_aes128_digest(&c, 16, tag);
		});
	}
	if (what == "sha256") {
		sha256_ctx c;
		sha256_init(&c);
		return cost([&] {
			sha256_update(&c, size, in);
			sha256_digest(&c, 32, tag);
		});
	}
	hmac_sha256_ctx c;
	hmac_sha256_set_key(&c, 32, key);
	return cost([&] {
		hmac_sha256_update(&c, size, in);
		hmac_sha256_digest(&c, 32, tag);
	});
}

static double cryptopp(const std::string &what, unsigned char *in, unsigned char *out, size_t size)
{
	using namespace CryptoPP;
	if (what == "ctr") {
		CTR_Mode<AES>::Encryption c;
		c.SetKeyWithIV(key, 16, nonce);
		SymmetricCipher &any = c;
		return cost([&] { any.ProcessData(out, in, size); });
	}
	if (what == "gcm") {
		GCM<AES>::Encryption c;
		c.SetKeyWithIV(key, 16, nonce, 12);
		AuthenticatedSymmetricCipher &any = c;
		return cost([&] {
			any.EncryptAndAuthenticate(out, tag, 16, nonce, 12, aad, sizeof aad, in, size);
		});
	}
	if (what == "sha256") {
		SHA256 c;
		HashTransformation &any = c;
		return cost([&] {
			any.Update(in, size);
			any.TruncatedFinal(tag, 32);
		});
	}
	HMAC<SHA256> c(key, 32);
	MessageAuthenticationCode &any = c;
	return cost([&] {
		any.Update(in, size);
		any.TruncatedFinal(tag, 32);
	});
}

int main(int argc, char **argv)
{
	if (argc != 6)
		return 2;
	std::string library = argv[1], what = argv[2];
	size_t size = std::min<size_t>(size_t(atol(argv[3])), MOST);
	cpu_set_t one;
	CPU_ZERO(&one);
	CPU_SET(size_t(atoi(argv[4])), &one);
	sched_setaffinity(0, sizeof one, &one);
	std::random_device random;
	for (auto &byte : key)
		byte = static_cast<unsigned char>(random());
	for (auto &byte : nonce)
		byte = static_cast<unsigned char>(random());
	/* other programs have allocated other things before; the library's state begins where that leaves off */
	void *volatile before = malloc(random() % PAGE);
	(void)before;
	unsigned grain = std::max(1u, unsigned(atoi(argv[5])));
	auto anywhere = [&] {
		return static_cast<unsigned char *>(aligned_alloc(PAGE, 2 * MOST)) +
		       random() % PAGE / grain * grain;
	};
	unsigned char *in = anywhere(), *out = anywhere();
	memset(in, 1, size);
	memset(out, 0, size + 64);
	double cycles = library == "openssl"     ? openssl(what, in, out, size)
			: library == "libgcrypt" ? libgcrypt(what, in, out, size)
			: library == "nettle"    ? nettle(what, in, out, size)
						 : cryptopp(what, in, out, size);
	printf("%.3f\n", cycles);
}
