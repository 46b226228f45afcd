#include "fat.h"

#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char words[4096];
static char features[256];

extern char **environ;

/* Everything that comes from the file descriptor until it ends; what does not fit is read and dropped. */
static void read_words(int from)
{
	size_t length = 0;
	char dropped[256];
	ssize_t got;
	while ((got = length < sizeof words - 1 ? read(from, words + length, sizeof words - 1 - length)
						: read(from, dropped, sizeof dropped)) > 0)
		length += length < sizeof words - 1 ? (size_t)got : 0;
	words[length] = '\0';
}

static void find_features(void)
{
	static const char label[] = "cpu features:";
	const char *at = strstr(words, label);
	if (!at)
		return;
	at += sizeof label - 1;
	at += strspn(at, " ");
	snprintf(features, sizeof features, "%.*s", (int)strcspn(at, "\n"), at);
}

int fat_listen(void)
{
	int ends[2];
	pid_t copy;
	posix_spawn_file_actions_t actions;
	char *const arguments[] = {(char *)"nettle", (char *)FAT_COPY, NULL};
	if (pipe(ends) != 0)
		return -1;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
	posix_spawn_file_actions_addclose(&actions, ends[0]);
	setenv("NETTLE_FAT_VERBOSE", "1", 1);
	int error = posix_spawn(&copy, "/proc/self/exe", &actions, NULL, arguments, environ);
	unsetenv("NETTLE_FAT_VERBOSE");
	posix_spawn_file_actions_destroy(&actions);
	close(ends[1]);
	if (error == 0) {
		read_words(ends[0]);
		waitpid(copy, NULL, 0);
		find_features();
	}
	close(ends[0]);
	return error == 0 ? 0 : -1;
}

const char *fat_words(void)
{
	return words;
}

const char *fat_features(void)
{
	return features;
}

int fat_uses(const char *what)
{
	char line[128];
	snprintf(line, sizeof line, "libnettle: using %s instructions.", what);
	return strstr(words, line) != NULL;
}
