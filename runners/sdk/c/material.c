#include "material.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

uint64_t pb_fnv1a(uint64_t hash, const uint8_t *bytes, size_t length)
{
	for (size_t i = 0; i < length; i++)
		hash = (hash ^ bytes[i]) * 0x100000001b3ULL;
	return hash;
}

uint64_t pb_words(uint64_t hash, const uint8_t *bytes, size_t length)
{
	size_t i = 0;
	for (; length - i >= 8; i += 8) {
		uint64_t word;
		memcpy(&word, bytes + i, sizeof word);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
		word = __builtin_bswap64(word);
#endif
		hash = (hash ^ word) * 0x100000001b3ULL;
	}
	return pb_fnv1a(hash, bytes + i, length - i);
}

uint64_t pb_digest(const uint8_t *bytes, size_t length)
{
	return pb_words(PB_FNV_BASIS, bytes, length);
}

/* SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, OOPSLA 2014). Position
 * `block` of the stream can be computed directly, because the state only counts up. */
static uint64_t split_mix(uint64_t start, uint64_t block)
{
	uint64_t z = start + (block + 1) * 0x9e3779b97f4a7c15ULL;
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

static void stream_from(uint64_t start, uint8_t *out, size_t from, size_t to)
{
	for (size_t i = from; i < to;) {
		uint64_t word = split_mix(start, i / 8);
		do
			out[i] = (uint8_t)(word >> 8 * (i % 8));
		while (++i % 8 && i < to);
	}
}

static uint64_t stream_start(uint64_t seed, const char *label)
{
	return seed ^ pb_fnv1a(PB_FNV_BASIS, (const uint8_t *)label, strlen(label));
}

void pb_stream(uint64_t seed, const char *label, uint8_t *out, size_t length)
{
	stream_from(stream_start(seed, label), out, 0, length);
}

/* Address space is taken once and generously, memory only as it is touched: so no area ever has to move, and
 * pointers that were handed out stay good. */
enum { PAGE = 4096, SLACK = 3 * PAGE };
#if SIZE_MAX > 0xffffffff
static const size_t AREA = (size_t)8 << 30;
#else
static const size_t AREA = (size_t)64 << 20; /* of 4 GiB in all */
#endif

/* A fork (forked.h) gets the beginning of an area only: page tables of tens of megabytes would cost more than its
 * burst. */
enum { FORKED = PB_FORK_BYTES + (64 << 10) };

static size_t asked_for; /* 0: generously */

void pb_reserve(size_t most)
{
	asked_for = most < AREA - SLACK - FORKED ? most + SLACK + FORKED : AREA;
}

static size_t area_bytes(void)
{
	return asked_for ? asked_for : AREA;
}

/* Areas lie beside each other, and two buffers that are a large power of two apart hinder each other where a cache
 * predicts its way by a hash of the address: CTR of Nettle on 8 KiB costs 9 % more on Zen 5. So an area begins some pages
 * in, which the place that the system gave it decides. */
enum { PAGES_IN = 512 };

static uint8_t *reserve_area(void)
{
	size_t bytes = area_bytes() + (size_t)PAGES_IN * PAGE;
	uint8_t *area =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (area == MAP_FAILED)
		return NULL;
	area += split_mix((uintptr_t)area, 0) % PAGES_IN * PAGE;
	madvise(area + FORKED, area_bytes() - FORKED, MADV_DONTFORK);
	return area;
}

typedef struct area {
	struct area *next;
	uint64_t seed;
	char *path;
	size_t offset, filled;
	uint8_t *data;
} area;

static area *areas;

static int same_path(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

static area *find_area(uint64_t seed, const char *path, size_t offset)
{
	for (area *a = areas; a; a = a->next)
		if (a->seed == seed && a->offset == offset && same_path(a->path, path))
			return a;
	area *a = calloc(1, sizeof *a);
	if (!a)
		return NULL;
	a->data = reserve_area();
	a->path = path ? strdup(path) : NULL;
	if (!a->data || (path && !a->path)) {
		free(a->path);
		free(a);
		return NULL;
	}
	a->seed = seed;
	a->offset = offset;
	a->next = areas;
	areas = a;
	return a;
}

static int fill_from_file(area *a, size_t size, int *short_file)
{
	int file = open(a->path, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		return -1;
	size_t at = 0;
	while (at < size) {
		ssize_t got = pread(file, a->data + a->offset + at, size - at, (off_t)at);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		at += (size_t)got;
	}
	int reason = errno;
	close(file);
	errno = reason;
	*short_file = at < size;
	return at < size ? -1 : 0;
}

const uint8_t *pb_input(uint64_t seed, const char *path, size_t size, size_t offset, int *short_file)
{
	*short_file = 0;
	if (size > area_bytes() - SLACK || offset >= PAGE) {
		errno = ENOMEM;
		return NULL;
	}
	area *a = find_area(seed, path, offset);
	if (!a)
		return NULL;
	if (size > a->filled) {
		if (!path)
			stream_from(stream_start(seed, "input"), a->data + offset, a->filled, size);
		else if (fill_from_file(a, size, short_file) != 0)
			return NULL;
		a->filled = size;
	}
	return a->data + offset;
}

static size_t apart = PB_OUTPUT_APART;

void pb_output_apart(size_t bytes)
{
	apart = bytes;
}

static struct {
	uint8_t *data;
	size_t touched;
} outputs[PB_OUTPUTS], *output = outputs;

void pb_output_own(unsigned which)
{
	output = &outputs[which];
}

uint8_t *pb_output(size_t size, size_t offset)
{
	if (!output->data && !(output->data = reserve_area()))
		return NULL;
	if (size > area_bytes() - SLACK || offset >= PAGE)
		return NULL;
	for (; output->touched < size + 2 * PAGE; output->touched += PAGE)
		output->data[output->touched] = 1;
	return output->data + offset + apart;
}
