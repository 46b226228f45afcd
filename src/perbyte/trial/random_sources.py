"""The C that gives a user's key pairs the run's seed in place of random bytes.

Libraries draw by functions of a few well-known names. Those are provided here for the files of the user, hidden from
shared libraries and weak, so that a function of the user's own comes first.
"""

from __future__ import annotations

SOURCES = ("randombytes", "randombytes_buf", "getrandom", "getentropy", "arc4random_buf", "RAND_bytes")
"""Functions that a key pair may draw its random bytes by."""

RANDOM = """
/* Key pairs come from the run's seed; what is drawn in a timed call costs next to nothing (SplitMix64). */
static const uint8_t *pb_given;
static size_t pb_given_left;

static void pb_given_random(const uint8_t *bytes, size_t length)
{
	pb_given = bytes;
	pb_given_left = length;
}

static void pb_draw(uint8_t *out, size_t length)
{
	static uint64_t state = 1;
	for (; length && pb_given_left; length--, pb_given_left--)
		*out++ = *pb_given++;
	while (length) {
		uint64_t z = state += 0x9e3779b97f4a7c15;
		size_t part = length < 8 ? length : 8;
		z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
		z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
		z ^= z >> 31;
		memcpy(out, &z, part);
		out += part;
		length -= part;
	}
}

#define PB_DRAWS __attribute__((weak, visibility("hidden")))
__attribute__((weak)) int randombytes(uint8_t *out, unsigned long long length)
{
	return pb_draw(out, (size_t)length), 0;
}
PB_DRAWS void randombytes_buf(void *out, size_t length)
{
	pb_draw(out, length);
}
PB_DRAWS long getrandom(void *out, size_t length, unsigned flags)
{
	return pb_draw(out, length), (void)flags, (long)length;
}
PB_DRAWS int getentropy(void *out, size_t length)
{
	return pb_draw(out, length), 0;
}
PB_DRAWS void arc4random_buf(void *out, size_t length)
{
	pb_draw(out, length);
}
PB_DRAWS int RAND_bytes(unsigned char *out, int length)
{
	return pb_draw(out, (size_t)length), 1;
}

static void make_pair(pb_case *c, struct state *state)
{
	pb_given_random(c->key[0], c->key_len);
	KEYPAIR;
	pb_given_random(NULL, 0);
}
"""

SAME_PAIR = f"""
/* Not zero where the same seed gives another key pair. */
static int another_pair(pb_case *c, struct state *state)
{{
	uint8_t *first = malloc(sizeof state->public_key);
	int differs = 0;
	if (first) {{
		memcpy(first, state->public_key, sizeof state->public_key);
		make_pair(c, state);
		differs = memcmp(first, state->public_key, sizeof state->public_key) != 0;
		free(first);
	}}
	return differs;
}}
#define ANOTHER_PAIR \\
	"another key pair each time: let keypair draw by {", ".join(SOURCES[:-1])} or {SOURCES[-1]}, " \\
	"or take a seed (--signature keypair=public-key,secret-key,seed)"
"""
