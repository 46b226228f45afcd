/* A hash of a function that compresses blocks (PADDED_CALL): its initial state and its padding, by `perbyte try`. */

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
		out[i] = (uint8_t)(word >> 8 * (PADDED_LOW ? i % PADDED_WIDTH : PADDED_WIDTH - 1 - i % PADDED_WIDTH));
	}
}
