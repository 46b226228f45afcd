/* A burst: consecutive samples of one prepared case. */
#ifndef PB_BURST_H
#define PB_BURST_H

#include "cases.h"
#include "gauge.h"

enum { PB_MAX_SAMPLES = 4096 };

/* Where a fork lies, in bytes within a page: by how much its stack and its heap are moved, and where input and output
 * begin. */
typedef struct pb_places {
	size_t stack, heap, input, output;
} pb_places;

/* Addresses that tell where the calls of a burst lay (SPEC 7). */
enum { PB_STACK_AT, PB_STATE_AT, PB_INPUT_AT, PB_OUTPUT_AT, PB_LIBRARY_AT, PB_CALLER_AT, PB_PLACED };

typedef struct pb_burst_request {
	int samples, clean;      /* at the most; stop after so many clean ones, 0: never */
	double limit_ms;         /* no new sample after this time */
	uint64_t calls;          /* per sample; 0: choose */
	uint64_t layout;         /* a fork draws its places from it; 0: they stay */
	const pb_places *places; /* where a fork is to lie, instead of a layout; NULL: nobody says */
	size_t piece_bytes; /* a sample is one piece of this length, where the case can be cut; 0: calls */
	double sample_us, clock_tolerance;
	/* short calls are made before the first sample for the former at the most, and for the latter at the least:
	 * in between until two samples' worth in a row take the same */
	double warm_us, warm_least_us;
	pb_quiet quiet;
} pb_burst_request;

typedef struct pb_burst {
	uint64_t calls, waits, digest;
	uint64_t whole_ticks, warm_ticks,
		wait_ticks;         /* the burst, its untimed calls, its looks for a quiet core */
	size_t piece_bytes;         /* 0: the samples are whole calls */
	uint64_t placed[PB_PLACED]; /* of the last fork, where it was asked for; else 0 */
	int count;
	pb_sample samples[PB_MAX_SAMPLES];
} pb_burst;

/* Samples since the last clock probe have had none of their own after them: the next one is theirs, if it was taken on
 * the same core. */
void pb_burst_close_clock(pb_burst *, int *open_from, const pb_gauge *);

void pb_burst_take(pb_gauge *, pb_prepared *, const pb_burst_request *, pb_burst *);

#endif
