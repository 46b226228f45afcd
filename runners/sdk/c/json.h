/* Just enough JSON (RFC 8259) for the protocol: one request object, at most one level of nesting, read in
 * place; and a growing text to write answers into. A general library would be one more thing that every
 * machine must have before it can measure anything (docs/adr/0004-own-request-reader.md). */
#ifndef PB_JSON_H
#define PB_JSON_H

#include <stddef.h>
#include <stdint.h>

enum pb_type { PB_NULL, PB_BOOL, PB_NUMBER, PB_STRING };

typedef struct pb_field {
	const char *name; /* nested ones as "vector.key" */
	enum pb_type type;
	const char *text; /* decoded text of a string, literal of a number */
	int truth;
} pb_field;

enum { PB_MAX_FIELDS = 40, PB_MAX_NAME = 48 };

typedef struct pb_request {
	pb_field fields[PB_MAX_FIELDS];
	char names[PB_MAX_FIELDS][PB_MAX_NAME];
	int count;
} pb_request;

/* Parse `line` (changed in place). Returns 0, or -1 if it is not an object of this form. Arrays and deeper
 * nesting are skipped: no request has them, so they belong to fields that are to be ignored. */
int pb_json_parse(char *line, pb_request *);

const pb_field *pb_get(const pb_request *, const char *name);
/* The field's value, or `fallback` if it is absent or of another type. */
const char *pb_get_text(const pb_request *, const char *name, const char *fallback);
double pb_get_number(const pb_request *, const char *name, double fallback);
int64_t pb_get_integer(const pb_request *, const char *name, int64_t fallback);
uint64_t pb_get_unsigned(const pb_request *, const char *name, uint64_t fallback);
int pb_get_truth(const pb_request *, const char *name);

typedef struct pb_text {
	char *data;
	size_t length, capacity;
} pb_text;

void pb_text_clear(pb_text *);
void pb_text_add(pb_text *, const char *format, ...) __attribute__((format(printf, 2, 3)));
void pb_text_string(pb_text *, const char *); /* quoted and escaped; invalid bytes become '?' */
void pb_text_hex(pb_text *, const uint8_t *, size_t);

#endif
