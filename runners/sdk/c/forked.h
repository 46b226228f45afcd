/* A burst that a fork of this process takes.
 *
 * What a core has learnt about a loop of few cycles (predictors of branches and of stores) settles in one of several
 * ways for as long as a process lives, so that two processes differ by far more than the bursts of one. A fork draws
 * that state again for half a millisecond, because the system empties the predictors between processes; the memory
 * layout stays. So a burst in a fork is a process of its own, as far as that state goes. */
#ifndef PB_FORKED_H
#define PB_FORKED_H

#include "burst.h"

/* 1: taken; 0: this process cannot fork now (it has threads, the data are long, the system refuses), and nothing was
 * done; -1: the fork ended before it was done, and `words` says how. */
int pb_forked_take(pb_gauge *, pb_prepared *, const pb_burst_request *, pb_burst *, char *words,
		   unsigned room);

#endif
