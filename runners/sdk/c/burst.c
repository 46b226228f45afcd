#include "burst.h"
#include "material.h"

#include <sched.h>

enum { COLD_AFTER = 8 };               /* looks that find the core busy: 2 us */
static const double WARMED_UP_TO = 10; /* samples that one call lasts */

/* One sample. Nothing but the loop stands between the gauge's two ends. Returns which clock probe it began
 * with. */
static uint64_t take_sample(pb_gauge *g, pb_prepared *p, uint64_t calls, pb_sample *sample)
{
	pb_open_sample open;
	p->c.failures = 0;
	if (p->variant->begin)
		p->variant->begin(&p->c);
	pb_gauge_before(g, &open, sample);
	uint64_t begun = g->clock_at;
	p->variant->loop(&p->c, calls);
	pb_gauge_after(g, &open, sample);
	if (p->c.failures)
		sample->flags |= PB_FAILED_CALL;
	return begun;
}

static uint64_t ticks_of(const pb_gauge *g, pb_prepared *p, uint64_t calls)
{
	if (p->variant->begin)
		p->variant->begin(&p->c);
	uint64_t start = pb_gauge_ticks();
	p->variant->loop(&p->c, calls);
	uint64_t ticks = pb_gauge_ticks() - start, fixed = (uint64_t)g->fixed_ticks;
	return ticks > fixed ? ticks - fixed : 1;
}

/* As many calls as last about sample_us: double until a quarter of that is reached, then scale by the
 * quickest of a few tries, so that a disturbance does not make the samples short. */
static uint64_t choose_calls(const pb_gauge *g, pb_prepared *p, double sample_us)
{
	double goal = sample_us * 1e-6 * g->tick_hz;
	uint64_t calls = 1, ticks = ticks_of(g, p, 1);
	if ((double)ticks > goal && (double)ticks < 20 * goal)
		ticks = ticks_of(g, p, 1); /* the first call of all is often the slowest */
	while ((double)ticks < goal / 4 && calls < (uint64_t)1 << 24)
		ticks = ticks_of(g, p, calls *= 2);
	for (int i = 0; i < 3 && (double)ticks < 20 * goal; i++) {
		uint64_t again = ticks_of(g, p, calls);
		if (again < ticks)
			ticks = again;
	}
	double wanted = (double)calls * goal / (double)ticks;
	p->call_ticks = ticks / calls;
	return wanted < 1 ? 1 : (uint64_t)(wanted + 0.5);
}

/* Wait for a quiet core. After a wait, and on another core, the caches are cold: a sample's worth of calls
 * goes untimed then, and the core is looked at once more. */
static unsigned wait_and_warm(pb_gauge *g, pb_prepared *p, uint64_t calls, int warm, const pb_quiet *quiet,
			      uint64_t until)
{
	unsigned waits = 0;
	for (;;) {
		unsigned found_busy = pb_gauge_wait(g, quiet);
		waits += found_busy;
		if (!warm || found_busy < COLD_AFTER || pb_gauge_ticks() > until)
			return waits;
		ticks_of(g, p, calls);
	}
}

/* Samples since the last clock probe have had none of their own after them: the next one is theirs, if it was
 * taken on the same core. */
static void close_clock(pb_burst *b, int *open_from, const pb_gauge *g)
{
	for (; *open_from < b->count; ++*open_from)
		if (b->samples[*open_from].core == (uint64_t)sched_getcpu())
			b->samples[*open_from].clock_after = g->clock_ticks;
}

void pb_burst_take(pb_gauge *g, pb_prepared *p, const pb_burst_request *r, pb_burst *b)
{
	uint64_t start = pb_gauge_ticks();
	double limit = r->limit_ms * 1e-3 * g->tick_hz;
	int clean = 0;

	int open_from = 0;
	b->count = 0;
	b->waits = 0;
	b->calls = r->calls ? r->calls : choose_calls(g, p, r->sample_us);
	if (!r->calls && p->c.turns > 1) /* whole turns of the ring: the mean of all its messages */
		b->calls += (p->c.turns - b->calls % p->c.turns) % p->c.turns;
	/* a call of many samples' length warms itself up */
	int warm = b->calls > 1 ||
		   (p->call_ticks && (double)p->call_ticks < WARMED_UP_TO * r->sample_us * 1e-6 * g->tick_hz);
	if (warm) /* caches and predictors saw other cells meanwhile */
		ticks_of(g, p, b->calls);
	do {
		pb_sample *sample = &b->samples[b->count];
		b->waits += wait_and_warm(g, p, b->calls, warm, &r->quiet, start + (uint64_t)limit);
		uint64_t probed = g->clock_at, begun = take_sample(g, p, b->calls, sample);
		if (begun != probed)
			close_clock(b, &open_from, g);
		b->count++;
		if (g->clock_at != begun)
			close_clock(b, &open_from, g);
		p->call_ticks = sample->ticks / b->calls;
		clean += pb_gauge_clean(g, &r->quiet, r->clock_tolerance, sample);
	} while (b->count < r->samples && b->count < PB_MAX_SAMPLES && !(r->clean && clean >= r->clean) &&
		 (double)(pb_gauge_ticks() - start) < limit);
	pb_gauge_clock(g);
	close_clock(b, &open_from, g);
	if (p->variant->show)
		p->variant->show(&p->c);
	b->digest = pb_digest(p->c.out, p->c.out_len);
}
