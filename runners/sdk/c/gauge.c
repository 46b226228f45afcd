#include "gauge.h"
#include "contention.h"
#include "counter.h"
#include "kernel.h"
#include "pmu.h"
#include "probe.h"

#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

uint64_t pb_gauge_ticks(void)
{
	return pb_ticks();
}

/* The probes are functions of their own, aligned, and never inlined, so that each is one piece of code at one
 * place: two copies at different addresses would read differently. */
#define PB_ONE_PLACE __attribute__((noinline, aligned(64)))

/* By how much readings of one clock may differ, and chains of one latency. */
static const double TOLERANCE = 0.005;

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

/* Stands for a library's call in brief_sample(): five dependent multiplications. */
PB_ONE_PLACE static uint64_t brief_call(uint64_t x)
{
	for (int i = 0; i < 5; i++) {
		x *= 0x9E3779B97F4A7C15;
		__asm__ volatile("" : "+r"(x));
	}
	return x;
}

PB_ONE_PLACE static void brief_loop(void *unused, uint64_t n)
{
	uint64_t x = chain_seed;
	(void)unused;
	for (uint64_t i = 0; i < n; i++)
		x = brief_call(x);
	chain_seed = x | 1;
}

static void (*volatile brief_work)(void *, uint64_t) = brief_loop;

/* A sample like all others, of n calls of known cost. What it takes beyond them is more than its two tick reads: a
 * call by pointer, a loop whose end nobody foresees, a pipeline to fill after the probes. */
static uint64_t brief_sample(pb_gauge *g, uint64_t n)
{
	pb_open_sample open;
	pb_sample sample;
	pb_gauge_before(g, &open, &sample);
	brief_work(NULL, n);
	pb_gauge_after(g, &open, &sample);
	return sample.ticks;
}

static uint64_t find_step(void)
{
	enum { READS = 2000 };
	static uint64_t readings[READS];
	for (int i = 0; i < READS; i++)
		readings[i] = pb_ticks();
	return pb_counter_step(readings, READS);
}

static unsigned choose_blocks(uint64_t step)
{
	enum { LONG = 200 };
	uint64_t least = UINT64_MAX;
	for (int i = 0; i < 20; i++) { /* lets the clock rise, too */
		uint64_t ticks = clock_probe(LONG);
		least = ticks < least ? ticks : least;
	}
	return pb_counter_blocks(step, (double)least / LONG, TOLERANCE, PB_CLOCK_BLOCKS,
				 PB_CLOCK_BLOCKS_MOST);
}

double pb_gauge_now_s(void)
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
		double s = pb_gauge_now_s();
		uint64_t after = pb_ticks();
		if (after - before < best) {
			best = after - before;
			*ticks = before + (after - before) / 2;
			*seconds = s;
		}
	}
}

void pb_gauge_cores(pb_gauge *g, const char *list)
{
	cpu_set_t before, one;
	sched_getaffinity(0, sizeof before, &before);
	g->core_count = g->core = 0;
	while (list && *list) {
		char *end;
		long first = strtol(list, &end, 10), last = first;
		if (end == list || first < 0)
			break;
		if (*end == '-')
			last = strtol(end + 1, &end, 10);
		for (long core = first; core <= last && core < CPU_SETSIZE; core++) {
			CPU_ZERO(&one);
			CPU_SET((size_t)core, &one);
			if (g->core_count < PB_MAX_CORES && sched_setaffinity(0, sizeof one, &one) == 0)
				g->cores[g->core_count++] = (int)core;
		}
		list = *end == ',' ? end + 1 : "";
	}
	if (g->core_count) {
		CPU_ZERO(&one);
		CPU_SET((size_t)g->cores[0], &one);
		sched_setaffinity(0, sizeof one, &one);
	} else
		sched_setaffinity(0, sizeof before, &before);
	g->change_ticks = 0;
	for (int i = 0; i < PB_MAX_CORES; i++)
		g->alone_share[i] = 0.5;
}

void pb_gauge_change_core(pb_gauge *g)
{
	cpu_set_t one;
	if (g->core_count < 2)
		return;
	g->core = (g->core + 1) % g->core_count;
	CPU_ZERO(&one);
	CPU_SET((size_t)g->cores[g->core], &one);
	uint64_t start = pb_ticks();
	sched_setaffinity(0, sizeof one, &one);
	g->clock_at = 0; /* the cores' clocks may differ */
	double took = (double)(pb_ticks() - start);
	/* a mean of the last few, without what another process took of the new core's time */
	g->change_ticks =
		g->change_ticks ? fmin(1.1 * g->change_ticks, (3 * g->change_ticks + took) / 4) : took;
}

