/* Calls on data of their own (SPEC 7): each takes the next bytes of an area that no cache holds, or reads its data from
 * the file first. */
#ifndef PB_FRESH_H
#define PB_FRESH_H

#include "cases.h"

/* How a language's calls come by data of their own; NULL in C, where they take what `in` of the case points to. */
typedef struct pb_fresh_ways {
	uint8_t *(*data)(
		pb_case *); /* the bytes that calls work on, which may be a copy; NULL: nobody knows */
	/* n calls on the bytes of an area from `at` on, which it moves on; NULL: it has copies only */
	void (*walk)(pb_case *, const pb_variant *, uint64_t n, const uint8_t *area, size_t bytes,
		     size_t *at);
} pb_fresh_ways;
extern const pb_fresh_ways *pb_fresh_language;

/* From now on the calls of a case walk through the first `walk_bytes` of its data (0: they stay), or read it from its
 * file. An error code of the protocol, or NULL; then pb_fresh_end. `words` has room for 256 bytes. */
const char *pb_fresh_begin(pb_prepared *, size_t walk_bytes, int from_disk, char *words);
void pb_fresh_end(pb_prepared *);

/* Untimed, before a sample: let the system forget what it holds of the file. */
void pb_fresh_forget(const pb_prepared *);

/* n calls. The loop is entered once for each. */
void pb_fresh_calls(pb_prepared *, const pb_variant *, uint64_t n);

#endif
