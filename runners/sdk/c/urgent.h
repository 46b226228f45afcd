/* Real-time scheduling in stretches that end, so that nobody else on the machine starves. */
#ifndef PB_URGENT_H
#define PB_URGENT_H

#include "gauge.h"

/* What a stretch lasts at the most, as long as no single call outlasts it; and when the kernel ends one in which a
 * call did (and a step or two of its timer later). */
enum { PB_URGENT_MS = 10, PB_URGENT_CUT_MS = 20 };

typedef struct pb_urgent {
	int on;
	uint64_t until;
} pb_urgent;

/* Lay down the real-time scheduling that this process was started with, and remember that it may be had. */
void pb_urgent_calm(void);

/* Begin a stretch, where it may be had and what is to be done in one go, `ticks` long, fits into it. */
void pb_urgent_begin(pb_urgent *, const pb_gauge *, uint64_t ticks);

/* End the stretch once `ticks` more would not fit. */
void pb_urgent_check(pb_urgent *, uint64_t ticks);

void pb_urgent_end(pb_urgent *);

#endif
