#include "json.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *skip_space(char *p)
{
	while (*p == ' ' || *p == '\t' || *p == '\r' || *p == '\n')
		p++;
	return p;
}

static int hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

/* Write a code point of the basic plane as UTF-8; surrogates become '?', for no field of a request needs
 * them. */
static char *put_utf8(char *out, unsigned code)
{
	if (code < 0x80) {
		*out++ = (char)code;
	} else if (code < 0x800) {
		*out++ = (char)(0xc0 | code >> 6);
		*out++ = (char)(0x80 | (code & 0x3f));
	} else if (code >= 0xd800 && code < 0xe000) {
		*out++ = '?';
	} else {
		*out++ = (char)(0xe0 | code >> 12);
		*out++ = (char)(0x80 | (code >> 6 & 0x3f));
		*out++ = (char)(0x80 | (code & 0x3f));
	}
	return out;
}

/* p stands behind the opening quote. Decodes in place; returns the place behind the closing quote or NULL. */
static char *read_string(char *p, char **text)
{
	static const char plain[] = "\"\\/bfnrt", meaning[] = "\"\\/\b\f\n\r\t";
	char *out = p;
	*text = p;
	while (*p != '"') {
		if ((unsigned char)*p < 0x20)
			return NULL;
		if (*p != '\\') {
			*out++ = *p++;
			continue;
		}
		p++;
		const char *found = *p ? strchr(plain, *p) : NULL;
		if (found) {
			*out++ = meaning[found - plain];
			p++;
		} else if (*p == 'u') {
			unsigned code = 0;
			for (int i = 1; i <= 4; i++) {
				int digit = hex_value(p[i]);
				if (digit < 0)
					return NULL;
				code = code << 4 | (unsigned)digit;
			}
			if (code == 0)
				return NULL;
			out = put_utf8(out, code);
			p += 5;
		} else {
			return NULL;
		}
	}
	*out = '\0';
	return p + 1;
}

/* A number's literal is copied nowhere: the character behind it is remembered by the caller and put to zero
 * later. */
static char *read_number(char *p)
{
	if (*p == '-')
		p++;
	if (*p < '0' || *p > '9')
		return NULL;
	while ((*p >= '0' && *p <= '9') || *p == '.' || *p == 'e' || *p == 'E' || *p == '+' || *p == '-')
		p++;
	return p;
}

/* An array, or an object within an object. No request of the protocol has one, so it belongs to a field that
 * is not known here, and those are ignored: only its end is of interest. */
static char *skip_nested(char *p)
{
	int depth = 0;
	do {
		char *text;
		if (*p == '\0')
			return NULL;
		if (*p == '"') {
			p = read_string(p + 1, &text);
			if (!p)
				return NULL;
			continue;
		}
		depth += *p == '[' || *p == '{';
		depth -= *p == ']' || *p == '}';
		p++;
	} while (depth > 0);
	return p;
}

static char *read_object(char *p, pb_request *r, const char *prefix);

static char *read_value(char *p, pb_request *r, const char *name, const char *prefix)
{
	if (*p == '[' || (*p == '{' && *prefix))
		return skip_nested(p);
	if (*p == '{')
		return read_object(p, r, name);
	if (r->count == PB_MAX_FIELDS)
		return NULL;
	pb_field *field = &r->fields[r->count];
	int length = snprintf(r->names[r->count], PB_MAX_NAME, "%s%s%s", prefix, *prefix ? "." : "", name);
	if (length >= PB_MAX_NAME)
		return NULL;
	field->name = r->names[r->count++];
	field->text = "";
	field->truth = 0;
	if (*p == '"') {
		char *text;
		field->type = PB_STRING;
		p = read_string(p + 1, &text);
		field->text = text;
		return p;
	}
	static const struct {
		const char *word;
		enum pb_type type;
		int truth;
	} words[] = {{"true", PB_BOOL, 1}, {"false", PB_BOOL, 0}, {"null", PB_NULL, 0}};
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (strncmp(p, words[i].word, strlen(words[i].word)) == 0) {
			field->type = words[i].type;
			field->truth = words[i].truth;
			return p + strlen(words[i].word);
		}
	field->type = PB_NUMBER;
	field->text = p;
	return read_number(p);
}