/* How much of the last tenth of a second the present core was alone; of cores that were not looked at since,
 * what was seen then fades towards a half, so that they are tried again. */
static void note_core(pb_gauge *g, int alone, uint64_t ticks)
{
	double fade = exp(-(double)ticks / (0.1 * g->tick_hz));
	for (int i = 0; i < g->core_count; i++) {
		double goal = i == g->core ? alone : 0.5, slower = i == g->core ? fade : sqrt(sqrt(fade));
		g->alone_share[i] = goal + (g->alone_share[i] - goal) * slower;
	}
}

/* How long to stay on a busy core: as long as a change takes, longer where the next core is busier still. */
static double stay_ticks(const pb_gauge *g)
{
	int next = (g->core + 1) % g->core_count;
	double better = (g->alone_share[g->core] + 0.02) / (g->alone_share[next] + 0.02);
	return g->change_ticks * fmin(fmax(better, 0.5), 50);
}

/* What calibration gathers. Every chain is run at one and at two lengths: the difference is free of the cost
 * of the tick reads, which otherwise adds about a third of a percent, and what remains of the single run is
 * that cost. */
enum kind { SINGLE, TWICE, ADD, ADD_TWICE, ROTATE, ROTATE_TWICE, BRIEF, BRIEF_TWICE, CONTENTION, KINDS };
enum { BRIEF_CALLS = 300 };
/* Of 40 readings the low half tells the clock within 0.02 %, at steps of 26 ticks. */
enum { WANTED = 40, READINGS_MAX = 400, LAST_RESORT = 20, RISES = 20 };

typedef struct readings {
	double values[KINDS][READINGS_MAX];
	int count[KINDS], all, alone;
} readings;

double pb_gauge_rate(const pb_gauge *g)
{
	return g->clock_ticks ? g->probe_cycles / (double)g->clock_ticks : 1;
}

static uint64_t read_clock(pb_gauge *g)
{
	g->clock_ticks = clock_probe(g->clock_blocks);
	g->clock_at = pb_ticks();
	return g->clock_ticks;
}

static uint64_t read_kind(pb_gauge *g, enum kind kind)
{
	switch (kind) {
	case SINGLE:
		return read_clock(g);
	case TWICE:
		return clock_probe(2 * g->clock_blocks);
	case ADD:
		return add_probe(g->clock_blocks);
	case ADD_TWICE:
		return add_probe(2 * g->clock_blocks);
	case ROTATE:
		return rotate_probe(g->clock_blocks);
	case ROTATE_TWICE:
		return rotate_probe(2 * g->clock_blocks);
	case BRIEF:
		return brief_sample(g, BRIEF_CALLS);
	case BRIEF_TWICE:
		return brief_sample(g, 2 * BRIEF_CALLS);
	default:
		return pb_contention_read(g);
	}
}

static int least(const readings *r)
{
	int fewest = READINGS_MAX;
	for (int kind = 0; kind < KINDS; kind++)
		if (r->count[kind] < fewest)
			fewest = r->count[kind];
	return fewest;
}

/* Gather readings of moments alone on the core until limit_s is over and each kind has WANTED of them, or
 * patience is over as well. With `anyhow`, of whatever moment. */
static void gather(pb_gauge *g, readings *r, double limit_s, double patience_s, int anyhow)
{
	double start = pb_gauge_now_s();
	uint64_t shared_since = 0;
	memset(r, 0, sizeof *r);
	for (;;) {
		double spent = pb_gauge_now_s() - start;
		int fewest = least(r);
		if (fewest == READINGS_MAX || (spent >= limit_s && (fewest >= WANTED || spent >= patience_s)))
			break;
		for (enum kind kind = 0; kind < KINDS; kind++) {
			int before = anyhow || pb_contention_alone(g);
			double value = before ? (double)read_kind(g, kind) : 0;
			r->all++;
			if (before && (anyhow || pb_contention_alone(g))) {
				r->alone++;
				shared_since = 0;
				if (r->count[kind] < READINGS_MAX)
					r->values[kind][r->count[kind]++] = value;
			} else if (!shared_since)
				shared_since = pb_ticks();
			else if ((double)(pb_ticks() - shared_since) > g->change_ticks) {
				pb_gauge_change_core(g);
				shared_since = 0;
			}
		}
	}
}

