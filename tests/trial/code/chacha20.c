/* ChaCha20 (RFC 8439) with the number of the first block as a parameter. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static uint32_t turned(uint32_t x, int by)
{
	return x << by | x >> (32 - by);
}

static void quarter(uint32_t *x, int a, int b, int c, int d)
{
	x[a] += x[b], x[d] = turned(x[d] ^ x[a], 16);
	x[c] += x[d], x[b] = turned(x[b] ^ x[c], 12);
	x[a] += x[b], x[d] = turned(x[d] ^ x[a], 8);
	x[c] += x[d], x[b] = turned(x[b] ^ x[c], 7);
}

void chacha20_xor(uint8_t *out, const uint8_t *in, size_t len, const uint8_t *key, const uint8_t *nonce,
		  uint32_t counter)
{
	uint32_t start[16] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574};
	memcpy(start + 4, key, 32);
	memcpy(start + 13, nonce, 12);
	for (size_t done = 0; done < len; done += 64) {
		uint32_t x[16];
		uint8_t block[64];
		start[12] = counter++;
		memcpy(x, start, sizeof x);
		for (int round = 0; round < 10; round++)
			for (int i = 0; i < 8; i++)
				quarter(x, i % 4, 4 + (i % 4 + i / 4) % 4, 8 + (i % 4 + i / 4 * 2) % 4,
					12 + (i % 4 + i / 4 * 3) % 4);
		for (int i = 0; i < 16; i++)
			x[i] += start[i];
		memcpy(block, x, 64);
		for (size_t i = 0; i < 64 && done + i < len; i++)
			out[done + i] = in[done + i] ^ block[i];
	}
}
