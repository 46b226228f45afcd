/* The same in three calls, on a state of its own: enough of it to be cut into pieces of any length. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct gathered {
	uint8_t data[32768];
	unsigned used;
};

extern void own_sha256(uint8_t *digest, const uint8_t *message, size_t len);

int hash_init(struct gathered *g)
{
	g->used = 0;
	return 0;
}

int hash_update(struct gathered *g, const void *data, unsigned long length)
{
	memcpy(g->data + g->used, data, length);
	g->used += (unsigned)length;
	return 0;
}

int hash_final(unsigned char *md, struct gathered *g)
{
	own_sha256(md, g->data, g->used);
	return 0;
}
