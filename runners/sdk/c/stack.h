/* How deep a stretch of code goes into its stack: it is run on a stack that was painted, and what is no longer of that
 * colour was written to. */
#ifndef PB_STACK_H
#define PB_STACK_H

#include <stdint.h>

/* Call work(argument) on a stack of its own. Returns the bytes between the stack pointer at the call and the lowest
 * word that was written to, or 0 where there is no memory for such a stack. Deeper than the stack is a SIGSEGV, so that
 * only a forked child should ask. What is reserved and not written to is not seen. */
uint64_t pb_stack_depth(void (*work)(void *), void *argument);

#endif
