/* Let a runner answer its first request, then run it one instruction at a time to the end and print how many there
 * were: a second counter for bench/counting.py.
 *
 *     cc -O2 -o stepping bench/stepping.c && ./stepping COMMAND... <REQUESTS
 *
 * The processor executes each instruction itself, so that AVX-512 and SHA instructions are counted too. Each repetition
 * of a string instruction is a step. Exit status 125 where something went wrong, else the program's. */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LONGEST = 4096, FAILED = 125 };

static int answered(int from)
{
	char byte = 0;
	while (byte != '\n' && read(from, &byte, 1) == 1)
		;
	return byte == '\n';
}

/* Wait until the program reads its next request: from there on its steps are the same each time. */
static int reads(pid_t child)
{
	char place[64], call[2] = "";
	snprintf(place, sizeof place, "/proc/%d/syscall", (int)child);
	for (int turn = 0; turn < 10000; turn++) {
		FILE *file = fopen(place, "r");
		size_t there = file ? fread(call, 1, sizeof call, file) : 0;
		if (file)
			fclose(file);
		if (there == sizeof call && call[0] == '0' && call[1] == ' ') /* read is call 0 */
			return 1;
		usleep(1000);
	}
	return 0;
}

/* Returns the program's status, or -1. */
static int step(pid_t child, uint64_t *steps)
{
	int status = 0, given = 0;
	for (;;) {
		if (ptrace(PTRACE_SINGLESTEP, child, NULL, (void *)(intptr_t)given) != 0)
			return -1;
		while (waitpid(child, &status, 0) < 0)
			if (errno != EINTR)
				return -1;
		if (!WIFSTOPPED(status))
			return status;
		given = WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
		*steps += !given;
	}
}

int main(int argc, char **argv)
{
	char line[LONGEST];
	int to[2], from[2], status;
	uint64_t steps = 0;
	if (argc < 2 || pipe(to) || pipe(from))
		return FAILED;
	pid_t child = fork();
	if (child == 0) {
		personality(ADDR_NO_RANDOMIZE);
		dup2(to[0], STDIN_FILENO);
		dup2(from[1], STDOUT_FILENO);
		close(to[1]);
		close(from[0]);
		execvp(argv[1], argv + 1);
		_exit(127);
	}
	close(to[0]);
	close(from[1]);
	if (child < 0 || !fgets(line, sizeof line, stdin) ||
	    write(to[1], line, strlen(line)) != (ssize_t)strlen(line) || !answered(from[0]) || !reads(child))
		return FAILED;
	if (ptrace(PTRACE_SEIZE, child, NULL, NULL) || ptrace(PTRACE_INTERRUPT, child, NULL, NULL) ||
	    waitpid(child, &status, 0) != child)
		return FAILED;
	while (fgets(line, sizeof line, stdin)) /* fewer than a pipe holds */
		if (write(to[1], line, strlen(line)) != (ssize_t)strlen(line))
			return FAILED;
	status = step(child, &steps);
	if (status < 0 || !WIFEXITED(status))
		return FAILED;
	printf("%" PRIu64 "\n", steps);
	return WEXITSTATUS(status);
}
