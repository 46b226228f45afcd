#include "window.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The scan: lengths from FROM in steps of STEP. A pass reads each length once and takes some 20 us, so that each
 * length meets the core's quiet moments. */
enum {
	FROM = PB_SCAN_FROM,
	STEP = PB_SCAN_STEP,
	LENGTHS = PB_SCAN_LENGTHS,
	PASSES = 200,
	MOVE_EVERY = 50,
	SHORT_PASSES = 60,
	CHECKS = 160
};
enum { TRIES = 3, PASTS = 3 * STEP, LATENCIES = 40 };

/* A chain must outlast the fillers that fit beside it, or no leap shows; the shortest that does costs least. */
static const unsigned chains[] = {5, 8, 12, 18, 27, 40};
enum { CHAINS = sizeof chains / sizeof *chains };

/* What a leap is: beyond what the slopes on both sides explain, and by how much the two modes must differ at the
 * least. Lowest readings scatter by a per cent or two; a lost overlap costs a third to all of a chain. */
static const double LEAP = 0.25, CONTRAST = 1.35;

/* A round in which nothing overlaps takes its chain at the least; where two chains overlap it is half of that, and
 * what the fillers take besides stays below three quarters if the leap is to show. Between the two, for clocks that
 * change meanwhile: */
static const double SERIAL = 0.85;

/* By how much a buffer that is as large as the family's may differ from it: two steps of the scan, and what no-ops that
 * fuse or what another hypervisor says of the family would make is far more. */
static const double FITS = 0.2;

/* Places in the buffer that are neither fillers nor roots: the ends of the loop. */
static const double ENDS = 16;

/* Where between the two modes, on a logarithmic scale, a reading counts as shared: nearer to the lower one, because
 * registers that a halted thread holds show as less than a whole leap, and sharing as more. */
static const double BETWEEN = 0.3;

/* Steps of the counter that must lie between the two modes of one reading. */
static const double STEPS_BETWEEN = 8;

typedef struct leap {
	unsigned length; /* the last that fits; 0: none was seen */
	unsigned chain;
	double before, past; /* lowest ticks of a round there, and where nothing overlaps */
} leap;

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

/* Mean of the lowest readings, the very lowest left out: what the core does when nobody is in the way. One in
 * a hundred is enough, so that a core that is alone for a fiftieth of the time is seen alone. */
static double lowest(double *readings, int count)
{
	int last = count / 100 + 2;
	double sum = 0;
	qsort(readings, (size_t)count, sizeof *readings, ascending);
	for (int i = 1; i < last; i++)
		sum += readings[i];
	return sum / (last - 1);
}

static double read_at(const pb_core *core, pb_window window, unsigned length)
{
	window.length = length;
	return core->read(core->self, &window);
}

static void move(const pb_core *core)
{
	if (core->move)
		core->move(core->self);
}

/* Rounds of a reading, so that `apart`, ticks of a round between the two modes, are several steps of the counter. */
static unsigned enough_rounds(const pb_core *core, double apart)
{
	double rounds = ceil(STEPS_BETWEEN * core->quantum / fmax(apart, 1e-9));
	return (unsigned)fmin(fmax(rounds, 4), PB_ROUNDS_MOST);
}

/* The same before a leap was seen: the least that would count as one. */
static unsigned scan_rounds(const pb_core *core, pb_window window)
{
	window.rounds = PB_ROUNDS_MOST / 4;
	double took = fmin(read_at(core, window, FROM), read_at(core, window, FROM)) / window.rounds;
	return enough_rounds(core, LEAP * took);
}

/* The lowest ticks of a round at each of `count` lengths. */
static void scan(const pb_core *core, pb_window window, unsigned from, unsigned step, int count, int passes,
		 double *low)
{
	static double readings[LENGTHS][PASSES];
	for (int pass = 0; pass < passes; pass++) {
		for (int k = 0; k < count; k++)
			readings[k][pass] = read_at(core, window, from + step * (unsigned)k) / window.rounds;
		if (pass % MOVE_EVERY == MOVE_EVERY - 1)
			move(core);
	}
	for (int k = 0; k < count; k++)
		low[k] = lowest(readings[k], passes);
}

