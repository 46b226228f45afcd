/* The library's own generator, seeded by the kernel: a CTR-DRBG of AES-256, one for each thread. */
#include "evp.h"

#include <direct.h>

#include <openssl/rand.h>

PB_DIRECT_RANDOM(evp_random, "random-bytes", "RAND_bytes", RAND_bytes(out, (int)size) != 1);
