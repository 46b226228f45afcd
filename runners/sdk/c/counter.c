#include "counter.h"

#include <math.h>
#include <stdlib.h>

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static uint64_t gcd(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t rest = a % b;
		a = b;
		b = rest;
	}
	return a;
}

/* A counter that is made from a slower one may step unevenly (1 GHz from 24 MHz: 41 and 42 ticks), so that only 1
 * divides all differences. It shows readings in a row that are equal, because a step outlasts a reading; the middle one
 * of the differences that are not 0 is one step then. */
uint64_t pb_counter_step(const uint64_t *readings, int count)
{
	uint64_t step = 0;
	double *moved = malloc((size_t)count * sizeof *moved);
	int moves = 0;
	for (int i = 1; i < count; i++) {
		uint64_t by = readings[i] - readings[i - 1];
		step = gcd(step, by);
		if (moved && by)
			moved[moves++] = (double)by;
	}
	if (moves && moves < count - 1) {
		qsort(moved, (size_t)moves, sizeof *moved, ascending);
		step = (uint64_t)fmax((double)step, moved[moves / 2]);
	}
	free(moved);
	return step ? step : 1;
}

unsigned pb_counter_blocks(uint64_t step, double ticks_a_block, double tolerance, unsigned least,
			   unsigned most)
{
	double wanted = ticks_a_block > 0 ? ceil((double)step / tolerance / ticks_a_block) : most;
	return (unsigned)fmin(fmax(wanted, least), most);
}

/* A length of 100.3 steps reads 100 or 101, and the mean of the lower half alone would be 100. */
double pb_counter_mean(double *values, int count, double from, double to, double step)
{
	qsort(values, (size_t)count, sizeof *values, ascending);
	int first = (int)(count * from), last = (int)(count * to);
	double sum = 0;
	if (last <= first)
		last = first + 1;
	while (last < count && values[last] <= values[first] + step)
		last++;
	for (int i = first; i < last; i++)
		sum += values[i];
	return sum / (last - first);
}
