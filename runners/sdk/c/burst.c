#include "burst.h"
#include "fresh.h"
#include "kernel.h"
#include "material.h"
#include "pieces.h"
#include "urgent.h"

#include <math.h>
#include <sched.h>

enum { COLD_AFTER = 8 }; /* looks that find the core busy: 2 us */
enum { SETTLES = 4 };    /* samples' worth of calls that outlast what a system call leaves (kernel.h) */
static const double WARMED_UP_TO = 10; /* samples that one call lasts */

/* A piece where the case is cut, else calls as they are. The state is made anew for calls only. */
static const pb_variant *next_work(pb_prepared *p, int cut, uint64_t calls)
{
	if (cut) {
		pb_pieces_step(p);
		return p->piece.variant;
	}
	if (p->c.message[0] && p->c.message[0] == p->varied)
		pb_case_vary_step(p, pb_gauge_ticks());
	pb_case_begin(p, calls);
	return p->variant;
}

static inline void make_calls(pb_prepared *p, const pb_variant *work, uint64_t calls)
{
	if (p->fresh.area)
		pb_fresh_calls(p, work, calls);
	else
		work->loop(&p->c, calls);
}

/* One sample. Nothing but the loop stands between the gauge's two ends. Returns which clock probe it began
 * with. */
static uint64_t take_sample(pb_gauge *g, pb_prepared *p, int cut, uint64_t calls, pb_sample *sample)
{
	pb_open_sample open;
	p->c.failures = 0;
	const pb_variant *work = next_work(p, cut, calls);
	pb_fresh_forget(p);
	pb_gauge_before(g, &open, sample);
	uint64_t begun = g->clock_at;
	make_calls(p, work, calls);
	pb_gauge_after(g, &open, sample);
	if (p->c.failures)
		sample->flags |= PB_FAILED_CALL;
	return begun;
}

static uint64_t ticks_of(const pb_gauge *g, pb_prepared *p, int cut, uint64_t calls)
{
	const pb_variant *work = next_work(p, cut, calls);
	uint64_t start = pb_gauge_ticks();
	make_calls(p, work, calls);
	uint64_t ticks = pb_gauge_ticks() - start, fixed = (uint64_t)g->fixed_ticks;
	return ticks > fixed ? ticks - fixed : 1;
}

/* A midmean of readings that are one step apart errs by up to a quarter of a step: by less than 0.1 % of so many. Only
 * counters below 25 MHz make samples longer by it. */
static const double STEPS_OF_A_SAMPLE = 300;

/* As many calls as last about sample_us: double until a quarter of that is reached, then scale by the
 * quickest of a few tries, so that a disturbance does not make the samples short; go on where that was one. */
static uint64_t choose_calls(const pb_gauge *g, pb_prepared *p, double sample_us)
{
	double goal = fmax(sample_us * 1e-6 * g->tick_hz, STEPS_OF_A_SAMPLE * (double)g->tick_quantum);
	uint64_t most = p->c.most ? p->c.most : (uint64_t)1 << 24, calls = 1, ticks = ticks_of(g, p, 0, 1);
	if ((double)ticks > goal && (double)ticks < 20 * goal)
		ticks = ticks_of(g, p, 0, 1); /* the first call of all is often the slowest */
	do {
		while ((double)ticks < goal / 4 && calls < most)
			ticks = ticks_of(g, p, 0, calls = 2 * calls < most ? 2 * calls : most);
		for (int i = 0; i < 3 && (double)ticks < 20 * goal; i++) {
			uint64_t again = ticks_of(g, p, 0, calls);
			if (again < ticks)
				ticks = again;
		}
	} while ((double)ticks < goal / 4 && calls < most);
	double wanted = (double)calls * goal / (double)ticks;
	if (p->c.most && wanted > p->c.most)
		wanted = p->c.most;
	p->call_ticks = ticks / calls;
	return wanted < 1 ? 1 : (uint64_t)(wanted + 0.5);
}

/* Wait for a quiet core. After a wait the caches are cold: a sample's worth of calls goes untimed then, and the core is
 * looked at once more. On another core, which takes a system call, so many that what it predicts has settled. */
static unsigned wait_and_warm(pb_gauge *g, pb_prepared *p, int cut, uint64_t calls, int warm,
			      const pb_quiet *quiet, uint64_t until)
{
	unsigned waits = 0;
	for (;;) {
		int core = g->core;
		unsigned found_busy = pb_gauge_wait(g, quiet);
		waits += found_busy;
		if (!warm || found_busy < COLD_AFTER || pb_gauge_ticks() > until)
			return waits;
		for (int i = 0; i < (g->core == core ? 1 : SETTLES); i++)
			ticks_of(g, p, cut, calls);
	}
}

/* Two samples' worth of calls in a row that differ by less are one rhythm. */
static const double SAME_RHYTHM = 0.01;

/* Make untimed calls, or pieces, until the core is warm: for warm_least_us at the least, then until two samples' worth
 * in a row agree, for warm_us at the most. Caches and predictors saw other cells meanwhile; and on some cores a loop of
 * short calls runs up to half slower for some milliseconds after other work, in steps, until the core has found its best
 * rhythm (docs/measurement.md). Returns the ticks of the last sample's worth. */
