#include "trace.h"

#if PB_CAN_TRACE

#include "heap.h"

#include <elf.h>
#include <signal.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

/* Nothing in a handler may run code that is traced: it calls no library, and the compiler may not make such calls of
 * loops, nor spread functions of this file into what the traced code calls. */
#if defined(__clang__)
#define ALONE noinline
#else
#define ALONE noinline, noclone
#pragma GCC optimize("no-tree-loop-distribute-patterns", "no-stack-protector")
#endif

/* Rooms, not limits of anything measured: an operation of libcrypto has some thousands of blocks. */
enum {
	BLOCK_BITS = 17,
	BLOCKS = 1 << BLOCK_BITS,
	SITES = 1 << BLOCK_BITS,
	LONGEST_BLOCK = 1 << 16,
	CLOCK_EVERY = 1 << 10, /* blocks between two looks at the clock */
	LINE = 64,
	PAGE = 4096,
	HANDLER_STACK = 1 << 17,
	INT3 = 0xcc
};

/* Where a block ends. */
typedef struct site {
	uint8_t *address;
	pb_instruction branch;
	uint8_t code[16]; /* as it was before the int3 */
} site;

/* Instructions from `start` to the branch of `end`. One end can have several starts. */
typedef struct block {
	uint8_t *start;
	site *end;
	uint64_t count;
	uint32_t instructions;
	uint32_t system_calls;
	uint32_t kinds[PB_KINDS];
} block;

static struct {
	block blocks[BLOCKS];
	site sites[SITES];
	pb_heap heap;
	uint64_t lines[BLOCKS]; /* those of code, as a table of numbers */
	int block_count, site_count;
	block *now;
	int tracing;
	uint64_t since_clock, limit_ns, began_ns;
	uint64_t thread;
	uint64_t page_of_kernel[2]; /* where the vDSO begins and ends, which cannot be written to */
	uint64_t page_calls;
	uint8_t *resume; /* where it returns to; the int3 there stands in place of resume_code */
	uint8_t resume_code;
	uint8_t *finish;
	volatile int *state;
	uint64_t *strange;
} * t;

static long ask_kernel(long number, long a, long b, long c)
{
	long answer;
	__asm__ volatile("syscall"
			 : "=a"(answer)
			 : "a"(number), "D"(a), "S"(b), "d"(c)
			 : "rcx", "r11", "memory");
	return answer;
}

