/* The gauge: brackets a stretch of work between two probes and tells how long it took, in ticks, together
 * with everything that is needed to judge the sample later. It never judges a sample by its own duration, and
 * it deletes nothing. Usable on its own from C++, cgo or JNI: pb_gauge_before, the work, pb_gauge_after. */
#ifndef PB_GAUGE_H
#define PB_GAUGE_H

#include "window.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { PB_SWITCHED = 1, PB_MIGRATED = 2, PB_FAULTED = 4, PB_COLLECTED = 8, PB_FAILED_CALL = 16 };
enum { PB_MAX_CORES = 256 };

typedef struct pb_gauge {
	const char *cycle_source; /* "pmu", "probe" or "none" */
	char reason[200];         /* why it is not better */
	double tick_hz;
	uint64_t tick_quantum;          /* smallest step of the tick counter, ticks */
	unsigned clock_blocks;          /* length of the clock probe, by the step */
	double probe_cycles;            /* core cycles of one clock probe, its two tick reads included */
	double fixed_ticks;             /* what a sample takes beyond its calls */
	double check_add, check_rotate; /* core cycles per instruction; must read 1 */
	int pmu;                        /* perf_event file descriptor, or -1 */
	void *pmu_page;                 /* its mapped page where rdpmc is allowed, else NULL */

	const char *detector; /* "reorder-buffer" or "front-end" */
	unsigned length;      /* fillers of the former; 0: the latter */
	pb_window window;     /* the former */
	char found[64];       /* what was found out about it, for other processes */
	char processor
		[120]; /* where the processor's number contradicts its caches: both, in words; else empty */
	double contention_floor,
		contention_shared; /* core cycles of a reading alone and beside another thread */
	double contention_limit;   /* core cycles of a reading above which it is shared; 0: not known */
	double waited_ms;          /* what calibration took */
	double alone;              /* share of its readings that were alone on the core */

	int cores[PB_MAX_CORES], core_count, core; /* cores that may be used; place of the present one */
	double alone_share[PB_MAX_CORES];          /* how much of the time each was alone, lately */
	double change_ticks;                       /* what a change of core takes */
	uint64_t clock_at, clock_ticks;            /* when the last clock probe ended, and what it read */

	/* kernel.h: is the kernel asked about each sample; did the last burst meet page faults; were there switches
	 * that nobody could see; counts at the beginning of a burst */
	int asks, faulty, unseen;
	long switches, faults;
} pb_gauge;

typedef struct pb_sample {
	uint64_t start, ticks; /* tick counter at the start; ticks of the work, nothing subtracted */
	uint64_t clock_before, clock_after;
	uint64_t contention_before, contention_after;
	uint64_t cycles; /* PMU cycles, where there is a PMU */
	uint64_t core;
	uint32_t flags;
} pb_sample;

/* The state of a sample between its two ends. */
typedef struct pb_open_sample {
	long switches, faults;
	int core;
	uint64_t pmu_start;
} pb_open_sample;

/* What a process found out about the window probe: `found`, and what it reads in core cycles, 0 where nobody was
 * alone. */
typedef struct pb_known {
	const char *window;
	double floor, shared;
} pb_known;

/* When a core counts as quiet, for waiting only; what is clean is decided elsewhere, from the raw samples. */
typedef struct pb_quiet {
	double floor;      /* core cycles */
	double tolerance;  /* relative */
	unsigned patience; /* probes that may be repeated before one sample */
} pb_quiet;

/* The cores that may be used, as Linux writes lists of them ("0-3,8"), the one to begin with first; NULL or
 * empty: the one the thread is on. Cores that cannot be had are left out. */
void pb_gauge_cores(pb_gauge *, const char *list);

/* Move this thread to the next of its cores; nothing happens where there is one only. */
void pb_gauge_change_core(pb_gauge *);

/* Look at the clock for about limit_ms milliseconds, in moments alone on a core only, for which it waits up
 * to patience_ms more. `known`: what another process on this machine found, or NULL. Always fills everything;
 * cycle_source says what it is worth. */
void pb_gauge_calibrate(pb_gauge *, double limit_ms, double patience_ms, const pb_known *known);

/* Ticks of a sample in which nothing but `enter` is called: the mean of the low half of many, as of all that
 * is calibrated. */
double pb_gauge_entry(pb_gauge *, void (*enter)(void));

/* Look at the core until it is quiet or patience ends, and change it when that takes longer than changing
 * does; returns how often it was found busy. */
unsigned pb_gauge_wait(pb_gauge *, const pb_quiet *);

/* The two ends of a sample. `before` ends with the tick read, `after` begins with it. Beside the
 * reorder-buffer probe, which is short, samples that follow each other share clock probes; pb_gauge_clock
 * takes one anyhow and returns its ticks. */
uint64_t pb_gauge_clock(pb_gauge *);
void pb_gauge_before(pb_gauge *, pb_open_sample *, pb_sample *);
void pb_gauge_after(pb_gauge *, const pb_open_sample *, pb_sample *);

/* 1 if the sample meets the same rule that the analysis applies (used to stop a burst early). */
int pb_gauge_clean(const pb_gauge *, const pb_quiet *, double clock_tolerance, const pb_sample *);

uint64_t pb_gauge_ticks(void);

/* Core cycles of a tick by the last reading of the clock; 1 where there is none yet. */
double pb_gauge_rate(const pb_gauge *);
double pb_gauge_now_s(void); /* CLOCK_MONOTONIC_RAW */

#ifdef __cplusplus
}
#endif

#endif
