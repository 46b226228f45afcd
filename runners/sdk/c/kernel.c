#include "kernel.h"

#include <stddef.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* linux/rseq.h, as far as it is needed: the header is younger than the system call. */
struct area {
	uint32_t cpu_id_start, cpu_id;
	uint64_t section;
	uint32_t flags, padding[3];
};
struct section {
	uint32_t version, flags;
	uint64_t start, length, abort;
};

#if defined(__linux__) && (defined(__x86_64__) || defined(__aarch64__)) && !defined(PB_NO_RSEQ)

#if defined(__x86_64__)
enum { SIGNATURE = 0x53053053 };
#define PB_SIGNATURE ".long 0x53053053"
#else
static const uint32_t SIGNATURE = 0xd428bc00;
#define PB_SIGNATURE ".inst 0xd428bc00"
#endif

/* The kernel wants a signature before the place that it would jump to, though nobody is ever in the section. */
__asm__(".pushsection .text\n\t.p2align 4\n\t" PB_SIGNATURE "\n\tpb_never_entered: .skip 16\n\t"
	".popsection");
extern const char pb_never_entered[] __attribute__((visibility("hidden")));

extern const ptrdiff_t __rseq_offset __attribute__((weak));
extern const unsigned __rseq_size __attribute__((weak));

static const struct section *never(void)
{
	static struct section section __attribute__((aligned(32)));
	section.abort = (uint64_t)(uintptr_t)pb_never_entered;
	section.start = section.abort + 8;
	section.length = 1;
	return &section;
}

static char *thread_pointer(void)
{
	char *pointer;
#if defined(__x86_64__)
	__asm__("mov %%fs:0, %0" : "=r"(pointer));
#else
	__asm__("mrs %0, tpidr_el0" : "=r"(pointer));
#endif
	return pointer;
}

/* The area of this thread; NULL where there is none. */
static struct area *thread_area(void)
{
	static _Thread_local struct area own __attribute__((aligned(32)));
	static _Thread_local int asked;
	if (&__rseq_size && __rseq_size)
		return (struct area *)(void *)(thread_pointer() + __rseq_offset);
	if (!asked)
		asked = syscall(SYS_rseq, &own, sizeof own, 0, SIGNATURE) == 0 ? 1 : -1;
	return asked > 0 ? &own : NULL;
}

static void mark(void)
{
	struct area *area = thread_area();
	if (area)
		*(volatile uint64_t *)&area->section = (uint64_t)(uintptr_t)never();
}

/* 1 if it is still there, 0 if the kernel took it away, -1 where nobody can tell: no area, or a library uses it. */
static int marked(void)
{
	struct area *area = thread_area();
	uint64_t now = area ? *(volatile uint64_t *)&area->section : 1;
	return now == (uint64_t)(uintptr_t)never() ? 1 : now ? -1 : 0;
}

#else

static void mark(void)
{
}

static int marked(void)
{
	return -1;
}

#endif

static void ask(long *switches, long *faults)
{
	struct rusage usage;
	getrusage(RUSAGE_THREAD, &usage);
	*switches = usage.ru_nivcsw;
	*faults = usage.ru_minflt + usage.ru_majflt;
}

void pb_kernel_before(const pb_gauge *g, pb_open_sample *open)
{
	if (g->asks)
		ask(&open->switches, &open->faults);
	mark();
}

uint32_t pb_kernel_after(pb_gauge *g, const pb_open_sample *open)
{
	int mark_stands = marked();
	uint32_t flags = mark_stands == 0 ? PB_SWITCHED : 0;
	long switches, faults;
	if (!g->asks) {
		g->unseen |= mark_stands < 0;
		return flags;
	}
	ask(&switches, &faults);
	return flags | (switches != open->switches ? PB_SWITCHED : 0) |
	       (faults != open->faults ? PB_FAULTED : 0);
}

void pb_kernel_begin(pb_gauge *g)
{
	mark();
	g->asks = g->faulty || g->unseen || marked() < 0;
	ask(&g->switches, &g->faults);
}

void pb_kernel_end(pb_gauge *g, pb_sample *samples, int count)
{
	long switches, faults;
	ask(&switches, &faults);
	g->faulty = samples && faults != g->faults;
	if (g->faulty && !g->asks)
		for (int i = 0; i < count; i++)
			samples[i].flags |= PB_FAULTED;
	g->asks = 1;
}
