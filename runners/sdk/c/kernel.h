/* What the kernel did to this thread meanwhile, without asking it before each sample.
 *
 * A system call changes what the core predicts: on Zen 5 libgcrypt's AES-128-CTR on 16 bytes costs 47 cycles instead of
 * 39.5 for some 40 us after one, and cells of other libraries 1 to 8 % more. So nothing is asked between samples:
 *
 * - A switch shows in the thread's rseq area (Linux 4.18; glibc 2.35 registers it, else we do). Whenever a thread
 *   comes back from preemption, migration or a signal outside of the critical section that rseq_cs names, the kernel
 *   sets rseq_cs to NULL. It names one that nobody ever enters.
 * - Page faults are counted once a burst. If there were any, all samples of that burst are flagged, and the next
 *   burst asks before and after each sample. So does everything where there is no rseq area, or a library uses it, and
 *   what is sampled outside of bursts. */
#ifndef PB_KERNEL_H
#define PB_KERNEL_H

#include "gauge.h"

/* The two ends of a sample. `after` returns PB_SWITCHED and PB_FAULTED as they apply. */
void pb_kernel_before(const pb_gauge *, pb_open_sample *);
uint32_t pb_kernel_after(pb_gauge *, const pb_open_sample *);

/* The two ends of a burst, whose samples begin some untimed calls after the first. `end` flags the samples that the
 * kernel disturbed, as far as they were not asked about one by one, and decides how the next burst asks. Calibration, which has
 * no samples (NULL), decides nothing. */
void pb_kernel_begin(pb_gauge *);
void pb_kernel_end(pb_gauge *, pb_sample *, int count);

#endif
