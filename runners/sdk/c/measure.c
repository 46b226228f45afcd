/* calibrate, watch and measure. */
#include "burst.h"
#include "contention.h"
#include "forked.h"
#include "fresh.h"
#include "serve.h"
#include "threads.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <math.h>
#include <sched.h>
#include <stdlib.h>

enum { MOST_MS = 60000, MOST_INTERVALS = 40000, MOST_WARM_US = 1000000 };

void pb_calibrate(pb_server *s, const pb_request *q)
{
	double limit = pb_get_number(q, "limit_ms", 20);
	double patience = pb_get_number(q, "patience_ms", 0);
	pb_known known = {.window = pb_get_text(q, "contention_window", ""),
			  .floor = pb_get_number(q, "contention_floor", 0),
			  .shared = pb_get_number(q, "contention_shared", 0)};
	pb_gauge *g = &s->gauge;
	pb_gauge_cores(g, pb_get_text(q, "cores", ""));
	pb_gauge_calibrate(g, limit < 0 || limit > MOST_MS ? 20 : limit,
			   patience < 0 || patience > MOST_MS ? 0 : patience, &known);
	if (s->runner->empty)
		g->fixed_ticks = pb_gauge_entry(g, s->runner->empty);
	s->calibrated = 1;
	pb_begin_answer(s);
	pb_add_string(s, "cycle_source", g->cycle_source);
	pb_add_string(s, "reason", g->reason);
	pb_text_add(&s->answer,
		    ",\"tick_hz\":%.3f,\"tick_quantum\":%" PRIu64
		    ",\"probe_cycles\":%.4f,\"contention_floor\":%.4f"
		    ",\"fixed_ticks\":%.4f,\"selfcheck\":{\"add\":%.5f,\"rotate\":%.5f}",
		    g->tick_hz, g->tick_quantum, g->probe_cycles, g->contention_floor, g->fixed_ticks,
		    g->check_add, g->check_rotate);
	pb_add_string(s, "contention_probe", g->detector);
	pb_add_string(s, "contention_window", g->found);
	pb_add_string(s, "processor", g->processor);
	pb_text_add(&s->answer,
		    ",\"contention_length\":%u,\"contention_shared\":%.4f,\"contention_limit\":%.4f"
		    ",\"waited_ms\":%.1f,\"alone\":%.4f}",
		    g->length, g->contention_shared, g->contention_limit, g->waited_ms, g->alone);
}

static void add_array(pb_server *s, const char *name, const pb_burst *b, size_t field)
{
	pb_text_add(&s->answer, ",\"%s\":[", name);
	for (int i = 0; i < b->count; i++)
		pb_text_add(&s->answer, "%s%" PRIu64, i ? "," : "",
			    *(const uint64_t *)(const void *)((const char *)&b->samples[i] + field));
	pb_text_add(&s->answer, "]");
}

void pb_add_samples(pb_server *s, const pb_burst *b)
{
	add_array(s, "start", b, offsetof(pb_sample, start));
	add_array(s, "ticks", b, offsetof(pb_sample, ticks));
	add_array(s, "clock_before", b, offsetof(pb_sample, clock_before));
	add_array(s, "clock_after", b, offsetof(pb_sample, clock_after));
	add_array(s, "contention_before", b, offsetof(pb_sample, contention_before));
	add_array(s, "contention_after", b, offsetof(pb_sample, contention_after));
	add_array(s, "core", b, offsetof(pb_sample, core));
	if (s->gauge.pmu >= 0)
		add_array(s, "cycles", b, offsetof(pb_sample, cycles));
	else
		pb_text_add(&s->answer, ",\"cycles\":[]");
	pb_text_add(&s->answer, ",\"flags\":[");
	for (int i = 0; i < b->count; i++)
		pb_text_add(&s->answer, "%s%" PRIu32, i ? "," : "", b->samples[i].flags);
	pb_text_add(&s->answer, "]");
}

/* How many samples each fork or thread took; nothing where there was none. */
static void add_counts(pb_server *s, const char *name, const int *counts, int number)
{
	if (number)
		pb_text_add(&s->answer, ",\"%s\":[", name);
	for (int i = 0; i < number; i++)
		pb_text_add(&s->answer, "%d%s", counts[i], i + 1 == number ? "]" : ",");
}

/* Where the library was loaded, and where the loop lies that calls it. */
static void place_code(uint64_t *placed, const pb_runner *runner, const pb_prepared *p)
{
	Dl_info info;
	const void *loop = (const void *)(uintptr_t)p->variant->loop;
	placed[PB_CALLER_AT] = (uintptr_t)loop;
	if (dladdr(runner->object ? runner->object : loop, &info))
		placed[PB_LIBRARY_AT] = (uintptr_t)info.dli_fbase;
}

static void add_placed(pb_server *s, const uint64_t *placed)
{
	for (int i = 0; i < PB_PLACED; i++)
		pb_text_add(&s->answer, "%s%" PRIu64, i ? "," : ",\"placed\":[", placed[i]);
	pb_text_add(&s->answer, "]");
}

/* Four numbers of bytes below a page; 0 where the text is something else. */
static int read_places(const char *text, pb_places *at)
{
	size_t *of[] = {&at->stack, &at->heap, &at->input, &at->output};
	for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
		char *end;
		unsigned long value = strtoul(text, &end, 10);
		if (end == text || value >= 4096 || *end != (i < 3 ? ',' : '\0'))
			return 0;
		*of[i] = value;
		text = end + 1;
	}
	return 1;
}

