/* check: calls outside any timing, and what came out. */
#include "material.h"
#include "serve.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Signatures are shown whole, so that other runners can be asked to verify them. */
enum { SHOWN_WHOLE = 4096, SHOWN_SIGNATURE = 65536, SHOWN_HEAD = 64 };

static void show_output(pb_server *s, const pb_case *c, const char *operation)
{
	pb_begin_answer(s);
	pb_text_add(&s->answer, ",\"length\":%zu,\"digest\":\"%016" PRIx64 "\",\"head\":", c->out_len,
		    pb_digest(c->out, c->out_len));
	pb_text_hex(&s->answer, c->out, c->out_len < SHOWN_HEAD ? c->out_len : SHOWN_HEAD);
	size_t whole = strcmp(operation, "sign") == 0 ? SHOWN_SIGNATURE : SHOWN_WHOLE;
	if (c->out_len <= whole) {
		pb_text_add(&s->answer, ",\"output\":");
		pb_text_hex(&s->answer, c->out, c->out_len);
	}
	pb_text_add(&s->answer, "}");
}

int pb_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Decode a hexadecimal field. Returns the bytes (to be freed), with the length; NULL if it is not
 * hexadecimal. */
static uint8_t *decode_hex(const pb_request *q, const char *name, size_t *length)
{
	const char *text = pb_get_text(q, name, "");
	size_t digits = strlen(text);
	uint8_t *bytes = digits % 2 ? NULL : malloc(digits / 2 + 1);
	*length = digits / 2;
	for (size_t i = 0; bytes && i < digits; i += 2) {
		int high = pb_digit(text[i]), low = pb_digit(text[i + 1]);
		if (high < 0 || low < 0) {
			free(bytes);
			return NULL;
		}
		bytes[i / 2] = (uint8_t)(high << 4 | low);
	}
	return bytes;
}

static void answer_vector(pb_server *s, pb_prepared *p)
{
	pb_case_run(p, 1);
	if (p->c.failures)
		pb_refuse(s, "library", p->c.error[0] ? p->c.error : "it refused the input");
	else
		show_output(s, &p->c, p->variant->operation);
}

static void check_vector(pb_server *s, const pb_prepared *model, const pb_request *q)
{
	pb_vector v;
	char words[256];
	uint8_t *key = decode_hex(q, "vector.key", &v.key_len),
		*nonce = decode_hex(q, "vector.nonce", &v.nonce_len);
	uint8_t *aad = decode_hex(q, "vector.aad", &v.aad_len),
		*input = decode_hex(q, "vector.input", &v.input_len);
	v.key = key;
	v.nonce = nonce;
	v.aad = aad;
	v.input = input;
	pb_prepared p;
	const char *code = "malformed";
	snprintf(words, sizeof words, "a field of the vector is not hexadecimal");
	if (key && nonce && aad && input)
		code = pb_case_open(&p, model->c.row, model->variant, 0, model->seed, 0, NULL, &v, words);
	const char *changes = pb_get_text(q, "changes", NULL);
	if (code) {
		pb_refuse(s, code, words);
	} else {
		if (changes)
			pb_check_changes(s, &p, changes);
		else
			answer_vector(s, &p);
		pb_case_close(&p);
	}
	free(key);
	free(nonce);
	free(aad);
	free(input);
}

static int is_vector(const pb_request *q)
{
	for (int i = 0; i < q->count; i++)
		if (strncmp(q->fields[i].name, "vector.", 7) == 0)
			return 1;
	return 0;
}

void pb_check(pb_server *s, const pb_request *q)
{
	pb_prepared *p = pb_find_handle(s, q);
	int passed = 0, round_trip = pb_get_truth(q, "round_trip"), forgery = pb_get_truth(q, "forgery");
	int64_t calls = pb_get_integer(q, "calls", -1);
	char words[256] = "";
	if (!p)
		return;
	if (round_trip || forgery) {
		const char *code = round_trip ? pb_case_round_trip(p, &passed, words)
					      : pb_case_forgery(p, &passed, words);
		if (code) {
			pb_refuse(s, code, words);
			return;
		}
		pb_begin_answer(s);
		pb_text_add(&s->answer, ",\"passed\":%s", passed ? "true" : "false");
		pb_add_string(s, "detail", words);
		pb_text_add(&s->answer, "}");
	} else if (is_vector(q)) {
		check_vector(s, p, q);
	} else if (pb_get_text(q, "changes", NULL)) {
		pb_check_changes(s, p, pb_get_text(q, "changes", ""));
	} else if (calls >= 1) {
		pb_case_run(p, (uint64_t)calls);
		if (p->c.failures)
			pb_refuse(s, "library",
				  p->c.error[0] ? p->c.error : "the library reported an error in a call");
		else
			show_output(s, &p->c, p->variant->operation);
	} else {
		pb_refuse(s, "malformed", "check needs calls, vector, changes, round_trip or forgery");
	}
}
