/* The pipeline of a core on paper: when rounds of the window probe retire. */
#ifndef PAPER_PIPELINE_H
#define PAPER_PIPELINE_H

#include "paper.h"

enum { PIPELINE_ROUNDS = 16 };

/* What is left of a core to one thread. */
typedef struct share {
	double rob, vectors, integers, speed;
} share;

/* Cycles until each of the first rounds has retired, from an empty pipeline. */
void pipeline_run(const paper_kind *, const share *, unsigned filler, unsigned chain, unsigned length,
		  float *total);

#endif