unsigned pb_window_chain(unsigned n)
{
	return n < CHAINS ? chains[n] : 0;
}

void pb_window_scan(const pb_core *core, unsigned filler, unsigned chain, double *low)
{
	pb_window window = {.filler = filler, .chain = chain};
	window.rounds = scan_rounds(core, window);
	scan(core, window, FROM, STEP, LENGTHS, PASSES, low);
}

/* Ticks of one root of a chain that nothing overlaps with: by how much a single round grows with its chain. The low
 * half, because means resolve finer than the counter steps. */
static double root_ticks(const pb_core *core)
{
	double times[2][LATENCIES], ticks[2] = {0, 0};
	for (int i = 0; i < LATENCIES; i++)
		for (int k = 0; k < 2; k++) {
			pb_window once = {PB_NOPS, k ? PB_CHAIN_MOST : PB_CHAIN_MOST / 4, 0, 1};
			times[k][i] = read_at(core, once, 1);
		}
	for (int k = 0; k < 2; k++) {
		qsort(times[k], LATENCIES, sizeof times[k][0], ascending);
		for (int i = 0; i < LATENCIES / 2; i++)
			ticks[k] += times[k][i] / (LATENCIES / 2);
	}
	return fmax((ticks[1] - ticks[0]) / (PB_CHAIN_MOST - PB_CHAIN_MOST / 4), 1e-9);
}

/* The last leap of a scan: below a third and a half of the buffer three or more chains overlap, and each of these ends
 * is a leap too. Whatever is longer must stay above it, and the chain, `serial` ticks, must not overlap any more. */
static leap last_leap(const double *low, unsigned chain, double serial)
{
	leap found = {.chain = chain};
	double best = 0, least_after = INFINITY;
	for (int i = LENGTHS - 4; i >= 1; i--) {
		double slope = (low[i] - low[i - 1] + low[i + 3] - low[i + 2]) / 2;
		double jump = (low[i + 2] - low[i] - 2 * slope) / low[i];
		least_after = fmin(least_after, low[i + 2]);
		unsigned length = FROM + STEP * (unsigned)i;
		if (found.length && length + 2 * STEP < found.length)
			break;
		if (jump > LEAP && jump > best && least_after > low[i] * (1 + jump / 2) &&
		    low[i + 3] > SERIAL * serial) {
			best = jump;
			found.length = length;
			found.before = low[i];
			found.past = low[i + 3];
		}
	}
	return found;
}

/* The leap of a filler with the shortest chain that shows it well. */
static leap find_leap(const pb_core *core, unsigned filler, double root)
{
	leap best = {0};
	for (int c = 0; c < CHAINS; c++) {
		double low[LENGTHS];
		pb_window window = {.filler = filler, .chain = chains[c]};
		window.rounds = scan_rounds(core, window);
		scan(core, window, FROM, STEP, LENGTHS, PASSES, low);
		leap found = last_leap(low, chains[c], chains[c] * root);
		if (!found.length)
			continue;
		if (!best.length || found.past * best.before > best.past * found.before)
			best = found;
		if (found.past > CONTRAST * found.before)
			return found;
	}
	return best;
}

/* The last of the lengths just after a leap's at which the chains still overlap for certain. */
static unsigned refine(const pb_core *core, pb_window window, const leap *at)
{
	double low[3 * STEP], limit = pb_window_limit(at->before, at->past);
	int k = 0;
	scan(core, window, at->length - STEP, 1, 3 * STEP, PASSES, low);
	while (k + 1 < 3 * STEP && low[k + 1] < limit)
		k++;
	return at->length - STEP + (unsigned)k - (k > 0);
}