static uint64_t now_ns(void)
{
	struct timespec now = {0};
	ask_kernel(SYS_clock_gettime, CLOCK_MONOTONIC, (long)&now, 0);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static uint64_t thread_pointer(void)
{
	uint64_t pointer;
	__asm__("movq %%fs:0, %0" : "=r"(pointer));
	return pointer;
}

static void give_up(int state, const void *address)
{
	*t->state = state;
	*t->strange = (uint64_t)address;
	ask_kernel(SYS_exit_group, 0, 0, 0);
	__builtin_unreachable();
}

static uint32_t slot_of(uint64_t value, int bits)
{
	return (uint32_t)(value * 0x9e3779b97f4a7c15u >>
			  (64 - bits)); /* Fibonacci hashing (Knuth, TAOCP 3, 6.4) */
}

static site *site_at(uint8_t *address)
{
	uint32_t slot = slot_of((uint64_t)address, BLOCK_BITS);
	while (t->sites[slot].address && t->sites[slot].address != address)
		slot = (slot + 1) & (SITES - 1);
	return &t->sites[slot];
}

static void write_int3(uint8_t *address)
{
	long page = (long)address & -PAGE;
	if (ask_kernel(SYS_mprotect, page, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC) != 0)
		give_up(PB_TRACE_FIXED, address);
	*(volatile uint8_t *)address = INT3;
}

/* The site of the branch at `address`, made where there is none yet. */
static site *place_site(uint8_t *address, const pb_instruction *branch)
{
	site *s = site_at(address);
	if (s->address)
		return s;
	if (++t->site_count > SITES / 2)
		give_up(PB_TRACE_ROOM, address);
	s->address = address;
	s->branch = *branch;
	for (int i = 0; i < branch->length; i++)
		((volatile uint8_t *)s->code)[i] = address[i]; /* clang would call memcpy */
	if (branch->flow != PB_TRAP)
		write_int3(address);
	return s;
}

/* The block that begins at `start`: read, and with its end put in place, when it is entered for the first time. */
static block *block_at(uint8_t *start)
{
	uint32_t slot = slot_of((uint64_t)start, BLOCK_BITS);
	while (t->blocks[slot].start && t->blocks[slot].start != start)
		slot = (slot + 1) & (BLOCKS - 1);
	block *b = &t->blocks[slot];
	if (b->start)
		return b;
	if (++t->block_count > BLOCKS / 2)
		give_up(PB_TRACE_ROOM, start);
	b->start = start;
	uint8_t *at = start;
	pb_instruction i;
	for (;; at += i.length) {
		site *known = *at == INT3 ? site_at(at) : NULL;
		if (known && known->address)
			i = known->branch; /* its first byte is no longer there */
		else
			pb_decode(at, &i);
		b->instructions++;
		b->system_calls += i.flow == PB_SYSTEM_CALL;
		for (int kind = 0; kind < PB_KINDS; kind++)
			b->kinds[kind] += i.kinds >> kind & 1;
		if (i.flow == PB_ELSEWHERE || at - start > LONGEST_BLOCK)
			give_up(PB_TRACE_STRANGE, at);
		if (i.flow != PB_ON && i.flow != PB_SYSTEM_CALL)
			break;
	}
	b->end = place_site(at, &i);
	return b;
}

/* Registers in the order of their numbers in instructions. */
static const int REGISTERS[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
				  REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};

static uint64_t value_of(const greg_t *g, int number)
{
	return (uint64_t)g[REGISTERS[number]];
}

static int32_t read_32(const uint8_t *at)
{
	return (int32_t)((uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 |
			 (uint32_t)at[3] << 24);
}

/* What the operand of an indirect jump or call holds. */
static uint64_t operand(const site *s, const greg_t *g)
{
	const pb_instruction *i = &s->branch;
	const uint8_t *at = s->code + i->modrm_at + 1;
	int modrm = s->code[i->modrm_at], mode = modrm >> 6, base = modrm & 7;
	int x = i->rex >> 1 & 1, b = i->rex & 1;
	uint64_t address = 0;
	if (mode == 3)
		return value_of(g, base | b << 3);
	if (i->short_address || i->segment == 0x65)
		give_up(PB_TRACE_STRANGE, s->address);
	if (base == 4) {
		int sib = *at++, index = (sib >> 3 & 7) | x << 3;
		base = sib & 7;
		if (index != 4)
			address += value_of(g, index) << (sib >> 6);
		if (base == 5 && mode == 0)
			address += (uint64_t)(int64_t)read_32(at);
		else
			address += value_of(g, base | b << 3);
	} else if (base == 5 && mode == 0) {
		address = (uint64_t)s->address + i->length + (uint64_t)(int64_t)read_32(at);
	} else {
		address = value_of(g, base | b << 3);
	}
	if (mode == 1)
		address += (uint64_t)(int64_t)(int8_t)*at;
	else if (mode == 2)
		address += (uint64_t)(int64_t)read_32(at);
	if (i->segment == 0x64)
		address += t->thread;
	return *(const uint64_t *)address;
}

/* The conditions of jumps in the order of their numbers; odd ones are the contrary. */
static int holds(int condition, uint64_t flags)
{
	int carry = flags & 1, parity = flags >> 2 & 1, zero = flags >> 6 & 1, sign = flags >> 7 & 1,
	    overflow = flags >> 11 & 1, is = 0;
	switch (condition >> 1) {
	case 0:
		is = overflow;
		break;
	case 1:
		is = carry;
		break;
	case 2:
		is = zero;
		break;
	case 3:
		is = carry | zero;
		break;
	case 4:
		is = sign;
		break;
	case 5:
		is = parity;
		break;
	case 6:
		is = sign != overflow;
		break;
	default:
		is = zero | (sign != overflow);
	}
	return is ^ (condition & 1);
}

static int loops(const pb_instruction *i, greg_t *g)
{
	uint64_t mask = i->short_address ? 0xffffffffu : ~(uint64_t)0;
	if (i->condition == 3)
		return ((uint64_t)g[REG_RCX] & mask) == 0;
	uint64_t left = ((uint64_t)g[REG_RCX] - 1) & mask;
	int zero = g[REG_EFL] >> 6 & 1;
	g[REG_RCX] = (greg_t)left;
	return left != 0 && (i->condition == 2 || zero == i->condition);
}

static void push(greg_t *g, uint64_t value)
{
	g[REG_RSP] -= 8;
	*(uint64_t *)g[REG_RSP] = value;
}

/* Do what the branch does. Returns where it leads. */
static uint64_t follow(const site *s, greg_t *g)
{
	const pb_instruction *i = &s->branch;
	uint64_t next = (uint64_t)s->address + i->length, to = next + (uint64_t)i->distance;
	switch (i->flow) {
	case PB_IF:
		return holds(i->condition, (uint64_t)g[REG_EFL]) ? to : next;
	case PB_LOOP:
		return loops(i, g) ? to : next;
	case PB_JUMP:
		return to;
	case PB_CALL:
		push(g, next);
		return to;
	case PB_JUMP_WHERE:
		return operand(s, g);
	case PB_CALL_WHERE:
		to = operand(s, g);
		push(g, next);
		return to;
	default: /* PB_RETURN */
		to = *(const uint64_t *)g[REG_RSP];
		g[REG_RSP] += 8 + i->drop;
		return to;
	}
}

/* The kernel's functions in the process, such as clock_gettime, are run as they are: each counts as a system call. */
static int enters_kernel_page(uint64_t to, const greg_t *g)
{
	if (to < t->page_of_kernel[0] || to >= t->page_of_kernel[1])
		return 0;
	t->page_calls++;
	t->resume = *(uint8_t *const *)g[REG_RSP];
	t->resume_code = *t->resume;
	write_int3(t->resume);
	return 1;
}

static void return_from_kernel_page(greg_t *g)
{
	uint8_t *at = t->resume;
	*(volatile uint8_t *)at = t->resume_code; /* an int3 still, where a branch stands */
	t->resume = NULL;
	g[REG_RIP] = (greg_t)at;
	t->now = block_at(at);
}

static void on_trap(int number, siginfo_t *info, void *context)
{
	greg_t *g = ((ucontext_t *)context)->uc_mcontext.gregs;
	uint8_t *address = (uint8_t *)g[REG_RIP] - 1;
	(void)number, (void)info;
	if (thread_pointer() != t->thread)
		give_up(PB_TRACE_LOST, address);
	if (t->tracing == 0 && t->finish == NULL) { /* the int3 of pb_trace */
		t->tracing = 1;
		t->finish = address;
		t->now = block_at(address + 1);
		return;
	}
	if (address == t->resume) {
		return_from_kernel_page(g);
		return;
	}
	site *s = site_at(address);
	if (!s->address)
		give_up(PB_TRACE_LOST, address);
	if (t->tracing) {
		if (t->now->end != s)
			give_up(PB_TRACE_LOST, address);
		t->now->count++;
		if (s->branch.flow == PB_TRAP) { /* the other int3 of pb_trace */
			t->tracing = 0;
			return;
		}
		if (++t->since_clock == CLOCK_EVERY) {
			t->since_clock = 0;
			if (t->limit_ns && now_ns() - t->began_ns > t->limit_ns)
				give_up(PB_TRACE_LONG, address);
		}
	}
	uint64_t to = follow(s, g);
	g[REG_RIP] = (greg_t)to;
	if (t->tracing) {
		if (pb_heap_watch(&t->heap, to, g) != 0)
			give_up(PB_TRACE_ROOM, NULL);
		if (!enters_kernel_page(to, g))
			t->now = block_at((uint8_t *)to);
	}
}

/* From the ELF header of the vDSO: its loaded segment, which holds its code. */
static void find_kernel_page(void)
{
	uint64_t at = getauxval(AT_SYSINFO_EHDR);
	if (!at)
		return;
	const Elf64_Ehdr *head = (const Elf64_Ehdr *)at;
	const Elf64_Phdr *part = (const Elf64_Phdr *)(at + head->e_phoff);
	for (int i = 0; i < head->e_phnum; i++)
		if (part[i].p_type == PT_LOAD) {
			t->page_of_kernel[0] = at;
			t->page_of_kernel[1] = at + part[i].p_memsz;
		}
}

int pb_trace_start(void)
{
	void *got = mmap(NULL, sizeof *t, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
			 -1, 0);
	void *room = mmap(NULL, HANDLER_STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	stack_t stack = {.ss_sp = room, .ss_size = HANDLER_STACK};
	struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO | SA_ONSTACK};
	if (got == MAP_FAILED || room == MAP_FAILED || sigaltstack(&stack, NULL) != 0 ||
	    sigaction(SIGTRAP, &action, NULL) != 0)
		return -1;
	t = got;
	t->thread = thread_pointer();
	find_kernel_page();
	pb_heap_find(&t->heap);
	return 0;
}

/* Put `number` into the table of numbers. Returns 1 if it was not there. */
static int is_new(uint64_t number)
{
	uint32_t slot = slot_of(number, BLOCK_BITS);
	while (t->lines[slot] && t->lines[slot] != number)
		slot = (slot + 1) & (BLOCKS - 1);
	if (t->lines[slot])
		return 0;
	t->lines[slot] = number;
	return 1;
}

static uint64_t places_of(uint64_t grain)
{
	uint64_t found = 0;
	for (int i = 0; i < BLOCKS; i++)
		t->lines[i] = 0;
	for (int i = 0; i < BLOCKS; i++) {
		const block *b = &t->blocks[i];
		if (!b->count)
			continue;
		uint64_t first = (uint64_t)b->start / grain,
			 last = ((uint64_t)b->end->address + b->end->branch.length - 1) / grain;
		for (uint64_t at = first; at <= last; at++)
			if (is_new(at) && ++found > BLOCKS / 2)
				give_up(PB_TRACE_ROOM, NULL);
	}
	return found;
}

static void add_up(pb_counts *counts)
{
	*counts = (pb_counts){.system_calls = t->page_calls};
	for (int i = 0; i < BLOCKS; i++) {
		const block *b = &t->blocks[i];
		if (!b->count)
			continue;
		counts->blocks += b->count;
		counts->instructions += b->count * b->instructions;
		counts->system_calls += b->count * b->system_calls;
		for (int kind = 0; kind < PB_KINDS; kind++)
			counts->kinds[kind] += b->count * b->kinds[kind];
	}
	counts->heap_calls = t->heap.calls;
	counts->heap_bytes = t->heap.bytes;
	counts->heap_left = t->heap.held;
	counts->heap_peak = t->heap.peak;
	counts->code_lines = places_of(LINE);
	counts->code_pages = places_of(PAGE);
}

/* Between two int3 that the compiler cannot move, nor make two of. */
static __attribute__((ALONE)) void between_traps(void (*work)(void *), void *argument)
{
	__asm__ volatile("int3" ::: "memory");
	work(argument);
	__asm__ volatile("int3" ::: "memory");
}

void pb_trace(void (*work)(void *), void *argument, uint64_t limit_ns, pb_counts *counts, volatile int *state,
	      uint64_t *address)
{
	for (int i = 0; i < BLOCKS; i++)
		t->blocks[i].count = 0;
	pb_heap_clear(&t->heap);
	t->since_clock = t->page_calls = 0;
	t->resume = NULL;
	t->limit_ns = limit_ns;
	t->finish = NULL;
	t->state = state;
	t->strange = address;
	t->began_ns = now_ns();
	between_traps(work, argument);
	add_up(counts);
}

#else

int pb_trace_start(void)
{
	return -1;
}

void pb_trace(void (*work)(void *), void *argument, uint64_t limit_ns, pb_counts *counts, volatile int *state,
	      uint64_t *address)
{
	(void)work, (void)argument, (void)limit_ns, (void)counts, (void)state, (void)address;
}

#endif
