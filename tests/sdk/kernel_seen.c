/* What kernel.c sees: prints the flags of samples, and how the next burst asks. */
#include "kernel.h"

#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>

static void nothing(int number)
{
	(void)number;
}

static uint32_t sample(pb_gauge *g, void (*work)(void))
{
	pb_open_sample open;
	pb_kernel_before(g, &open);
	work();
	return pb_kernel_after(g, &open);
}

static void calm(void)
{
}

static void interrupted(void)
{
	raise(SIGUSR1);
}

static void faulting(void)
{
	volatile char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	*page = 1;
}

static void burst(pb_gauge *g, void (*work)(void))
{
	pb_sample samples[3] = {{0}};
	pb_kernel_begin(g);
	int asks = g->asks;
	for (int i = 0; i < 3; i++)
		samples[i].flags = sample(g, i == 1 ? work : calm);
	pb_kernel_end(g, samples, 3);
	printf("%d %u %u %u\n", asks, samples[0].flags, samples[1].flags, samples[2].flags);
}

int main(void)
{
	static pb_gauge g;
	signal(SIGUSR1, nothing);
	burst(&g, interrupted); /* whatever a first burst touches */
	interrupted();
	g.faulty = 0;
	burst(&g, calm);
	burst(&g, interrupted);
	burst(&g, faulting);
	burst(&g, faulting);
	burst(&g, calm);
	burst(&g, calm);
	return 0;
}
