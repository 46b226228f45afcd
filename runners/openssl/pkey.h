/* Key pairs made of the run's material. */
#ifndef PERBYTE_OPENSSL_PKEY_H
#define PERBYTE_OPENSSL_PKEY_H

#include "evp.h"

#include <openssl/evp.h>

enum pkey_form {
	PKEY_RAW,  /* X25519, X448, Ed25519, Ed448: the private key as bytes */
	PKEY_EC,   /* a curve: the private number */
	PKEY_DH,   /* a group of a prime: the private exponent */
	PKEY_SEED, /* ML-KEM, ML-DSA, SLH-DSA: the seed that a standard makes a key pair of */
	PKEY_OWN,  /* no such way: a pair drawn once per process */
};

/* param of a row of evp_exchange_family, evp_kem_family, evp_message_family and evp_ecdsa_family */
struct pkey_kind {
	const char *name;  /* to fetch: "X25519", "EC", "ML-KEM-768" */
	const char *group; /* of EC: "prime256v1", of DH: "ffdhe2048" */
	enum pkey_form form;
};

/* The key pair of `private` (of the kind's length), NULL after evp_fail. */
EVP_PKEY *pkey_of(pb_case *c, const struct pkey_kind *kind, const uint8_t *private);

/* A public key from its encoding, NULL after evp_fail. */
EVP_PKEY *pkey_public(pb_case *c, const struct pkey_kind *kind, const uint8_t *encoded, size_t length);

/* A context that draws key pairs of this kind. */
EVP_PKEY_CTX *pkey_maker(const struct pkey_kind *kind);

/* Put the public key of `key` into c->out. */
int pkey_show(pb_case *c, EVP_PKEY *key);

/* The timed loop of keygen: the maker makes a pair, the one before is freed. */
#define PKEY_KEYGEN(NAME, STATE)                                                                             \
	PB_LOOP(NAME, STATE,                                                                                 \
		(EVP_PKEY_free(state->made), state->made = NULL,                                             \
		 EVP_PKEY_generate(state->maker, &state->made) != 1))
#if OPENSSL_VERSION_NUMBER >= 0x30000000L
#define PKEY_KEYGEN_CALLS "EVP_PKEY_generate, EVP_PKEY_free"
#else
#define PKEY_KEYGEN_CALLS "EVP_PKEY_keygen, EVP_PKEY_free"
#endif

#endif
