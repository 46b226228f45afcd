#include "contention.h"
#include "probe.h"
#include "window.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define PB_ONE_PLACE __attribute__((noinline, aligned(64)))

/* The first rounds go untimed: measured code may have pushed the block out of the instruction caches, and
 * fetching it again read as 2 % of contention after every sample of such a cell (OpenSSL's SHA-256). */
PB_ONE_PLACE uint64_t pb_front_end_read(void)
{
	uint64_t start = 0;
	for (unsigned i = 0; i < PB_CONTENTION_WARM + PB_CONTENTION_BLOCKS; i++) {
		if (i == PB_CONTENTION_WARM)
			start = pb_ticks();
		PB_FRONT_END();
	}
	return pb_ticks() - start;
}

#if PB_HAS_WINDOW
#include <cpuid.h>

static const double root = 1.234567;

static int has_avx(void)
{
	static int known = -1;
	if (known < 0)
		known = __builtin_cpu_supports("avx") ? 1 : 0;
	return known;
}

static inline void zero_vectors(int avx)
{
	if (avx)
		PB_ZERO_VECTORS_AVX();
	else
		PB_ZERO_VECTORS();
}

/* Is it told which parts of the processor's state are in use (xgetbv with 1)? */
static int tells_use(void)
{
	static int known = -1;
	uint32_t a = 0, b, c = 0, d;
	if (known < 0)
		known = __get_cpuid(1, &a, &b, &c, &d) && c & bit_OSXSAVE &&
			__get_cpuid_count(0xd, 1, &a, &b, &c, &d) && a & 4;
	return known;
}

/* Once used, the x87's registers, which are MMX's too, hold eight of the vector registers, whatever is in them: read
 * like that, a core is never alone (Zen 3; V8 uses them). Only its initial state gives them back: not emms, fninit
 * or values that are pushed and popped. */
static void free_x87(void)
{
	static const struct {
		_Alignas(64) uint8_t none_saved[576];
	} initial;
	uint32_t in_use, high;
	uint16_t control;
	if (!tells_use())
		return;
	__asm__ volatile("xgetbv" : "=a"(in_use), "=d"(high) : "c"(1));
	if (!(in_use & 1))
		return;
	__asm__ volatile("fnstcw %0" : "=m"(control));
	if (control == 0x37f) /* else somebody wants another one to stay */
		__asm__ volatile("xrstor %0" : : "m"(initial), "a"(1), "d"(0) : "memory");
}

/* One piece of code for each filler, at one place. */
PB_ONE_PLACE static void nops(uint64_t rounds, unsigned chain, unsigned length)
{
	PB_WINDOW(PB_NOP8, 4, rounds, chain, length, root);
}

PB_ONE_PLACE static void vectors(uint64_t rounds, unsigned chain, unsigned length)
{
	PB_WINDOW(PB_VECTOR8, 4, rounds, chain, length, root);
}

PB_ONE_PLACE static void integers(uint64_t rounds, unsigned chain, unsigned length)
{
	PB_WINDOW(PB_INTEGER8, 3, rounds, chain, length, root);
}

/* Leaves all vector registers zero, so that every sample begins with the same ones free. */
static uint64_t window_read(const pb_window *w)
{
	static void (*const run[])(uint64_t, unsigned, unsigned) = {nops, vectors, integers};
	int avx = has_avx();
	free_x87();
	zero_vectors(avx);
	run[w->filler](PB_WINDOW_WARM, w->chain, w->length);
	uint64_t start = pb_ticks();
	run[w->filler](w->rounds, w->chain, w->length);
	uint64_t ticks = pb_ticks() - start;
	zero_vectors(avx);
	return ticks;
}

static double read_core(void *self, const pb_window *w)
{
	(void)self;
	return (double)window_read(w);
}

static void move_core(void *self)
{
	pb_gauge_change_core(self);
}

/* Data of a size that the first cache does not hold and the second does, in a circle of lines in random order. */
enum { CIRCLE = 192 << 10, CIRCLE_LINE = 64, CIRCLE_LINES = CIRCLE / CIRCLE_LINE, CIRCLE_LOADS = 48 };

static void *next_load(void)
{
	static _Alignas(64) char circle[CIRCLE];
	static unsigned short order[CIRCLE_LINES];
	uint64_t random = 1;
	if (order[0] != order[1])
		return circle;
	for (unsigned i = 0; i < CIRCLE_LINES; i++)
		order[i] = (unsigned short)i;
	for (unsigned i = CIRCLE_LINES - 1; i; i--) {
		random = random * 6364136223846793005u + 1442695040888963407u; /* Knuth's MMIX */
		unsigned k = (unsigned)(random >> 33) % (i + 1);
		unsigned short kept = order[i];
		order[i] = order[k];
		order[k] = kept;
	}
	for (unsigned i = 0; i < CIRCLE_LINES; i++)
		*(void **)(void *)(circle + order[i] * CIRCLE_LINE) =
			circle + order[(i + 1) % CIRCLE_LINES] * CIRCLE_LINE;
	return circle;
}

