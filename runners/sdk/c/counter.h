/* What a tick counter can tell apart. Pure functions of readings: nothing here reads a counter. */
#ifndef PB_COUNTER_H
#define PB_COUNTER_H

#include <stdint.h>

/* The step of a counter, in ticks, from readings in a row: what all their differences are a multiple of. At least 1. */
uint64_t pb_counter_step(const uint64_t *readings, int count);

/* Blocks of a clock probe of which one step is no more than `tolerance`, between `least` and `most`. */
unsigned pb_counter_blocks(uint64_t step, double ticks_a_block, double tolerance, unsigned least,
			   unsigned most);

/* Mean of the values between two quantiles: unlike the median it resolves finer than one step of the counter. Values
 * within `step` of the first are the same reading as far as the counter can tell and count too, however many they are.
 * Sorts the values. */
double pb_counter_mean(double *values, int count, double from, double to, double step);

#endif