/* Do chains of roots overlap at all where next to nothing is between them? */
static int overlaps(const pb_core *core, double root)
{
	double readings[LATENCIES];
	pb_window window = {PB_NOPS, 8, 0, PB_ROUNDS_MOST / 4};
	for (int i = 0; i < LATENCIES; i++)
		readings[i] = read_at(core, window, 1) / window.rounds;
	return lowest(readings, LATENCIES) * (1 + LEAP) < 8 * root;
}

/* Where no-ops end if another thread takes half of the buffer. */
static double half_of(unsigned end, unsigned chain)
{
	return (end + chain + ENDS) / 2 - chain - ENDS;
}

/* Are both modes seen: readings of a whole buffer, and of one that ends at half of it? Not of one that ends elsewhere,
 * which would be a third thing, and not of interrupts, which do not ask for the length. */
static int both_modes(const pb_core *core, unsigned end, unsigned chain, double root, int count)
{
	double times[2][CHECKS], half = half_of(end, chain);
	pb_window window = {.filler = PB_NOPS, .chain = chain};
	unsigned lengths[2] = {(unsigned)(half * 0.9), (unsigned)half + 3 * STEP / 2};
	int above[2] = {0, 0};
	if (half < FROM || lengths[1] > end - end / 16)
		return 0;
	window.rounds = scan_rounds(core, window);
	for (int i = 0; i < count; i++) {
		for (int k = 0; k < 2; k++)
			times[k][i] = read_at(core, window, lengths[k]) / window.rounds;
		if (i % MOVE_EVERY == MOVE_EVERY - 1)
			move(core);
	}
	double alone = lowest(times[1], count), limit = sqrt(alone * chain * root);
	for (int i = 0; i < count; i++)
		for (int k = 0; k < 2; k++)
			above[k] += times[k][i] > limit;
	return alone < SERIAL * chain * root && above[1] > 3 + 4 * above[0];
}

/* Is a window past what half of the buffer holds, for certain? What a second thread takes of the registers does not
 * decide then. */
static int past_half(const pb_window *w, unsigned end)
{
	return w->filler == PB_NOPS || (end && w->length > half_of(end, w->chain) + 2 * STEP);
}

/* Do two fillers end at one place? */
static int together(const leap *a, const leap *b)
{
	unsigned apart = a->length > b->length ? a->length - b->length : b->length - a->length;
	return a->length && b->length && apart <= 2 * STEP;
}

/* Is what was seen `times` what the family is known to have? */
static int fits(const pb_core *core, const leap *nops, double times)
{
	double expected = times * core->entries;
	return nops->length && expected > 0 &&
	       fabs(nops->length + nops->chain + ENDS - expected) < FITS * expected;
}

/* Vector additions see what no-ops do not: registers that a halted thread holds. They are taken where the registers end
 * before the buffer does, not before half of it (who takes that half would not be seen), and the chain that outlasts
 * them costs no more than half as much again. */
static int prefer_vectors(const leap *nops, const leap *vectors)
{
	if (!vectors->length || !nops->length)
		return vectors->length != 0;
	return vectors->length + 2 * STEP < nops->length && vectors->before <= 1.5 * nops->before &&
	       vectors->length > half_of(nops->length, nops->chain);
}

/* The window of a core that showed half of its buffer all the time: twice the fillers, and a chain that outlasts
 * them. */
static void infer(const pb_core *core, const leap *nops, pb_found *found)
{
	double whole = fits(core, nops, 0.5) ? core->entries : 2 * (nops->length + nops->chain + ENDS);
	pb_window *w = &found->window;
	int c = 0;
	while (c < CHAINS - 1 && chains[c] < 2 * nops->chain)
		c++;
	w->chain = chains[c];
	w->filler = PB_NOPS;
	w->length = (unsigned)((whole - w->chain - ENDS) * 15 / 16);
	if (w->length + w->length / 8 + PASTS > PB_WINDOW_MOST)
		w->length = (PB_WINDOW_MOST - PASTS) * 8 / 9 - 1;
	w->rounds = scan_rounds(core, *w);
	found->certainty = PB_WINDOW_HALVED;
	found->alone = found->past = 0;
}

