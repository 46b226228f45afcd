/* Secrets as undefined memory: under Valgrind's memcheck every branch and address that depends on them is told. */
#ifndef PB_TAINT_H
#define PB_TAINT_H

#include "perbyte.h"

/* One call of `algorithm operation contract size role` (argv from its second word on), with the bytes of the role
 * undefined. Returns the exit status: 0, 1 where the call could not be made, 2 where this is not memcheck, or the header
 * of its requests was not there when the SDK was compiled. */
int pb_taint(const pb_runner *, int argc, char **argv);

/* Where a family keeps its secret key once its pair is made, with the length: the key itself is a seed then, of which
 * the public key follows as well. Of `perbyte try`; NULL without one. */
typedef uint8_t *pb_secret_place(const pb_case *, size_t *length);
extern pb_secret_place pb_trial_secret __attribute__((weak));

#endif
