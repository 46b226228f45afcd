#include "heap.h"

#if defined(__x86_64__) && defined(__linux__)

#include <dlfcn.h>

/* A function of the allocator while it is at work: calls within it are its own. */
enum { NONE, MALLOC, CALLOC, REALLOC, FREE, ALIGNED, POSIX_ALIGNED, MMAP, MUNMAP };
static const struct {
	const char *name;
	int what;
} ALLOCATORS[PB_ALLOCATORS] = {{"malloc", MALLOC},
			       {"calloc", CALLOC},
			       {"realloc", REALLOC},
			       {"free", FREE},
			       {"aligned_alloc", ALIGNED},
			       {"memalign", ALIGNED},
			       {"posix_memalign", POSIX_ALIGNED},
			       {"mmap", MMAP},
			       {"munmap", MUNMAP}};

static uint32_t slot_of(uint64_t value)
{
	return (uint32_t)(value * 0x9e3779b97f4a7c15u >> (64 - PB_LIVE_BITS)); /* as in trace.c */
}

/* What is held, by address, so that it is known how much is given back. Open addressing with deletion by moving
 * back (Knuth, TAOCP 3, 6.4, algorithm R). */
static int hold(pb_heap *h, uint64_t pointer, uint64_t bytes)
{
	if (!pointer)
		return 0;
	if (++h->live_count > PB_LIVE / 2)
		return -1;
	uint32_t slot = slot_of(pointer);
	while (h->live[slot].pointer)
		slot = (slot + 1) & (PB_LIVE - 1);
	h->live[slot].pointer = pointer;
	h->live[slot].bytes = bytes;
	h->held += (int64_t)bytes;
	h->peak = h->held > h->peak ? h->held : h->peak;
	return 0;
}

static void let_go(pb_heap *h, uint64_t pointer)
{
	uint32_t slot = slot_of(pointer), next;
	while (h->live[slot].pointer && h->live[slot].pointer != pointer)
		slot = (slot + 1) & (PB_LIVE - 1);
	if (!pointer || !h->live[slot].pointer)
		return; /* allocated before */
	h->held -= (int64_t)h->live[slot].bytes;
	h->live_count--;
	for (next = (slot + 1) & (PB_LIVE - 1); h->live[next].pointer; next = (next + 1) & (PB_LIVE - 1)) {
		uint32_t home = slot_of(h->live[next].pointer);
		if (((next - home) & (PB_LIVE - 1)) >= ((next - slot) & (PB_LIVE - 1))) {
			h->live[slot] = h->live[next];
			slot = next;
		}
	}
	h->live[slot].pointer = 0;
}

static void enter_allocator(pb_heap *h, int what, const greg_t *g)
{
	uint64_t a = (uint64_t)g[REG_RDI], b = (uint64_t)g[REG_RSI], c = (uint64_t)g[REG_RDX];
	h->inside = what;
	h->inside_stack = (uint64_t)g[REG_RSP] + 8;
	h->inside_return = *(const uint64_t *)g[REG_RSP];
	h->inside_bytes = what == MALLOC ? a : what == CALLOC ? a * b : what == POSIX_ALIGNED ? c : b;
	h->inside_pointer = a;
}

static int leave_allocator(pb_heap *h, const greg_t *g)
{
	uint64_t got = (uint64_t)g[REG_RAX];
	int what = h->inside, failed = got == 0 || got == ~(uint64_t)0;
	h->inside = NONE;
	if (what == FREE || what == MUNMAP) {
		let_go(h, h->inside_pointer);
		return 0;
	}
	if (what == POSIX_ALIGNED) {
		failed = got != 0;
		got = *(const uint64_t *)h->inside_pointer;
	}
	h->calls++;
	h->bytes += h->inside_bytes;
	if (failed)
		return 0;
	if (what == REALLOC)
		let_go(h, h->inside_pointer);
	return hold(h, got, h->inside_bytes);
}

int pb_heap_watch(pb_heap *h, uint64_t to, const greg_t *g)
{
	if (h->inside) {
		if (to == h->inside_return && (uint64_t)g[REG_RSP] == h->inside_stack)
			return leave_allocator(h, g);
		return 0;
	}
	for (int i = 0; i < PB_ALLOCATORS; i++)
		if (to == h->allocators[i] && to) {
			enter_allocator(h, ALLOCATORS[i].what, g);
			break;
		}
	return 0;
}

void pb_heap_find(pb_heap *h)
{
	for (int i = 0; i < PB_ALLOCATORS; i++)
		h->allocators[i] = (uint64_t)dlsym(RTLD_DEFAULT, ALLOCATORS[i].name);
}

void pb_heap_clear(pb_heap *h)
{
	for (int i = 0; i < PB_LIVE; i++)
		h->live[i].pointer = 0;
	h->live_count = 0;
	h->inside = NONE;
	h->held = h->peak = 0;
	h->calls = h->bytes = 0;
}

#endif
