/* A processor on paper: a model of a core that answers what the probes of the SDK read, on a clock of its own.
 *
 * A core is a reorder buffer, register files, a unit for square roots and widths; a world is who else is on it, how
 * its clock steps, what interrupts it and how finely its counter counts. Readings are the outcome of a simulated
 * pipeline (allocation in order, execution out of order, retirement in order), not of a formula for leaps. */
#ifndef PAPER_H
#define PAPER_H

#include <stdint.h>

enum paper_second { PAPER_NONE, PAPER_HALVES, PAPER_COMPETES, PAPER_FIXED };

/* Sizes in entries, rates per cycle, times in cycles. All double, so that Python hands them over as an array. */
typedef struct paper_kind {
	double rob, vectors,
		integers; /* reorder buffer; register files, 0: values live in the reorder buffer */
	double own_vectors, own_integers; /* architectural registers of a thread */
	double reserved;                  /* 1: those of the second thread are held even when it is idle */
	double latency, interval;         /* of a square root */
	double width, retire, nop_rate, vector_rate, integer_rate;
	double nops_per_entry; /* 0: no-ops take no entry */
	double scheduler;      /* square roots that can wait */
	double second;         /* enum paper_second */
	double fixed;          /* entries that an active second thread takes (PAPER_FIXED) */
	double held;           /* vector registers that a halted thread holds, half of the time */
	double hz;
} paper_kind;

typedef struct paper_world {
	double share;               /* of the time, another thread is active on the core */
	double interrupts, steals;  /* per second */
	double clock_s, clock_step; /* the clock changes so often, by so much at the most */
	double tick_hz, tick_step;
	double signature; /* what CPUID says: vendor (1 AMD, 2 Intel), family and model, a byte each; 0: unknown */
	double always_held; /* 1: the halted thread holds its registers all the time */
} paper_world;

enum paper_state { PAPER_ALONE, PAPER_HELD, PAPER_SHARED, PAPER_MIXED };

/* Begin anew at time 0. */
void paper_start(const paper_kind *, const paper_world *, uint64_t seed);

/* Another core or another world from now on. */
void paper_change(const paper_kind *, const paper_world *);

double paper_now(void); /* seconds */

/* One reading of the window probe, as contention.c takes it; `paper_state` of it. */
struct pb_window;
double paper_read(void *self, const struct pb_window *);
int paper_last(void);
long paper_readings(void);

/* Ticks of a round at a length, in steady state: what a plot would show. 0: alone, 1: registers held, 2 to 4: shared */
double paper_round(unsigned filler, unsigned chain, unsigned length, int condition);

/* Work that another thread slows, in core cycles when nobody does. */
void paper_work(double cycles);

/* What the gauge makes of this core: a calibration and samples of a work of `cycles`. */
typedef struct paper_figures {
	double trusted, check_add, check_rotate, floor, limit, length, samples, clean;
	double cycles; /* of the work, as the clean samples say (all, where nothing tells what is clean) */
	char found[64];
} paper_figures;
void paper_measure(double cycles, long samples, paper_figures *);

/* What the SDK's instructions become. */
uint64_t paper_ticks(void);
void paper_cycles(double cycles);
void paper_front_end(double nops);
void paper_window(unsigned filler, uint64_t rounds, unsigned chain, unsigned length);

#endif
