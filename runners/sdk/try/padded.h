/* A hash of a function that compresses blocks (PADDED_CALL): its initial state (RFC 1321, FIPS 180-4) and its padding. */

#define PADDED_STATE_MD5  0x67452301u, 0xefcdab89u, 0x98badcfeu, 0x10325476u
#define PADDED_STATE_SHA1 0x67452301u, 0xefcdab89u, 0x98badcfeu, 0x10325476u, 0xc3d2e1f0u
#define PADDED_STATE_SHA224                                                                                  \
	0xc1059ed8u, 0x367cd507u, 0x3070dd17u, 0xf70e5939u, 0xffc00b31u, 0x68581511u, 0x64f98fa7u, 0xbefa4fa4u
#define PADDED_STATE_SHA256                                                                                  \
	0x6a09e667u, 0xbb67ae85u, 0x3c6ef372u, 0xa54ff53au, 0x510e527fu, 0x9b05688cu, 0x1f83d9abu, 0x5be0cd19u
#define PADDED_STATE_SHA384                                                                                  \
	0xcbbb9d5dc1059ed8ull, 0x629a292a367cd507ull, 0x9159015a3070dd17ull, 0x152fecd8f70e5939ull,          \
		0x67332667ffc00b31ull, 0x8eb44a8768581511ull, 0xdb0c2e0d64f98fa7ull, 0x47b5481dbefa4fa4ull
#define PADDED_STATE_SHA512                                                                                  \
	0x6a09e667f3bcc908ull, 0xbb67ae8584caa73bull, 0x3c6ef372fe94f82bull, 0xa54ff53a5f1d36f1ull,          \
		0x510e527fade682d1ull, 0x9b05688c2b3e6c1full, 0x1f83d9abfb41bd6bull, 0x5be0cd19137e2179ull

static void trial_blocks(struct trial_state *state, const uint8_t *in, size_t size)
{
	if (size)
		(void)(PADDED_CALL);
}

static void trial_compress(struct trial_state *state, uint8_t *out, const uint8_t *in, size_t size)
{
	static const PADDED_WORD initial[] = {PADDED_INITIAL};
	size_t whole = size / PADDED_BYTES * PADDED_BYTES, left = size - whole;
	size_t padded = left < PADDED_BYTES - 2 * PADDED_WIDTH ? PADDED_BYTES : 2 * PADDED_BYTES;
	uint8_t last[2 * PADDED_BYTES] = {0};
	memcpy(state->context, initial, sizeof initial);
	trial_blocks(state, in, whole);
	memcpy(last, in + whole, left);
	last[left] = 0x80;
	for (size_t i = 0; i < 8; i++)
		last[padded - (PADDED_LOW ? 8 - i : 1 + i)] = (uint8_t)((uint64_t)size * 8 >> 8 * i);
	trial_blocks(state, last, padded);
	for (size_t i = 0; i < PADDED_OUTPUT; i++) {
		PADDED_WORD word;
		memcpy(&word, state->context + i / PADDED_WIDTH * PADDED_WIDTH, PADDED_WIDTH);
		out[i] = (uint8_t)(word >>
				   8 * (PADDED_LOW ? i % PADDED_WIDTH : PADDED_WIDTH - 1 - i % PADDED_WIDTH));
	}
}
