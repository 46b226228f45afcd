/* What a stretch of code executes, instruction by instruction, at nearly its own speed.
 *
 * A process traces itself: where a block of instructions ends, at a jump, a call or a return, stands an int3; its
 * signal counts the block, does what the branch would have done, and puts an int3 at the end of the block where it
 * leads. So the code runs on this processor, by the path that it takes here, with every instruction that this processor
 * has. No performance counters are needed, and no emulator that would have to know the instructions.
 *
 * Code is written to, so only a forked child of one thread may do it. Of Linux on x86-64. */
#ifndef PB_TRACE_H
#define PB_TRACE_H

#include "decode.h"

#include <stdint.h>

#if defined(__x86_64__) && defined(__linux__) && !defined(__SANITIZE_ADDRESS__)
#define PB_CAN_TRACE 1
#else
#define PB_CAN_TRACE 0
#endif

/* Sums over a stretch. Bytes are of the heap, as they were asked for. */
typedef struct pb_counts {
	uint64_t instructions, blocks;
	uint64_t kinds[PB_KINDS];
	uint64_t heap_calls;             /* malloc and its like, mmap */
	uint64_t heap_bytes;             /* asked for in these calls */
	uint64_t system_calls;           /* those of the vDSO too, of which no instruction is counted */
	int64_t heap_left;               /* not given back at the end */
	int64_t heap_peak;               /* most of it at once */
	uint64_t code_lines, code_pages; /* of 64 and of 4096 bytes that instructions were fetched from */
} pb_counts;

enum pb_trace_state {
	PB_TRACED,
	PB_TRACE_LONG,    /* longer than the limit */
	PB_TRACE_STRANGE, /* an instruction that this tracer cannot follow */
	PB_TRACE_ROOM,    /* more code than the tables hold */
	PB_TRACE_FIXED,   /* code that the system does not let be written to */
	PB_TRACE_LOST     /* control arrived where no block ends: threads, or signals */
};

/* Prepare the process, once. Returns 0, or -1 where that cannot be done. */
int pb_trace_start(void);

/* Call work(argument), and count it into *counts. The limit is of the clock, 0: none. After anything but PB_TRACED
 * the process is good for nothing but _exit: what has gone wrong is in *state before it ends by itself. */
void pb_trace(void (*work)(void *), void *argument, uint64_t limit_ns, pb_counts *counts, volatile int *state,
	      uint64_t *address);

#endif
