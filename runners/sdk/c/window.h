/* The window probe: which instruction sequence tells that another hardware thread shares the core, and how it is
 * found on a core that nobody has tried.
 *
 * Two chains of `chain` dependent square roots overlap only while the `length` independent fillers between them fit
 * into the core's window: into its reorder buffer, and into the registers that the fillers need (H. Wong, "Measuring
 * Reorder Buffer Capacity", 2013). A second thread that is active takes half of the buffer, and a reading leaps.
 *
 * Here are no instructions and no clock: readings come from a `pb_core`, which is the processor (contention.c) or a
 * model of one (the tests). */
#ifndef PB_WINDOW_H
#define PB_WINDOW_H

#include "effect.h"

/* No-ops take a place in the reorder buffer only; additions take a register each besides. Some cores fuse no-ops or
 * hold none in the buffer, so nothing is assumed of any filler. */
enum pb_filler { PB_NOPS, PB_VECTORS, PB_INTEGERS, PB_FILLERS };

enum { PB_WINDOW_MOST = 1040, PB_CHAIN_MOST = 40, PB_ROUNDS_MOST = 200 };

typedef struct pb_window {
	unsigned filler, chain, length; /* length 0: none */
	unsigned rounds;                /* in one reading */
} pb_window;

/* Who answers readings. `read`: ticks of one reading. `work`: ticks of a piece of reference work. `move`: go to another
 * core, may be NULL. `entries` is the size of the family's reorder buffer, 0 where it is not known. */
typedef struct pb_core {
	double (*read)(void *self, const pb_window *);
	double (*work)(void *self, enum pb_work);
	void (*move)(void *self);
	void *self;
	double quantum; /* step of the tick counter, ticks */
	unsigned entries;
} pb_core;

/* NONE: no filler shows a leap. HALVED: all that was seen was a shared core, so the length is inferred and what it
 * reads alone is not known. LIKELY: by the place of the leap, or by its effect in one process. SURE: two processes saw that
 * reference work costs more where the window says shared, and what the core can do where it says alone. */
enum pb_certainty { PB_WINDOW_NONE, PB_WINDOW_HALVED, PB_WINDOW_LIKELY, PB_WINDOW_SURE };

typedef struct pb_found {
	pb_window window;
	enum pb_certainty certainty;
	double alone,
		past; /* ticks of a reading alone, and where the chains overlap no more; 0: never alone */
	double costs; /* what reference work costs where it says shared, over what it costs alone; 0: not seen */
	unsigned ends[PB_FILLERS]; /* length after which each filler leapt; 0: it did not, or was not tried */
} pb_found;

/* Find the probe of this core: no-ops if they show a leap, in the middle between the whole buffer and its half, where
 * the length does not matter. Takes some 40,000 to 200,000 readings, three times as many where the core is never alone,
 * and a few hundred on a core whose chains never overlap. */
void pb_window_learn(const pb_core *, pb_found *);

/* Look whether a window that was found before is this core's, and tells, by some 1,000 readings, and some thousands
 * where the core is not alone meanwhile. Fills `alone` and `past` (0: never alone); 0 if it is another core's, if it
 * does not tell, or if more can be learnt now. */
int pb_window_holds(const pb_core *, pb_found *);

/* What a report of a core holds: the lowest ticks of a round for a filler and each length, as the search sees them. The
 * n-th chain that is tried; 0 where there are no more. Lengths are PB_SCAN_FROM and every PB_SCAN_STEP after it. */
enum { PB_SCAN_FROM = 32, PB_SCAN_STEP = 16, PB_SCAN_LENGTHS = 61 };
unsigned pb_window_chain(unsigned n);
void pb_window_scan(const pb_core *, unsigned filler, unsigned chain, double *low);

/* A window as one line of text, and back; 0 if it is none. What it reads is not part of it. */
void pb_window_write(const pb_found *, char *text, unsigned room);
int pb_window_parse(const char *text, pb_found *);

/* The length at which chains overlap no more, even alone on the core. */
unsigned pb_window_past(const pb_window *);

/* Between what a core reads alone and past its window: above it counts as shared. */
double pb_window_limit(double alone, double past);

#endif