enum verdict { AGAIN, NOTHING, FOUND };

static enum verdict learn_once(const pb_core *core, pb_found *found, int last)
{
	double root = root_ticks(core);
	memset(found, 0, sizeof *found);
	if (!overlaps(core, root))
		return NOTHING;
	leap at[PB_FILLERS] = {find_leap(core, PB_NOPS, root), find_leap(core, PB_VECTORS, root)};
	const leap *nops = &at[PB_NOPS], *vectors = &at[PB_VECTORS], *best = nops;
	if (!nops->length && !vectors->length)
		at[PB_INTEGERS] = find_leap(core, PB_INTEGERS, root);
	for (int f = 0; f < PB_FILLERS; f++)
		found->ends[f] = at[f].length;
	int both = nops->length && both_modes(core, nops->length, nops->chain, root, CHECKS);
	int halved = fits(core, nops, 0.5) || (together(nops, vectors) && !fits(core, nops, 1));
	if (halved && !both) {
		if (last)
			infer(core, nops, found);
		return last ? FOUND : AGAIN;
	}
	if (prefer_vectors(nops, vectors))
		best = vectors;
	else if (!nops->length)
		best = &at[PB_INTEGERS];
	if (!best->length)
		return NOTHING;
	pb_window *w = &found->window;
	w->filler = (unsigned)(best - at);
	w->chain = best->chain;
	w->rounds = scan_rounds(core, *w);
	/* No-ops: anything between half of the buffer and all of it will do. Registers: as many as fit, so that one
	 * that somebody else holds is missed. */
	w->length = w->filler == PB_VECTORS ? refine(core, *w, best) : best->length * 15 / 16;
	found->certainty = both && past_half(w, nops->length) ? PB_WINDOW_SURE : PB_WINDOW_LIKELY;
	w->rounds = enough_rounds(core, best->past - best->before);
	for (int t = 0; t < TRIES; t++) /* it may be busy just now */
		if (pb_window_holds(core, found) && found->alone > 0)
			return FOUND;
	return AGAIN;
}

void pb_window_learn(const pb_core *core, pb_found *found)
{
	for (int t = 0; t < TRIES; t++) {
		enum verdict verdict = learn_once(core, found, t == TRIES - 1);
		if (verdict == FOUND)
			return;
		if (verdict == NOTHING)
			break;
		move(core);
	}
	found->certainty = PB_WINDOW_NONE;
	found->window.length = 0;
	found->alone = found->past = 0;
}

unsigned pb_window_past(const pb_window *w)
{
	return w->length + w->length / 8 + PASTS;
}

double pb_window_limit(double alone, double past)
{
	return alone > 0 ? alone * pow(past / alone, BETWEEN) : 0;
}

/* Does the buffer end now where it must beside another thread, if the window is this core's? */
static int ends_halved(const pb_core *core, const pb_found *found, double root)
{
	double low[LENGTHS], whole = found->ends[PB_NOPS];
	pb_window nops = {.filler = PB_NOPS, .chain = found->window.chain};
	nops.rounds = scan_rounds(core, nops);
	scan(core, nops, FROM, STEP, LENGTHS, SHORT_PASSES, low);
	leap now = last_leap(low, nops.chain, nops.chain * root);
	if (!now.length || whole <= 0)
		return 0;
	if (found->certainty != PB_WINDOW_HALVED)
		return fabs(now.length - half_of(found->ends[PB_NOPS], nops.chain)) <= 2 * STEP;
	/* still halved, or whole all the time if both modes are seen here */
	return fabs(now.length - whole) <= 2 * STEP && !both_modes(core, now.length, now.chain, root, CHECKS);
}

/* Does the core hold more than was thought? A chain three times as long tells, because it outlasts the fillers by far
 * while two of them overlap. Registers that others hold come and go, and are no reason. */
