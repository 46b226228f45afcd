/* The bytes that all implementations work on (SPEC section 3), and the memory they lie in. */
#ifndef PB_MATERIAL_H
#define PB_MATERIAL_H

#include <stddef.h>
#include <stdint.h>

/* Data up to this length are there in a fork (forked.h). */
enum { PB_FORK_BYTES = 192 << 10 };

/* Fill out with the stream of this seed and label. */
void pb_stream(uint64_t seed, const char *label, uint8_t *out, size_t length);

/* FNV-1a with 64 bits; start with PB_FNV_BASIS. */
#define PB_FNV_BASIS 0xcbf29ce484222325ULL
uint64_t pb_fnv1a(uint64_t hash, const uint8_t *bytes, size_t length);

/* The digest of an output (SPEC section 5): FNV-1a taken over words of 64 bits, then over the bytes that are
 * left. pb_words starts with any value. */
uint64_t pb_words(uint64_t hash, const uint8_t *bytes, size_t length);
uint64_t pb_digest(const uint8_t *bytes, size_t length);

/* Reserve address space for data of at most so many bytes instead of generously; to be called before pb_input and
 * pb_output. Memcheck marks all that is reserved, which takes a second a gibibyte. */
void pb_reserve(size_t most);

/* Input of at least `size` bytes at `offset` from a 4096-byte boundary, shared by all cases that ask for the
 * same; NULL if memory does not suffice or the file cannot be read (errno, and *short_file is set if it is
 * too short). `path` is NULL for the seeded stream. */
const uint8_t *pb_input(uint64_t seed, const char *path, size_t size, size_t offset, int *short_file);

/* By how much outputs begin behind inputs, modulo a page, unless somebody says otherwise, for all outputs from then on. */
enum { PB_OUTPUT_APART = 1024 };
void pb_output_apart(size_t bytes);

/* From now on outputs lie in the area of this thread: 0 unless somebody says otherwise, below PB_OUTPUTS. */
enum { PB_OUTPUTS = 64 };
void pb_output_own(unsigned which);

/* A thread's one output area, large enough for `size` bytes at `offset` and that many more from a 4096-byte boundary, every
 * page of it touched; it never moves. NULL if memory does not suffice. */
uint8_t *pb_output(size_t size, size_t offset);

#endif
