/* A runner whose library ends itself in a fork, starts a thread, waits for ever, or tells where in a page its stack,
 * state and input lie, by the algorithm that is asked for. */
#include "perbyte.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pid_t first;
static pthread_t thread;

static void *rest(void *unused)
{
	for (;;)
		pause();
	return unused;
}

static void tell(const pb_case *c)
{
	char name[512] = "";
	if (readlink("/proc/self/exe", name, sizeof name - 8) < 0)
		return;
	FILE *file = fopen(strcat(name, ".places"), "a");
	if (!file)
		return;
	fprintf(file, "%d %d %d\n", (int)((uintptr_t)name & 4095), (int)((uintptr_t)c->ctx & 4095),
		(int)((uintptr_t)c->in & 4095));
	fclose(file);
}

static int open_case(pb_case *c)
{
	first = getpid();
	c->ctx = malloc(1);
	if (strcmp(c->row->algorithm, "aes-128-cbc") == 0)
		tell(c);
	return strcmp(c->row->algorithm, "aes-256-ecb") == 0 ? pthread_create(&thread, NULL, rest, NULL) : 0;
}

static void close_case(pb_case *c)
{
	free(c->ctx);
}

static void loop(pb_case *c, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		memcpy(c->out, c->in, c->size);
		if (strcmp(c->row->algorithm, "aes-128-ecb") == 0 && getpid() != first)
			raise(SIGSEGV);
		if (strcmp(c->row->algorithm, "aes-192-ecb") == 0 && getpid() != first)
			pause();
	}
}

static const char *version(void)
{
	return "1";
}

static const pb_variant variants[] = {{"encrypt", "stream/1", "memcpy", NULL, loop, NULL},
				      PB_END_OF_VARIANTS};
static const pb_family family = {open_case, close_case, variants};
static const pb_row table[] = {{"aes-128-ecb", &family, NULL, 16, 0, 16, 0},
			       {"aes-192-ecb", &family, NULL, 24, 0, 16, 0},
			       {"aes-256-ecb", &family, NULL, 32, 0, 16, 0},
			       {"aes-128-cbc", &family, NULL, 16, 16, 16, 0},
			       PB_END_OF_ROWS};
static const pb_row *const tables[] = {table, NULL};
static const pb_runner runner = {
	.name = "dying", .library = "none", .license = "Apache-2.0", .version = version, .tables = tables};

int main(int argc, char **argv)
{
	return pb_runner_main(&runner, argc, argv);
}
