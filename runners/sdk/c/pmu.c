#include "pmu.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

void pb_pmu_open(pb_gauge *g)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.size = sizeof attr,
		.config = PERF_COUNT_HW_CPU_CYCLES,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	long page = sysconf(_SC_PAGESIZE);

	g->pmu = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (g->pmu < 0) {
		snprintf(g->reason, sizeof g->reason, "no performance counter: perf_event_open says '%s'",
			 strerror(errno));
		return;
	}
	uint64_t first = 0, second = 0;
	if (read(g->pmu, &first, sizeof first) == sizeof first)
		for (volatile int i = 0; i < 10000; i++)
			;
	if (read(g->pmu, &second, sizeof second) != sizeof second || second <= first) {
		snprintf(g->reason, sizeof g->reason,
			 "no performance counter: the one perf_event_open gave does not count");
		close(g->pmu);
		g->pmu = -1;
		return;
	}
	g->cycle_source = "pmu";
	g->pmu_page = mmap(NULL, (size_t)page, PROT_READ, MAP_SHARED, g->pmu, 0);
	if (g->pmu_page == MAP_FAILED)
		g->pmu_page = NULL;
}

#if defined(__x86_64__)
/* The kernel's documented sequence (perf_event_open(2), "rdpmc instruction"): a seqlock around index and
 * offset. */
static int read_by_instruction(const struct perf_event_mmap_page *page, uint64_t *value)
{
	uint32_t sequence, index;
	do {
		sequence = page->lock;
		__asm__ volatile("" ::: "memory");
		index = page->index;
		*value = (uint64_t)page->offset;
		if (!page->cap_user_rdpmc || index == 0)
			return 0;
		uint32_t low, high;
		__asm__ volatile("lfence\n\trdpmc" : "=a"(low), "=d"(high) : "c"(index - 1));
		int shift = 64 - page->pmc_width;
		*value += (uint64_t)((int64_t)(((uint64_t)high << 32 | low) << shift) >> shift);
		__asm__ volatile("" ::: "memory");
	} while (page->lock != sequence);
	return 1;
}
#else
static int read_by_instruction(const struct perf_event_mmap_page *page, uint64_t *value)
{
	(void)page;
	(void)value;
	return 0;
}
#endif

uint64_t pb_pmu_read(const pb_gauge *g)
{
	uint64_t value = 0;
	if (g->pmu_page && read_by_instruction(g->pmu_page, &value))
		return value;
	return read(g->pmu, &value, sizeof value) == sizeof value ? value : 0;
}
