#include "gauge.h"
#include "paper.h"
#include "pipeline.h"
#include "pmu.h"

#include <cpuid.h>
#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

/* Conditions: alone, registers held by a halted thread, and three neighbours of growing appetite. */
enum { ALONE, HELD, LIGHT, HEAVY = LIGHT + 2, CONDITIONS, CORES = 2 };

static const double slowed[CONDITIONS] = {1, 1, 1.2, 1.5, 2}, appetite[CONDITIONS] = {0, 0, 0.2, 0.5, 0.7};

typedef struct company {
	int condition;
	double until;
} company;

static struct {
	paper_kind kind;
	paper_world world;
	company with[CORES];
	int core;
	double now, interrupt, steal;
	uint64_t random;
	long readings, changes;
	int first, mixed;
} paper;

/* What the pipeline answered before, for each condition, filler, chain and length. */
static float *known[CONDITIONS][PB_FILLERS][PB_CHAIN_MOST + 1][PB_WINDOW_MOST + 1];

static double uniform(void)
{
	paper.random ^= paper.random << 13;
	paper.random ^= paper.random >> 7;
	paper.random ^= paper.random << 17;
	return (double)(paper.random >> 11) * 0x1p-53;
}

/* From 5 to 500 us, all magnitudes alike; 107 us in the mean. */
static double burst(void)
{
	return 5e-6 * pow(100, uniform());
}

static void forget(void)
{
	for (int c = 0; c < CONDITIONS; c++)
		for (int f = 0; f < PB_FILLERS; f++)
			for (int n = 0; n <= PB_CHAIN_MOST; n++)
				for (int l = 0; l <= PB_WINDOW_MOST; l++) {
					free(known[c][f][n][l]);
					known[c][f][n][l] = NULL;
				}
}

static void adopt(const paper_kind *kind, const paper_world *world)
{
	if (memcmp(&paper.kind, kind, sizeof *kind) != 0)
		forget();
	paper.kind = *kind;
	paper.world = *world;
	for (int i = 0; i < CORES; i++)
		paper.with[i].until = paper.now;
}

void paper_start(const paper_kind *kind, const paper_world *world, uint64_t seed)
{
	adopt(kind, world);
	for (int i = 0; i < CORES; i++)
		paper.with[i] = (company){0};
	paper.core = 0;
	paper.now = 0;
	paper.random = seed * 0x9E3779B97F4A7C15u + 1;
	paper.interrupt = paper.steal = 0;
	paper.readings = 0;
}

void paper_change(const paper_kind *kind, const paper_world *world)
{
	adopt(kind, world);
}

double paper_now(void)
{
	return paper.now;
}

long paper_readings(void)
{
	return paper.readings;
}

/* What a condition leaves to this thread. */
static share left_by(int condition)
{
	const paper_kind *k = &paper.kind;
	int shared = condition >= LIGHT;
	double second = shared || k->reserved ? 1 : 0, rob = k->rob;
	if (shared)
		switch ((enum paper_second)k->second) {
		case PAPER_HALVES:
			rob /= 2;
			break;
		case PAPER_COMPETES:
			rob *= 1 - appetite[condition];
			break;
		case PAPER_FIXED:
			rob -= k->fixed;
			break;
		default:
			break;
		}
	share left = {.rob = rob, .speed = 1 / sqrt(slowed[condition])};
	left.vectors = k->vectors - k->own_vectors * (1 + second);
	left.integers = k->integers - k->own_integers * (1 + second);
	left.vectors -= condition == HELD ? k->held : 0;
	left.vectors -= appetite[condition] / 2 * k->vectors;
	left.integers -= appetite[condition] / 2 * k->integers;
	return left;
}

