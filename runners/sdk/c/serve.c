/* One request line in, exactly one answer line out. */
#include "serve.h"
#include "contention.h"
#include "taint.h"
#include "urgent.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

enum { WARM_BYTES = 1 << 16 };

void pb_begin_answer(pb_server *s)
{
	pb_text_clear(&s->answer);
	pb_text_add(&s->answer, "{\"id\":%" PRId64 ",\"ok\":true", s->id);
}

void pb_refuse(pb_server *s, const char *code, const char *message)
{
	pb_text_clear(&s->answer);
	pb_text_add(&s->answer, "{\"id\":%" PRId64 ",\"ok\":false,\"error\":\"%s\",\"message\":", s->id,
		    code);
	pb_text_string(&s->answer, message);
	pb_text_add(&s->answer, "}");
}

void pb_add_string(pb_server *s, const char *name, const char *value)
{
	pb_text_add(&s->answer, ",\"%s\":", name);
	pb_text_string(&s->answer, value ? value : "");
}

static const pb_row *find_row(const pb_runner *r, const char *algorithm, const char *operation,
			      const char *contract, const pb_variant **variant)
{
	for (const pb_row *const *table = r->tables; *table; table++)
		for (const pb_row *row = *table; row->algorithm; row++)
			if (strcmp(row->algorithm, algorithm) == 0 && pb_offers(r, row) &&
			    (*variant = pb_variant_find(row, operation, contract)))
				return row;
	return NULL;
}

static void prepare(pb_server *s, const pb_request *q)
{
	const char *algorithm = pb_get_text(q, "algorithm", NULL),
		   *operation = pb_get_text(q, "operation", NULL);
	const char *contract = pb_get_text(q, "contract", NULL), *path = pb_get_text(q, "input_path", NULL);
	int64_t size = pb_get_integer(q, "size_bytes", -1), offset = pb_get_integer(q, "offset", 0);
	const pb_variant *variant = NULL;
	char words[256];

	if (!algorithm || !operation || !contract || size < 0 || offset < 0) {
		pb_refuse(s, "malformed",
			  "prepare needs algorithm, operation, contract, size_bytes, seed, offset");
		return;
	}
	const pb_row *row = find_row(s->runner, algorithm, operation, contract, &variant);
	if (!row) {
		snprintf(words, sizeof words, "%s does not have %.40s %.40s under %.40s", s->runner->name,
			 algorithm, operation, contract);
		pb_refuse(s, "unsupported", words);
		return;
	}
	int handle = 0;
	while (handle < s->handle_count && s->handles[handle])
		handle++;
	pb_prepared *p = handle < PB_MAX_HANDLES ? malloc(sizeof *p) : NULL;
	uint64_t began = pb_gauge_ticks();
	const char *code = p ? pb_case_open(p, row, variant, (size_t)size, pb_get_unsigned(q, "seed", 0),
					    (size_t)offset, path, NULL, words)
			     : "bad-size";
	if (code) {
		pb_refuse(s, code, p ? words : "too many handles, or out of memory");
		free(p);
		return;
	}
	p->open_ticks = pb_gauge_ticks() - began;
	if (size <= WARM_BYTES)
		pb_case_run(p, 1); /* lazy initialisation of the library is behind us then */
	s->handles[handle] = p;
	if (handle == s->handle_count)
		s->handle_count++;
	pb_begin_answer(s);
	pb_text_add(&s->answer, ",\"handle\":%d}", handle);
}

pb_prepared *pb_find_handle(pb_server *s, const pb_request *q)
{
	int64_t handle = pb_get_integer(q, "handle", -1);
	if (handle < 0 || handle >= s->handle_count || !s->handles[handle]) {
		pb_refuse(s, "bad-handle", "no such handle");
		return NULL;
	}
	return s->handles[handle];
}

static void release(pb_server *s, const pb_request *q)
{
	pb_prepared *p = pb_find_handle(s, q);
	if (!p)
		return;
	s->handles[pb_get_integer(q, "handle", -1)] = NULL;
	pb_case_close(p);
	free(p);
	pb_begin_answer(s);
	pb_text_add(&s->answer, "}");
}

