/* AES-128 in ECB from one table of 1 KiB and the S-box: right, and readable from the cache. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static uint8_t box[256];
static uint32_t table[256];

struct aes_key {
	uint32_t words[44];
};

static uint32_t left(uint32_t x, int bits)
{
	return x << bits | x >> (32 - bits);
}

static uint8_t doubled(uint8_t x)
{
	return (uint8_t)(x << 1 ^ (0x1b & -(x >> 7)));
}

/* FIPS 197: the inverse in GF(2^8), by powers of the generator 3, and the affine map. */
static void make_tables(void)
{
	uint8_t power[256], log[256] = {0}, x = 1;
	for (int i = 0; i < 255; i++) {
		power[i] = x;
		log[x] = (uint8_t)i;
		x ^= doubled(x);
	}
	power[255] = power[0];
	for (int i = 0; i < 256; i++) {
		uint8_t b = i ? power[255 - log[i]] : 0, s = 0x63;
		for (int turn = 0; turn < 5; turn++)
			s ^= (uint8_t)(b << turn | b >> (8 - turn));
		box[i] = s;
		table[i] = (uint32_t)doubled(s) << 24 | (uint32_t)s << 16 | (uint32_t)s << 8 |
			   (uint8_t)(doubled(s) ^ s);
	}
}

static uint32_t read(const uint8_t *in)
{
	return (uint32_t)in[0] << 24 | (uint32_t)in[1] << 16 | (uint32_t)in[2] << 8 | in[3];
}

static uint32_t boxes(uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
	return (uint32_t)box[a >> 24] << 24 | (uint32_t)box[b >> 16 & 255] << 16 |
	       (uint32_t)box[c >> 8 & 255] << 8 | box[d & 255];
}

void aes_setup(struct aes_key *ctx, const uint8_t key[16])
{
	uint8_t round = 1;
	if (!box[0])
		make_tables();
	for (int i = 0; i < 4; i++)
		ctx->words[i] = read(key + 4 * i);
	for (int i = 4; i < 44; i++) {
		uint32_t x = ctx->words[i - 1];
		if (i % 4 == 0) {
			x = left(x, 8);
			x = boxes(x, x, x, x) ^ (uint32_t)round << 24;
			round = doubled(round);
		}
		ctx->words[i] = ctx->words[i - 4] ^ x;
	}
}

void aes_encrypt(const struct aes_key *ctx, const uint8_t *in, uint8_t *out, size_t size)
{
	for (; size >= 16; size -= 16, in += 16, out += 16) {
		const uint32_t *k = ctx->words;
		uint32_t s[4], t[4];
		for (int i = 0; i < 4; i++)
			s[i] = read(in + 4 * i) ^ *k++;
		for (int round = 1; round < 10; round++) {
			for (int i = 0; i < 4; i++)
				t[i] = table[s[i] >> 24] ^ left(table[s[(i + 1) % 4] >> 16 & 255], 24) ^
				       left(table[s[(i + 2) % 4] >> 8 & 255], 16) ^
				       left(table[s[(i + 3) % 4] & 255], 8) ^ *k++;
			memcpy(s, t, sizeof s);
		}
		for (int i = 0; i < 4; i++) {
			uint32_t x = boxes(s[i], s[(i + 1) % 4], s[(i + 2) % 4], s[(i + 3) % 4]) ^ *k++;
			out[4 * i] = (uint8_t)(x >> 24);
			out[4 * i + 1] = (uint8_t)(x >> 16);
			out[4 * i + 2] = (uint8_t)(x >> 8);
			out[4 * i + 3] = (uint8_t)x;
		}
	}
}
