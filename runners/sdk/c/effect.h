/* Does a detector of neighbours see what matters? It is judged by its effect: pieces of reference work between two
 * readings each must cost more where the readings are above a limit than where they are below, and those below must
 * cost what the core can do.
 *
 * Here are no instructions and no clock, and nothing of one core: looks come from whoever took them. */
#ifndef PB_EFFECT_H
#define PB_EFFECT_H

/* Kinds of reference work: a chain of additions, independent AES rounds, additions over all vector registers, loads
 * from the second cache. What a neighbour slows differs from core to core, so none of them has to show it. */
enum pb_work { PB_WORK_OF_ADDS, PB_WORK_OF_AES, PB_WORK_OF_REGISTERS, PB_WORK_OF_LOADS, PB_WORKS };

typedef struct pb_look {
	unsigned work;
	float ticks, before, after; /* of the work, and of the readings around it */
} pb_look;

/* UNSEEN: too few looks above or below the limit to say. USELESS: what is below costs as much as what is above, or is of
 * both kinds. TELLS: neither. */
enum pb_verdict { PB_UNSEEN, PB_USELESS, PB_TELLS };

typedef struct pb_effect {
	enum pb_verdict verdict;
	double kept; /* share of looks with both readings below the limit */
	double pure; /* share of these that cost what the core can do, of the kind of work that shows it best */
	double costs; /* what work above costs, over what it costs below: the median kind; 0: not seen */
} pb_effect;

/* Judge a limit by `count` looks, at most PB_LOOKS_MOST. */
enum { PB_LOOKS_MOST = 8000 };
pb_effect pb_effect_judge(const pb_look *, int count, double limit);

/* Is `a` the better of two that tell? The purer one, or else the one that keeps more looks; by more than chance. */
int pb_effect_better(const pb_effect *a, const pb_effect *b);

/* The two modes of the readings of `count` looks, their means on a logarithmic scale; both 0 where there is one mode
 * only. The limit is the middle between them on that scale. */
typedef struct pb_modes {
	double low, high;
} pb_modes;
pb_modes pb_effect_modes(const pb_look *, int count);

#endif
