/* RIPEMD runs two copies of an MD4-like compression over the same block, which differ in their additive
 * constants only, and adds both results, crosswise, to the chaining value. A copy is 3 rounds of 16 steps;
 * padding, byte order and initial value are MD4's. */
#include "ripemd.h"

#include <string.h>

/* Per round: which message word a step takes, and by how much it rotates. The same in both copies. */
static const uint8_t word_of[3][16] = {
	{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
	{7, 4, 13, 1, 10, 6, 15, 3, 12, 0, 9, 5, 14, 2, 11, 8},
	{3, 10, 2, 4, 9, 15, 8, 1, 14, 7, 0, 6, 11, 13, 5, 12},
};
static const uint8_t rotation_of[3][16] = {
	{11, 14, 15, 12, 5, 8, 7, 9, 11, 13, 14, 15, 6, 7, 9, 8},
	{7, 6, 8, 13, 11, 9, 7, 15, 7, 12, 15, 9, 7, 11, 13, 12},
	{11, 13, 14, 7, 14, 9, 13, 15, 6, 8, 13, 6, 12, 5, 7, 5},
};

/* The constants of the two copies: square roots of 2 and 3, cube roots of 2 and 3, each times 2^30. */
static const uint32_t constant_of[2][3] = {
	{0, 0x5a827999, 0x6ed9eba1},
	{0x50a28be6, 0, 0x5c4dd124},
};

static inline uint32_t rotate(uint32_t x, unsigned by)
{
	return x << by | x >> (32 - by);
}

/* Choice, majority, parity. */
static inline uint32_t mix(int round, uint32_t x, uint32_t y, uint32_t z)
{
	if (round == 0)
		return z ^ (x & (y ^ z));
	if (round == 1)
		return (x & y) | (z & (x | y));
	return x ^ y ^ z;
}

typedef struct line {
	uint32_t a, b, c, d;
} line;

static inline line next(line l, int round, uint32_t addend, unsigned by)
{
	uint32_t sum = l.a + mix(round, l.b, l.c, l.d) + addend;
	return (line){l.d, rotate(sum, by), l.b, l.c};
}

/* Both copies go step by step side by side, because a core has room for two chains at once. Unrolled, so that
 * tables, rounds and the rotation of a, b, c, d are gone at run time. */
static void compress(uint32_t *chain, const uint8_t *block)
{
	uint32_t word[16];
	for (int i = 0; i < 16; i++)
		word[i] = (uint32_t)block[4 * i] | (uint32_t)block[4 * i + 1] << 8 |
			  (uint32_t)block[4 * i + 2] << 16 | (uint32_t)block[4 * i + 3] << 24;
	line left = {chain[0], chain[1], chain[2], chain[3]}, right = left;
#pragma GCC unroll 3
	for (int round = 0; round < 3; round++) {
#pragma GCC unroll 16
		for (int step = 0; step < 16; step++) {
			uint32_t taken = word[word_of[round][step]];
			unsigned by = rotation_of[round][step];
			left = next(left, round, taken + constant_of[0][round], by);
			right = next(right, round, taken + constant_of[1][round], by);
		}
	}
	uint32_t first = chain[0];
	chain[0] = chain[1] + left.c + right.d;
	chain[1] = chain[2] + left.d + right.a;
	chain[2] = chain[3] + left.a + right.b;
	chain[3] = first + left.b + right.c;
}

void ripemd_init(ripemd *state)
{
	static const uint32_t start[4] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
	memcpy(state->chain, start, sizeof start);
	state->length = 0;
}

void ripemd_update(ripemd *state, const uint8_t *data, size_t size)
{
	size_t held = state->length % RIPEMD_BLOCK;
	state->length += size;
	if (held) {
		size_t part = RIPEMD_BLOCK - held < size ? RIPEMD_BLOCK - held : size;
		memcpy(state->pending + held, data, part);
		data += part;
		size -= part;
		if (held + part < RIPEMD_BLOCK)
			return;
		compress(state->chain, state->pending);
	}
	for (; size >= RIPEMD_BLOCK; data += RIPEMD_BLOCK, size -= RIPEMD_BLOCK)
		compress(state->chain, data);
	if (size)
		memcpy(state->pending, data, size);
}

void ripemd_final(ripemd *state, uint8_t *digest)
{
	uint64_t bits = state->length * 8;
	size_t held = state->length % RIPEMD_BLOCK;
	state->pending[held++] = 0x80;
	if (held > RIPEMD_BLOCK - 8) {
		memset(state->pending + held, 0, RIPEMD_BLOCK - held);
		compress(state->chain, state->pending);
		held = 0;
	}
	memset(state->pending + held, 0, RIPEMD_BLOCK - 8 - held);
	for (int i = 0; i < 8; i++)
		state->pending[RIPEMD_BLOCK - 8 + i] = (uint8_t)(bits >> 8 * i);
	compress(state->chain, state->pending);
	for (int i = 0; i < RIPEMD_DIGEST; i++)
		digest[i] = (uint8_t)(state->chain[i / 4] >> 8 * (i % 4));
}
