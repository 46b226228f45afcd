/* The gauge: brackets a stretch of work between two probes and tells how long it took, in ticks, together
 * with everything that is needed to judge the sample later. It never judges a sample by its own duration, and
 * it deletes nothing. Usable on its own from C++, cgo or JNI: pb_gauge_before, the work, pb_gauge_after. */
#ifndef PB_GAUGE_H
#define PB_GAUGE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { PB_SWITCHED = 1, PB_MIGRATED = 2, PB_FAULTED = 4, PB_COLLECTED = 8, PB_FAILED_CALL = 16 };

typedef struct pb_gauge {
	const char *cycle_source; /* "pmu", "probe" or "none" */
	char reason[200];         /* why it is not better */
	double tick_hz;
	uint64_t tick_quantum;          /* smallest step of the tick counter, ticks */
	double probe_cycles;            /* core cycles of one clock probe, its two tick reads included */
	double contention_floor;        /* core cycles of the contention probe on a quiet core */
	double fixed_ticks;             /* ticks of a sample without calls */
	double check_add, check_rotate; /* core cycles per instruction; must read 1 */
	int pmu;                        /* perf_event file descriptor, or -1 */
	void *pmu_page;                 /* its mapped page where rdpmc is allowed, else NULL */
} pb_gauge;

typedef struct pb_sample {
	uint64_t start, ticks; /* tick counter at the start; ticks of the work, nothing subtracted */
	uint64_t clock_before, clock_after;
	uint64_t contention_before, contention_after;
	uint64_t cycles; /* PMU cycles, where there is a PMU */
	uint32_t flags;
} pb_sample;

/* The state of a sample between its two ends. */
typedef struct pb_open_sample {
	long switches, faults;
	int core;
	uint64_t pmu_start;
} pb_open_sample;

/* When a core counts as quiet, for waiting only; what is clean is decided elsewhere, from the raw samples. */
typedef struct pb_quiet {
	double floor;      /* core cycles */
	double tolerance;  /* relative */
	unsigned patience; /* probes that may be repeated before one sample */
} pb_quiet;

/* Look at the clock for about limit_ms milliseconds. Always fills everything; cycle_source says what it is
 * worth. */
void pb_gauge_calibrate(pb_gauge *, double limit_ms);

/* Repeat the contention probe until the core is quiet or patience ends; returns how often it was repeated. */
unsigned pb_gauge_wait(const pb_gauge *, const pb_quiet *);

/* The two ends of a sample. `before` ends with the tick read, `after` begins with it. */
void pb_gauge_before(const pb_gauge *, pb_open_sample *, pb_sample *);
void pb_gauge_after(const pb_gauge *, const pb_open_sample *, pb_sample *);

/* 1 if the sample meets the same rule that the analysis applies (used to stop a burst early). */
int pb_gauge_clean(const pb_gauge *, const pb_quiet *, double clock_tolerance, const pb_sample *);

uint64_t pb_gauge_ticks(void);

#ifdef __cplusplus
}
#endif

#endif
