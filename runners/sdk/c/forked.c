#include "forked.h"
#include "material.h"
#include "pmu.h"
#include "urgent.h"

#include <alloca.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* What a fork hands over. */
typedef struct handed {
	pb_gauge gauge;
	uint64_t call_ticks;
	int done;
	char error[sizeof((pb_case *)0)->error]; /* of calls that failed */
	pb_burst burst;
} handed;

/* A fork has one thread, whatever the process had: a library that waits for another one would wait for ever. */
int pb_has_one_thread(void)
{
	char text[512];
	int threads = 0;
	FILE *stat = fopen("/proc/self/stat", "r");
	if (!stat)
		return 0;
	size_t length = fread(text, 1, sizeof text - 1, stat);
	fclose(stat);
	text[length] = '\0';
	const char *after = strrchr(text, ')'); /* the name before it may hold anything */
	if (!after ||
	    sscanf(after + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %d",
		   &threads) != 1)
		return 0;
	return threads == 1;
}

static handed *shared_page(void)
{
	static handed *page;
	if (!page) {
		void *got =
			mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		page = got == MAP_FAILED ? NULL : got;
	}
	return page;
}

static void follow(pb_gauge *g, int core_before)
{
	cpu_set_t one;
	if (g->core == core_before || g->core >= g->core_count)
		return;
	CPU_ZERO(&one);
	CPU_SET((size_t)g->cores[g->core], &one);
	sched_setaffinity(0, sizeof one, &one);
}

/* Places lie within a page: in stack and heap on the 16 bytes that allocators keep to, for input and output on whole
 * lines, as `offset` does (SPEC 6), each by itself: programs do not choose how far apart their buffers begin. */
enum { PAGE = 4096, GRAIN = 16, LINE = 64, FIELD = 15 };

/* What the parts of `layout` grow by from one fork to the next, as fractions of 2^15: the inverse powers of the root of
 * x^5 = x + 1. The points of this sequence fill a cube evenly, however many they are, so that few forks see all places
 * (an additive recurrence, after Niederreiter, "Random Number Generation and Quasi-Monte Carlo Methods", 1992). */
static const uint64_t STEP[] = {28071, 24048, 20601, 17649}; /* 0.8566749, 0.7338919, 0.6287067, 0.5385973 */
enum { STACK, HEAP, INPUT, OUTPUT, PLACES };

static uint64_t place(uint64_t layout, int which, uint64_t places)
{
	uint64_t part = layout >> (which * FIELD) & ((1u << FIELD) - 1);
	return part * places >> FIELD;
}

static uint64_t next_layout(uint64_t layout)
{
	uint64_t next = 0;
	for (int i = 0; i < PLACES; i++)
		next |= (((layout >> (i * FIELD)) + STEP[i]) & ((1u << FIELD) - 1)) << (i * FIELD);
	return next;
}

static pb_places places_of(uint64_t layout)
{
	return (pb_places){
		GRAIN * place(layout, STACK, PAGE / GRAIN), GRAIN * place(layout, HEAP, PAGE / GRAIN),
		LINE * place(layout, INPUT, PAGE / LINE), LINE * place(layout, OUTPUT, PAGE / LINE)};
}

/* The case prepared once more, elsewhere; NULL where that would take longer than a warm-up, or cannot be done. What it
 * takes is never freed: the child ends soon. */
static pb_prepared *elsewhere(const pb_gauge *g, const pb_prepared *p, const pb_burst_request *r,
			      pb_places at)
{
	static pb_prepared other;
	char words[256];
	if ((double)p->open_ticks > r->warm_least_us * 1e-6 * g->tick_hz || !malloc(GRAIN + at.heap))
		return NULL;
	pb_case_apart((at.output - at.input) % PAGE);
	if (pb_case_open(&other, p->c.row, p->variant, p->c.size, p->seed, at.input, p->input_path, NULL,
			 words))
		return NULL;
	pb_case_run(&other, 1);
	other.call_ticks = p->call_ticks;
	return &other;
}