static double rounds_cycles(int condition, unsigned filler, unsigned chain, unsigned length, double rounds)
{
	float **at = &known[condition][filler][chain][length];
	if (!*at) {
		share left = left_by(condition);
		*at = malloc(PIPELINE_ROUNDS * sizeof **at);
		pipeline_run(&paper.kind, &left, filler, chain, length, *at);
	}
	const float *t = *at;
	if (rounds <= PIPELINE_ROUNDS)
		return t[(int)rounds - 1];
	return t[PIPELINE_ROUNDS - 1] + (rounds - PIPELINE_ROUNDS) *
						(t[PIPELINE_ROUNDS - 1] - t[PIPELINE_ROUNDS / 2 - 1]) /
						(PIPELINE_ROUNDS - PIPELINE_ROUNDS / 2);
}

static double hertz(void)
{
	if (paper.world.clock_s <= 0)
		return paper.kind.hz;
	uint64_t x = (uint64_t)(paper.now / paper.world.clock_s + 1e-9) * 0x9E3779B97F4A7C15u;
	x ^= x >> 29;
	x *= 0xBF58476D1CE4E5B9u;
	return paper.kind.hz * (1 - paper.world.clock_step * (double)(x >> 40) * 0x1p-24);
}

static company *here(void)
{
	company *with = &paper.with[paper.core];
	double share = paper.kind.second == PAPER_NONE ? 0 : paper.world.share, rare = fmin(share, 1 - share);
	while (with->until <= paper.now) {
		int was_shared = with->condition >= LIGHT, shared = share >= 1 || (share > 0 && !was_shared);
		int is_rare = (share <= 0.5) == shared;
		double lasts = burst();
		if (rare > 0 && !is_rare)
			lasts *= (1 - rare) / rare;
		with->condition = shared                                   ? LIGHT + (int)(uniform() * 3)
				  : paper.world.always_held                ? HELD
				  : paper.kind.held > 0 && uniform() < 0.5 ? HELD
									   : ALONE;
		with->until = fmax(with->until, paper.now - 1e-3) + lasts;
		paper.changes++;
	}
	return with;
}

/* What comes between: interrupts of 2 to 5 us, and the core taken away for up to 3 ms. */
static double next_event(double *at, double per_second)
{
	if (per_second <= 0)
		return INFINITY;
	while (*at <= paper.now)
		*at = paper.now - log(1 - uniform()) / per_second;
	return *at;
}

/* Work off something that takes cycles[condition] in each condition. */
static void work(const double *cycles)
{
	double left = 1;
	paper.first = here()->condition;
	paper.mixed = 0;
	while (left > 1e-12) {
		company *with = here();
		double hz = hertz(), needs = left * cycles[with->condition] / hz, until = with->until;
		double interrupt = next_event(&paper.interrupt, paper.world.interrupts),
		       steal = next_event(&paper.steal, paper.world.steals);
		if (paper.world.clock_s > 0)
			until = fmin(until, (floor(paper.now / paper.world.clock_s + 1e-9) + 1) *
						    paper.world.clock_s);
		until = fmin(until, fmin(interrupt, steal));
		paper.mixed |= (with->condition >= LIGHT) != (paper.first >= LIGHT) ||
			       with->condition != paper.first;
		if (paper.now + needs < until) {
			paper.now += needs;
			return;
		}
		left -= (until - paper.now) * hz / cycles[with->condition];
		paper.now = until;
		if (until == interrupt || until == steal) {
			paper.now += until == steal ? 3e-3 * uniform() : 2e-6 + 3e-6 * uniform();
			paper.mixed = 1;
		}
	}
}

void paper_cycles(double cycles)
{
	double all[CONDITIONS] = {cycles, cycles, cycles, cycles, cycles};
	work(all);
}

void paper_work(double cycles)
{
	double all[CONDITIONS];
	for (int c = 0; c < CONDITIONS; c++)
		all[c] = cycles * slowed[c];
	work(all);
}

void paper_front_end(double nops)
{
	paper_work(nops / fmin(paper.kind.nop_rate, paper.kind.width));
}

uint64_t paper_ticks(void)
{
	paper_cycles(15);
	double step = paper.world.tick_step;
	uint64_t ticks = (uint64_t)(floor(paper.now * paper.world.tick_hz / step) * step);
	paper_cycles(15);
	return ticks;
}

