#include "threads.h"
#include "pmu.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

typedef struct worker {
	pthread_t id;
	char core[12];
	pb_gauge gauge;
	pb_prepared own, *p;
	pb_burst_request request;
	int repeats; /* the same calls give the same output, whose digest this is */
	uint64_t expected;
	struct team *team;
	pb_burst burst;
} worker;

typedef struct team {
	atomic_int waiting, go; /* go: 1 begin, -1 end */
	int count;
	worker *of;
} team;

static void *work(void *argument)
{
	worker *w = argument;
	pb_gauge *g = &w->gauge;
	pb_gauge_cores(g, w->core);
	g->clock_at = 0;
	if (g->pmu >= 0) /* a counter counts the thread that opened it */
		pb_pmu_open(g);
	atomic_fetch_add(&w->team->waiting, 1);
	int go;
	while (!(go = atomic_load(&w->team->go)))
		sched_yield();
	if (go > 0 && g->core_count)
		pb_burst_take(g, w->p, &w->request, &w->burst);
	if (g->pmu >= 0) {
		if (g->pmu_page)
			munmap(g->pmu_page, (size_t)sysconf(_SC_PAGESIZE));
		close(g->pmu);
	}
	return NULL;
}

/* Each where it is to work, before any begins. */
static int begin_together(team *t)
{
	int begun = 0;
	while (begun < t->count && !pthread_create(&t->of[begun].id, NULL, work, &t->of[begun]))
		begun++;
	while (atomic_load(&t->waiting) < begun)
		usleep(20);
	atomic_store(&t->go, begun == t->count ? 1 : -1);
	for (int i = 0; i < begun; i++)
		pthread_join(t->of[i].id, NULL);
	return begun == t->count;
}

static uint64_t digest_of(pb_prepared *p, uint64_t calls)
{
	pb_case_run(p, calls);
	return pb_digest(p->c.out, p->c.out_len);
}

static int name_cores(team *t, const char *cores)
{
	while (t->count < PB_MAX_THREADS) {
		char *end;
		unsigned long core = strtoul(cores, &end, 10);
		if (end == cores || core >= PB_MAX_CORES)
			return 0;
		snprintf(t->of[t->count++].core, sizeof t->of->core, "%lu", core);
		if (*end != ',')
			return *end == '\0';
		cores = end + 1;
	}
	return 0;
}

/* The others' cases, and what each gives while nobody else works. */
static int make_ready(team *t, const pb_gauge *g, pb_prepared *p, const pb_burst_request *r, char *words)
{
	for (int i = 0; i < t->count; i++) {
		worker *w = &t->of[i];
		w->team = t;
		w->gauge = *g;
		w->request = *r;
		w->p = i ? &w->own : p;
		pb_output_own((unsigned)i);
		if (i && pb_case_open(&w->own, p->c.row, p->variant, p->c.size, p->seed + (uint64_t)i,
				      p->offset, p->input_path, NULL, words))
			return 0;
		w->expected = digest_of(w->p, r->calls);
		w->repeats = w->expected == digest_of(w->p, r->calls);
	}
	return 1;
}

static int join(const team *t, pb_burst *b, int *counts, char *words, unsigned room)
{
	b->count = 0;
	for (int i = 0; i < t->count; i++) {
		const worker *w = &t->of[i];
		const pb_burst *one = &w->burst;
		if (!one->count || w->p->c.error[0]) {
			snprintf(words, room, "thread %d on core %s: %s", i, w->core,
				 w->p->c.error[0] ? w->p->c.error : "the core cannot be had");
			return 0;
		}
		if (w->repeats && one->digest != w->expected) {
			snprintf(words, room, "thread %d of %d gave another output than alone", i, t->count);
			return -1;
		}
		memcpy(b->samples + b->count, one->samples, (size_t)one->count * sizeof *b->samples);
		counts[i] = one->count;
		b->count += one->count;
	}
	b->digest = t->of->burst.digest;
	return t->count;
}

int pb_threads_take(pb_gauge *g, pb_prepared *p, const pb_burst_request *asked, const char *cores,
		    pb_burst *b, int *counts, char *words, unsigned room)
{
	team t = {.of = calloc(PB_MAX_THREADS, sizeof(worker))};
	pb_burst_request r = *asked;
	int taken = 0;
	snprintf(words, room, "threads: cores below %d with commas, %d at the most", PB_MAX_CORES,
		 PB_MAX_THREADS);
	if (t.of && name_cores(&t, cores)) {
		r.samples = 1; /* alone: chooses the calls of all of them */
		r.piece_bytes = 0;
		pb_burst_take(g, p, &r, b);
		r.calls = b->calls;
		r.samples =
			asked->samples < PB_MAX_SAMPLES / t.count ? asked->samples : PB_MAX_SAMPLES / t.count;
		snprintf(words, room, "threads could not be begun");
		if (make_ready(&t, g, p, &r, words) && begin_together(&t))
			taken = join(&t, b, counts, words, room);
	}
	pb_output_own(0);
	for (int i = 1; i < t.count; i++)
		if (t.of[i].own.opened)
			pb_case_close(&t.of[i].own);
	free(t.of);
	return taken;
}