static int holds_more(const pb_core *core, const pb_window *w, unsigned nops_end, double root)
{
	double times[CHECKS / 4];
	pb_window longer = *w;
	unsigned end = w->filler == PB_VECTORS ? w->length : w->length * 16 / 15;
	end += past_half(w, nops_end) ? 2 * STEP : STEP / 2;
	longer.chain = w->chain * 3 < PB_CHAIN_MOST ? w->chain * 3 : PB_CHAIN_MOST;
	longer.rounds = w->rounds / 3 > 4 ? w->rounds / 3 : 4;
	end += w->chain; /* roots retire one by one, so that long chains overlap a little until fillers alone fill it */
	if (end > PB_WINDOW_MOST)
		return 0;
	for (int i = 0; i < CHECKS / 4; i++)
		times[i] = read_at(core, longer, end);
	return lowest(times, CHECKS / 4) < SERIAL * longer.chain * root * longer.rounds;
}

int pb_window_holds(const pb_core *core, pb_found *found)
{
	double once[CHECKS], past[CHECKS], root = root_ticks(core);
	const pb_window *w = &found->window;
	found->alone = found->past = 0;
	if (!w->length || pb_window_past(w) > PB_WINDOW_MOST)
		return 0;
	for (int i = 0; i < CHECKS; i++) {
		once[i] = read_at(core, *w, w->length);
		past[i] = read_at(core, *w, pb_window_past(w));
		if (i % MOVE_EVERY == MOVE_EVERY - 1)
			move(core);
	}
	double alone = lowest(once, CHECKS), beyond = lowest(past, CHECKS);
	if (found->certainty != PB_WINDOW_HALVED && holds_more(core, w, found->ends[PB_NOPS], root))
		return 0;                /* it was halved then, or this is another core */
	if (beyond < (1 + LEAP) * alone) /* never alone just now, or a length too long for this core */
		return ends_halved(core, found, root);
	found->alone = alone;
	found->past = beyond;
	if (found->certainty == PB_WINDOW_HALVED)
		found->certainty = PB_WINDOW_LIKELY;
	else if (found->certainty == PB_WINDOW_LIKELY && found->ends[PB_NOPS] &&
		 past_half(w, found->ends[PB_NOPS]) &&
		 both_modes(core, found->ends[PB_NOPS], w->chain, root, CHECKS / 8))
		found->certainty = PB_WINDOW_SURE;
	return 1;
}

static const char *const fillers[] = {"nops", "vectors", "integers"};
static const char *const certainties[] = {"none", "halved", "likely", "sure"};

static unsigned place_of(const char *word, const char *const *words, unsigned count)
{
	unsigned k = 0;
	while (k < count && strcmp(words[k], word) != 0)
		k++;
	return k;
}

void pb_window_write(const pb_found *found, char *text, unsigned room)
{
	const pb_window *w = &found->window;
	text[0] = '\0';
	if (w->length)
		snprintf(text, room, "%s %u %u %u %u %s", fillers[w->filler], w->chain, w->length, w->rounds,
			 found->ends[PB_NOPS], certainties[found->certainty]);
}

int pb_window_parse(const char *text, pb_found *found)
{
	char filler[10], certainty[8];
	pb_window *w = &found->window;
	memset(found, 0, sizeof *found);
	if (!text || sscanf(text, "%9s %u %u %u %u %7s", filler, &w->chain, &w->length, &w->rounds,
			    &found->ends[PB_NOPS], certainty) != 6)
		return 0;
	w->filler = place_of(filler, fillers, PB_FILLERS);
	found->certainty = place_of(certainty, certainties, PB_WINDOW_SURE + 1);
	return w->filler < PB_FILLERS && found->certainty <= PB_WINDOW_SURE &&
	       found->certainty != PB_WINDOW_NONE && w->chain >= 1 && w->chain <= PB_CHAIN_MOST &&
	       w->rounds >= 1 && w->rounds <= PB_ROUNDS_MOST && w->length && w->length <= PB_WINDOW_MOST &&
	       found->ends[PB_NOPS] <= PB_WINDOW_MOST;
}