static void quit(pb_server *s, const pb_request *q)
{
	(void)q;
	s->ended = 1;
	pb_begin_answer(s);
	pb_text_add(&s->answer, "}");
}

static const struct {
	const char *name;
	void (*answer)(pb_server *, const pb_request *);
} verbs[] = {{"hello", pb_hello}, {"prepare", prepare},    {"check", pb_check}, {"calibrate", pb_calibrate},
	     {"watch", pb_watch}, {"measure", pb_measure}, {"audit", pb_audit}, {"count", pb_count},
	     {"pairs", pb_pairs}, {"release", release},    {"quit", quit}};

/* What a verb cannot do without. What else makes sense of a check is looked at there. */
static const struct {
	const char *verb, *field;
	enum pb_type type;
} required[] = {
	{"hello", "protocol", PB_NUMBER},
	{"prepare", "algorithm", PB_STRING},
	{"prepare", "operation", PB_STRING},
	{"prepare", "contract", PB_STRING},
	{"prepare", "size_bytes", PB_NUMBER},
	{"prepare", "seed", PB_NUMBER},
	{"prepare", "offset", PB_NUMBER},
	{"check", "handle", PB_NUMBER},
	{"calibrate", "limit_ms", PB_NUMBER},
	{"watch", "limit_ms", PB_NUMBER},
	{"measure", "handle", PB_NUMBER},
	{"measure", "samples", PB_NUMBER},
	{"measure", "clean", PB_NUMBER},
	{"measure", "limit_ms", PB_NUMBER},
	{"measure", "calls", PB_NUMBER},
	{"measure", "sample_us", PB_NUMBER},
	{"measure", "contention_floor", PB_NUMBER},
	{"measure", "contention_tolerance", PB_NUMBER},
	{"measure", "clock_tolerance", PB_NUMBER},
	{"measure", "patience", PB_NUMBER},
	{"audit", "handle", PB_NUMBER},
	{"audit", "seed", PB_NUMBER},
	{"audit", "calls", PB_NUMBER},
	{"count", "handle", PB_NUMBER},
	{"count", "limit_ms", PB_NUMBER},
	{"pairs", "handle", PB_NUMBER},
	{"pairs", "seed", PB_NUMBER},
	{"pairs", "role", PB_STRING},
	{"pairs", "first", PB_STRING},
	{"pairs", "second", PB_STRING},
	{"pairs", "pairs", PB_NUMBER},
	{"pairs", "limit_ms", PB_NUMBER},
	{"release", "handle", PB_NUMBER},
};

/* 1 if all that `verb` needs is there; refuses otherwise. */
static int is_complete(pb_server *s, const pb_request *q, const char *verb)
{
	for (size_t i = 0; i < sizeof required / sizeof *required; i++) {
		if (strcmp(required[i].verb, verb) != 0)
			continue;
		const pb_field *field = pb_get(q, required[i].field);
		if (!field || field->type != required[i].type) {
			char words[80];
			snprintf(words, sizeof words, "%s is missing or of a wrong type", required[i].field);
			pb_refuse(s, "malformed", words);
			return 0;
		}
	}
	return 1;
}

/* What is read off the clock is read undisturbed, for as long as a stretch may last. A burst has its own. */
static void see_to(pb_server *s, const pb_request *q, void (*verb)(pb_server *, const pb_request *))
{
	pb_urgent urgent = {0};
	if (verb == pb_calibrate || verb == pb_audit)
		pb_urgent_begin(&urgent, &s->gauge, 0);
	verb(s, q);
	pb_urgent_end(&urgent);
}

static void answer(pb_server *s, char *line)
{
	pb_request q;
	s->id = 0;
	const pb_field *id;
	if (pb_json_parse(line, &q) != 0 || !(id = pb_get(&q, "id")) || id->type != PB_NUMBER ||
	    !pb_get_text(&q, "verb", NULL)) {
		pb_refuse(s, "malformed", "not a request: one JSON object with verb and id");
		return;
	}
	s->id = pb_get_integer(&q, "id", 0);
	for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
		if (strcmp(verbs[i].name, pb_get_text(&q, "verb", "")) == 0) {
			if (is_complete(s, &q, verbs[i].name))
				see_to(s, &q, verbs[i].answer);
			return;
		}
	pb_refuse(s, "unknown-verb",
		  "verbs: hello, prepare, check, calibrate, watch, measure, audit, count, pairs, release, "
		  "quit");
}

