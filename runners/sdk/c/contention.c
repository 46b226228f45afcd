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

/* What processors are known to have: entries of the reorder buffer, and vector additions that fit beside it (found by
 * scans). They help where a core is never alone while one looks, and decide nothing that can be measured. Models: those
 * of Linux (arch/x86/kernel/cpu/amd.c, asm/intel-family.h). Sizes: docs/supported-machines.md names the source of
 * each. */
static const struct {
	char vendor;
	unsigned family, first, last, entries, registers;
} known[] = {
	{'A', 0x17, 0x00, 0x2f, 192, 0},
	{'A', 0x17, 0x50, 0x5f, 192, 0}, /* Zen, Zen+ */
	{'A', 0x17, 0x30, 0xaf, 224, 0}, /* Zen 2 */
	{'A', 0x19, 0x00, 0x0f, 256, 141},
	{'A', 0x19, 0x20, 0x5f, 256, 141}, /* Zen 3, 3+ */
	{'A', 0x19, 0x10, 0x1f, 320, 152},
	{'A', 0x19, 0x60, 0xaf, 320, 152}, /* Zen 4: 147 to 157 by who holds some */
	{'A', 0x1a, 0x00, 0x2f, 448, 0},
	{'A', 0x1a, 0x40, 0x4f, 448, 0}, /* Zen 5; 0x50 and 0x80 on are later */
	{'A', 0x1a, 0x60, 0x7f, 448, 0},
	{'I', 6, 0x4e, 0x4e, 224, 0},
	{'I', 6, 0x5e, 0x5e, 224, 0}, /* Skylake */
	{'I', 6, 0x55, 0x55, 224, 0}, /* Skylake, Cascade and Cooper Lake, servers */
	{'I', 6, 0x8e, 0x8e, 224, 0},
	{'I', 6, 0x9e, 0x9e, 224, 0}, /* Kaby, Coffee Lake */
	{'I', 6, 0xa5, 0xa6, 224, 0}, /* Comet Lake */
	{'I', 6, 0x6a, 0x6a, 352, 0},
	{'I', 6, 0x6c, 0x6c, 352, 0}, /* Ice Lake, servers */
	{'I', 6, 0x7d, 0x7e, 352, 0},
	{'I', 6, 0x9d, 0x9d, 352, 0}, /* Ice Lake */
	{'I', 6, 0x8c, 0x8d, 352, 0},
	{'I', 6, 0xa7, 0xa7, 352, 0}, /* Tiger, Rocket Lake */
	{'I', 6, 0x8f, 0x8f, 512, 0},
	{'I', 6, 0xcf, 0xcf, 512, 0}, /* Sapphire, Emerald Rapids */
	{'I', 6, 0xad, 0xae, 512, 0}, /* Granite Rapids */
	{'I', 6, 0x97, 0x97, 512, 0},
	{'I', 6, 0x9a, 0x9a, 512, 0}, /* Alder Lake, large cores */
	{'I', 6, 0xb7, 0xb7, 512, 0},
	{'I', 6, 0xba, 0xba, 512, 0}, /* Raptor Lake */
	{'I', 6, 0xbf, 0xbf, 512, 0},
	{'I', 6, 0xaa, 0xaa, 512, 0}, /* Raptor Lake; Meteor Lake */
	{'I', 6, 0xac, 0xac, 512, 0}, /* Meteor Lake */
};

/* Large and small cores of one processor have one model number (CPUID leaf 0x1a tells them apart): the sizes are those
 * of the large ones. */
static int is_small(void)
{
	uint32_t a = 0, b, c, d;
	return __get_cpuid_count(0x1a, 0, &a, &b, &c, &d) && a >> 24 == 0x20;
}

static void look_up(pb_core *core)
{
	uint32_t a, b, c, d;
	char vendor;
	if (!__get_cpuid(0, &a, &b, &c, &d))
		return;
	vendor = c == signature_AMD_ecx ? 'A' : c == signature_INTEL_ecx ? 'I' : '?';
	if (is_small() || !__get_cpuid(1, &a, &b, &c, &d))
		return;
	unsigned family = a >> 8 & 15, model = (a >> 4 & 15) | (a >> 12 & 240);
	family += family == 15 ? a >> 20 & 255 : 0;
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (known[i].vendor == vendor && known[i].family == family && known[i].first <= model &&
		    model <= known[i].last) {
			core->entries = known[i].entries;
			core->registers = known[i].registers;
			return;
		}
}

void pb_contention_choose(pb_gauge *g, const char *found_before)
{
	pb_core core = {.read = read_core, .move = move_core, .self = g, .quantum = (double)g->tick_quantum};
	pb_found found;
	look_up(&core);
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
	g->found[0] = '\0';
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