static int has_aes(void)
{
	uint32_t a, b, c = 0, d;
	return __get_cpuid(1, &a, &b, &c, &d) && c & bit_AES;
}

PB_ONE_PLACE static double work_core(void *self, enum pb_work kind)
{
	static void *at;
	static int aes = -1;
	uint64_t x = 3, y = 5;
	(void)self;
	if (!at) {
		at = next_load();
		aes = has_aes();
	}
	uint64_t start = pb_ticks();
	if (kind == PB_WORK_OF_AES && aes)
		PB_WORK_AES();
	else if (kind == PB_WORK_OF_REGISTERS)
		PB_WORK_REGISTERS();
	else if (kind == PB_WORK_OF_LOADS)
		PB_WORK_LOADS(at, CIRCLE_LOADS);
	else
		PB_WORK_ADDS(x, y);
	uint64_t ticks = pb_ticks() - start;
	zero_vectors(has_avx());
	return (double)ticks;
}

/* What processors are known to have: entries of the reorder buffer. They help where a core is never alone while one
 * looks, and decide nothing that can be measured. Models: those of Linux (arch/x86/kernel/cpu/amd.c,
 * asm/intel-family.h). A hypervisor may name another processor than it has, so the sizes of the first data cache and
 * of the second cache have to fit, in KiB, where the processor tells them. Sources: docs/supported-machines.md. */
static const struct {
	char vendor;
	unsigned family, first, last, entries, first_cache, second_cache;
} known[] = {
	{'A', 0x17, 0x00, 0x2f, 192, 32, 512},
	{'A', 0x17, 0x50, 0x5f, 192, 32, 512}, /* Zen, Zen+ */
	{'A', 0x17, 0x30, 0xaf, 224, 32, 512}, /* Zen 2 */
	{'A', 0x19, 0x00, 0x0f, 256, 32, 512},
	{'A', 0x19, 0x20, 0x5f, 256, 32, 512}, /* Zen 3, 3+ */
	{'A', 0x19, 0x10, 0x1f, 320, 32, 1024},
	{'A', 0x19, 0x60, 0xaf, 320, 32, 1024}, /* Zen 4 */
	{'A', 0x1a, 0x00, 0x2f, 448, 48, 1024},
	{'A', 0x1a, 0x40, 0x4f, 448, 48, 1024}, /* Zen 5; 0x50 and 0x80 on are later */
	{'A', 0x1a, 0x60, 0x7f, 448, 48, 1024},
	{'I', 6, 0x4e, 0x4e, 224, 32, 256},
	{'I', 6, 0x5e, 0x5e, 224, 32, 256},  /* Skylake */
	{'I', 6, 0x55, 0x55, 224, 32, 1024}, /* Skylake, Cascade and Cooper Lake, servers */
	{'I', 6, 0x8e, 0x8e, 224, 32, 256},
	{'I', 6, 0x9e, 0x9e, 224, 32, 256}, /* Kaby, Coffee Lake */
	{'I', 6, 0xa5, 0xa6, 224, 32, 256}, /* Comet Lake */
	{'I', 6, 0x6a, 0x6a, 352, 48, 1280},
	{'I', 6, 0x6c, 0x6c, 352, 48, 1280}, /* Ice Lake, servers */
	{'I', 6, 0x7d, 0x7e, 352, 48, 512},  /* Ice Lake */
	{'I', 6, 0x8c, 0x8d, 352, 48, 1280}, /* Tiger Lake */
	{'I', 6, 0xa7, 0xa7, 352, 48, 512},  /* Rocket Lake */
	{'I', 6, 0x8f, 0x8f, 512, 48, 2048},
	{'I', 6, 0xcf, 0xcf, 512, 48, 2048}, /* Sapphire, Emerald Rapids */
	{'I', 6, 0xad, 0xae, 512, 48, 2048}, /* Granite Rapids */
	{'I', 6, 0x97, 0x97, 512, 48, 1280},
	{'I', 6, 0x9a, 0x9a, 512, 48, 1280}, /* Alder Lake, large cores */
	{'I', 6, 0xb7, 0xb7, 512, 48, 2048},
	{'I', 6, 0xba, 0xba, 512, 48, 1280}, /* Raptor Lake */
	{'I', 6, 0xbf, 0xbf, 512, 48, 1280},
	{'I', 6, 0xaa, 0xaa, 512, 48, 2048}, /* Raptor Lake; Meteor Lake */
	{'I', 6, 0xac, 0xac, 512, 48, 2048}, /* Meteor Lake */
};

/* Large and small cores of one processor have one model number (CPUID leaf 0x1a tells them apart): the sizes are those
 * of the large ones. */
static int is_small(void)
{
	uint32_t a = 0, b, c, d;
	return __get_cpuid_count(0x1a, 0, &a, &b, &c, &d) && a >> 24 == 0x20;
}