static void work(handed *page, pb_gauge *g, pb_prepared *p, const pb_burst_request *r, pid_t parent)
{
	uint64_t *placed = page->burst.placed;
	if (r->layout || r->places) {
		pb_places at = r->places ? *r->places : places_of(r->layout);
		unsigned char *room = alloca(GRAIN + at.stack);
		PB_KEEP(room);
		pb_prepared *other = elsewhere(g, p, r, at);
		p = other ? other : p;
		placed[PB_STACK_AT] = (uintptr_t)room;
		placed[PB_STATE_AT] = (uintptr_t)p->c.ctx;
		placed[PB_INPUT_AT] = (uintptr_t)p->c.in;
		placed[PB_OUTPUT_AT] = (uintptr_t)p->c.out;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	if (g->pmu >= 0)
		pb_pmu_open(g); /* a counter counts the process that opened it */
	g->clock_at = 0;
	pb_burst_take(g, p, r, &page->burst);
	memcpy(page->error, p->c.error, sizeof page->error);
	page->call_ticks = p->call_ticks;
	page->gauge = *g;
	page->done = 1;
	_exit(0);
}

/* One fork, one burst, appended to b. */
static int take_one(handed *page, pb_gauge *g, pb_prepared *p, const pb_burst_request *r, pb_burst *b,
		    char *words, unsigned room)
{
	int status = 0;
	page->done = 0;
	/* a new process waits for whoever has the core, at the lowest priority or not, unless it is born urgent */
	pb_urgent urgent;
	pb_urgent_begin(&urgent, g, 0);
	pid_t parent = getpid(), child = fork();
	if (child == 0)
		work(page, g, p, r, parent);
	while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	pb_urgent_end(&urgent);
	if (child < 0)
		return 0;
	if (!page->done || !WIFEXITED(status) || WEXITSTATUS(status)) {
		if (WIFSIGNALED(status))
			snprintf(words, room, "a fork was ended by signal %d", WTERMSIG(status));
		else
			snprintf(words, room, "a fork ended with exit status %d", WEXITSTATUS(status));
		return -1;
	}
	if (page->error[0]) {
		snprintf(words, room, "%s", page->error);
		return -1;
	}
	int core = g->core, pmu = g->pmu;
	void *pmu_page = g->pmu_page;
	*g = page->gauge;
	g->pmu = pmu;
	g->pmu_page = pmu_page;
	follow(g, core);
	p->call_ticks = page->call_ticks;
	const pb_burst *one = &page->burst;
	memcpy(b->samples + b->count, one->samples, (size_t)one->count * sizeof *b->samples);
	b->count += one->count;
	b->calls = one->calls;
	b->waits += one->waits;
	b->digest = one->digest;
	memcpy(b->placed, one->placed, sizeof b->placed);
	b->whole_ticks += one->whole_ticks;
	b->warm_ticks += one->warm_ticks;
	b->wait_ticks += one->wait_ticks;
	return 1;
}

int pb_forked_take(pb_gauge *g, pb_prepared *p, const pb_burst_request *asked, int forks, pb_burst *b,
		   int *counts, char *words, unsigned room)
{
	handed *page = shared_page();
	pb_burst_request r = *asked;
	int taken = 0;
	if (!page || p->c.size > PB_FORK_BYTES || r.piece_bytes || !pb_has_one_thread())
		return 0;
	memset(b, 0, offsetof(pb_burst, samples));
	while (taken < forks && taken < PB_MAX_FORKS && b->count < PB_MAX_SAMPLES) {
		int before = b->count;
		if (r.samples > PB_MAX_SAMPLES - before)
			r.samples = PB_MAX_SAMPLES - before;
		int got = take_one(page, g, p, &r, b, words, room);
		if (got <= 0)
			return taken && !got ? taken : got;
		counts[taken++] = b->count - before;
		r.calls = b->calls; /* the first one's choice is all of them's */
		if (r.layout)
			r.layout = next_layout(r.layout);
	}
	return taken;
}
