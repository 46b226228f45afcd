#include "pipeline.h"

#include <math.h>
#include <string.h>

/* Retirement times of the last `size` of something: who comes `size` later must wait for the oldest. */
enum { RING = 2048, UNITS = PIPELINE_ROUNDS * 41 };

typedef struct ring {
	double when[RING];
	unsigned size, count;
} ring;

static double oldest(const ring *r)
{
	return r->size && r->count >= r->size ? r->when[(r->count - r->size) % RING] : 0;
}

static void put(ring *r, double when)
{
	r->when[r->count++ % RING] = when;
}

/* The unit for square roots takes one every `interval` cycles, the oldest that is ready first. */
static double book(double *taken, int *count, double ready, double interval)
{
	int at = *count;
	while (at > 0 && taken[at - 1] > ready - interval)
		at--;
	double when = ready;
	while (at < *count && taken[at] < when + interval)
		when = taken[at++] + interval;
	memmove(taken + at + 1, taken + at, (size_t)(*count - at) * sizeof *taken);
	taken[at] = when;
	++*count;
	return when;
}

enum what { ROOT, NOP, VECTOR, INTEGER, OTHER };

typedef struct pipeline {
	const paper_kind *kind;
	const share *left;
	ring entries, vectors, integers, waiting;
	double allocated, retired, root, ports[2], last[2][8], taken[UNITS + 1];
	int roots;
	unsigned nops, place;
} pipeline;

static double rate_of(const pipeline *p, enum what what)
{
	const paper_kind *k = p->kind;
	double rate = what == NOP ? k->nop_rate : k->width;
	return fmin(rate, k->width) * p->left->speed;
}

static double execute(pipeline *p, enum what what)
{
	const paper_kind *k = p->kind;
	double start;
	int file = what == INTEGER;
	switch (what) {
	case ROOT:
		start = book(p->taken, &p->roots, fmax(p->allocated + 4, p->root), k->interval);
		put(&p->waiting, start);
		return p->root = start + k->latency;
	case VECTOR:
	case INTEGER:
		start = fmax(p->allocated + 4, p->ports[file]);
		start = fmax(start, p->last[file][p->place]);
		p->ports[file] = start + 1 / (file ? k->integer_rate : k->vector_rate);
		return p->last[file][p->place] = start + 1;
	default:
		return p->allocated + 1;
	}
}

static void step(pipeline *p, enum what what)
{
	const paper_kind *k = p->kind;
	int entry = what != NOP || (k->nops_per_entry >= 1 && p->nops % (unsigned)k->nops_per_entry == 0);
	int vector = what == ROOT || what == VECTOR, integer = what == INTEGER || what == OTHER;
	p->allocated += 1 / rate_of(p, what);
	p->nops += what == NOP;
	if (!entry)
		return;
	p->allocated = fmax(p->allocated, oldest(&p->entries));
	if (vector)
		p->allocated = fmax(p->allocated, oldest(&p->vectors));
	if (integer)
		p->allocated = fmax(p->allocated, oldest(&p->integers));
	if (what == ROOT)
		p->allocated = fmax(p->allocated, oldest(&p->waiting));
	double done = execute(p, what);
	p->retired = fmax(p->retired + 1 / k->retire, done + 1);
	put(&p->entries, p->retired);
	if (vector)
		put(&p->vectors, p->retired);
	if (integer)
		put(&p->integers, p->retired);
}

void pipeline_run(const paper_kind *k, const share *left, unsigned filler, unsigned chain, unsigned length,
		  float *total)
{
	static const enum what fillers[] = {NOP, VECTOR, INTEGER};
	static const unsigned registers[] = {1, 6, 3};
	static pipeline p;
	memset(&p, 0, sizeof p);
	p.kind = k;
	p.left = left;
	p.entries.size = (unsigned)left->rob;
	p.vectors.size = k->vectors > 0 ? (unsigned)fmax(left->vectors, 8) : 0;
	p.integers.size = k->integers > 0 ? (unsigned)fmax(left->integers, 8) : 0;
	p.waiting.size = (unsigned)k->scheduler;
	for (int round = 0; round < PIPELINE_ROUNDS; round++) {
		p.root = 0; /* a copy of a constant begins each chain */
		step(&p, OTHER);
		step(&p, OTHER);
		for (unsigned i = 0; i < chain; i++)
			step(&p, ROOT);
		step(&p, OTHER);
		for (unsigned i = 0; i < length; i++) {
			p.place = i % 8 % registers[filler];
			step(&p, fillers[filler]);
		}
		step(&p, OTHER);
		total[round] = (float)fmax(p.retired, p.allocated);
	}
}