static char *read_object(char *p, pb_request *r, const char *prefix)
{
	p = skip_space(p + 1);
	if (*p == '}')
		return p + 1;
	for (;;) {
		char *name;
		if (*p != '"' || !(p = read_string(p + 1, &name)))
			return NULL;
		p = skip_space(p);
		if (*p != ':')
			return NULL;
		int first = r->count;
		p = read_value(skip_space(p + 1), r, name, prefix);
		if (!p)
			return NULL;
		char *end = p;
		p = skip_space(p);
		char next = *p;
		if (next != ',' && next != '}')
			return NULL;
		if (r->count == first + 1 && r->fields[first].type == PB_NUMBER)
			*end = '\0'; /* only now, when the separator has been read */
		p = skip_space(p + 1);
		if (next == '}')
			return p;
	}
}

int pb_json_parse(char *line, pb_request *r)
{
	r->count = 0;
	char *p = skip_space(line);
	if (*p != '{')
		return -1;
	p = read_object(p, r, "");
	return p && *skip_space(p) == '\0' ? 0 : -1;
}

const pb_field *pb_get(const pb_request *r, const char *name)
{
	for (int i = 0; i < r->count; i++)
		if (strcmp(r->fields[i].name, name) == 0)
			return &r->fields[i];
	return NULL;
}

const char *pb_get_text(const pb_request *r, const char *name, const char *fallback)
{
	const pb_field *field = pb_get(r, name);
	return field && field->type == PB_STRING ? field->text : fallback;
}

double pb_get_number(const pb_request *r, const char *name, double fallback)
{
	const pb_field *field = pb_get(r, name);
	return field && field->type == PB_NUMBER ? strtod(field->text, NULL) : fallback;
}

int64_t pb_get_integer(const pb_request *r, const char *name, int64_t fallback)
{
	const pb_field *field = pb_get(r, name);
	return field && field->type == PB_NUMBER ? strtoll(field->text, NULL, 10) : fallback;
}

uint64_t pb_get_unsigned(const pb_request *r, const char *name, uint64_t fallback)
{
	const pb_field *field = pb_get(r, name);
	return field && field->type == PB_NUMBER ? strtoull(field->text, NULL, 10) : fallback;
}

int pb_get_truth(const pb_request *r, const char *name)
{
	const pb_field *field = pb_get(r, name);
	return field && field->type == PB_BOOL && field->truth;
}

void pb_text_clear(pb_text *t)
{
	t->length = 0;
}

static void reserve(pb_text *t, size_t more)
{
	if (t->length + more + 1 <= t->capacity)
		return;
	size_t capacity = (t->length + more + 1) * 2;
	char *data = realloc(t->data, capacity);
	if (!data) {
		fputs("perbyte: out of memory while writing an answer\n", stderr);
		exit(1);
	}
	t->data = data;
	t->capacity = capacity;
}

void pb_text_add(pb_text *t, const char *format, ...)
{
	va_list args, again;
	va_start(args, format);
	va_copy(again, args);
	int length = vsnprintf(NULL, 0, format, args);
	va_end(args);
	reserve(t, (size_t)length);
	vsnprintf(t->data + t->length, (size_t)length + 1, format, again);
	va_end(again);
	t->length += (size_t)length;
}

void pb_text_string(pb_text *t, const char *s)
{
	pb_text_add(t, "\"");
	for (; s && *s; s++) {
		unsigned char c = (unsigned char)*s;
		if (c == '"' || c == '\\')
			pb_text_add(t, "\\%c", c);
		else if (c < 0x20)
			pb_text_add(t, "\\u%04x", c);
		else
			pb_text_add(t, "%c", c < 0x7f ? c : '?');
	}
	pb_text_add(t, "\"");
}

void pb_text_hex(pb_text *t, const uint8_t *bytes, size_t length)
{
	static const char digits[] = "0123456789abcdef";
	reserve(t, 2 * length + 2);
	char *p = t->data + t->length;
	*p++ = '"';
	for (size_t i = 0; i < length; i++) {
		*p++ = digits[bytes[i] >> 4];
		*p++ = digits[bytes[i] & 15];
	}
	*p++ = '"';
	*p = '\0';
	t->length += 2 * length + 2;
}
