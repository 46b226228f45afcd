/* A runner whose calls are of known cost: instructions, stack and heap are written down here, instruction by instruction.
 * Rows are told apart by the algorithm, as in dying.c. */
#include "perbyte.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void *kept;

static int open_case(pb_case *c)
{
	c->ctx = malloc(1000);
	kept = realloc(malloc(10), 200);
	void *volatile given_back = malloc(5000);
	free(given_back);
	return c->ctx && kept ? 0 : -1;
}

static void close_case(pb_case *c)
{
	free(c->ctx);
	free(kept);
}

/* 1 + 5 x (nop, dec, jnz) = 16 instructions, of which 5 are branches; with the multiplication, load and store 19. */
static void count(pb_case *c, uint64_t n)
{
	uint64_t place = 0;
	for (uint64_t i = 0; i < n; i++)
		__asm__ volatile("mov $5, %%ecx\n"
				 "1: nop\n"
				 "dec %%ecx\n"
				 "jnz 1b\n"
				 "imul %%rcx, %%rcx\n"
				 "mov (%0), %%rax\n"
				 "mov %%rax, (%0)\n" ::"r"(&place)
				 : "rax", "rcx", "memory", "cc");
	c->failures += place;
}

/* A repetition is one instruction, however often it repeats. Three of these, one of them a repeated load and store. */
static void copy(pb_case *c, uint64_t n)
{
	static char from[300], to[300];
	for (uint64_t i = 0; i < n; i++) {
		void *source = from, *goal = to;
		uint64_t left = sizeof to;
		__asm__ volatile("nop\nrep movsb\nnop" : "+S"(source), "+D"(goal), "+c"(left)::"memory");
	}
	c->failures += (uint64_t)to[0];
}

static void __attribute__((noinline)) deep(void)
{
	volatile char room[20000];
	room[0] = 1;
}

static void use_stack(pb_case *c, uint64_t n)
{
	(void)c;
	for (uint64_t i = 0; i < n; i++)
		deep();
}

static void use_heap(pb_case *c, uint64_t n)
{
	(void)c;
	for (uint64_t i = 0; i < n; i++) {
		void *volatile one = malloc(100), *volatile two = calloc(3, 50);
		free(one);
		one = malloc(70);
		free(two);
		free(one);
	}
}

static void *nothing(void *unused)
{
	return unused;
}

static void start_thread(pb_case *c, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		pthread_t thread;
		c->failures +=
			pthread_create(&thread, NULL, nothing, NULL) != 0 || pthread_join(thread, NULL) != 0;
	}
}

static void ask_kernel_page(pb_case *c, uint64_t n)
{
	struct timespec now = {0};
	for (uint64_t i = 0; i < n; i++)
		c->failures += clock_gettime(CLOCK_MONOTONIC, &now) != 0;
}

static int compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

/* Calls by pointers, jumps by tables, and strings by whatever the C library takes on this processor. */
static void wander(pb_case *c, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		int numbers[16] = {9, 3, 7, 1, 8, 2, 6, 4, 5, 0, 15, 11, 13, 10, 14, 12};
		qsort(numbers, 16, sizeof *numbers, compare);
		memset(c->out, numbers[15], 16);
		c->failures += numbers[0] != 0 || numbers[15] != 15 || strlen("sixteen letters!") != 16;
	}
}

static void for_ever(pb_case *c, uint64_t n)
{
	for (volatile uint64_t i = 0; i < n * 20000000; i++)
		c->failures += i == 1 && i != 1;
}

#define FAMILY(NAME, LOOP)                                                                                   \
	static const pb_variant NAME##_variants[] = {{"encrypt", "stream/1", #LOOP, NULL, LOOP, NULL},       \
						     PB_END_OF_VARIANTS};                                    \
	static const pb_family NAME = {open_case, close_case, NAME##_variants}
FAMILY(counting, count);
FAMILY(copying, copy);
FAMILY(deepening, use_stack);
FAMILY(allocating, use_heap);
FAMILY(threading, start_thread);
FAMILY(asking, ask_kernel_page);
FAMILY(wandering, wander);
FAMILY(lasting, for_ever);

static const pb_row rows[] = {{"aes-128-ecb", &counting, NULL, 16, 0, 16, 0},
			      {"aes-192-ecb", &copying, NULL, 16, 0, 16, 0},
			      {"aes-256-ecb", &deepening, NULL, 16, 0, 16, 0},
			      {"aes-128-cbc", &allocating, NULL, 16, 0, 16, 0},
			      {"aes-192-cbc", &threading, NULL, 16, 0, 16, 0},
			      {"aes-256-cbc", &asking, NULL, 16, 0, 16, 0},
			      {"aes-128-ctr", &wandering, NULL, 16, 0, 16, 0},
			      {"aes-192-ctr", &lasting, NULL, 16, 0, 16, 0},
			      PB_END_OF_ROWS};
static const pb_row *const tables[] = {rows, NULL};

static const char *version(void)
{
	return "1";
}

static const pb_runner runner = {
	.name = "counted", .library = "none", .license = "Apache-2.0", .version = version, .tables = tables};

int main(int argc, char **argv)
{
	return pb_runner_main(&runner, argc, argv);
}
