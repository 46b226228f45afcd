#include "secrets.h"
#include "material.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PAGE = 4096, SPARSE_BITS = 4, NEUTRAL = 2 };

static const char *const kind_names[] = {"fixed",   "random",  "zeros", "sparse",
					 "genuine", "changed", "early", "late"};

static int kind_of(const char *name)
{
	for (size_t i = 0; name && i < sizeof kind_names / sizeof *kind_names; i++)
		if (strcmp(name, kind_names[i]) == 0)
			return (int)i;
	return -1;
}

static int sets_key(const char *contract)
{
	return strcmp(contract, "rekey/1") == 0 || strcmp(contract, "setup/1") == 0;
}

/* Bits that nobody could know before: of the run's seed, the sample and the class. */
static uint64_t draw(const pb_secrets *s, uint64_t number, uint64_t class)
{
	uint64_t of[] = {number, class}, drawn;
	pb_stream(pb_fnv1a(s->seed ^ PB_FNV_BASIS, (const uint8_t *)of, sizeof of), "leak", (uint8_t *)&drawn,
		  sizeof drawn);
	return drawn;
}

static void flip(uint8_t *out, size_t byte, uint64_t bit)
{
	out[byte] ^= (uint8_t)(1u << (bit & 7));
}

/* Scalars of curves are below their order, so neither end of a sparse one has bits. */
static void scatter_bits(uint8_t *out, size_t length, uint64_t drawn)
{
	size_t room = length > 2 ? length - 2 : length, first = length > 2;
	for (int i = 0; i < SPARSE_BITS; i++, drawn >>= 16)
		out[first + (drawn >> 3 & 0x1fff) % room] |= (uint8_t)(1u << (drawn & 7));
}

static void fill(const pb_secrets *s, pb_kind kind, uint8_t *out, uint64_t number, uint64_t class)
{
	uint64_t drawn = draw(s, number, class);
	switch (kind) {
	case PB_FIXED:
		pb_stream(s->seed, "leak/fixed", out, s->length);
		return;
	case PB_RANDOM:
		pb_stream(drawn, "leak/random", out, s->length);
		return;
	case PB_ZEROS:
	case PB_SPARSE:
		memset(out, 0, s->length);
		if (kind == PB_SPARSE && s->length)
			scatter_bits(out, s->length, drawn);
		return;
	default:
		memcpy(out, s->before, s->length);
		if (kind == PB_CHANGED)
			flip(out, (drawn >> 3) % s->length, drawn);
		else if (kind == PB_EARLY)
			flip(out, s->length - s->tag, drawn);
		else if (kind == PB_LATE)
			flip(out, s->length - 1, drawn);
	}
}

static const char *find_place(pb_secrets *s, const char *role, char *words)
{
	pb_prepared *p = s->p;
	if (strcmp(role, "key") == 0 && p->c.key_len && !p->own_input) {
		s->place = (uint8_t *)p->c.key[0];
		s->length = p->c.key_len;
		s->key = 1;
		s->afresh = !sets_key(p->variant->contract);
	} else if (strcmp(role, "data") == 0 && p->c.size && !p->own_input) {
		s->block = aligned_alloc(PAGE, (p->offset + p->c.size + 2 * PAGE) / PAGE * PAGE);
		if (!s->block)
			return snprintf(words, 256, "out of memory"), "bad-size";
		s->place = s->block + p->offset;
		s->length = p->c.size;
		memcpy(s->place, p->c.in, s->length);
		s->in = p->c.in;
		s->message = p->c.message[0];
		p->c.in = p->c.message[0] = s->place;
	} else if (strcmp(role, "input") == 0 && p->own_input && p->c.in_len) {
		s->place = p->own_input;
		s->length = p->c.in_len;
		s->tag = strcmp(p->variant->operation, "open") == 0 ? p->c.row->output : 0;
	} else {
		return snprintf(words, 256, "%s has no such secret as '%.40s'", p->variant->operation, role),
		       "unsupported";
	}
	return NULL;
}

/* Changes of a genuine input need one, and those of a tag a tag. */
static int fits(const pb_secrets *s, pb_kind kind)
{
	int input = s->place == s->p->own_input;
	return kind < PB_GENUINE ? !input : input && (kind < PB_EARLY || s->tag);
}

const char *pb_secrets_begin(pb_secrets *s, pb_prepared *p, uint64_t seed, const char *role,
			     const char *first, const char *second, char *words)
{
	int kinds[] = {kind_of(first), kind_of(second)};
	memset(s, 0, sizeof *s);
	s->p = p;
	s->seed = seed;
	const char *code = kinds[0] < 0 || kinds[1] < 0 ? "unsupported" : NULL;
	snprintf(words, 256, "no such class");
	if (!code)
		code = find_place(s, role, words);
	if (!code && !(fits(s, (pb_kind)kinds[0]) && fits(s, (pb_kind)kinds[1]))) {
		snprintf(words, 256, "'%.40s' has no class '%.40s' or '%.40s'", role, first, second);
		code = "unsupported";
	}
	if (!code) {
		s->kinds[0] = (pb_kind)kinds[0];
		s->kinds[1] = (pb_kind)kinds[1];
		s->neutral = s->place == p->own_input ? PB_GENUINE : PB_RANDOM;
		s->bytes[0] = malloc(s->length);
		s->bytes[1] = malloc(s->length);
		s->before = malloc(s->length);
		if (!s->bytes[0] || !s->bytes[1] || !s->before) {
			snprintf(words, 256, "out of memory");
			code = "bad-size";
		} else {
			memcpy(s->before, s->place, s->length);
		}
	}
	if (code)
		pb_secrets_end(s);
	return code;
}

void pb_secrets_neutral(pb_secrets *s, uint64_t number)
{
	fill(s, s->neutral, s->place, number, NEUTRAL);
}

static int open_again(pb_case *c)
{
	c->row->family->close(c);
	return c->row->family->open(c) == 0;
}

int pb_secrets_place(pb_secrets *s, uint64_t number, uint64_t which)
{
	fill(s, s->kinds[0], s->bytes[0], number, 0);
	fill(s, s->kinds[1], s->bytes[1], number, 1);
	const uint8_t *first = s->bytes[0], *second = s->bytes[1];
	uint8_t *place = s->place, mask = (uint8_t)(0 - which);
	__asm__ volatile("" : "+r"(mask)); /* or the compiler may make a branch of it */
	for (size_t i = 0; i < s->length; i++)
		place[i] = (uint8_t)(first[i] ^ ((first[i] ^ second[i]) & mask));
	return !s->afresh || open_again(&s->p->c);
}

int pb_secrets_end(pb_secrets *s)
{
	pb_case *c = &s->p->c;
	int fine = 1;
	if (s->before)
		memcpy(s->place, s->before, s->length);
	if (s->block) {
		c->in = s->in;
		c->message[0] = s->message;
	}
	if (s->before && s->afresh)
		fine = open_again(c);
	free(s->block);
	free(s->before);
	free(s->bytes[0]);
	free(s->bytes[1]);
	s->block = s->before = s->bytes[0] = s->bytes[1] = NULL;
	return fine;
}
