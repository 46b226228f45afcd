/* A call too long for the probes around it, cut: consecutive pieces of the same data, each by the library's
 * own streaming call ("stream/1" of the same operation). */
#ifndef PB_PIECES_H
#define PB_PIECES_H

#include "cases.h"

/* Begin to step through the data in pieces of so many bytes, where the last steps ended. 1 if that can be
 * done: the operation has a streaming variant, and two pieces give what one call on both gives (looked at
 * once per length). With 0 nothing is changed. */
int pb_pieces_begin(pb_prepared *, size_t bytes);

/* Let the case stand for the next piece; at the end of the data it goes on with the first. */
void pb_pieces_step(pb_prepared *);

/* Let the case stand for all data, with the stream where it is; pb_pieces_step may follow. */
void pb_pieces_whole(pb_prepared *);

#endif
