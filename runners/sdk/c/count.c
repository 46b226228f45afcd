/* count: what calls execute and use. No time: what is asked here is asked of forks, and exactly. */
#include "forked.h"
#include "serve.h"
#include "stack.h"
#include "trace.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* What forks leave behind. `many` has `calls` calls more than `one`. */
typedef struct found {
	volatile int state;
	uint64_t address;
	int calls, has_call, has_setup;
	pb_counts one, many, setup;
	uint64_t stack_call, stack_setup;
} found;

/* A fork's task. */
typedef struct task {
	found *found;
	pb_prepared *p;
	uint64_t limit_ns;
} task;

typedef struct calls {
	pb_prepared *p;
	uint64_t n;
} calls;

static void make_calls(void *argument)
{
	calls *c = argument;
	c->p->variant->loop(&c->p->c, c->n);
}

static uint64_t now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void count_calls(const task *t)
{
	found *f = t->found;
	calls one = {t->p, 1}, many = {t->p, 1 + PB_RING};
	pb_case_run(t->p, 1); /* what a library sees to after a fork is behind it then */
	if (pb_trace_start() != 0)
		return;
	pb_case_begin(t->p, one.n);
	uint64_t before = now_ns();
	pb_trace(make_calls, &one, t->limit_ns, &f->one, &f->state, &f->address);
	f->has_call = 1;
	uint64_t took = now_ns() - before;
	if (took * many.n > t->limit_ns)
		return;
	pb_case_begin(t->p, many.n);
	pb_trace(make_calls, &many, 0, &f->many, &f->state, &f->address);
	f->calls = PB_RING;
}

/* The open of a family that is looked at, and how. */
static struct {
	int (*open)(pb_case *);
	pb_case *c;
	const task *task;
	int opened, how;
} looked_at;
enum { UNSEEN, TRACED, PAINTED };

static void open_case(void *argument)
{
	(void)argument;
	looked_at.opened = looked_at.open(looked_at.c);
}

static int open_looked_at(pb_case *c)
{
	found *f = looked_at.task->found;
	looked_at.c = c;
	if (looked_at.how == TRACED)
		pb_trace(open_case, NULL, looked_at.task->limit_ns, &f->setup, &f->state, &f->address);
	else if (looked_at.how == PAINTED)
		f->stack_setup = pb_stack_depth(open_case, NULL);
	else
		open_case(NULL);
	return looked_at.opened;
}

/* Prepare the same case once more, its family's open looked at. What makes the input is opened first, so that what
 * stands in the end is of the operation itself. */
static int set_up(const task *t, int how)
{
	static pb_prepared other;
	static pb_family family;
	static pb_row row;
	char words[256];
	const pb_prepared *p = t->p;
	row = *p->c.row;
	family = *row.family;
	looked_at.open = family.open;
	looked_at.task = t;
	looked_at.how = how;
	family.open = open_looked_at;
	row.family = &family;
	return pb_case_open(&other, &row, p->variant, p->c.size, p->seed, p->offset, p->input_path, NULL,
			    words)
		       ? -1
		       : 0;
}

static void count_setup(const task *t)
{
	if (set_up(t, UNSEEN) == 0 && pb_trace_start() == 0 && set_up(t, TRACED) == 0)
		t->found->has_setup = 1;
}

static void paint(const task *t)
{
	calls one = {t->p, 1};
	pb_case_run(t->p, 1);
	pb_case_begin(t->p, one.n);
	t->found->stack_call = pb_stack_depth(make_calls, &one);
	set_up(t, PAINTED);
}

/* Let a fork do `work`. Returns its status. */
static int in_fork(void (*work)(const task *), const task *t)
{
	int status = 0;
	pid_t parent = getpid(), child = fork();
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() == parent)
			work(t);
		_exit(0);
	}
	while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	return child > 0 ? status : -1;
}

static void say_why(const found *f, int status, char *words, size_t room)
{
	static const char *const STATES[] = {
		[PB_TRACE_LONG] = "it takes longer than the limit",
		[PB_TRACE_STRANGE] = "an instruction cannot be followed",
		[PB_TRACE_ROOM] = "it has more code or more memory in use than there is room for",
		[PB_TRACE_FIXED] = "the system does not let code be written to",
		[PB_TRACE_LOST] = "control comes from where it was not followed: threads or signals",
	};
	if (f->state)
		snprintf(words, room, "%s (at 0x%" PRIx64 ")", STATES[f->state], f->address);
	else if (WIFSIGNALED(status))
		snprintf(words, room, "the fork that was traced was ended by signal %d", WTERMSIG(status));
	else
		snprintf(words, room, "it could not be traced");
}

