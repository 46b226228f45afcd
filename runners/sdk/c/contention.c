#include "contention.h"
#include "probe.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Where between its two modes a reading counts as shared, on a logarithmic scale: near the lower one, because
 * the upper one is estimated by twice the length, which reads more than sharing does. */
static const double BETWEEN = 0.22;

#define PB_ONE_PLACE __attribute__((noinline, aligned(64)))

/* The first rounds go untimed: measured code may have pushed the block out of the instruction caches, and
 * fetching it again read as 2 % of contention after every sample of such a cell (OpenSSL's SHA-256). */
PB_ONE_PLACE uint64_t pb_front_end_read(void)
{
	uint64_t start = 0;
	for (unsigned i = 0; i < PB_CONTENTION_WARM + PB_CONTENTION_BLOCKS; i++) {
		if (i == PB_CONTENTION_WARM)
			start = pb_ticks();
		PB_FRONT_END();
	}
	return pb_ticks() - start;
}

#if PB_HAS_WINDOW
#include <cpuid.h>

static const double root = 1.234567;

PB_ONE_PLACE static void window_rounds(uint64_t rounds, unsigned length)
{
	PB_WINDOW(rounds, length, root);
}

static int has_avx(void)
{
	static int known = -1;
	if (known < 0)
		known = __builtin_cpu_supports("avx") ? 1 : 0;
	return known;
}

static inline void zero_vectors(int avx)
{
	if (avx)
		PB_ZERO_VECTORS_AVX();
	else
		PB_ZERO_VECTORS();
}

/* Is it told which parts of the processor's state are in use (xgetbv with 1)? */
static int tells_use(void)
{
	static int known = -1;
	uint32_t a = 0, b, c = 0, d;
	if (known < 0)
		known = __get_cpuid(1, &a, &b, &c, &d) && c & bit_OSXSAVE &&
			__get_cpuid_count(0xd, 1, &a, &b, &c, &d) && a & 4;
	return known;
}

/* Once used, the x87's registers, which are MMX's too, hold eight of the vector registers, whatever is in them: read
 * like that, a core is never alone (Zen 3; V8 uses them). Only its initial state gives them back: not emms, fninit
 * or values that are pushed and popped. */
static void free_x87(void)
{
	static const struct {
		_Alignas(64) uint8_t none_saved[576];
	} initial;
	uint32_t in_use, high;
	uint16_t control;
	if (!tells_use())
		return;
	__asm__ volatile("xgetbv" : "=a"(in_use), "=d"(high) : "c"(1));
	if (!(in_use & 1))
		return;
	__asm__ volatile("fnstcw %0" : "=m"(control));
	if (control == 0x37f) /* else somebody wants another one to stay */
		__asm__ volatile("xrstor %0" : : "m"(initial), "a"(1), "d"(0) : "memory");
}

/* Leaves all vector registers zero, so that every sample begins with the same ones free. */
static uint64_t window_read(unsigned length)
{
	int avx = has_avx();
	free_x87();
	zero_vectors(avx);
	window_rounds(PB_WINDOW_WARM, length);
	uint64_t start = pb_ticks();
	window_rounds(PB_WINDOW_ROUNDS, length);
	uint64_t ticks = pb_ticks() - start;
	zero_vectors(avx);
	return ticks;
}

enum { SCAN_FROM = 48, SCAN_STEP = 16, SCAN_LENGTHS = 52, PASSES_MIN = 200, PASSES_MAX = 4000, FINE = 64 };

/* Between the two lengths of a scan at which the lowest reading leaps, and by how much it has to. */
static const double LEAP = 1.25;
/* Twice the length serialises the chains on a core of one's own too: that is what sharing will read like. By
 * this factor the two readings must differ at the least. */
static const double CONTRAST = 1.4;
/* A length is too small for this core if so many more still let the chains overlap. */
static const unsigned MORE = 12;

