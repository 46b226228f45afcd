/* What a traced stretch asks of the allocator: seen where control enters its functions, and where it comes back. Nothing
 * is put in their place. It runs in the handler of trace.c, and so calls nothing. */
#ifndef PB_HEAP_H
#define PB_HEAP_H

#if defined(__x86_64__) && defined(__linux__)

#include <stdint.h>
#include <ucontext.h>

enum { PB_LIVE_BITS = 16, PB_LIVE = 1 << PB_LIVE_BITS, PB_ALLOCATORS = 9 };

typedef struct pb_heap {
	struct {
		uint64_t pointer, bytes;
	} live[PB_LIVE];
	int live_count;
	uint64_t allocators[PB_ALLOCATORS];
	int inside; /* the function that is at work */
	uint64_t inside_return, inside_stack, inside_bytes, inside_pointer;
	int64_t held, peak;
	uint64_t calls, bytes;
} pb_heap;

/* Where the allocator's functions are. */
void pb_heap_find(pb_heap *);

/* Forget what was seen. */
void pb_heap_clear(pb_heap *);

/* Control goes to `to` with these registers. Returns 0, or -1 where more is in use than there is room for. */
int pb_heap_watch(pb_heap *, uint64_t to, const greg_t *);

#endif

#endif
