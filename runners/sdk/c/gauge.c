#include "gauge.h"
#include "pmu.h"
#include "probe.h"

#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

uint64_t pb_gauge_ticks(void)
{
	return pb_ticks();
}

/* The probes are functions of their own, aligned, and never inlined, so that each is one piece of code at one
 * place: two copies at different addresses would read differently. */
#define PB_ONE_PLACE __attribute__((noinline, aligned(64)))

static volatile uint64_t chain_seed = 3; /* odd: imul of an even number would end at zero */

PB_ONE_PLACE static uint64_t clock_probe(unsigned blocks)
{
	uint64_t x = chain_seed, start = pb_ticks();
	for (unsigned i = 0; i < blocks; i++)
		PB_CHAIN(x);
	uint64_t ticks = pb_ticks() - start;
	chain_seed = x | 1;
	return ticks;
}

PB_ONE_PLACE static uint64_t add_probe(unsigned blocks)
{
	uint64_t x = chain_seed, y = x, start = pb_ticks();
	for (unsigned i = 0; i < blocks; i++)
		PB_CHECK_ADD(x, y);
	uint64_t ticks = pb_ticks() - start;
	chain_seed = x | 1;
	return ticks;
}

PB_ONE_PLACE static uint64_t rotate_probe(unsigned blocks)
{
	uint64_t x = chain_seed, start = pb_ticks();
	for (unsigned i = 0; i < blocks; i++)
		PB_CHECK_ROTATE(x);
	uint64_t ticks = pb_ticks() - start;
	chain_seed = x | 1;
	return ticks;
}

/* The first rounds go untimed: measured code may have pushed the block out of the instruction caches, and
 * fetching it again read as 2 % of contention after every sample of such a cell (OpenSSL's SHA-256). */
PB_ONE_PLACE static uint64_t contention_probe(void)
{
	uint64_t start = 0;
	for (unsigned i = 0; i < PB_CONTENTION_WARM + PB_CONTENTION_BLOCKS; i++) {
		if (i == PB_CONTENTION_WARM)
			start = pb_ticks();
		PB_FRONT_END();
	}
	return pb_ticks() - start;
}

