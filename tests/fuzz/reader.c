/* Fuzzes the C SDK's request reader and the verbs that read a request without timing anything.
 *
 * Built with `-fsanitize=fuzzer` libFuzzer drives it. Built with -DSTANDALONE any compiler will do:
 *     reader SEED COUNT FILE...    changes the files (a seed each) at random, COUNT times
 * The first byte of an input says what reads the rest: even the reader alone, odd the whole server. */
#include "serve.c"

#include "loop.h"

enum { LONGEST = 8192, MOST_BYTES = 4096 };

static pb_server server;

/* What is read must lie within the line, and all of it must be readable. */
static void read_alone(char *line, int written)
{
	static pb_request q;
	volatile uint64_t sink = 0;
	if (pb_json_parse(line, &q) != 0)
		return;
	for (int i = 0; i < q.count; i++) {
		const char *name = q.fields[i].name;
		if (strlen(name) >= PB_MAX_NAME || !pb_get(&q, name))
			abort();
		const char *text = pb_get_text(&q, name, "");
		sink += strlen(text) + (uint64_t)pb_get_integer(&q, name, 1) + pb_get_unsigned(&q, name, 1) +
			(uint64_t)(pb_get_number(&q, name, 1) > 0) + (uint64_t)pb_get_truth(&q, name);
		if (!written)
			continue;
		pb_text_clear(&server.answer);
		pb_text_string(&server.answer, text);
		for (size_t k = 0; k < server.answer.length; k++)
			if ((unsigned char)server.answer.data[k] < 0x20 ||
			    (unsigned char)server.answer.data[k] > 0x7e)
				abort(); /* an answer must be one line of plain characters */
	}
}

/* No timing (it takes what it is told to take) and no data of a size that only costs time. */
static int is_quick(char *line)
{
	static pb_request q;
	if (pb_json_parse(line, &q) != 0)
		return 1;
	const char *verb = pb_get_text(&q, "verb", "");
	int64_t size = pb_get_integer(&q, "size_bytes", 0), offset = pb_get_integer(&q, "offset", 0);
	const char *path = pb_get_text(&q, "input_path", "");
	return strcmp(verb, "measure") != 0 && strcmp(verb, "calibrate") != 0 && strcmp(verb, "watch") != 0 &&
	       (size <= MOST_BYTES || size > (int64_t)1 << 45) && pb_get_integer(&q, "calls", 0) <= 64 &&
	       (offset <= MOST_BYTES || offset > (int64_t)1 << 45) && *path == '\0';
}

static void serve(char *line)
{
	static char copy[LONGEST + 1];
	static int opened;
	strcpy(copy, line);
	if (!is_quick(copy))
		return;
	if (++opened % 64 == 0) { /* handles pile up */
		for (int i = 0; i < server.handle_count; i++)
			if (server.handles[i]) {
				pb_case_close(server.handles[i]);
				free(server.handles[i]);
				server.handles[i] = NULL;
			}
		server.handle_count = 0;
	}
	answer(&server, line);
	if (memchr(server.answer.data, '\n', server.answer.length))
		abort();
}

/* A size that no memory has is refused by the server, so the allocator must say no instead of ending it. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "allocator_may_return_null=1";
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 1 || size > LONGEST)
		return 0;
	char *line = malloc(size); /* of exactly this size, so that a byte too far is seen */
	memcpy(line, data + 1, size - 1);
	line[size - 1] = '\0';
#ifdef READER_ONLY
	int whole = 0;
#else
	int whole = data[0] % 2;
#endif
	if (whole) {
		server.runner = &loop_runner;
		server.tier = "full";
		serve(line);
	} else {
		read_alone(line, data[0] % 16 == 0); /* writing takes longer than reading */
	}
	free(line);
	return 0;
}

#ifdef STANDALONE
static uint64_t state;

static uint64_t draw(uint64_t below)
{
	state += 0x9e3779b97f4a7c15u;
	uint64_t z = (state ^ state >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return (z ^ z >> 31) % below;
}

/* One to eight small changes, as far as they fit. */
static size_t change(uint8_t *bytes, size_t length)
{
	static const char *const words[] = {"\"",
					    "\\",
					    "\\u0000",
					    "\\ud800",
					    "{",
					    "}",
					    "[",
					    "]",
					    ":",
					    ",",
					    "-",
					    "1e999",
					    "null",
					    "true",
					    "\"id\"",
					    "\x01",
					    "\"verb\"",
					    "\x80",
					    "999999999999999999999"};
	for (uint64_t n = 1 + draw(8); n; n--) {
		size_t at = length ? draw(length) : 0;
		const char *word = words[draw(sizeof words / sizeof *words)];
		size_t added = strlen(word), run = length ? 1 + draw(length - at < 16 ? length - at : 16) : 0;
		switch (draw(4)) {
		case 0:
			if (length)
				bytes[at] ^= (uint8_t)(1u << draw(8));
			break;
		case 1:
			if (length + added <= LONGEST) {
				memmove(bytes + at + added, bytes + at, length - at);
				memcpy(bytes + at, word, added);
				length += added;
			}
			break;
		case 2:
			if (length) {
				memmove(bytes + at, bytes + at + run, length - at - run);
				length -= run;
			}
			break;
		default:
			if (length && length + run <= LONGEST) {
				memmove(bytes + at + run, bytes + at, length - at);
				length += run;
			}
		}
	}
	return length;
}

int main(int argc, char **argv)
{
	static uint8_t bytes[LONGEST];
	if (argc < 4)
		return 2;
	state = strtoull(argv[1], NULL, 10);
	uint64_t count = strtoull(argv[2], NULL, 10);
	size_t given = (size_t)argc - 3;
	struct {
		size_t length;
		uint8_t *bytes;
	} *seeds = calloc(given, sizeof *seeds);
	for (size_t k = 0; k < given; k++) {
		FILE *file = fopen(argv[3 + k], "rb");
		if (!file)
			return 2;
		seeds[k].length = fread(bytes, 1, sizeof bytes, file);
		seeds[k].bytes = malloc(seeds[k].length + 1);
		memcpy(seeds[k].bytes, bytes, seeds[k].length);
		fclose(file);
	}
	for (uint64_t k = 0; k < count; k++) {
		size_t seed = k < given ? k : draw(given), length = seeds[seed].length;
		memcpy(bytes, seeds[seed].bytes, length);
		LLVMFuzzerTestOneInput(bytes, k < given ? length : change(bytes, length));
	}
	for (size_t k = 0; k < given; k++)
		free(seeds[k].bytes);
	free(seeds);
	release_all(&server);
	printf("%llu inputs\n", (unsigned long long)count);
	return 0;
}
#endif
