#include "urgent.h"

#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/resource.h>

static int allowed; /* the priority to ask for; 0: none */

static void lay_down(void)
{
	struct sched_param none = {0};
	sched_setscheduler(0, SCHED_OTHER, &none);
}

/* A call that nobody foresaw to be so long goes on as an ordinary one. */
static void cut(int number)
{
	(void)number;
	lay_down();
}

void pb_urgent_calm(void)
{
	struct sched_param given;
	if (sched_getscheduler(0) != SCHED_FIFO || sched_getparam(0, &given) != 0)
		return;
	struct sigaction action = {.sa_handler = cut, .sa_flags = SA_RESTART};
	allowed = sigaction(SIGXCPU, &action, NULL) == 0 ? given.sched_priority : 0;
	lay_down();
}

void pb_urgent_begin(pb_urgent *u, const pb_gauge *g, uint64_t ticks)
{
	uint64_t most = (uint64_t)(PB_URGENT_MS * 1e-3 * g->tick_hz);
	struct sched_param wanted = {.sched_priority = allowed};
	struct rlimit limit;
	u->on = 0;
	u->until = pb_gauge_ticks() + most;
	if (!allowed || ticks > most)
		return;
	/* the kernel lets the limit grow by a second each time it has sent the signal */
	if (getrlimit(RLIMIT_RTTIME, &limit) != 0)
		return;
	limit.rlim_cur = PB_URGENT_CUT_MS * 1000 < limit.rlim_max ? PB_URGENT_CUT_MS * 1000 : limit.rlim_max;
	if (setrlimit(RLIMIT_RTTIME, &limit) != 0)
		return;
	u->on = sched_setscheduler(0, SCHED_FIFO, &wanted) == 0;
}

void pb_urgent_check(pb_urgent *u, uint64_t ticks)
{
	if (u->on && pb_gauge_ticks() + ticks > u->until)
		pb_urgent_end(u);
}

void pb_urgent_end(pb_urgent *u)
{
	if (u->on)
		lay_down();
	u->on = 0;
}
