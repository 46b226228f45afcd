/* What the SDK asks of two ends that only write down who did what: `begin` and `show` untimed, the loop between bars.
 *   ends_seen OPERATION FAULT CALLS... */
#include "ends.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *fault = "";

struct end {
	int id, asked;
	pb_stream *in, *out;
};

int pb_fail(pb_case *c, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	vsnprintf(c->error, sizeof c->error, format, args);
	va_end(args);
	return -1;
}

static int step(char letter, struct end *end, int ahead)
{
	putchar(letter);
	return end && end->asked++ == ahead && strchr(fault, letter) == NULL;
}

static struct end *new_end(pb_wire *w, int client)
{
	static int ids;
	struct end *made = calloc(1, sizeof *made);
	made->id = ++ids;
	made->in = client ? &w->down : &w->up;
	made->out = client ? &w->up : &w->down;
	return made;
}

static int greet(pb_case *c, pb_joint *j)
{
	(void)c;
	j->wire = calloc(1, sizeof(pb_wire));
	j->client = new_end(j->wire, 1);
	return step('g', j->client, 0) && pb_stream_put(&((pb_wire *)j->wire)->up, "hello", 5) == 5;
}

static int answer(pb_case *c, pb_joint *j)
{
	uint8_t heard[8];
	(void)c;
	j->server = new_end(j->wire, 0);
	return step('a', j->server, 0) && pb_stream_get(&((pb_wire *)j->wire)->up, heard, 8) == 5;
}

static int verify(pb_joint *j)
{
	return step('v', j->client, 1);
}

static int admit(pb_joint *j)
{
	return step('d', j->server, 1);
}

static int collect(pb_joint *j)
{
	return step('c', j->client, 2);
}

static int put(void *end, const uint8_t *data, size_t size)
{
	putchar('p');
	return pb_stream_put(((struct end *)end)->out, data, size) == (long)size;
}

static int get(void *end, uint8_t *data, size_t size)
{
	putchar('t');
	int whole = pb_stream_get(((struct end *)end)->in, data, size) == size;
	if (strchr(fault, 't'))
		data[0]++;
	return whole;
}

static int export(pb_case *c, void *end, uint8_t secret[PB_SECRET])
{
	(void)c;
	memset(secret, strchr(fault, 'x') ? ((struct end *)end)->id : 7, PB_SECRET);
	return 1;
}

static void free_end(void *end)
{
	putchar('f');
	free(end);
}

static const pb_steps steps = {greet, answer, verify,       admit,    collect,     put,
			       get,   export, pb_wire_sent, free_end, pb_wire_free};

static const pb_variant handshakes[] = {PB_HANDSHAKE_VARIANTS("", "", "")};
static const pb_variant records[] = {PB_RECORD_VARIANTS("", "")};

int main(int argc, char **argv)
{
	static const uint8_t data[4] = {1, 2, 3, 4};
	static uint8_t out[4096];
	const pb_variant *v = handshakes;
	pb_row row = {.output = PB_PROOF};
	if (argc < 3)
		return 1;
	for (; v->operation && strcmp(v->operation, argv[1]) != 0; v++)
		;
	if (!v->operation) {
		row.output = 0;
		for (v = records; strcmp(v->operation, argv[1]) != 0; v++)
			;
	}
	pb_case c = {.row = &row, .in = data, .size = sizeof data, .out = out};
	c.ctx = calloc(1, sizeof(pb_ends));
	pb_ends_open(&c, &steps);
	fault = argv[2];
	for (int i = 3; i < argc; i++) {
		c.calls = (uint64_t)atoi(argv[i]);
		c.failures = 0;
		printf(" ");
		if (v->begin)
			v->begin(&c);
		printf("|");
		v->loop(&c, c.calls);
		printf("|");
		if (i + 1 == argc && v->show)
			v->show(&c);
	}
	printf("\n%d %zu ", (int)c.failures, c.out_len);
	for (size_t i = 0; i < c.out_len; i++)
		printf("%02x", out[i]);
	printf("\n");
	pb_ends_close(&c);
	free(c.ctx);
	return 0;
}
