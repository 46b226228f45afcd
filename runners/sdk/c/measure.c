/* calibrate and measure. */
#include "burst.h"
#include "serve.h"

#include <inttypes.h>

void pb_calibrate(pb_server *s, const pb_request *q)
{
	double limit = pb_get_number(q, "limit_ms", 20);
	pb_gauge *g = &s->gauge;
	pb_gauge_calibrate(g, limit < 0 || limit > 10000 ? 20 : limit);
	s->calibrated = 1;
	pb_begin_answer(s);
	pb_add_string(s, "cycle_source", g->cycle_source);
	pb_add_string(s, "reason", g->reason);
	pb_text_add(&s->answer,
		    ",\"tick_hz\":%.3f,\"tick_quantum\":%" PRIu64
		    ",\"probe_cycles\":%.4f,\"contention_floor\":%.4f"
		    ",\"fixed_ticks\":%.4f,\"selfcheck\":{\"add\":%.5f,\"rotate\":%.5f}}",
		    g->tick_hz, g->tick_quantum, g->probe_cycles, g->contention_floor, g->fixed_ticks,
		    g->check_add, g->check_rotate);
}

static void add_array(pb_server *s, const char *name, const pb_burst *b, size_t field)
{
	pb_text_add(&s->answer, ",\"%s\":[", name);
	for (int i = 0; i < b->count; i++)
		pb_text_add(&s->answer, "%s%" PRIu64, i ? "," : "",
			    *(const uint64_t *)(const void *)((const char *)&b->samples[i] + field));
	pb_text_add(&s->answer, "]");
}

void pb_measure(pb_server *s, const pb_request *q)
{
	static pb_burst b;
	pb_prepared *p = pb_find_handle(s, q);
	if (!p)
		return;
	if (!s->calibrated) {
		pb_gauge_calibrate(&s->gauge, 20);
		s->calibrated = 1;
	}
	pb_burst_request r = {
		.samples = (int)pb_get_integer(q, "samples", 1),
		.clean = (int)pb_get_integer(q, "clean", 0),
		.limit_ms = pb_get_number(q, "limit_ms", 10),
		.calls = pb_get_unsigned(q, "calls", 0),
		.sample_us = pb_get_number(q, "sample_us", 50),
		.clock_tolerance = pb_get_number(q, "clock_tolerance", 0.005),
		.quiet = {.floor = pb_get_number(q, "contention_floor", 0),
			  .tolerance = pb_get_number(q, "contention_tolerance", 0.01),
			  .patience = (unsigned)pb_get_integer(q, "patience", 0)},
	};
	pb_burst_take(&s->gauge, p, &r, &b);
	pb_begin_answer(s);
	pb_text_add(&s->answer, ",\"calls\":%" PRIu64 ",\"waits\":%" PRIu64 ",\"digest\":\"%016" PRIx64 "\"",
		    b.calls, b.waits, b.digest);
	add_array(s, "start", &b, offsetof(pb_sample, start));
	add_array(s, "ticks", &b, offsetof(pb_sample, ticks));
	add_array(s, "clock_before", &b, offsetof(pb_sample, clock_before));
	add_array(s, "clock_after", &b, offsetof(pb_sample, clock_after));
	add_array(s, "contention_before", &b, offsetof(pb_sample, contention_before));
	add_array(s, "contention_after", &b, offsetof(pb_sample, contention_after));
	if (s->gauge.pmu >= 0)
		add_array(s, "cycles", &b, offsetof(pb_sample, cycles));
	else
		pb_text_add(&s->answer, ",\"cycles\":[]");
	pb_text_add(&s->answer, ",\"flags\":[");
	for (int i = 0; i < b.count; i++)
		pb_text_add(&s->answer, "%s%" PRIu32, i ? "," : "", b.samples[i].flags);
	pb_text_add(&s->answer, "]}");
}
