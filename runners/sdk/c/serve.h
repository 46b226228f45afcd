/* The server's state and what its verbs share. One file per group of verbs: serve.c (the loop, prepare,
 * release, quit), hello.c, check.c, measure.c,
 * changes.c, audit.c, count.c, pairs.c. */
#ifndef PB_SERVE_H
#define PB_SERVE_H

#include "burst.h"
#include "cases.h"
#include "gauge.h"
#include "json.h"

enum { PB_PROTOCOL = 1, PB_MAX_HANDLES = 65536, PB_MAX_LINE = 1 << 20 };

typedef struct pb_server {
	const pb_runner *runner;
	const char *tier;
	pb_gauge gauge;
	int calibrated;
	pb_prepared *handles[PB_MAX_HANDLES];
	int handle_count;
	pb_text answer;
	int64_t id;
	int ended;
} pb_server;

/* Start an answer with ok: true, without its closing brace; or write a whole refusal. */
void pb_begin_answer(pb_server *);
void pb_refuse(pb_server *, const char *code, const char *message);
void pb_add_string(pb_server *, const char *name, const char *value);

/* The case behind the request's handle, or NULL after a refusal. */
pb_prepared *pb_find_handle(pb_server *, const pb_request *);

int pb_offers(const pb_runner *, const pb_row *);

void pb_hello(pb_server *, const pb_request *);
void pb_check(pb_server *, const pb_request *);
/* The value of a hexadecimal digit, -1 for another character. */
int pb_digit(char);
void pb_check_changes(pb_server *, pb_prepared *, const char *changes);
void pb_calibrate(pb_server *, const pb_request *);
void pb_watch(pb_server *, const pb_request *);
void pb_measure(pb_server *, const pb_request *);
void pb_audit(pb_server *, const pb_request *);
void pb_count(pb_server *, const pb_request *);
void pb_pairs(pb_server *, const pb_request *);

/* Add the arrays of a burst, those of the PMU's cycles and of flags included. */
void pb_add_samples(pb_server *, const pb_burst *);

#endif
