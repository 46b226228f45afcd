/* The performance monitoring unit, where the machine grants one: core cycles counted by the hardware itself.
 */
#ifndef PB_PMU_H
#define PB_PMU_H

#include "gauge.h"

/* Try to open a cycle counter for this thread; on success cycle_source becomes "pmu", otherwise reason says
 * why not. */
void pb_pmu_open(pb_gauge *);

/* Core cycles in user mode since some moment. Only valid if g->pmu >= 0. */
uint64_t pb_pmu_read(const pb_gauge *);

#endif
