/* SipHash-2-4. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define ROT(x, n) ((x) << (n) | (x) >> (64 - (n)))

static void rounds(uint64_t v[4], int n)
{
	while (n--) {
		v[0] += v[1], v[1] = ROT(v[1], 13) ^ v[0], v[0] = ROT(v[0], 32);
		v[2] += v[3], v[3] = ROT(v[3], 16) ^ v[2];
		v[0] += v[3], v[3] = ROT(v[3], 21) ^ v[0];
		v[2] += v[1], v[1] = ROT(v[1], 17) ^ v[2], v[2] = ROT(v[2], 32);
	}
}

int siphash(uint8_t *out, const uint8_t *in, uint64_t inlen, const uint8_t k[16])
{
	uint64_t k0, k1, m, last = inlen << 56;
	memcpy(&k0, k, 8);
	memcpy(&k1, k + 8, 8);
	uint64_t v[4] = {k0 ^ 0x736f6d6570736575, k1 ^ 0x646f72616e646f6d, k0 ^ 0x6c7967656e657261,
			 k1 ^ 0x7465646279746573};
	for (; inlen >= 8; in += 8, inlen -= 8) {
		memcpy(&m, in, 8);
		v[3] ^= m, rounds(v, 2), v[0] ^= m;
	}
	for (uint64_t i = 0; i < inlen; i++)
		last |= (uint64_t)in[i] << (8 * i);
	v[3] ^= last, rounds(v, 2), v[0] ^= last;
	v[2] ^= 0xff, rounds(v, 4);
	m = v[0] ^ v[1] ^ v[2] ^ v[3];
	memcpy(out, &m, 8);
	return 0;
}