/* The counter's step where half of it, by which a mean of the lower of two neighbouring values errs at the most, is more
 * than a quarter of what the self-check tolerates of its shortest chain; 0 where a clock that drifts by as much would
 * count. */
static double coarse_step(const pb_gauge *g)
{
	double step = (double)g->tick_quantum, shortest = (double)g->clock_ticks / PB_CHAIN_CYCLES;
	return step / 2 > TOLERANCE / 4 * shortest ? step : 0;
}

static double low_half(const pb_gauge *g, readings *r, enum kind kind)
{
	return pb_counter_mean(r->values[kind], r->count[kind], 0.05, 0.5, coarse_step(g));
}

/* The low half of each kind is used, because what disturbs can only add. */
static int judge(pb_gauge *g, readings *r)
{
	double single = low_half(g, r, SINGLE), chain_ticks = fmax(1, low_half(g, r, TWICE) - single);
	double single_cycles = 100.0 * g->clock_blocks, chain_cycles = PB_CHAIN_CYCLES * single_cycles,
	       ticks_per_cycle = chain_ticks / chain_cycles;

	g->probe_cycles = chain_cycles + (single - chain_ticks) / ticks_per_cycle;
	g->check_add = (low_half(g, r, ADD_TWICE) - low_half(g, r, ADD)) / ticks_per_cycle / single_cycles;
	g->check_rotate =
		(low_half(g, r, ROTATE_TWICE) - low_half(g, r, ROTATE)) / ticks_per_cycle / single_cycles;
	g->fixed_ticks = fmax(0, 2 * low_half(g, r, BRIEF) - low_half(g, r, BRIEF_TWICE));
	if (!g->length)
		g->contention_floor =
			pb_counter_mean(r->values[CONTENTION], r->count[CONTENTION], 0.02, 0.2, 0) /
			ticks_per_cycle;
	g->clock_ticks = (uint64_t)single;
	return PB_KNOWN_CHAIN && fabs(g->check_add - 1) <= TOLERANCE &&
	       fabs(g->check_rotate - 1) <= TOLERANCE;
}

/* The window probe, and what it reads, from ticks to core cycles. A core that was never alone meanwhile may be known
 * from elsewhere. */
static void choose_detector(pb_gauge *g, const pb_known *known)
{
	uint64_t lowest = UINT64_MAX;
	pb_contention_choose(g, known ? known->window : NULL);
	for (int i = 0; i < RISES; i++) {
		uint64_t ticks = read_clock(g);
		lowest = ticks < lowest ? ticks : lowest;
	}
	g->clock_ticks = lowest;
	if (g->contention_floor > 0) {
		g->contention_floor *= pb_gauge_rate(g);
		g->contention_shared *= pb_gauge_rate(g);
	} else if (g->length && known && known->floor > 0) {
		g->contention_floor = known->floor;
		g->contention_shared = known->shared;
	}
	g->contention_limit = pb_window_limit(g->contention_floor, g->contention_shared);
}

void pb_gauge_calibrate(pb_gauge *g, double limit_ms, double patience_ms, const pb_known *known)
{
	static readings r;
	uint64_t first_ticks = 0, last_ticks = 0;
	double first_s = 0, last_s = 0, limit_s = limit_ms * 1e-3, patience_s = patience_ms * 1e-3;
	int trusted = 0;
	const char *emulator = getenv("PERBYTE_EMULATOR"); /* the orchestrator knows what it started */

	g->pmu = -1;
	g->pmu_page = NULL;
	g->cycle_source = "probe";
	g->reason[0] = '\0';
	pb_pmu_open(g);
	g->tick_quantum = find_step();
	g->clock_blocks = choose_blocks(g->tick_quantum);
	g->probe_cycles = PB_CHAIN_CYCLES * 100.0 * g->clock_blocks; /* for now */
	read_both(&first_ticks, &first_s);
	pb_kernel_begin(g);
	choose_detector(g, known);
	int seen = !g->length || g->contention_limit > 0;
	do {
		gather(g, &r, limit_s, limit_s + (seen ? patience_s : 0), 0);
		if (least(&r) < LAST_RESORT)
			gather(g, &r, limit_s, limit_s, 1);
		trusted = judge(g, &r);
	} while (PB_KNOWN_CHAIN && !emulator && !trusted &&
		 pb_gauge_now_s() - first_s < fmax(12 * limit_s, patience_s));
	pb_kernel_end(g, NULL, 0);
	read_both(&last_ticks, &last_s);
	g->tick_hz = (double)(last_ticks - first_ticks) / (last_s - first_s);
	g->waited_ms = (last_s - first_s) * 1e3;
	g->alone = r.all ? (double)r.alone / r.all : 0;
	if (emulator || !trusted)
		g->cycle_source = "none";
	if (emulator) {
		snprintf(g->reason, sizeof g->reason,
			 "runs under %.*s: what a call takes there is the emulator's time, no core's",
			 (int)fmin(60, (double)strcspn(emulator, " ")), emulator);
	} else if (!PB_KNOWN_CHAIN) {
		snprintf(g->reason, sizeof g->reason,
			 "no chain of known latency is written for this processor");
	} else if (!trusted) {
		snprintf(g->reason, sizeof g->reason,
			 "the clock probe cannot be trusted: multiply : add : rotate read 3 : %.3f : %.3f, "
			 "not 3 : 1 : 1",
			 g->check_add, g->check_rotate);
	}
}