void paper_window(unsigned filler, uint64_t rounds, unsigned chain, unsigned length)
{
	double cycles[CONDITIONS];
	int used = here()->condition;
	for (int c = 0; c < CONDITIONS; c++)
		cycles[c] = -1;
	cycles[used] = rounds_cycles(used, filler, chain, length, (double)rounds);
	double ends = here()->until - paper.now;
	if (cycles[used] / (paper.kind.hz * 0.8) >= ends || paper.world.clock_s > 0)
		for (int c = 0; c < CONDITIONS; c++) /* somebody may come or go meanwhile */
			cycles[c] = rounds_cycles(c, filler, chain, length, (double)rounds);
	for (int c = 0; c < CONDITIONS; c++)
		cycles[c] = cycles[c] < 0 ? cycles[used] : cycles[c];
	work(cycles);
}

double paper_read(void *self, const pb_window *w)
{
	(void)self;
	paper_window(w->filler, 2, w->chain, w->length);
	int before = paper.first, mixed = paper.mixed;
	uint64_t start = paper_ticks();
	paper_window(w->filler, w->rounds, w->chain, w->length);
	mixed |= paper.mixed;
	uint64_t ticks = paper_ticks() - start;
	paper.mixed = mixed || here()->condition != before;
	paper.first = before;
	paper.readings++;
	paper_cycles(100);
	return (double)ticks;
}

int paper_last(void)
{
	return paper.mixed            ? PAPER_MIXED
	       : paper.first >= LIGHT ? PAPER_SHARED
	       : paper.first == HELD  ? PAPER_HELD
				      : PAPER_ALONE;
}

double paper_round(unsigned filler, unsigned chain, unsigned length, int condition)
{
	double cycles = rounds_cycles(condition, filler, chain, length, PIPELINE_ROUNDS + 1) -
			rounds_cycles(condition, filler, chain, length, PIPELINE_ROUNDS);
	return cycles / paper.kind.hz * paper.world.tick_hz;
}

static void to_other_core(void *self)
{
	(void)self;
	paper.core = (paper.core + 1) % CORES;
	paper.now += 5e-6;
}

/* A chain of additions costs the same in any company, what fills the core does not. */
static double paper_reference(void *self, enum pb_work kind)
{
	(void)self;
	uint64_t start = paper_ticks();
	if (kind == PB_WORK_OF_ADDS)
		paper_cycles(600);
	else
		paper_work(600);
	return (double)(paper_ticks() - start);
}

static pb_core as_core(double entries)
{
	return (pb_core){.read = paper_read,
			 .work = paper_reference,
			 .move = to_other_core,
			 .quantum = paper.world.tick_step,
			 .entries = (unsigned)entries};
}

void paper_learn(double entries, pb_found *found)
{
	pb_core core = as_core(entries);
	pb_window_learn(&core, found);
}

int paper_holds(double entries, pb_found *found)
{
	pb_core core = as_core(entries);
	return pb_window_holds(&core, found);
}

/* Readings of a window that was found, by the truth of each: how many there were of each state, and how many lay above
 * the limit. */
void paper_watch(const pb_found *found, double limit, long count, double pause_s, long *seen, long *above)
{
	for (long i = 0; i < count; i++) {
		double ticks = paper_read(NULL, &found->window) - paper.world.tick_step;
		int state = paper_last();
		seen[state]++;
		above[state] += ticks > limit;
		paper.now += pause_s * uniform() * 2;
	}
}

/* What the SDK asks of the operating system and of the processor. */

int paper_clock_gettime(int clock, struct timespec *t)
{
	(void)clock;
	paper_cycles(80);
	t->tv_sec = (time_t)paper.now;
	t->tv_nsec = (long)((paper.now - floor(paper.now)) * 1e9);
	return 0;
}

int paper_getrusage(int who, struct rusage *usage)
{
	(void)who;
	memset(usage, 0, sizeof *usage);
	paper_cycles(600);
	return 0;
}

int paper_getcpu(void)
{
	return paper.core;
}

