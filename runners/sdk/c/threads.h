/* A burst that threads of this process take at once, each on a core and with a case of its own.
 *
 * Processes that work side by side share caches and memory; threads of one process share the library too: its locks,
 * reference counts, allocator and tables. */
#ifndef PB_THREADS_H
#define PB_THREADS_H

#include "burst.h"
#include "material.h"

enum { PB_MAX_THREADS = PB_OUTPUTS };

/* Bursts of as many threads as `cores` names ("0,1"), whose samples stand behind each other: `counts` says how many each
 * took. The first one works on this case, each other one on one with a key and data of its own. Returns how many there
 * were; 0 where it cannot be done, and -1 where a thread's last output is another than the same calls give alone: then
 * `words` says what. */
int pb_threads_take(pb_gauge *, pb_prepared *, const pb_burst_request *, const char *cores, pb_burst *,
		    int *counts, char *words, unsigned room);

#endif
