#include "effect.h"

#include <math.h>
#include <stdlib.h>

/* Looks of one kind on each side of the limit; fewer prove nothing. And below it, fewer do not prove that they are of
 * two kinds. */
enum { LEAST = 8, MANY = 20 };

/* Where a neighbour costs less than this, it cannot be told by the cost of a few hundred looks. */
static const double FELT = 1.1;

/* Of the looks below the limit, so many must cost less than the middle between the cheapest and those above; of those
 * above, at most so many may. A limit that takes shared looks for alone ones has both kinds below it. Some looks are
 * wrong by nature: a neighbour comes or goes between reading and work. */
static const double CHEAP = 0.975, DEAR = 0.5;

/* With fewer cheap ones than this share below it, a limit does not tell; in between nothing is said. */
static const double MIXED = 0.85;

/* Shares of a few hundred looks that differ by no more are one. */
static const double SAME = 0.01;

/* Work that costs so many times what the core can do is not cheap, however dear a neighbour makes it. */
static const double NEAR = 1.15;

/* The share of the cheapest looks whose mean is what the core can do. */
static const double CHEAPEST = 0.02;

/* Modes of one detector differ by as much at the least, and each has so much of the readings. */
static const double APART = 1.25, RAREST = 0.01;

/* Readings beyond so many times the median are no mode: an interrupt. */
static const double OUTLIER = 2;

static int ascending(const void *a, const void *b)
{
	float x = *(const float *)a, y = *(const float *)b;
	return (x > y) - (x < y);
}

typedef struct sides {
	float all[PB_LOOKS_MOST], below[PB_LOOKS_MOST], above[PB_LOOKS_MOST];
	int looks, kept, dear;
} sides;

static void divide(sides *s, const pb_look *look, int count, unsigned work, double limit)
{
	s->looks = s->kept = s->dear = 0;
	for (int i = 0; i < count; i++) {
		if (look[i].work != work)
			continue;
		s->all[s->looks++] = look[i].ticks;
		if (look[i].before <= limit && look[i].after <= limit)
			s->below[s->kept++] = look[i].ticks;
		else if (look[i].before > limit && look[i].after > limit)
			s->above[s->dear++] = look[i].ticks;
	}
	qsort(s->all, (size_t)s->looks, sizeof *s->all, ascending);
	qsort(s->below, (size_t)s->kept, sizeof *s->below, ascending);
	qsort(s->above, (size_t)s->dear, sizeof *s->above, ascending);
}

static double share_under(const float *values, int count, double limit)
{
	int under = 0;
	while (under < count && values[under] < limit)
		under++;
	return (double)under / count;
}

static double cheapest(const sides *s)
{
	int count = (int)fmax(3, CHEAPEST * s->looks);
	double sum = 0;
	for (int i = 0; i < count; i++)
		sum += s->all[i];
	return sum / count;
}

pb_effect pb_effect_judge(const pb_look *look, int count, double limit)
{
	static sides s;
	float costs[PB_WORKS];
	int seen = 0, tell = 0, open = 0;
	pb_effect effect = {PB_UNSEEN, 0, 0, 0};
	count = count < PB_LOOKS_MOST ? count : PB_LOOKS_MOST;
	for (int i = 0; i < count; i++)
		effect.kept += (look[i].before <= limit && look[i].after <= limit) / (double)count;
	for (unsigned work = 0; work < PB_WORKS; work++) {
		divide(&s, look, count, work, limit);
		if (s.kept < LEAST || s.dear < LEAST)
			continue;
		double low = cheapest(&s), high = s.above[s.dear / 2],
		       middle = fmin(sqrt(low * high), NEAR * low);
		costs[seen++] = (float)(high / s.below[s.kept / 2]);
		if (high < FELT * low)
			continue;
		double pure = share_under(s.below, s.kept, middle);
		if (work ==
		    PB_WORK_OF_LOADS) /* a cache that a neighbour used costs more for a while after it is gone */
			continue;
		effect.pure = fmax(effect.pure, pure);
		tell |= pure >= CHEAP && share_under(s.above, s.dear, middle) <= DEAR;
		open |= pure >= MIXED || s.kept < MANY;
	}
	if (!seen)
		return effect;
	qsort(costs, (size_t)seen, sizeof *costs, ascending);
	effect.costs = costs[seen / 2];
	effect.verdict = tell ? PB_TELLS : open ? PB_UNSEEN : PB_USELESS;
	return effect;
}

int pb_effect_better(const pb_effect *a, const pb_effect *b)
{
	return fabs(a->pure - b->pure) > SAME ? a->pure > b->pure : a->kept > b->kept + SAME;
}

pb_modes pb_effect_modes(const pb_look *look, int count)
{
	static float values[2 * PB_LOOKS_MOST];
	count = count < PB_LOOKS_MOST ? count : PB_LOOKS_MOST;
	int n = 2 * count;
	pb_modes modes = {0, 0};
	double sum = 0, below = 0, best = 0;
	for (int i = 0; i < count; i++) {
		values[2 * i] = logf(fmaxf(look[i].before, 1));
		values[2 * i + 1] = logf(fmaxf(look[i].after, 1));
	}
	qsort(values, (size_t)n, sizeof *values, ascending);
	float most = n ? values[n / 2] + (float)log(OUTLIER) : 0;
	for (int i = 0; i < n; i++) {
		values[i] = fminf(values[i], most);
		sum += values[i];
	}
	/* the cut with the greatest variance between its sides (N. Otsu, "A Threshold Selection Method from Gray-Level
	 * Histograms", 1979) */
	for (int k = 1; k < n; k++) {
		below += values[k - 1];
		double low = below / k, high = (sum - below) / (n - k),
		       between = (double)k * (n - k) * (high - low) * (high - low);
		if (between > best) {
			best = between;
			modes = high - low >= log(APART) && k >= RAREST * n && n - k >= RAREST * n
					? (pb_modes){exp(low), exp(high)}
					: (pb_modes){0, 0};
		}
	}
	return modes;
}
