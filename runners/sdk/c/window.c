#include "window.h"

#include <math.h>
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

/* Where a window lies, as a share of the longest that fits: in the middle between the whole buffer and its half, so
 * that neither leap is near. Any length between reads the same. */
static const double MIDDLE = 0.75, NEARLY = 15.0 / 16;

/* Looks at the effect of a window: when it is learnt, and when it is checked. While it is learnt, until it shows or so
 * many rounds are over. */
enum { LOOKS = 1600, LOOKS_AGAIN = 320, ROUNDS_OF_LOOKS = 4, CANDIDATES = 3 };

/* Of the readings of a window, so many may lie within a tenth of its limit; more, and it is no limit. */
static const double EDGE = 1.1, AT_EDGE = 0.1;

/* Where what it refuses costs less than this, a window does no harm, and may be of use when somebody else comes. */
static const double HARMLESS = 1.05;

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

/* A window for a leap that was seen: its filler and chain, `length` long. */
static pb_window window_of(const pb_core *core, unsigned filler, const leap *at, double length)
{
	double longest = (PB_WINDOW_MOST - PASTS) / (1 / MIDDLE + 1.0 / 16) - 1;
	pb_window w = {.filler = filler, .chain = at->chain, .length = (unsigned)fmin(length, longest)};
	w.rounds = at->past > at->before ? enough_rounds(core, at->past - at->before) : scan_rounds(core, w);
	return w;
}

/* The same of a buffer of which only half was seen: a chain that outlasts twice the fillers. */
static pb_window window_of_whole(const pb_core *core, const leap *nops)
{
	double whole = fits(core, nops, 0.5) ? core->entries : 2 * (nops->length + nops->chain + ENDS);
	leap at = *nops;
	int c = 0;
	while (c < CHAINS - 1 && chains[c] < 2 * nops->chain)
		c++;
	at.chain = chains[c];
	at.before = at.past = 0;
	return window_of(core, PB_NOPS, &at, (whole - at.chain - ENDS) * MIDDLE);
}

/* Looks at several windows at once: work between two readings of each. */
static int take_looks(const pb_core *core, const pb_window *w, int windows, int count,
		      pb_look looks[][PB_LOOKS_MOST], int taken)
{
	for (int i = 0; i < count && taken < PB_LOOKS_MOST; i++, taken++) {
		enum pb_work kind = (enum pb_work)(taken % PB_WORKS);
		for (int k = 0; k < windows; k++)
			looks[k][taken].before = (float)core->read(core->self, &w[k]);
		float ticks = (float)core->work(core->self, kind);
		for (int k = 0; k < windows; k++) {
			looks[k][taken].after = (float)core->read(core->self, &w[k]);
			looks[k][taken].work = kind;
			looks[k][taken].ticks = ticks;
		}
		if (i % MOVE_EVERY == MOVE_EVERY - 1)
			move(core);
	}
	return taken;
}

