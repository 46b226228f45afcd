#include "taint.h"
#include "material.h"
#include "secrets.h"
#include "serve.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__has_include)
#if __has_include(<valgrind/memcheck.h>)
#include <valgrind/memcheck.h>
#ifndef NVALGRIND /* which its header defines for processors that it does not know */
#define PB_MEMCHECK 1
#endif
#endif
#endif

enum { MADE = 0, NOT_MADE = 1, NO_MEMCHECK = 2, WORDS = 6, SEED = 7 };
enum { ROOM = 1 << 20 }; /* for tags and other output beside the data */

#ifdef PB_MEMCHECK

static const pb_row *find(const pb_runner *r, char **words, const pb_variant **variant)
{
	for (const pb_row *const *table = r->tables; *table; table++)
		for (const pb_row *row = *table; row->algorithm; row++)
			if (strcmp(row->algorithm, words[1]) == 0 && pb_offers(r, row) &&
			    (*variant = pb_variant_find(row, words[2], words[3])))
				return row;
	return NULL;
}

/* What was secret, and what follows from it: whoever looks at the output may. */
static void declassify(pb_prepared *p, uint8_t *place, size_t length)
{
	pb_case *c = &p->c;
	(void)VALGRIND_MAKE_MEM_DEFINED(place, length);
	(void)VALGRIND_MAKE_MEM_DEFINED(c, sizeof *c);
	(void)VALGRIND_MAKE_MEM_DEFINED(c->out, c->size + c->row->output);
}

static int make_call(pb_prepared *p, const char *role)
{
	pb_secrets s;
	char words[256];
	int input = p->own_input != NULL;
	uint8_t *place;
	size_t length;
	if (strcmp(role, "key") == 0 && pb_trial_secret && (place = pb_trial_secret(&p->c, &length))) {
		(void)VALGRIND_MAKE_MEM_UNDEFINED(place, length);
		pb_case_run(p, 1);
		declassify(p, place, length);
		return MADE;
	}
	if (strcmp(role, "key") == 0 && input) { /* the class decides nothing here */
		place = (uint8_t *)p->c.key[0];
		length = p->c.key_len;
		p->c.row->family->close(&p->c);
		(void)VALGRIND_MAKE_MEM_UNDEFINED(place, length);
		if (p->c.row->family->open(&p->c) != 0)
			return NOT_MADE;
		pb_case_run(p, 1);
		declassify(p, place, length);
		return MADE;
	}
	const char *class = input ? "genuine" : "random";
	const char *code = pb_secrets_begin(&s, p, SEED, role, class, class, words);
	if (code) {
		fprintf(stderr, "%s: %s\n", code, words);
		return NOT_MADE;
	}
	int made = pb_secrets_place(&s, 0, 0);
	if (made) {
		if (s.afresh)
			p->c.row->family->close(&p->c);
		(void)VALGRIND_MAKE_MEM_UNDEFINED(s.place, s.length);
		made = !s.afresh || p->c.row->family->open(&p->c) == 0;
	}
	if (made)
		pb_case_run(p, 1);
	declassify(p, s.place, s.length);
	return made && pb_secrets_end(&s) ? MADE : NOT_MADE;
}

int pb_taint(const pb_runner *r, int argc, char **words)
{
	static pb_prepared p;
	const pb_variant *variant = NULL;
	char said[256] = "it has no such operation";
	if (!RUNNING_ON_VALGRIND)
		return NO_MEMCHECK;
	const pb_row *row = argc == WORDS ? find(r, words, &variant) : NULL;
	size_t size = row ? (size_t)strtoull(words[4], NULL, 10) : 0;
	pb_reserve(size + ROOM);
	if (!row || pb_case_open(&p, row, variant, size, SEED, 0, NULL, NULL, said)) {
		fprintf(stderr, "%s\n", said);
		return NOT_MADE;
	}
	pb_case_run(&p, 1); /* what is set up once is behind us then */
	int status = make_call(&p, words[5]);
	if (status == MADE)
		pb_case_close(&p);
	return status;
}

#else

int pb_taint(const pb_runner *r, int argc, char **words)
{
	(void)r, (void)argc, (void)words;
	return NO_MEMCHECK;
}

#endif
