/* One instruction of x86-64: how long it is, of which kinds, and where it leads.
 *
 * After the opcode maps of the AMD64 Architecture Programmer's Manual, volume 3, appendix A, and of the Intel
 * Software Developer's Manual, volume 2, appendix A; VEX and EVEX included. It reads what processors execute, not
 * what could be written: an encoding without meaning gets some length. */
#ifndef PB_DECODE_H
#define PB_DECODE_H

#include <stdint.h>

/* What instructions are counted as. One can be of several kinds: an AES round on a register of 512 bits with its key
 * in memory is of three. */
enum pb_kind {
	PB_AES,
	PB_CLMUL,
	PB_SHA,
	PB_MULTIPLY, /* of general registers */
	PB_DIVIDE,
	PB_VECTOR_128,
	PB_VECTOR_256,
	PB_VECTOR_512,
	PB_BRANCH, /* jumps, calls and returns */
	PB_LOAD,   /* reads memory, the stack included */
	PB_STORE,
	PB_KINDS
};

extern const char *const pb_kind_names[PB_KINDS];

enum pb_flow {
	PB_ON,         /* the next instruction follows */
	PB_IF,         /* to the target or on, by flags: condition */
	PB_LOOP,       /* loopne, loope, loop, jrcxz: condition 0 to 3 */
	PB_JUMP,       /* to the target */
	PB_CALL,       /* to the target */
	PB_JUMP_WHERE, /* to what the operand holds */
	PB_CALL_WHERE,
	PB_RETURN,      /* `drop` bytes are taken off the stack beside the address */
	PB_TRAP,        /* int3 */
	PB_SYSTEM_CALL, /* goes on, but for what is run while the kernel is at work */
	PB_ELSEWHERE    /* what no library does in a call: far jumps, undefined instructions, transactions */
};

typedef struct pb_instruction {
	uint8_t length;
	uint8_t flow; /* pb_flow */
	uint8_t condition;
	uint8_t modrm_at; /* where the byte with the operands stands; 0: there is none */
	uint8_t rex, segment, short_address;
	uint16_t drop;
	uint16_t kinds;   /* bit k: pb_kind k */
	int64_t distance; /* of the target from the next instruction */
} pb_instruction;

/* Read the instruction at `code`. */
void pb_decode(const uint8_t *code, pb_instruction *);

#endif
