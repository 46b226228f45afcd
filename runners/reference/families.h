/* What the files of the reference runner share. */
#ifndef PB_REFERENCE_FAMILIES_H
#define PB_REFERENCE_FAMILIES_H

#include "perbyte.h"

extern const pb_family ripemd_family;
extern const pb_family copy_family;

/* One family per probe: each has a loop of its own, so that nothing is chosen at run time. */
extern const pb_family probe_imul_family;
extern const pb_family probe_imul_add_family;
extern const pb_family probe_crc32_family;
extern const pb_family probe_aesenc_family;
extern const pb_family probe_empty_family;

/* And one per limit. */
extern const pb_family limit_aes_family, limit_vaes_family, limit_clmul_family, limit_vclmul_family;
extern const pb_family limit_sha_family, limit_multiply_family, limit_load_family, limit_store_family;
extern const pb_family limit_vaes512_family, limit_vclmul512_family, limit_multiply512_family;
extern const pb_family limit_load512_family, limit_store512_family, limit_add_family, limit_add512_family;
extern const pb_family limit_ifma512_family, limit_gfni_family, limit_gfni512_family, limit_mul64_family;
extern const pb_family limit_sha512_family;

/* 1 if this CPU can run the family's instruction. */
int probe_runs_here(const pb_family *);
int limit_runs_here(const pb_family *);

#endif