static int ascending(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

/* Mean of the readings between the 1st and the 5th percentile: what the core does when nobody is in the way,
 * and no single odd reading. */
static double lowest(uint64_t *readings, int count)
{
	qsort(readings, (size_t)count, sizeof *readings, ascending);
	int first = count / 100, last = count / 20;
	double sum = 0;
	if (last <= first)
		last = first + 1;
	for (int i = first; i < last; i++)
		sum += (double)readings[i];
	return sum / (last - first);
}

/* Lowest readings of `count` lengths from `from` on, `step` apart. A pass over all lengths takes some 20 us,
 * so that of many passes some find the core quiet throughout. */
static void lowest_by_length(pb_gauge *g, unsigned from, unsigned step, int count, double until_s,
			     double *low)
{
	static uint64_t readings[FINE][PASSES_MAX];
	int passes = 0;
	while (passes < PASSES_MAX && (passes < PASSES_MIN || pb_gauge_now_s() < until_s)) {
		for (int k = 0; k < count; k++)
			readings[k][passes] = window_read(from + step * (unsigned)k);
		if (++passes % PASSES_MIN == 0)
			pb_gauge_change_core(g);
	}
	for (int k = 0; k < count; k++)
		low[k] = lowest(readings[k], passes);
}

/* The largest length at which the chains still overlap on a core of one's own; 0 if no leap is seen. */
static unsigned scan(pb_gauge *g, double part_s)
{
	double low[FINE], best = LEAP;
	unsigned found = 0;
	lowest_by_length(g, SCAN_FROM, SCAN_STEP, SCAN_LENGTHS, pb_gauge_now_s() + part_s, low);
	for (int k = 0; k + 2 < SCAN_LENGTHS; k++)
		if (low[k + 2] / low[k] > best) {
			best = low[k + 2] / low[k];
			found = SCAN_FROM + SCAN_STEP * (unsigned)k;
		}
	if (!found)
		return 0;
	lowest_by_length(g, found, 1, 3 * SCAN_STEP, pb_gauge_now_s() + part_s, low);
	int k = 0;
	while (k + 1 < 3 * SCAN_STEP && low[k + 1] < low[0] * (1 + (LEAP - 1) / 3))
		k++;
	return found + (unsigned)k - 1; /* one less: the last one overlaps at times only */
}

/* Read the length, somewhat more and twice as much for a while. 1 if the core was alone at times, so that the
 * two modes are known; -1 if the length proves too small. */
static int verify(pb_gauge *g, unsigned length, double until_s)
{
	static uint64_t once[PASSES_MAX], more[PASSES_MAX], twice[PASSES_MAX];
	do {
		for (int i = 0; i < PASSES_MIN; i++) {
			once[i] = window_read(length);
			more[i] = window_read(length + MORE);
			twice[i] = window_read(2 * length);
		}
		g->contention_floor = lowest(once, PASSES_MIN);
		g->contention_shared = lowest(twice, PASSES_MIN);
		double limit = pb_contention_limit(g);
		if (g->contention_shared > CONTRAST * g->contention_floor)
			return lowest(more, PASSES_MIN) < limit ? -1 : 1;
		pb_gauge_change_core(g);
	} while (pb_gauge_now_s() < until_s);
	return 0;
}

/* Lengths that a scan found on such cores; 0: none is known. Whoever is never alone while he looks finds too
 * small a one, that of half the reorder buffer. */
static unsigned known_length(void)
{
	uint32_t a, b, c, d;
	if (!__get_cpuid(0, &a, &b, &c, &d) || c != signature_AMD_ecx || !__get_cpuid(1, &a, &b, &c, &d))
		return 0;
	unsigned family = (a >> 8 & 15) + (a >> 20 & 255), model = (a >> 4 & 15) | (a >> 12 & 240);
	if (family != 0x19)
		return 0;
	if (model <= 0x0f)
		return 141; /* Zen 3 */
	/* Zen 4 (EPYC, Ryzen): 147 to 157 by what registers others hold; 94 to 100 beside a neighbour that never rests */
	return (model >= 0x10 && model <= 0x1f) || (model >= 0x60 && model <= 0x7f) ? 152 : 0;
}

void pb_contention_choose(pb_gauge *g, unsigned length, double patience_ms)
{
	double until = pb_gauge_now_s() + patience_ms * 1e-3, part = 0.02;
	g->detector = "reorder-buffer";
	g->contention_floor = g->contention_shared = 0;
	g->length = length ? length : known_length();
	if (g->length && g->length <= PB_WINDOW_MAX / 2) {
		int seen = verify(g, g->length, until);
		if (seen > 0)
			return;
		if (seen == 0) { /* never alone: whoever asks may know both modes from elsewhere */
			g->contention_floor = g->contention_shared = 0;
			return;
		}
	}
	do {
		g->length = scan(g, part);
		if (g->length && g->length <= PB_WINDOW_MAX / 2 &&
		    verify(g, g->length, pb_gauge_now_s() + part) > 0)
			return;
		part *= 2;
	} while (pb_gauge_now_s() < until);
	g->detector = "front-end";
	g->length = 0;
	g->contention_floor = g->contention_shared = 0;
}

uint64_t pb_contention_read(const pb_gauge *g)
{
	return g->length ? window_read(g->length) : pb_front_end_read();
}

#else

void pb_contention_choose(pb_gauge *g, unsigned length, double patience_ms)
{
	(void)length;
	(void)patience_ms;
	g->detector = "front-end";
	g->length = 0;
	g->contention_floor = g->contention_shared = 0;
}

uint64_t pb_contention_read(const pb_gauge *g)
{
	(void)g;
	return pb_front_end_read();
}

#endif

double pb_contention_limit(const pb_gauge *g)
{
	return g->contention_floor > 0
		       ? g->contention_floor * pow(g->contention_shared / g->contention_floor, BETWEEN)
		       : 0;
}

int pb_contention_alone(const pb_gauge *g)
{
	return !g->length || g->contention_limit <= 0 || (double)pb_contention_read(g) <= g->contention_limit;
}

/* A look takes a quarter of a microsecond; whoever was away for so long was not asked. */
static const double TAKEN_US = 15;

int pb_contention_watch(const pb_gauge *g, double limit_ms, char *state, uint64_t *ticks, int room)
{
	uint64_t start = pb_gauge_ticks(), last = start, since = start,
		 end = start + (uint64_t)(limit_ms * 1e-3 * g->tick_hz),
		 taken = (uint64_t)(TAKEN_US * 1e-6 * g->tick_hz);
	char now = 0;
	int count = 0;
	while (last < end && count < room - 2) {
		char seen = pb_contention_alone(g) ? 'q' : 'b';
		uint64_t after = pb_gauge_ticks();
		if (after - last > taken) {
			if (now) {
				state[count] = now;
				ticks[count++] = last - since;
			}
			state[count] = 's';
			ticks[count++] = after - last;
			now = 0;
			since = after;
		} else if (seen != now) {
			if (now) {
				state[count] = now;
				ticks[count++] = last - since;
				since = last;
			}
			now = seen;
		}
		last = after;
	}
	if (now && count < room) {
		state[count] = now;
		ticks[count++] = last - since;
	}
	return count;
}
