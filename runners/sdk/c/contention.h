/* Who else is on this core? Two probes that notice another hardware thread.
 *
 * The reorder-buffer probe is digital: alone or shared, whatever the other thread does, in a third of a
 * microsecond. It also notices vector registers that a thread that halted left occupied. The front-end probe
 * reads how much of the issue slots another thread takes; it serves where the first shows no second mode, and
 * as a second opinion. Nothing here decides what a clean sample is. */
#ifndef PB_CONTENTION_H
#define PB_CONTENTION_H

#include "gauge.h"

/* Ticks of one reading of the gauge's detector; of the front-end probe. */
uint64_t pb_contention_read(const pb_gauge *);
uint64_t pb_front_end_read(void);

/* Choose the detector: the window that `found_before` names if it is this core's, else one that is found now, which
 * takes up to a tenth of a second. Fills detector, window, length, found, and contention_floor and contention_shared
 * in ticks, 0 where the core was never alone. */
void pb_contention_choose(pb_gauge *, const char *found_before);

/* Print what the window probe reads, as a table: filler, chain, length, ticks of a round. Returns 0, or 1 where the
 * architecture has none. */
int pb_contention_print(pb_gauge *);

/* 1 while the core is this thread's alone, as far as the detector can tell; without the reorder-buffer probe
 * always 1. */
int pb_contention_alone(const pb_gauge *);

/* Watch the present core for limit_ms. Interval k began when the one before ended and lasted ticks[k];
 * state[k] is 'q' (alone), 'b' (another thread is active) or 's' (the core was taken away). Returns the
 * number of intervals, at most `room`. */
int pb_contention_watch(const pb_gauge *, double limit_ms, char *state, uint64_t *ticks, int room);

#endif
