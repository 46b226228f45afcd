/* The low-level OpenSSL runner: the functions that programs called before there was EVP, and that OpenSSL
 * still exports. They are deprecated, and their ciphers never use the AES instructions. */
#include "tables.h"

#include "../openssl/capabilities.h"

#include <openssl/aes.h>
#include <openssl/crypto.h>

static const pb_row *const tables[] = {aes_rows, block128_rows, des_rows, block64_rows,
				       rc4_rows, hash_rows,     NULL};

static const char *version(void)
{
	return OpenSSL_version(OPENSSL_FULL_VERSION_STRING);
}

static int start(const char *tier)
{
	return openssl_tier_in_force(tier) ? 0 : -1;
}

static const pb_runner runner = {
	.name = "openssl-lowlevel",
	.library = "OpenSSL",
	.license = "Apache-2.0",
	.version = version,
	.cpu_features = openssl_cpu_features,
	.object = (const void *)AES_cbc_encrypt,
	.start = start,
	.tables = tables,
};

int main(int argc, char **argv)
{
	return pb_runner_main(&runner, argc, argv);
}
