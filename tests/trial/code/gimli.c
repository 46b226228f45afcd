#include <stdint.h>
void gimli(uint32_t *state)
{
	for (int r = 24; r > 0; --r) {
		for (int c = 0; c < 4; ++c) {
			uint32_t x = state[c] << 24 | state[c] >> 8,
				 y = state[4 + c] << 9 | state[4 + c] >> 23, z = state[8 + c];
			state[8 + c] = x ^ (z << 1) ^ ((y & z) << 2);
			state[4 + c] = y ^ x ^ ((x | z) << 1);
			state[c] = z ^ y ^ ((x & y) << 3);
		}
		if ((r & 3) == 0) {
			uint32_t x = state[0];
			state[0] = state[1], state[1] = x, x = state[2], state[2] = state[3], state[3] = x;
			state[0] ^= 0x9e377900 | r;
		}
		if ((r & 3) == 2) {
			uint32_t x = state[0];
			state[0] = state[2], state[2] = x, x = state[1], state[1] = state[3], state[3] = x;
		}
	}
}
