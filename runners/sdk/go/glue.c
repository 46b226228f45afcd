/* The exported functions of Go as what foreign.c calls. */
#include "foreign.h"

#include <ends.h>

#include "_cgo_export.h"

/* An end is a number of Go's, and so is what lies between two. */
#define NUMBER(POINTER) ((uintptr_t)(POINTER))

static int greet(pb_case *c, pb_joint *j)
{
	j->wire = (void *)goWire();
	j->client = (void *)goEnd(c, NUMBER(j->wire), 1);
	return goStep(NUMBER(j->client), 0);
}

static int answer(pb_case *c, pb_joint *j)
{
	j->server = (void *)goEnd(c, NUMBER(j->wire), 0);
	return goStep(NUMBER(j->server), 0);
}

static int verify(pb_joint *j)
{
	return goStep(NUMBER(j->client), 1);
}

static int admit(pb_joint *j)
{
	return goStep(NUMBER(j->server), 1);
}

static int collect(pb_joint *j)
{
	return goCollect(NUMBER(j->client));
}

static int put(void *end, const uint8_t *data, size_t size)
{
	return goPut(NUMBER(end), (uint8_t *)data, size);
}

static int get(void *end, uint8_t *data, size_t size)
{
	return goGet(NUMBER(end), data, size);
}

static int export(pb_case *c, void *end, uint8_t secret[PB_SECRET])
{
	(void)c;
	return goExport(NUMBER(end), secret, PB_SECRET);
}

static void sent(const pb_joint *j, uint64_t *up, uint64_t *down)
{
	*up = goSent(NUMBER(j->wire), 1);
	*down = goSent(NUMBER(j->wire), 0);
}

static void free_part(void *part)
{
	goFree(NUMBER(part));
}

static const pb_steps steps = {greet, answer, verify, admit,     collect,  put,
			       get,   export, sent,   free_part, free_part};

int pb_go_main(const char *name, const char *library, const char *license, const char *version,
	       const char *features)
{
	static const pb_foreign go = {goOpen, goClose, goRun, goBegin, goShow, 1, 1, &steps};
	return pb_foreign_main(&go, name, library, license, version, features);
}
