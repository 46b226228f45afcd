/* A function on a stack of its own, entered and left as often as needed, on one thread. A benchmark is run on one up to
 * the routine that it hands over, and stays there, with all that the routine borrows, until the case is closed. */
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

enum { STACK_BYTES = 8 << 20 };

typedef struct pb_coroutine {
	ucontext_t inside, outside;
	void *memory;
	size_t guard;
	void (*enter)(void *);
	void *argument;
	int ended;
} pb_coroutine;

static pb_coroutine *current;

static void begin(void)
{
	pb_coroutine *s = current;
	s->enter(s->argument);
	s->ended = 1;
}

/* NULL without memory. */
pb_coroutine *pb_coroutine_new(void (*enter)(void *), void *argument)
{
	pb_coroutine *s = calloc(1, sizeof *s);
	if (!s)
		return NULL;
	s->guard = (size_t)sysconf(_SC_PAGESIZE);
	s->memory = mmap(NULL, s->guard + STACK_BYTES, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
	if (s->memory == MAP_FAILED || mprotect(s->memory, s->guard, PROT_NONE) != 0 ||
	    getcontext(&s->inside)) {
		if (s->memory != MAP_FAILED)
			munmap(s->memory, s->guard + STACK_BYTES);
		free(s);
		return NULL;
	}
	s->enter = enter;
	s->argument = argument;
	s->inside.uc_stack.ss_sp = (char *)s->memory + s->guard;
	s->inside.uc_stack.ss_size = STACK_BYTES;
	s->inside.uc_link = &s->outside;
	makecontext(&s->inside, begin, 0);
	return s;
}

/* Enter it, or go on behind its last pb_coroutine_leave. Returns 1 when it has been left, 0 when it has ended. */
int pb_coroutine_enter(pb_coroutine *s)
{
	pb_coroutine *before = current;
	if (s->ended)
		return 0;
	current = s;
	swapcontext(&s->outside, &s->inside);
	current = before;
	return !s->ended;
}

/* Called on such a stack: back to who entered it. */
void pb_coroutine_leave(void)
{
	pb_coroutine *s = current;
	swapcontext(&s->inside, &s->outside);
}

void pb_coroutine_free(pb_coroutine *s)
{
	munmap(s->memory, s->guard + STACK_BYTES);
	free(s);
}