int paper_getaffinity(int who, size_t size, cpu_set_t *set)
{
	(void)who;
	(void)size;
	CPU_ZERO(set);
	for (int i = 0; i < CORES; i++)
		CPU_SET((size_t)i, set);
	return 0;
}

int paper_setaffinity(int who, size_t size, const cpu_set_t *set)
{
	(void)who;
	(void)size;
	for (int i = 0; i < CORES; i++)
		if (CPU_ISSET((size_t)i, set))
			paper.core = i;
	paper.now += 5e-6;
	return 0;
}

int paper_cpuid(unsigned leaf, unsigned *a, unsigned *b, unsigned *c, unsigned *d)
{
	unsigned signature = (unsigned)paper.world.signature, family = signature >> 8 & 255,
		 model = signature & 255;
	unsigned base = family < 15 ? family : 15;
	*a = *b = *c = *d = 0;
	if (leaf == 0)
		*c = signature >> 16 == 1   ? signature_AMD_ecx
		     : signature >> 16 == 2 ? signature_INTEL_ecx
					    : 0;
	if (leaf == 1)
		*a = (model & 15) << 4 | (model >> 4) << 16 | base << 8 | (family - base) << 20;
	return signature != 0;
}

int paper_cpuid_count(unsigned leaf, unsigned sub, unsigned *a, unsigned *b, unsigned *c, unsigned *d)
{
	(void)sub;
	*a = *b = *c = *d = 0;
	if (leaf == 0x1a) /* a core without a second thread is a small one here */
		*a = paper.kind.second == PAPER_NONE ? 0x20000000u : 0x40000000u;
	return paper.world.signature != 0 && leaf == 0x1a;
}

void pb_pmu_open(pb_gauge *g)
{
	g->pmu = -1;
}

uint64_t pb_pmu_read(const pb_gauge *g)
{
	(void)g;
	return 0;
}

enum { SAMPLES_MAX = 4000 };

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

/* The mean of the middle half. */
static double midmean(double *values, long count)
{
	double sum = 0;
	qsort(values, (size_t)count, sizeof *values, ascending);
	for (long i = count / 4; i < count - count / 4; i++)
		sum += values[i];
	return count ? sum / (double)(count - count / 4 - count / 4) : 0;
}

void paper_measure(double cycles, long samples, paper_figures *out)
{
	static pb_gauge g;
	static double clean[SAMPLES_MAX], all[SAMPLES_MAX];
	long kept = 0;
	samples = samples < SAMPLES_MAX ? samples : SAMPLES_MAX;
	memset(&g, 0, sizeof g);
	memset(out, 0, sizeof *out);
	pb_gauge_cores(&g, "0,1");
	pb_gauge_calibrate(&g, 4, 150, NULL);
	pb_quiet quiet = {g.contention_floor, 0.01, 200};
	if (g.length)
		quiet.tolerance = g.contention_floor > 0 ? g.contention_limit / g.contention_floor - 1 : 1e9;
	for (long i = 0; i < samples; i++) {
		pb_open_sample open;
		pb_sample s;
		pb_gauge_wait(&g, &quiet);
		pb_gauge_before(&g, &open, &s);
		paper_work(cycles);
		pb_gauge_after(&g, &open, &s);
		double clock = fmin((double)s.clock_before, (double)s.clock_after);
		all[i] = ((double)s.ticks - g.fixed_ticks) * g.probe_cycles / clock;
		if (pb_gauge_clean(&g, &quiet, 0.005, &s))
			clean[kept++] = all[i];
	}
	out->trusted = strcmp(g.cycle_source, "probe") == 0;
	out->check_add = g.check_add;
	out->check_rotate = g.check_rotate;
	out->floor = g.contention_floor;
	out->limit = g.contention_limit;
	out->length = g.length;
	out->samples = (double)samples;
	out->clean = (double)kept;
	out->cycles = kept ? midmean(clean, kept) : midmean(all, samples);
	memcpy(out->found, g.found, sizeof out->found);
}
