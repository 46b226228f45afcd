/* hello: who answers, and what it can do. The list comes from the tables that dispatch. */
#include "serve.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef PB_COMPILER
#define PB_COMPILER __VERSION__
#endif
#ifndef PB_FLAGS
#define PB_FLAGS ""
#endif

int pb_offers(const pb_runner *r, const pb_row *row)
{
	return !r->offers || r->offers(row);
}

/* Which file the library's code was loaded from: asked of the dynamic linker, so that it cannot be another.
 */
static const char *object_path(const pb_runner *r)
{
	static char real[4096];
	Dl_info info;
	const char *path = "/proc/self/exe";
	if (r->object && dladdr(r->object, &info) && info.dli_fname && *info.dli_fname == '/')
		path = info.dli_fname;
	ssize_t length;
	if (strcmp(path, "/proc/self/exe") != 0)
		return realpath(path, real) ? real : path;
	length = readlink(path, real, sizeof real - 1);
	real[length < 0 ? 0 : length] = '\0';
	return real;
}

void pb_hello(pb_server *s, const pb_request *q)
{
	const pb_runner *r = s->runner;
	(void)q;
	pb_begin_answer(s);
	pb_text_add(&s->answer, ",\"protocol\":%d", PB_PROTOCOL);
	pb_add_string(s, "runner", r->name);
	pb_add_string(s, "sdk", "c/1");
	pb_add_string(s, "library", r->library);
	pb_add_string(s, "library_version", r->version());
	pb_add_string(s, "license", r->license);
	pb_add_string(s, "compiler", PB_COMPILER);
	pb_add_string(s, "flags", PB_FLAGS);
	pb_add_string(s, "object", object_path(r));
	pb_add_string(s, "cpu_features", r->cpu_features ? r->cpu_features() : "");
	pb_add_string(s, "tier", s->tier);
	pb_text_add(&s->answer, ",\"operations\":[");
	const char *comma = "";
	for (const pb_row *const *table = r->tables; *table; table++)
		for (const pb_row *row = *table; row->algorithm; row++) {
			if (!pb_offers(r, row))
				continue;
			const char *path = r->code_path ? r->code_path(row) : NULL;
			for (const pb_variant *v = row->family->variants; v->operation; v++) {
				if (strcmp(v->contract, PB_UNTIMED) == 0)
					continue;
				pb_text_add(
					&s->answer,
					"%s{\"algorithm\":\"%s\",\"operation\":\"%s\",\"contract\":\"%s\"",
					comma, row->algorithm, v->operation, v->contract);
				pb_add_string(s, "calls", v->calls);
				if (path)
					pb_add_string(s, "code_path", path);
				pb_text_add(&s->answer, "}");
				comma = ",";
			}
		}
	pb_text_add(&s->answer, "]}");
}