void pb_measure(pb_server *s, const pb_request *q)
{
	static pb_burst b;
	pb_prepared *p = pb_find_handle(s, q);
	if (!p)
		return;
	if (!s->calibrated) {
		pb_gauge_cores(&s->gauge, "");
		pb_gauge_calibrate(&s->gauge, 20, 0, NULL);
		s->calibrated = 1;
	}
	pb_burst_request r = {
		.samples = (int)pb_get_integer(q, "samples", 1),
		.clean = (int)pb_get_integer(q, "clean", 0),
		.limit_ms = pb_get_number(q, "limit_ms", 10),
		.calls = pb_get_unsigned(q, "calls", 0),
		.layout = pb_get_unsigned(q, "layout", 0),
		.piece_bytes = pb_get_unsigned(q, "piece_bytes", 0),
		.sample_us = pb_get_number(q, "sample_us", 50),
		.warm_us = fmin(pb_get_number(q, "warm_us", 0), MOST_WARM_US),
		.warm_least_us = pb_get_number(q, "warm_least_us", MOST_WARM_US),
		.clock_tolerance = pb_get_number(q, "clock_tolerance", 0.005),
		.quiet = {.floor = pb_get_number(q, "contention_floor", 0),
			  .tolerance = pb_get_number(q, "contention_tolerance", 0.01),
			  .patience = (unsigned)pb_get_integer(q, "patience", 0)},
	};
	char words[sizeof p->c.error];
	int forked = 0, forks = (int)pb_get_integer(q, "forks", 0), threaded = 0;
	const char *cores = pb_get_text(q, "threads", "");
	const char *places = pb_get_text(q, "places", "");
	pb_places at;
	if (*places && !read_places(places, &at)) {
		pb_refuse(s, "malformed", "places: four numbers of bytes below 4096, with commas");
		return;
	}
	if (*cores && (forks || pb_get_unsigned(q, "walk_bytes", 0) || pb_get_truth(q, "from_disk"))) {
		pb_refuse(s, "malformed", "threads: not with forks, walk_bytes or from_disk");
		return;
	}
	r.places = *places ? &at : NULL;
	static int counts[PB_MAX_FORKS];
	if (r.samples > PB_MAX_SAMPLES)
		r.samples = PB_MAX_SAMPLES;
	p->c.error[0] = '\0';
	if (forks > 0 && !s->runner->empty) /* a language's own runtime has threads */
		forked = pb_forked_take(&s->gauge, p, &r, forks, &b, counts, words, sizeof words);
	if (forked < 0) {
		pb_refuse(s, "library", words);
		return;
	}
	uint64_t walk_bytes = pb_get_unsigned(q, "walk_bytes", 0);
	int from_disk = pb_get_truth(q, "from_disk"), fresh = walk_bytes || from_disk;
	const char *code = fresh ? pb_fresh_begin(p, walk_bytes, from_disk, words) : NULL;
	if (code) {
		pb_refuse(s, code, words);
		return;
	}
	if (*cores && !s->runner->empty)
		threaded = pb_threads_take(&s->gauge, p, &r, cores, &b, counts, words, sizeof words);
	if (*cores && threaded <= 0) {
		pb_refuse(s, "library",
			  s->runner->empty ? "this runner's calls cannot be made by threads" : words);
		return;
	}
	if (!forked && !threaded)
		pb_burst_take(&s->gauge, p, &r, &b);
	if (fresh)
		pb_fresh_end(p);
	if (p->c.error[0]) { /* a benchmark that ended, or threw: its calls took no time */
		pb_refuse(s, "library", p->c.error);
		return;
	}
	pb_begin_answer(s);
	add_counts(s, "forked", counts, forked);
	add_counts(s, "threaded", counts, threaded);
	if (forked && r.places) {
		place_code(b.placed, s->runner, p);
		add_placed(s, b.placed);
	}
	pb_text_add(&s->answer,
		    ",\"whole_ticks\":%" PRIu64 ",\"warm_ticks\":%" PRIu64 ",\"wait_ticks\":%" PRIu64,
		    b.whole_ticks, b.warm_ticks, b.wait_ticks);
	pb_text_add(&s->answer, ",\"calls\":%" PRIu64 ",\"waits\":%" PRIu64 ",\"digest\":\"%016" PRIx64 "\"",
		    b.calls, b.waits, b.digest);
	if (fresh)
		pb_text_add(&s->answer, ",\"walk_bytes\":%" PRIu64 ",\"from_disk\":%s", walk_bytes,
			    from_disk ? "true" : "false");
	if (b.piece_bytes)
		pb_text_add(&s->answer, ",\"piece_bytes\":%zu", b.piece_bytes);
	pb_add_samples(s, &b);
	pb_text_add(&s->answer, "}");
}

void pb_watch(pb_server *s, const pb_request *q)
{
	static char state[MOST_INTERVALS + 1];
	static uint64_t ticks[MOST_INTERVALS];
	double limit = pb_get_number(q, "limit_ms", 100);
	if (!s->calibrated) {
		pb_refuse(s, "unsupported", "calibrate before watch");
		return;
	}
	int count = pb_contention_watch(&s->gauge, limit < 0 || limit > MOST_MS ? 100 : limit, state, ticks,
					MOST_INTERVALS);
	state[count] = '\0';
	pb_begin_answer(s);
	pb_text_add(&s->answer, ",\"core\":%d", sched_getcpu());
	pb_add_string(s, "state", state);
	pb_text_add(&s->answer, ",\"ticks\":[");
	for (int i = 0; i < count; i++)
		pb_text_add(&s->answer, "%s%" PRIu64, i ? "," : "", ticks[i]);
	pb_text_add(&s->answer, "]}");
	pb_gauge_change_core(&s->gauge);
}