/* Taken as all samples are: after the probes the way in is colder than in a loop of its own (Python: twice
 * as long). */
double pb_gauge_entry(pb_gauge *g, void (*enter)(void))
{
	static double values[READINGS_MAX];
	int count = 0;
	pb_kernel_begin(g);
	for (int i = 0; i < 4 * READINGS_MAX && count < READINGS_MAX; i++) {
		pb_open_sample open;
		pb_sample sample;
		pb_gauge_before(g, &open, &sample);
		enter();
		pb_gauge_after(g, &open, &sample);
		if (!sample.flags && (pb_contention_alone(g) || i >= 3 * READINGS_MAX))
			values[count++] = (double)sample.ticks;
	}
	pb_kernel_end(g, NULL, 0);
	return count ? pb_counter_mean(values, count, 0.05, 0.5, coarse_step(g)) : 0;
}

unsigned pb_gauge_wait(pb_gauge *g, const pb_quiet *quiet)
{
	unsigned waits = 0;
	uint64_t since = pb_ticks();
	if (quiet->floor <= 0)
		return 0;
	for (; waits < quiet->patience; waits++) {
		if (!g->length)
			read_clock(g);
		double scale = pb_gauge_rate(g), slack = (double)g->tick_quantum * scale;
		if ((double)pb_contention_read(g) * scale <= quiet->floor * (1 + quiet->tolerance) + slack)
			break;
		if (g->core_count > 1 && (double)(pb_ticks() - since) > stay_ticks(g)) {
			note_core(g, 0, pb_ticks() - since);
			pb_gauge_change_core(g);
			since = pb_ticks();
		}
	}
	if (waits)
		note_core(g, 0, pb_ticks() - since);
	return waits;
}

/* Samples that follow each other share the clock probes between them, as long as the last is no older than
 * this: a core's clock does not change that often. */
static const double CLOCK_VALID_US = 40;

static int clock_is_valid(const pb_gauge *g)
{
	return g->clock_at && (double)(pb_ticks() - g->clock_at) < CLOCK_VALID_US * 1e-6 * g->tick_hz;
}

uint64_t pb_gauge_clock(pb_gauge *g)
{
	return read_clock(g);
}

void pb_gauge_before(pb_gauge *g, pb_open_sample *open, pb_sample *sample)
{
	pb_kernel_before(g, open);
	open->core = sched_getcpu();
	sample->core = (uint64_t)open->core;
	sample->contention_before = 0;
	if (!g->length)
		sample->contention_before = pb_contention_read(g);
	if (!g->length || !clock_is_valid(g))
		read_clock(g);
	sample->clock_before = g->clock_ticks;
	if (g->length)
		sample->contention_before = pb_contention_read(g);
	open->pmu_start = g->pmu >= 0 ? pb_pmu_read(g) : 0;
	sample->start = pb_ticks();
}

void pb_gauge_after(pb_gauge *g, const pb_open_sample *open, pb_sample *sample)
{
	sample->ticks = pb_ticks() - sample->start;
	sample->cycles = g->pmu >= 0 ? pb_pmu_read(g) - open->pmu_start : 0;
	sample->contention_after = g->length ? pb_contention_read(g) : 0;
	if (!g->length || !clock_is_valid(g))
		read_clock(g);
	sample->clock_after = g->clock_ticks;
	if (!g->length)
		sample->contention_after = pb_contention_read(g);
	sample->flags = pb_kernel_after(g, open) | (sched_getcpu() != open->core ? PB_MIGRATED : 0);
	if (sample->flags)
		g->clock_at = 0;
	note_core(g, 1, sample->ticks);
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