/* KiB of the data or unified cache of a level, as the processor tells them; 0 where it does not. */
static unsigned cache_size(char vendor, unsigned level)
{
	uint32_t a, b, c, d;
	for (unsigned i = 0; i < 8; i++) {
		if (!__get_cpuid_count(vendor == 'A' ? 0x8000001d : 4, i, &a, &b, &c, &d) || !(a & 31))
			return 0;
		if ((a & 31) != 2 && (a >> 5 & 7) == level) /* 2: instructions */
			return (unsigned)((uint64_t)((b >> 22) + 1) * ((b >> 12 & 1023) + 1) *
						  ((b & 4095) + 1) * ((uint64_t)c + 1) >>
					  10);
	}
	return 0;
}

static void look_up(pb_core *core, char *doubt, unsigned room)
{
	uint32_t a, b, c, d;
	char vendor;
	doubt[0] = '\0';
	if (!__get_cpuid(0, &a, &b, &c, &d))
		return;
	vendor = c == signature_AMD_ecx ? 'A' : c == signature_INTEL_ecx ? 'I' : '?';
	if (is_small() || !__get_cpuid(1, &a, &b, &c, &d))
		return;
	unsigned family = a >> 8 & 15, model = (a >> 4 & 15) | (a >> 12 & 240);
	family += family == 15 ? a >> 20 & 255 : 0;
	for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
		if (known[i].vendor != vendor || known[i].family != family || model < known[i].first ||
		    model > known[i].last)
			continue;
		unsigned first = cache_size(vendor, 1), second = cache_size(vendor, 2);
		if ((first && first != known[i].first_cache) || (second && second != known[i].second_cache))
			snprintf(doubt, room,
				 "family %u model %u is known with caches of %u and %u KiB, this core has %u "
				 "and %u",
				 family, model, known[i].first_cache, known[i].second_cache, first, second);
		else
			core->entries = known[i].entries;
		return;
	}
}

void pb_contention_choose(pb_gauge *g, const char *found_before)
{
	pb_core core = {.read = read_core,
			.work = work_core,
			.move = move_core,
			.self = g,
			.quantum = (double)g->tick_quantum};
	pb_found found;
	look_up(&core, g->processor, sizeof g->processor);
	if (!pb_window_parse(found_before, &found) || !pb_window_holds(&core, &found))
		pb_window_learn(&core, &found);
	g->window = found.window;
	g->length = found.window.length;
	g->detector = g->length ? "reorder-buffer" : "front-end";
	g->contention_floor = found.alone;
	g->contention_shared = found.past;
	pb_window_write(&found, g->found, sizeof g->found);
}

int pb_contention_print(pb_gauge *g)
{
	static const char *const names[] = {"nops", "vectors", "integers"};
	pb_core core = {.read = read_core, .move = move_core, .self = g, .quantum = (double)g->tick_quantum};
	for (unsigned filler = 0; filler < PB_FILLERS; filler++)
		for (unsigned n = 0; pb_window_chain(n); n++) {
			double low[PB_SCAN_LENGTHS];
			pb_window_scan(&core, filler, pb_window_chain(n), low);
			for (unsigned k = 0; k < PB_SCAN_LENGTHS; k++)
				printf("%s,%u,%u,%.2f\n", names[filler], pb_window_chain(n),
				       PB_SCAN_FROM + k * PB_SCAN_STEP, low[k]);
		}
	return 0;
}

uint64_t pb_contention_read(const pb_gauge *g)
{
	return g->length ? window_read(&g->window) : pb_front_end_read();
}

#else

void pb_contention_choose(pb_gauge *g, const char *found_before)
{
	(void)found_before;
	g->detector = "front-end";
	g->length = 0;
	g->found[0] = g->processor[0] = '\0';
	g->contention_floor = g->contention_shared = g->contention_limit = 0;
}

int pb_contention_print(pb_gauge *g)
{
	(void)g;
	return 1;
}

uint64_t pb_contention_read(const pb_gauge *g)
{
	(void)g;
	return pb_front_end_read();
}

#endif

int pb_contention_alone(const pb_gauge *g)
{
	double step = (double)g->tick_quantum;
	return !g->length || g->contention_limit <= 0 ||
	       ((double)pb_contention_read(g) - step) * pb_gauge_rate(g) <= g->contention_limit;
}

/* A look takes a quarter of a microsecond; whoever was away for so long was not asked. */
static const double TAKEN_US = 15;

int pb_contention_watch(const pb_gauge *g, double limit_ms, char *state, uint64_t *ticks, int room)
{
	uint64_t start = pb_gauge_ticks(), last = start, since = start,
		 end = start + (uint64_t)(limit_ms * 1e-3 * g->tick_hz),
		 taken = (uint64_t)(TAKEN_US * 1e-6 * g->tick_hz);
	char now = 0;
	int count = 0;
	while (last < end && count < room - 2) {
		char seen = pb_contention_alone(g) ? 'q' : 'b';
		uint64_t after = pb_gauge_ticks();
		if (after - last > taken) {
			if (now) {
				state[count] = now;
				ticks[count++] = last - since;
			}
			state[count] = 's';
			ticks[count++] = after - last;
			now = 0;
			since = after;
		} else if (seen != now) {
			if (now) {
				state[count] = now;
				ticks[count++] = last - since;
				since = last;
			}
			now = seen;
		}
		last = after;
	}
	if (now && count < room) {
		state[count] = now;
		ticks[count++] = last - since;
	}
	return count;
}
