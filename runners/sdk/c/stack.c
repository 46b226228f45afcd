#include "stack.h"

#include <pthread.h>
#include <stddef.h>
#include <sys/mman.h>

enum {
	STACK_BYTES = 8 << 20, /* as much as Linux gives to a program by default (ulimit -s) */
	GUARD = 1 << 12
};

static const uint64_t COLOUR =
	0x9d39247e33776d41; /* a number that no code is likely to store: drawn at random */

static struct {
	void (*work)(void *);
	void *argument;
	uint64_t *top;
} s;

static void *enter(void *ignored)
{
	s.top = __builtin_frame_address(0);
	s.work(s.argument);
	return ignored;
}

static void paint(uint64_t *low, const uint64_t *high)
{
	for (volatile uint64_t *at = low; at < high; at++)
		*at = COLOUR;
}

/* Bytes from the lowest word that is not of the colour. */
static uint64_t unlike(const uint64_t *low, const uint64_t *high)
{
	const volatile uint64_t *at = low;
	while (at < high && *at == COLOUR)
		at++;
	return (uint64_t)((const volatile char *)high - (const volatile char *)at);
}

/* A thread, because musl has no makecontext: what it keeps for itself lies above the frame that `top` names. */
static int run_on(void *low)
{
	pthread_t thread;
	pthread_attr_t with;
	if (pthread_attr_init(&with) != 0)
		return -1;
	int failed = pthread_attr_setstack(&with, low, STACK_BYTES) != 0 ||
		     pthread_create(&thread, &with, enter, NULL) != 0 || pthread_join(thread, NULL) != 0;
	pthread_attr_destroy(&with);
	return failed ? -1 : 0;
}

uint64_t pb_stack_depth(void (*work)(void *), void *argument)
{
	char *room = mmap(NULL, GUARD + STACK_BYTES, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	uint64_t depth = 0;
	if (room == MAP_FAILED)
		return 0;
	uint64_t *low = (uint64_t *)(void *)(room + GUARD);
	paint(low, low + STACK_BYTES / sizeof *low);
	s.work = work;
	s.argument = argument;
	if (mprotect(room, GUARD, PROT_NONE) == 0 && run_on(low) == 0)
		depth = unlike(low, s.top);
	munmap(room, GUARD + STACK_BYTES);
	return depth;
}
