#include "forked.h"
#include "material.h"
#include "pmu.h"
#include "urgent.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
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
	pb_burst burst;
} handed;

/* A fork has one thread, whatever the process had: a library that waits for another one would wait for ever. */
static int has_one_thread(void)
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

static void work(handed *page, pb_gauge *g, pb_prepared *p, const pb_burst_request *r, pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	for (int i = 0; i < r->samples && i < PB_MAX_SAMPLES; i++) /* its pages, before the first sample */
		page->burst.samples[i].flags = 0;
	if (g->pmu >= 0)
		pb_pmu_open(g); /* a counter counts the process that opened it */
	g->clock_at = 0;
	pb_burst_take(g, p, r, &page->burst);
	page->call_ticks = p->call_ticks;
	page->gauge = *g;
	page->done = 1;
	_exit(0);
}

int pb_forked_take(pb_gauge *g, pb_prepared *p, const pb_burst_request *r, pb_burst *b, char *words,
		   unsigned room)
{
	handed *page = shared_page();
	int status = 0;
	if (!page || p->c.size > PB_FORK_BYTES || r->piece_bytes || !has_one_thread())
		return 0;
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
	int core = g->core, pmu = g->pmu;
	void *pmu_page = g->pmu_page;
	*g = page->gauge;
	g->pmu = pmu;
	g->pmu_page = pmu_page;
	follow(g, core);
	p->call_ticks = page->call_ticks;
	memcpy(b, &page->burst, offsetof(pb_burst, samples) + (size_t)page->burst.count * sizeof *b->samples);
	return 1;
}
