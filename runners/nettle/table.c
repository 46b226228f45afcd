/* The Nettle runner: the library's functions called directly, as its manual shows them. */
#include "fat.h"
#include "tables.h"

#include <nettle/aes.h>
#include <nettle/version.h>

#include <stdio.h>
#include <string.h>

static const pb_row *const tables[] = {block128_rows, block64_rows, stream_cipher_rows, aead_rows, hash_rows,
				       mac_rows,      modern_rows,  public_key_rows,    pair_rows, NULL};

/* The library tells major and minor number only. */
static const char *version(void)
{
	static char text[32];
	snprintf(text, sizeof text, "%d.%d", nettle_version_major(), nettle_version_minor());
	return text;
}

/* The code that the library chooses at run time: AES, the compression functions of SHA-1 and SHA-256, GHASH.
 */
static const char *code_path(const pb_row *row)
{
	static char text[64];
	const char *id = row->algorithm;
	int aes = strncmp(id, "aes-", 4) == 0, ghash = strstr(id, "-gcm") != NULL;
	int sha = strstr(id, "sha-1") || strstr(id, "sha-224") || strstr(id, "sha-256");
	if (!*fat_features() || (!aes && !sha))
		return NULL;
	snprintf(text, sizeof text, "%s%s%s", aes ? (fat_uses("aes") ? "aes" : "no aes") : "",
		 sha ? (fat_uses("sha_ni") ? "sha_ni" : "no sha_ni") : "",
		 ghash ? (fat_uses("pclmulqdq") ? ", pclmulqdq" : ", no pclmulqdq") : "");
	return text;
}

/* The choice is made by a constructor of the library from NETTLE_FAT_OVERRIDE; here it can only be seen. */
static int start(const char *tier)
{
	if (fat_listen() != 0)
		return -1;
	if (strcmp(tier, "full") == 0)
		return getenv("NETTLE_FAT_OVERRIDE") ? -1 : 0;
	if (strcmp(tier, "soft") != 0 || !*fat_features())
		return -1;
	return fat_uses("aes") || fat_uses("sha_ni") || fat_uses("pclmulqdq") ? -1 : 0;
}

static const pb_runner runner = {
	.name = "nettle",
	.library = "Nettle",
	.license = "LGPL-3.0-or-later OR GPL-2.0-or-later",
	.version = version,
	.cpu_features = fat_features,
	.object = (const void *)nettle_version_major,
	.start = start,
	.code_path = code_path,
	.tables = tables,
};

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], FAT_COPY) == 0)
		return 0;
	return pb_runner_main(&runner, argc, argv);
}
