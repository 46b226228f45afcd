/* The Crypto++ runner: how a CPU tier is brought about, what the library says about itself, and main. */
#include <cstdio>
#include <cstring>
#include <string>

#include <cryptopp/cpu.h>

#include "families.h"

namespace
{

const pb_row *const tables[] = {block_ciphers, historic_ciphers, aeads, hashes, macs, curves, kdfs, nullptr};

const char *version()
{
	static char text[16];
	int number = CryptoPP::LibraryVersion();
	snprintf(text, sizeof text, "%d.%d.%d", number / 100, number / 10 % 10, number % 10);
	return text;
}

const char *cpu_features()
{
	static std::string text;
	text.clear();
	auto add = [](const char *name, bool there) {
		if (there)
			text += (text.empty() ? "" : ":") + std::string(name);
	};
#if CRYPTOPP_BOOL_X86 || CRYPTOPP_BOOL_X32 || CRYPTOPP_BOOL_X64
	add("sse2", CryptoPP::HasSSE2());
	add("ssse3", CryptoPP::HasSSSE3());
	add("sse4.1", CryptoPP::HasSSE41());
	add("sse4.2", CryptoPP::HasSSE42());
	add("avx", CryptoPP::HasAVX());
	add("avx2", CryptoPP::HasAVX2());
	add("aesni", CryptoPP::HasAESNI());
	add("clmul", CryptoPP::HasCLMUL());
	add("sha", CryptoPP::HasSHA());
#elif CRYPTOPP_BOOL_ARM32 || CRYPTOPP_BOOL_ARMV8
	add("neon", CryptoPP::HasNEON());
	add("aes", CryptoPP::HasAES());
	add("pmull", CryptoPP::HasPMULL());
	add("sha1", CryptoPP::HasSHA1());
	add("sha2", CryptoPP::HasSHA2());
#endif
	return text.c_str();
}

/* The library asks its own flags before every use of such an instruction. The first question makes it look at
 * the CPU; what is changed after that stays. */
bool disable_crypto_instructions()
{
#if CRYPTOPP_BOOL_X86 || CRYPTOPP_BOOL_X32 || CRYPTOPP_BOOL_X64
	(void)CryptoPP::HasAESNI();
	CryptoPP::g_hasAESNI = CryptoPP::g_hasCLMUL = CryptoPP::g_hasSHA = false;
	CryptoPP::g_hasPadlockACE = CryptoPP::g_hasPadlockACE2 = CryptoPP::g_hasPadlockPHE = false;
	return true;
#elif CRYPTOPP_BOOL_ARM32 || CRYPTOPP_BOOL_ARMV8
	(void)CryptoPP::HasAES();
	CryptoPP::g_hasAES = CryptoPP::g_hasPMULL = CryptoPP::g_hasSHA1 = CryptoPP::g_hasSHA2 = false;
	return true;
#else
	return false;
#endif
}

void disable_shuffles()
{
#if CRYPTOPP_BOOL_X86 || CRYPTOPP_BOOL_X32 || CRYPTOPP_BOOL_X64
	CryptoPP::g_hasSSSE3 = false;
#endif
}

int start(const char *tier)
{
	if (!strcmp(tier, "full"))
		return 0;
	bool tables_only = !strcmp(tier, "tables");
	if (strcmp(tier, "soft") && !tables_only)
		return -1;
	if (!disable_crypto_instructions())
		return -1;
	if (tables_only)
		disable_shuffles();
	return 0;
}

/* Valid until the next call, as hello needs it. */
const char *code_path(const pb_row *row)
{
	static std::string text;
	if (!row->param)
		return nullptr;
	try {
		text = recipe_of(row).provider();
		return text.c_str();
	} catch (const std::exception &) {
		return nullptr;
	}
}

} // namespace

int main(int argc, char **argv)
{
	pb_runner runner = {};
	runner.name = "cryptopp";
	runner.library = "Crypto++";
	runner.license = "BSL-1.0";
	runner.version = version;
	runner.cpu_features = cpu_features;
	runner.object = reinterpret_cast<const void *>(&CryptoPP::LibraryVersion);
	runner.start = start;
	runner.code_path = code_path;
	runner.tables = tables;
	return pb_runner_main(&runner, argc, argv);
}