/* counts of `many` without those of `one` */
static pb_counts difference(const pb_counts *many, const pb_counts *one)
{
	pb_counts d = *many; /* peaks and places are of both */
	d.instructions -= one->instructions;
	d.blocks -= one->blocks;
	d.heap_calls -= one->heap_calls;
	d.heap_bytes -= one->heap_bytes;
	d.system_calls -= one->system_calls;
	for (int kind = 0; kind < PB_KINDS; kind++)
		d.kinds[kind] -= one->kinds[kind];
	d.heap_peak = one->heap_peak; /* of one call, should calls keep some of it */
	return d;
}

static void add_counts(pb_server *s, const pb_counts *c)
{
	pb_text *a = &s->answer;
	pb_text_add(a, "\"instructions\":%" PRIu64 ",\"kinds\":{", c->instructions);
	for (int kind = 0; kind < PB_KINDS; kind++)
		pb_text_add(a, "%s\"%s\":%" PRIu64, kind ? "," : "", pb_kind_names[kind], c->kinds[kind]);
	pb_text_add(a, "},\"system_calls\":%" PRIu64 ",\"heap_calls\":%" PRIu64 ",\"heap_bytes\":%" PRIu64,
		    c->system_calls, c->heap_calls, c->heap_bytes);
	pb_text_add(a, ",\"heap_peak\":%" PRId64 ",\"code_lines\":%" PRIu64 ",\"code_pages\":%" PRIu64,
		    c->heap_peak, c->code_lines, c->code_pages);
}

static void answer(pb_server *s, const found *f, const char *why_call, const char *why_setup)
{
	pb_text *a = &s->answer;
	pb_begin_answer(s);
	if (f->has_call) {
		pb_counts call = f->calls ? difference(&f->many, &f->one) : f->one;
		pb_text_add(a, ",\"calls\":%d,\"call\":{", f->calls ? f->calls : 1);
		add_counts(s, &call);
		pb_text_add(a, "}");
	} else {
		pb_add_string(s, "call_unknown", why_call);
	}
	if (f->has_setup) {
		pb_text_add(a, ",\"setup\":{");
		add_counts(s, &f->setup);
		pb_text_add(a, ",\"heap_left\":%" PRId64 "}", f->setup.heap_left);
	} else {
		pb_add_string(s, "setup_unknown", why_setup);
	}
	pb_text_add(a, ",\"stack_call\":%" PRIu64 ",\"stack_setup\":%" PRIu64 "}", f->stack_call,
		    f->stack_setup);
}

void pb_count(pb_server *s, const pb_request *q)
{
	char why_call[160] = "", why_setup[160] = "";
	pb_prepared *p = pb_find_handle(s, q);
	if (!p)
		return;
	if (s->runner->empty) { /* an interpreter's own work would be counted, for minutes */
		pb_refuse(s, "unsupported", "only runners in C, C++ and Rust count instructions");
		return;
	}
	if (!PB_CAN_TRACE || !pb_has_one_thread()) {
		pb_refuse(s, "unsupported",
			  PB_CAN_TRACE ? "a process of several threads cannot be traced"
				       : "counting needs Linux on x86-64, and a build without sanitizers");
		return;
	}
	found *f = mmap(NULL, sizeof *f, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (f == MAP_FAILED) {
		pb_refuse(s, "library", "out of memory");
		return;
	}
	task t = {f, p, (uint64_t)(pb_get_number(q, "limit_ms", 0) * 1e6)};
	int status = in_fork(count_calls, &t);
	if (!f->has_call || f->state || status)
		say_why(f, status, why_call, sizeof why_call);
	f->state = 0;
	status = in_fork(count_setup, &t);
	if (!f->has_setup)
		say_why(f, status, why_setup, sizeof why_setup);
	in_fork(paint, &t);
	answer(s, f, why_call, why_setup);
	munmap(f, sizeof *f);
}