static int answers = STDOUT_FILENO;

void pb_keep_output(void)
{
	int kept = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	if (kept >= 0 && dup2(STDERR_FILENO, STDOUT_FILENO) >= 0)
		answers = kept;
}

/* Write all of it; a reader that has gone away ends the process. */
static void send_answer(pb_server *s)
{
	pb_text_add(&s->answer, "\n");
	for (size_t at = 0; at < s->answer.length;) {
		ssize_t sent = write(answers, s->answer.data + at, s->answer.length - at);
		if (sent <= 0)
			exit(1);
		at += (size_t)sent;
	}
}

/* Read on to the end of a line that did not fit; returns 1 if there was more of it. */
static int skip_rest_of_line(const char *line)
{
	size_t length = strlen(line);
	int c;
	if (length < PB_MAX_LINE || line[length - 1] == '\n')
		return 0;
	while ((c = getchar()) != EOF && c != '\n')
		;
	return 1;
}

static void release_all(pb_server *s)
{
	for (int i = 0; i < s->handle_count; i++)
		if (s->handles[i]) {
			pb_case_close(s->handles[i]);
			free(s->handles[i]);
		}
	free(s->answer.data);
}

/* The lowest priority counts among the tasks of one session only, where Linux shares cores between sessions: beside a
 * run that sleeps, a loop would have all of its session's half (sched(7), autogroup). Without privileges the kernel
 * takes one such wish in a tenth of a second. */
static void weigh_least(void)
{
	const struct timespec pause = {.tv_nsec = 20000000};
	int wish = open("/proc/self/autogroup", O_WRONLY | O_CLOEXEC);
	for (int tries = 0; wish >= 0 && tries < 500 && write(wish, "19", 2) < 0 && errno == EAGAIN; tries++)
		nanosleep(&pause, NULL);
	if (wish >= 0)
		close(wish);
}

/* Be what a core does while nobody measures on it: a core that halts gives its hyper-thread, and what it had
 * learnt about the loops, away, and takes 50 us to come back. Ends with the process that started it. */
static int keep_awake(void)
{
	struct sched_param none = {0};
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (sched_setscheduler(0, SCHED_IDLE, &none) != 0 || getppid() == 1)
		return 1;
	weigh_least();
	for (;;)
		__asm__ volatile("");
}

int pb_runner_main(const pb_runner *runner, int argc, char **argv)
{
	static pb_server s;
	static char line[PB_MAX_LINE + 1];
	if (argc == 2 && strcmp(argv[1], "keep-awake") == 0)
		return keep_awake();
	if (argc == 2 &&
	    strcmp(argv[1], "print-window") == 0) { /* for a report of a core that nobody has tried */
		pb_gauge_calibrate(&s.gauge, 10, 0, NULL);
		return pb_contention_print(&s.gauge);
	}
	s.runner = runner;
	pb_case_align(runner->aligned);
	s.tier = getenv("PERBYTE_CPU");
	if (!s.tier || !*s.tier)
		s.tier = "full";
	if (runner->start ? runner->start(s.tier) != 0 : strcmp(s.tier, "full") != 0) {
		fprintf(stderr, "%s: the CPU tier '%s' is unknown here or cannot be had\n", argv[0], s.tier);
		return 3;
	}
	if (argc > 1 && strcmp(argv[1], "taint") == 0)
		return pb_taint(runner, argc - 1, argv + 1);
	while (!s.ended && fgets(line, sizeof line, stdin)) {
		if (skip_rest_of_line(line))
			line[0] = '\0'; /* longer than a line may be: malformed */
		pb_urgent_calm();
		answer(&s, line);
		send_answer(&s);
	}
	release_all(&s);
	return 0;
}
