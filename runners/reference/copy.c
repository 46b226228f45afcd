/* The least that a call on data can do: read all of it, change it, write as much. What it costs is what memory and
 * caches cost, so it is what the audit holds the calls of others against on data of the same length. */
#include <string.h>

#include "families.h"

static int open_copy(pb_case *c)
{
	(void)c;
	return 0;
}

static void close_copy(pb_case *c)
{
	(void)c;
}

static void loop_copy(pb_case *c, uint64_t n)
{
	const uint8_t *in = c->in;
	uint8_t *out = c->out;
	size_t size = c->size;
	PB_REPEAT(n, turn, {
		size_t i = 0;
		for (; size - i >= sizeof(uint64_t); i += sizeof(uint64_t)) {
			uint64_t word;
			memcpy(&word, in + i, sizeof word);
			word ^= 0x5555555555555555ULL;
			memcpy(out + i, &word, sizeof word);
		}
		for (; i < size; i++)
			out[i] = in[i] ^ 0x55;
		PB_BARRIER();
	});
}

static const pb_variant variants[] = {
	{"run", "stream/1", "in[i] ^ 0x55 for each byte", NULL, loop_copy, NULL},
	PB_END_OF_VARIANTS,
};
const pb_family copy_family = {open_copy, close_copy, variants};