/* Which of the windows tells, by its effect; -1 where none is seen to. */
static int choose(const pb_core *core, const pb_window *w, int windows, pb_effect *effect, pb_modes *read)
{
	static pb_look looks[CANDIDATES][PB_LOOKS_MOST];
	int best = -1, taken = 0;
	for (int round = 0; round < ROUNDS_OF_LOOKS && best < 0; round++) {
		taken = take_looks(core, w, windows, LOOKS, looks, taken);
		for (int k = 0; k < windows; k++) {
			pb_modes modes = pb_effect_modes(looks[k], taken);
			double limit = pb_window_limit(modes.low, modes.high);
			pb_effect seen = pb_effect_judge(looks[k], taken, limit);
			if (limit > 0 && seen.verdict == PB_TELLS &&
			    (best < 0 || pb_effect_better(&seen, effect))) {
				best = k;
				*effect = seen;
				*read = modes;
			}
		}
	}
	return best;
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
	/* no-ops see the buffer alone, which a halted thread gives back at once; registers it may hold for minutes */
	for (int f = 0; f < PB_FILLERS && !best->length; f++)
		best = &at[f];
	if (!best->length)
		return NOTHING;
	unsigned filler = (unsigned)(best - at);
	/* where another thread takes something else than half, nearly the whole may tell where the middle does not */
	pb_window windows[CANDIDATES] = {
		window_of(core, filler, best, best->length * MIDDLE),
		window_of(core, filler, best, best->length * (best == nops ? NEARLY : 1))};
	/* both modes at half of a leap tell that it is the whole one; at half of a halved buffer's, of three chains, too */
	int count = 2,
	    halved = best == nops &&
		     (fits(core, nops, 0.5) || (together(nops, vectors) && !fits(core, nops, 1) &&
						!both_modes(core, nops->length, nops->chain, root, CHECKS)));
	if (best == nops)
		windows[count++] = window_of_whole(core, nops);
	pb_effect effect = {PB_UNSEEN, 0, 0, 0};
	pb_modes modes = {0, 0};
	int chosen = choose(core, windows, count, &effect, &modes);
	if (chosen < 0 && halved) {
		if (!last)
			return AGAIN;
		found->window = windows[2];
		found->certainty = PB_WINDOW_HALVED;
		return FOUND;
	}
	/* registers end where nobody knows, so that as many as fit see most */
	found->window = windows[chosen >= 0 ? chosen : best != nops];
	found->certainty = PB_WINDOW_LIKELY; /* until another process sees its effect, too */
	found->costs = effect.costs;
	found->alone = modes.low;
	found->past = modes.high;
	if (chosen == 2) /* the leap was that of the half */
		found->ends[PB_NOPS] = (unsigned)(found->window.length / MIDDLE);
	if (chosen >= 0)
		return FOUND;
	for (int t = 0; t < TRIES; t++) /* it may be busy just now */
		if (pb_window_holds(core, found) && found->alone > 0)
			return FOUND;
	found->alone = found->past = 0; /* a core that shows a leap is watched by it, or by nothing yet */
	return last ? FOUND : AGAIN;
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
	found->alone = found->past = found->costs = 0;
}

unsigned pb_window_past(const pb_window *w)
{
	return (unsigned)(w->length / MIDDLE) + w->length / 16 + PASTS;
}

double pb_window_limit(double alone, double past)
{
	return alone > 0 ? sqrt(alone * past) : 0;
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
 * while two of them overlap. */
static int holds_more(const pb_core *core, const pb_found *found, double root)
{
	double times[CHECKS / 4];
	const pb_window *w = &found->window;
	pb_window longer = *w;
	unsigned end = found->ends[w->filler] + 2 * STEP;
	longer.chain = w->chain * 3 < PB_CHAIN_MOST ? w->chain * 3 : PB_CHAIN_MOST;
	longer.rounds = w->rounds / 3 > 4 ? w->rounds / 3 : 4;
	end += w->chain; /* roots retire one by one, so that long chains overlap a little until fillers alone fill it */
	if (end > PB_WINDOW_MOST)
		return 0;
	for (int i = 0; i < CHECKS / 4; i++)
		times[i] = read_at(core, longer, end);
	return lowest(times, CHECKS / 4) < SERIAL * longer.chain * root * longer.rounds;
}

/* Of these ascending readings, do more than a few lie near the limit? */
static int at_edge(const double *readings, int count, double limit)
{
	int near = 0;
	for (int i = 0; i < count; i++)
		near += readings[i] > limit / EDGE && readings[i] < limit * EDGE;
	return near > AT_EDGE * count;
}

/* Look at the effect once more; 0 if what it takes for alone is of two kinds. */
static int still_tells(const pb_core *core, pb_found *found)
{
	static pb_look looks[1][PB_LOOKS_MOST];
	int taken = take_looks(core, &found->window, 1, LOOKS_AGAIN, looks, 0);
	pb_effect seen = pb_effect_judge(looks[0], taken, pb_window_limit(found->alone, found->past));
	if (seen.verdict == PB_TELLS) {
		/* registers may be held by a halted thread, and end where nobody knows */
		if (found->costs > 0 && found->window.filler == PB_NOPS)
			found->certainty = PB_WINDOW_SURE;
		found->costs = seen.costs;
	}
	return seen.verdict != PB_USELESS || seen.costs < HARMLESS;
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
	if (found->certainty != PB_WINDOW_HALVED && holds_more(core, found, root))
		return 0;                /* it was halved then, or this is another core */
	if (beyond < (1 + LEAP) * alone) /* never alone just now, or a length too long for this core */
		return ends_halved(core, found, root);
	if (found->certainty == PB_WINDOW_HALVED)
		return 0; /* a pause: now it can be seen */
	if (at_edge(once, CHECKS, pb_window_limit(alone, beyond)))
		return 0;
	found->alone = alone;
	found->past = beyond;
	return still_tells(core, found);
}