static uint64_t warm_up(const pb_gauge *g, pb_prepared *p, int cut, uint64_t calls, const pb_burst_request *r)
{
	uint64_t start = pb_gauge_ticks(), most = (uint64_t)(r->warm_us * 1e-6 * g->tick_hz),
		 least = (uint64_t)(fmin(r->warm_least_us, r->warm_us) * 1e-6 * g->tick_hz), ticks = 0, gone;
	double step = (double)g->tick_quantum;
	int same;
	do {
		uint64_t before = ticks;
		ticks = ticks_of(g, p, cut, calls);
		gone = pb_gauge_ticks() - start;
		same = fabs((double)ticks - (double)before) <= SAME_RHYTHM * (double)ticks + step;
	} while (gone < least || (!same && gone < most));
	return ticks;
}

void pb_burst_close_clock(pb_burst *b, int *open_from, const pb_gauge *g)
{
	for (; *open_from < b->count; ++*open_from)
		if (b->samples[*open_from].core == (uint64_t)sched_getcpu())
			b->samples[*open_from].clock_after = g->clock_ticks;
}

/* The digest of what the last call gave. */
static uint64_t shown(pb_prepared *p)
{
	if (p->variant->show)
		p->variant->show(&p->c);
	return pb_digest(p->c.out, p->c.out_len);
}

void pb_burst_take(pb_gauge *g, pb_prepared *p, const pb_burst_request *r, pb_burst *b)
{
	double limit = r->limit_ms * 1e-3 * g->tick_hz;
	uint64_t begun_at = pb_gauge_ticks();
	int clean = 0, open_from = 0, cut = r->piece_bytes && pb_pieces_begin(p, r->piece_bytes);

	b->count = 0;
	b->waits = 0;
	for (int i = 0; i < r->samples && i < PB_MAX_SAMPLES; i++) /* its pages, before the first sample */
		b->samples[i].flags = 0;
	b->piece_bytes = cut ? r->piece_bytes : 0;
	int varies = !cut && pb_case_vary_begin(p);
	b->calls = cut ? 1 : r->calls ? r->calls : choose_calls(g, p, r->sample_us);
	if (!b->piece_bytes && !r->calls && !varies &&
	    p->c.turns > 1) /* whole turns of the ring: the mean of all its messages */
		b->calls += (p->c.turns - b->calls % p->c.turns) % p->c.turns;
	/* a call of many samples' length warms itself up; unasked, nothing may be called that is not timed */
	int warm =
		r->warm_us > 0 &&
		(cut || b->calls > 1 ||
		 (p->call_ticks && (double)p->call_ticks < WARMED_UP_TO * r->sample_us * 1e-6 * g->tick_hz));
	b->warm_ticks = b->wait_ticks = 0;
	uint64_t warmed_at = pb_gauge_ticks(), length = p->call_ticks * b->calls;
	if (warm) /* touches all that a sample does, so that no page is missing later */
		take_sample(g, p, cut, b->calls, b->samples);
	else if (r->warm_us > 0 && !p->call_ticks && !cut) /* a language warms up where it first begins */
		pb_case_begin(p, b->calls);
	pb_urgent urgent;
	pb_urgent_begin(&urgent, g, length);
	pb_kernel_begin(g);
	if (warm) { /* after the last system call */
		length = warm_up(g, p, cut, b->calls, r);
		p->call_ticks = length / b->calls;
	}
	uint64_t start = pb_gauge_ticks();
	b->warm_ticks = start - warmed_at;
	do {
		pb_sample *sample = &b->samples[b->count];
		uint64_t looked_at = pb_gauge_ticks();
		b->waits += wait_and_warm(g, p, cut, b->calls, warm, &r->quiet, start + (uint64_t)limit);
		b->wait_ticks += pb_gauge_ticks() - looked_at;
		pb_urgent_check(&urgent, length);
		if (varies && b->count == 0) /* others know what is signed in the first sample */
			pb_case_vary_end(p);
		uint64_t probed = g->clock_at, begun = take_sample(g, p, cut, b->calls, sample);
		if (begun != probed)
			pb_burst_close_clock(b, &open_from, g);
		b->count++;
		if (varies && b->count == 1) {
			b->digest = shown(p);
			pb_case_vary_begin(p);
		}
		if (g->clock_at != begun)
			pb_burst_close_clock(b, &open_from, g);
		length = sample->ticks;
		p->call_ticks = length / b->calls;
		clean += pb_gauge_clean(g, &r->quiet, r->clock_tolerance, sample);
	} while (b->count < r->samples && b->count < PB_MAX_SAMPLES && !(r->clean && clean >= r->clean) &&
		 (double)(pb_gauge_ticks() - start) < limit);
	pb_kernel_end(g, b->samples, b->count);
	pb_urgent_end(&urgent);
	pb_gauge_clock(g);
	pb_burst_close_clock(b, &open_from, g);
	pb_pieces_whole(p);
	if (varies)
		pb_case_vary_end(p);
	else if (!cut)
		b->digest = shown(p);
	else if (p->piece.variant->show)
		p->piece.variant->show(&p->c);
	/* of pieces nobody compares it, and 10 MB take longer than the burst */
	if (cut)
		b->digest = pb_digest(p->c.out, p->c.row->output ? p->c.out_len : r->piece_bytes);
	b->whole_ticks = pb_gauge_ticks() - begun_at;
}
