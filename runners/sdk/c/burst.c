#include "burst.h"
#include "material.h"

/* One sample. Nothing but the loop stands between the gauge's two ends. */
static void take_sample(const pb_gauge *g, pb_prepared *p, uint64_t calls, pb_sample *sample)
{
	pb_open_sample open;
	p->c.failures = 0;
	if (p->variant->begin)
		p->variant->begin(&p->c);
	pb_gauge_before(g, &open, sample);
	p->variant->loop(&p->c, calls);
	pb_gauge_after(g, &open, sample);
	if (p->c.failures)
		sample->flags |= PB_FAILED_CALL;
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
	return wanted < 1 ? 1 : (uint64_t)(wanted + 0.5);
}

void pb_burst_take(const pb_gauge *g, pb_prepared *p, const pb_burst_request *r, pb_burst *b)
{
	uint64_t start = pb_gauge_ticks();
	double limit = r->limit_ms * 1e-3 * g->tick_hz;
	int clean = 0;

	b->count = 0;
	b->waits = 0;
	b->calls = r->calls ? r->calls : choose_calls(g, p, r->sample_us);
	if (!r->calls && p->c.turns > 1) /* whole turns of the ring: the mean of all its messages */
		b->calls += (p->c.turns - b->calls % p->c.turns) % p->c.turns;
	if (b->calls > 1) /* caches and predictors saw other cells meanwhile */
		ticks_of(g, p, b->calls);
	do {
		pb_sample *sample = &b->samples[b->count];
		b->waits += pb_gauge_wait(g, &r->quiet);
		take_sample(g, p, b->calls, sample);
		b->count++;
		clean += pb_gauge_clean(g, &r->quiet, r->clock_tolerance, sample);
	} while (b->count < r->samples && b->count < PB_MAX_SAMPLES && !(r->clean && clean >= r->clean) &&
		 (double)(pb_gauge_ticks() - start) < limit);
	if (p->variant->show)
		p->variant->show(&p->c);
	b->digest = pb_digest(p->c.out, p->c.out_len);
}
