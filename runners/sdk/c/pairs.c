/* pairs: single calls that differ in a secret and in nothing else, two by two in random order (SPEC section 14).
 *
 * Both classes' bytes are made for every sample, and one of them is put in place by arithmetic: until the call nothing
 * that a core could learn from is another for the one than for the other. What is timed is one call, as in a program
 * that an attacker watches; more calls on the same secret would teach the core that secret. */
#include "burst.h"
#include "kernel.h"
#include "material.h"
#include "secrets.h"
#include "serve.h"
#include "urgent.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { MOST_PAIRS = 2000, MOST_EVICTED = 1 << 28, LINE = 64, PAGE = 4096, FURTHER = 2048 };

typedef struct pair_request {
	int pairs, warm, only;
	double limit_ms;
	size_t evict_bytes;
	pb_quiet quiet;
} pair_request;

static char order[2 * MOST_PAIRS + 1];
static uint64_t failed[2];

/* Memory to read before a call with emptied caches; in small pages, so that no address is remembered either. Caches
 * are emptied by fewer bytes than translations of addresses are: beyond `bytes` there are pages for these alone. */
static const volatile uint8_t *eviction(size_t bytes)
{
	static uint8_t *block;
	static size_t room;
	bytes += (size_t)FURTHER * PAGE;
	if (bytes > room) {
		void *got = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (got == MAP_FAILED)
			return NULL;
		if (block)
			munmap(block, room);
		madvise(got, bytes, MADV_NOHUGEPAGE);
		memset(got, 1, bytes);
		block = got;
		room = bytes;
	}
	return block;
}

static void evict(const volatile uint8_t *block, size_t bytes)
{
	for (size_t i = 0; i < bytes; i += LINE)
		(void)block[i];
	for (size_t page = 0; page < FURTHER; page++) /* in all sets of a cache alike */
		(void)block[bytes + page * PAGE + page % (PAGE / LINE) * LINE];
}

static void begin_case(pb_prepared *p)
{
	p->c.failures = 0;
	pb_case_begin(p, 1);
}

/* The caches and what the core predicts are the same before either class: a call on a secret of neither. */
static void warm_up(pb_secrets *s, uint64_t number)
{
	pb_secrets_neutral(s, number);
	begin_case(s->p);
	s->p->variant->loop(&s->p->c, 1);
}

/* One sample; 0 where the library does not take the secret. */
static int take_sample(pb_gauge *g, pb_secrets *s, const pair_request *r, const volatile uint8_t *block,
		       uint64_t number, uint64_t which, pb_sample *sample, uint64_t *begun)
{
	pb_open_sample open;
	pb_prepared *p = s->p;
	if (r->warm && !s->afresh)
		warm_up(s, number);
	if (!pb_secrets_place(s, number, which))
		return 0;
	begin_case(p);
	if (r->evict_bytes)
		evict(block, r->evict_bytes);
	pb_gauge_before(g, &open, sample);
	*begun = g->clock_at;
	p->variant->loop(&p->c, 1);
	pb_gauge_after(g, &open, sample);
	order[number] = (char)('0' + which);
	return 1;
}

