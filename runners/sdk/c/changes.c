/* check with changes: calls on material of which bits were flipped, outside any timing (SPEC section 5). What has to be
 * refused, and what has to give another secret, is the orchestrator's affair. */
#include "material.h"
#include "serve.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef struct place {
	uint8_t *bytes;
	size_t length;
	int anew; /* what the family makes of it, it makes when it opens the case */
} place;

/* Of the run's own material the input alone is changed: a handle that did not open again would be lost. */
static place find_place(pb_prepared *p, char letter)
{
	pb_case *c = &p->c;
	if (letter != 'i' && !c->given)
		return (place){NULL, 0, 0};
	switch (letter) {
	case 'k':
		return (place){(uint8_t *)c->key[0], c->key_len, 1};
	case 'n':
		return (place){(uint8_t *)c->nonce[0], c->nonce_len, 1};
	case 'a':
		return (place){(uint8_t *)c->aad, c->aad_len, 1};
	case 'i':
		return (place){p->own_input, p->own_input ? c->in_len : 0, !c->inverse};
	default:
		return (place){NULL, 0, 0};
	}
}

/* Flip the bits of one change, up to the next space, or only read it; flipped once more they are as before. Returns
 * where it ends, NULL if it is none or reaches beyond the material. */
static const char *flip(pb_prepared *p, const char *change, int flips, int *anew)
{
	const char *at = change;
	do {
		place where = find_place(p, *at);
		char *end;
		if (!where.bytes || pb_digit(at[1]) < 0 || pb_digit(at[1]) > 9)
			return NULL;
		unsigned long long offset = strtoull(at + 1, &end, 10);
		if (*end != ':' || pb_digit(end[1]) < 0)
			return NULL;
		for (at = end + 1; pb_digit(*at) >= 0; at += 2, offset++) {
			if (pb_digit(at[1]) < 0 || offset >= where.length)
				return NULL;
			if (flips)
				where.bytes[offset] ^= (uint8_t)(pb_digit(at[0]) << 4 | pb_digit(at[1]));
		}
		*anew |= where.anew;
	} while (*at == '+' && *++at);
	return *at == ' ' || !*at ? at : NULL;
}

static const char LETTERS[] = "knai";

/* Other bytes in the place of key, nonce, additional data or input; not `there` where what is there stays. */
typedef struct other {
	uint8_t *bytes;
	size_t length;
	int there;
} other;

/* Read a change that puts other bytes in the place of what is there: "i=" and these. Returns where it ends, NULL if it
 * is none. `others` (NULL: it is only read) are those of LETTERS, to be freed. */
static const char *read_others(const char *change, other *others)
{
	const char *at = change;
	do {
		const char *letter = *at ? strchr(LETTERS, *at) : NULL;
		size_t digits = 0;
		if (!letter || at[1] != '=')
			return NULL;
		for (at += 2; pb_digit(at[digits]) >= 0;)
			digits++;
		if (digits % 2)
			return NULL;
		other *o = others ? &others[letter - LETTERS] : NULL;
		if (o && !o->there && (o->bytes = malloc(digits / 2 + 1))) {
			for (o->there = 1; o->length < digits / 2; o->length++)
				o->bytes[o->length] = (uint8_t)(pb_digit(at[2 * o->length]) << 4 |
								pb_digit(at[2 * o->length + 1]));
		}
		at += digits;
	} while (*at == '+' && *++at);
	return *at == ' ' || !*at ? at : NULL;
}

/* The digest of what a call gives, nothing where it is refused. */
static void add_outcome(pb_server *s, pb_prepared *p, int opened)
{
	if (opened)
		pb_case_run(p, 1);
	if (!opened || p->c.failures)
		pb_text_add(&s->answer, "\"\"");
	else
		pb_text_add(&s->answer, "\"%016" PRIx64 "\"", pb_digest(p->c.out, p->c.out_len));
}

/* A call on a case of its own, with others of the bytes. */
static const char *add_other(pb_server *s, const pb_prepared *p, const char *change)
{
	other o[sizeof LETTERS] = {{0}};
	const pb_case *c = &p->c;
	char words[256];
	const char *end = read_others(change, o);
	pb_vector v = {.key = o[0].there ? o[0].bytes : c->key[0],
		       .nonce = o[1].there ? o[1].bytes : c->nonce[0],
		       .aad = o[2].there ? o[2].bytes : c->aad,
		       .input = o[3].there ? o[3].bytes : c->in,
		       .key_len = o[0].there ? o[0].length : c->key_len,
		       .nonce_len = o[1].there ? o[1].length : c->nonce_len,
		       .aad_len = o[2].there ? o[2].length : c->aad_len,
		       .input_len = o[3].there ? o[3].length : c->in_len};
	pb_prepared made;
	int opened = pb_case_open(&made, c->row, p->variant, 0, p->seed, 0, NULL, &v, words) == NULL;
	add_outcome(s, &made, opened);
	if (opened)
		pb_case_close(&made);
	for (size_t i = 0; i < sizeof LETTERS; i++)
		free(o[i].bytes);
	return end;
}

/* All of them read once, before any call is made: 0 if one is none. */
static int are_changes(pb_prepared *p, const char *changes)
{
	int anew = 0;
	for (const char *at = changes; *at; at += *at == ' ') {
		const char *end = p->c.given ? read_others(at, NULL) : NULL;
		at = end ? end : flip(p, at, 0, &anew);
		if (!at)
			return 0;
	}
	return 1;
}

void pb_check_changes(pb_server *s, pb_prepared *p, const char *changes)
{
	if (!are_changes(p, changes)) {
		pb_refuse(s, "malformed",
			  "changes: letter, offset, colon, bits within the material; or letter, =, other "
			  "bytes");
		return;
	}
	pb_begin_answer(s);
	pb_text_add(&s->answer, ",\"input_length\":%zu,\"outcomes\":[", p->c.in_len);
	add_outcome(s, p, 1);
	for (const char *at = changes; *at; at += *at == ' ') {
		int anew = 0;
		pb_text_add(&s->answer, ",");
		if (at[1] == '=') {
			at = add_other(s, p, at);
			continue;
		}
		const char *end = flip(p, at, 1, &anew);
		int taken = !anew || pb_case_reopen(p);
		add_outcome(s, p, taken);
		flip(p, at, 1, &anew);
		if (anew && !pb_case_reopen(p)) {
			pb_refuse(s, "library", "the operation could not be prepared again");
			return;
		}
		at = end;
	}
	pb_text_add(&s->answer, ",");
	add_outcome(s, p, 1);
	pb_text_add(&s->answer, "]}");
}