PB_ONE_PLACE static uint64_t empty_probe(void)
{
	uint64_t start = pb_ticks();
	return pb_ticks() - start;
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

/* Mean of the values between two quantiles: unlike the median it resolves finer than one step of the counter.
 */
static double mean_between(double *values, int count, double from, double to)
{
	qsort(values, (size_t)count, sizeof *values, ascending);
	int first = (int)(count * from), last = (int)(count * to);
	double sum = 0;
	if (last <= first)
		last = first + 1;
	for (int i = first; i < last; i++)
		sum += values[i];
	return sum / (last - first);
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

static uint64_t find_quantum(void)
{
	uint64_t quantum = 0, last = pb_ticks();
	for (int i = 0; i < 2000; i++) {
		uint64_t now = pb_ticks();
		quantum = gcd(quantum, now - last);
		last = now;
	}
	return quantum ? quantum : 1;
}

static double now_s(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* A pair of readings, tick counter and clock, taken as close together as several tries allow. */
static void read_both(uint64_t *ticks, double *seconds)
{
	uint64_t best = UINT64_MAX;
	for (int i = 0; i < 20; i++) {
		uint64_t before = pb_ticks();
		double s = now_s();
		uint64_t after = pb_ticks();
		if (after - before < best) {
			best = after - before;
			*ticks = before + (after - before) / 2;
			*seconds = s;
		}
	}
}

/* A sibling thread that shares the execution units slows the one-cycle chains by a few percent and passes; a
 * probe that this core shortcuts is wrong every time. Hence several tries before the probe is given up. */
enum { ROUNDS_MIN = 60, ROUNDS_MAX = 400, CALIBRATION_TRIES = 12 };
static const double CHECK_TOLERANCE = 0.005;

typedef struct rounds {
	double single[ROUNDS_MAX], twice[ROUNDS_MAX], add[ROUNDS_MAX], add_twice[ROUNDS_MAX],
		rotate[ROUNDS_MAX], rotate_twice[ROUNDS_MAX], contention[ROUNDS_MAX], empty[ROUNDS_MAX];
} rounds;

/* Every chain is run at one and at two lengths: the difference is free of the cost of the tick reads, which
 * otherwise adds about a third of a percent, and what remains of the single run is that cost. The low half of
 * each is used, because contention can only add. */
static int judge(pb_gauge *g, rounds *r, int count)
{
	double single = mean_between(r->single, count, 0.05, 0.5),
	       twice = mean_between(r->twice, count, 0.05, 0.5);
	double add = mean_between(r->add_twice, count, 0.05, 0.5) - mean_between(r->add, count, 0.05, 0.5);
	double rotate =
		mean_between(r->rotate_twice, count, 0.05, 0.5) - mean_between(r->rotate, count, 0.05, 0.5);
	double chain_cycles = PB_CHAIN_CYCLES * 100.0 * PB_CLOCK_BLOCKS;
	double chain_ticks = twice - single, ticks_per_cycle = chain_ticks / chain_cycles;
	double single_cycles = 100.0 * PB_CLOCK_BLOCKS;

	g->probe_cycles = chain_cycles + (single - chain_ticks) / ticks_per_cycle;
	g->check_add = add / ticks_per_cycle / single_cycles;
	g->check_rotate = rotate / ticks_per_cycle / single_cycles;
	g->fixed_ticks = mean_between(r->empty, count, 0.05, 0.5);
	g->contention_floor = mean_between(r->contention, count, 0.02, 0.2) / ticks_per_cycle;
	return fabs(g->check_add - 1) <= CHECK_TOLERANCE && fabs(g->check_rotate - 1) <= CHECK_TOLERANCE;
}

static int look(rounds *r, double limit_s)
{
	double start = now_s();
	int count = 0;
	while (count < ROUNDS_MAX && (count < ROUNDS_MIN || now_s() - start < limit_s)) {
		r->single[count] = (double)clock_probe(PB_CLOCK_BLOCKS);
		r->contention[count] = (double)contention_probe();
		r->twice[count] = (double)clock_probe(2 * PB_CLOCK_BLOCKS);
		r->add[count] = (double)add_probe(PB_CLOCK_BLOCKS);
		r->add_twice[count] = (double)add_probe(2 * PB_CLOCK_BLOCKS);
		r->rotate[count] = (double)rotate_probe(PB_CLOCK_BLOCKS);
		r->rotate_twice[count] = (double)rotate_probe(2 * PB_CLOCK_BLOCKS);
		r->empty[count] = (double)empty_probe();
		count++;
	}
	return count;
}

void pb_gauge_calibrate(pb_gauge *g, double limit_ms)
{
	static rounds r;
	uint64_t first_ticks, last_ticks;
	double first_s, last_s;
	int trusted = 0;

	g->pmu = -1;
	g->pmu_page = NULL;
	g->cycle_source = "probe";
	g->reason[0] = '\0';
	pb_pmu_open(g);
	g->tick_quantum = find_quantum();
	for (int i = 0; i < 20; i++) /* let the clock rise */
		clock_probe(2 * PB_CLOCK_BLOCKS);
	read_both(&first_ticks, &first_s);
	for (int try = 0; try < CALIBRATION_TRIES && !trusted; try++)
		trusted = judge(g, &r, look(&r, limit_ms * 1e-3));
	read_both(&last_ticks, &last_s);
	g->tick_hz = (double)(last_ticks - first_ticks) / (last_s - first_s);
	if (!trusted) {
		g->cycle_source = "none";
		snprintf(g->reason, sizeof g->reason,
			 "the clock probe cannot be trusted: multiply : add : rotate read 3 : %.3f : %.3f, "
			 "not 3 : 1 : 1",
			 g->check_add, g->check_rotate);
	}
}

unsigned pb_gauge_wait(const pb_gauge *g, const pb_quiet *quiet)
{
	unsigned waits = 0;
	if (quiet->floor <= 0)
		return 0;
	for (; waits < quiet->patience; waits++) {
		double clock = (double)clock_probe(PB_CLOCK_BLOCKS), front = (double)contention_probe();
		double slack = (double)g->tick_quantum * g->probe_cycles / clock;
		if (front * g->probe_cycles / clock <= quiet->floor * (1 + quiet->tolerance) + slack)
			break;
	}
	return waits;
}

void pb_gauge_before(const pb_gauge *g, pb_open_sample *open, pb_sample *sample)
{
	struct rusage usage;
	getrusage(RUSAGE_THREAD, &usage);
	open->switches = usage.ru_nivcsw;
	open->faults = usage.ru_minflt + usage.ru_majflt;
	open->core = sched_getcpu();
	sample->contention_before = contention_probe();
	sample->clock_before = clock_probe(PB_CLOCK_BLOCKS);
	open->pmu_start = g->pmu >= 0 ? pb_pmu_read(g) : 0;
	sample->start = pb_ticks();
}

void pb_gauge_after(const pb_gauge *g, const pb_open_sample *open, pb_sample *sample)
{
	struct rusage usage;
	sample->ticks = pb_ticks() - sample->start;
	sample->cycles = g->pmu >= 0 ? pb_pmu_read(g) - open->pmu_start : 0;
	sample->clock_after = clock_probe(PB_CLOCK_BLOCKS);
	sample->contention_after = contention_probe();
	getrusage(RUSAGE_THREAD, &usage);
	sample->flags = (usage.ru_nivcsw != open->switches ? PB_SWITCHED : 0) |
			(usage.ru_minflt + usage.ru_majflt != open->faults ? PB_FAULTED : 0) |
			(sched_getcpu() != open->core ? PB_MIGRATED : 0);
}

int pb_gauge_clean(const pb_gauge *g, const pb_quiet *quiet, double clock_tolerance, const pb_sample *s)
{
	double before = (double)s->clock_before, after = (double)s->clock_after,
	       quantum = (double)g->tick_quantum;
	double scale = g->probe_cycles / ((before + after) / 2);
	double limit = quiet->floor * (1 + quiet->tolerance) + quantum * scale;
	return s->flags == 0 && fabs(before - after) <= clock_tolerance * fmin(before, after) + quantum &&
	       (double)s->contention_before * scale <= limit && (double)s->contention_after * scale <= limit;
}