/* Returns 0 where the library does not take a secret. */
static int take_pairs(pb_gauge *g, pb_secrets *s, const pair_request *r, pb_burst *b)
{
	const volatile uint8_t *block = r->evict_bytes ? eviction(r->evict_bytes) : NULL;
	double limit = r->limit_ms * 1e-3 * g->tick_hz;
	uint64_t drawn[MOST_PAIRS / 64 + 1], length = s->p->call_ticks;
	int open_from = 0, fine = 1;
	size_t evicted = block ? r->evict_bytes : 0;
	pair_request own = *r;
	own.evict_bytes = evicted;
	pb_stream(s->seed, "leak/order", (uint8_t *)drawn, sizeof drawn);
	memset(b, 0, offsetof(pb_burst, samples));
	memset(failed, 0, sizeof failed);
	b->calls = 1;
	for (int i = 0; i < 2 * r->pairs; i++) /* its pages, before the first sample */
		b->samples[i].flags = 0;
	for (int i = 0; i < 2; i++) { /* and what the calls touch; neither counts */
		uint64_t begun;
		fine = fine && take_sample(g, s, &own, block, (uint64_t)i, (uint64_t)i, b->samples, &begun);
	}
	g->clock_at = 0;
	pb_urgent urgent;
	pb_urgent_begin(&urgent, g, length);
	pb_kernel_begin(g);
	uint64_t start = pb_gauge_ticks();
	for (int pair = 0; fine && pair < r->pairs && (!pair || (double)(pb_gauge_ticks() - start) < limit);
	     pair++) {
		uint64_t first = drawn[pair / 64] >> (pair % 64) & 1;
		b->waits += pb_gauge_wait(g, &r->quiet);
		for (uint64_t turn = 0; fine && turn < 2; turn++) {
			uint64_t probed = g->clock_at, begun = 0, number = (uint64_t)b->count;
			pb_urgent_check(&urgent, length);
			uint64_t which = own.only < 0 ? first ^ turn : (uint64_t)own.only;
			fine = take_sample(g, s, &own, block, number, which, b->samples + number, &begun);
			failed[which] += s->p->c.failures != 0;
			if (begun != probed)
				pb_burst_close_clock(b, &open_from, g);
			b->count++;
			if (g->clock_at != begun)
				pb_burst_close_clock(b, &open_from, g);
			length = b->samples[number].ticks;
		}
	}
	pb_kernel_end(g, b->samples, b->count);
	pb_urgent_end(&urgent);
	pb_gauge_clock(g);
	pb_burst_close_clock(b, &open_from, g);
	order[b->count] = '\0';
	return fine;
}

void pb_pairs(pb_server *s, const pb_request *q)
{
	static pb_burst b;
	pb_prepared *p = pb_find_handle(s, q);
	pb_secrets secrets;
	char words[256] = "";
	if (!p)
		return;
	if (s->runner->empty || p->c.given) {
		pb_refuse(
			s, "unsupported",
			"the language moves secrets about by itself; runners in C, C++ and Rust take pairs");
		return;
	}
	if (!s->calibrated) {
		pb_refuse(s, "unsupported", "calibrate before pairs");
		return;
	}
	int64_t pairs = pb_get_integer(q, "pairs", 0), evicted = pb_get_integer(q, "evict_bytes", 0);
	int64_t only = pb_get_integer(q, "only", -1);
	if (pairs < 1 || evicted < 0 || evicted > MOST_EVICTED || only < -1 || only > 1) {
		pb_refuse(s, "malformed",
			  "pairs needs 1 pair or more, evict_bytes that a memory has, and only 0 or 1");
		return;
	}
	pair_request r = {
		.pairs = pairs > MOST_PAIRS ? MOST_PAIRS : (int)pairs,
		.warm = pb_get_truth(q, "warm"),
		.only = (int)only,
		.limit_ms = pb_get_number(q, "limit_ms", 10),
		.evict_bytes = (size_t)evicted,
		.quiet = {.floor = pb_get_number(q, "contention_floor", 0),
			  .tolerance = pb_get_number(q, "contention_tolerance", 0.01),
			  .patience = (unsigned)pb_get_integer(q, "patience", 0)},
	};
	const char *code =
		pb_secrets_begin(&secrets, p, pb_get_unsigned(q, "seed", 0), pb_get_text(q, "role", ""),
				 pb_get_text(q, "first", ""), pb_get_text(q, "second", ""), words);
	if (!code) {
		int fine = take_pairs(&s->gauge, &secrets, &r, &b), afresh = secrets.afresh;
		if (!fine)
			snprintf(words, sizeof words, "%s",
				 p->c.error[0] ? p->c.error : "the library does not take such a secret");
		if (!pb_secrets_end(&secrets) || !fine)
			code = "library";
		else {
			pb_begin_answer(s);
			pb_add_samples(s, &b);
			pb_add_string(s, "order", order);
			pb_text_add(&s->answer,
				    ",\"waits\":%" PRIu64 ",\"failures\":[%" PRIu64 ",%" PRIu64
				    "],\"afresh\":%s}",
				    b.waits, failed[0], failed[1], afresh ? "true" : "false");
			return;
		}
	}
	pb_refuse(s, code, words);
}
