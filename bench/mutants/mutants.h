/* Cryptography that is right but for one planted fault, which MUTANT names. Not for any use but to be found out. */
#ifndef MUTANTS_H
#define MUTANTS_H

#include "perbyte.h"

/* 1 where `name` is the planted fault. */
int has(const char *name);

/* Not 0 where `n` bytes differ, as far as a comparison with the planted fault sees it. */
int differs(const uint8_t *expected, const uint8_t *got, size_t n);

/* Changes an output of `length` bytes where the planted fault is one of data of so many bytes. */
void spoil_long(uint8_t *out, size_t length, size_t size);

extern const pb_family aead_family, ed25519_family, ecdsa_family, rsa_family, kem_family, x25519_family,
	p256_family, hash_family, mac_family, poly1305_family, cmac_family, counter_family;

#endif
