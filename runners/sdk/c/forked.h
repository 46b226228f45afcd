/* A burst that a fork of this process takes.
 *
 * What a core has learnt about a loop of few cycles (predictors of branches and of stores) settles in one of several
 * ways for as long as a process lives, so that two processes differ by far more than the bursts of one. A fork draws
 * that state again for half a millisecond, because the system empties the predictors between processes. Where its stack,
 * its buffers and the library's state lie it draws anew too, by the request's `layout`: these move a figure by a per
 * cent and more. So a burst in a fork is a process of its own, as far as both go. */
#ifndef PB_FORKED_H
#define PB_FORKED_H

#include "burst.h"

enum { PB_MAX_FORKS = 256 };

/* Bursts of `forks` forks, one after the other, whose samples stand behind each other: `counts` says how many each took.
 * Returns how many forks there were; 0: this process cannot fork now (it has threads, the data are long, the system
 * refuses), and nothing was done; -1: a fork ended before it was done, and `words` says how. */
int pb_forked_take(pb_gauge *, pb_prepared *, const pb_burst_request *, int forks, pb_burst *, int *counts,
		   char *words, unsigned room);

/* 1 if this process has one thread. */
int pb_has_one_thread(void);

#endif
