/* Curves and RSA of Mbed TLS. Blinding, ECDSA and PSS draw from the one generator. */
#include "public.h"
#include "../openssl/brainpool.h"
#include "../openssl/key_numbers.h"

#include <mbedtls/ecdh.h>
#include <mbedtls/ecdsa.h>
#include <mbedtls/ecp.h>
#include <mbedtls/entropy.h>
#include <mbedtls/rsa.h>
#include <mbedtls/version.h>

#include <stdlib.h>
#include <string.h>

#ifndef MBEDTLS_PRIVATE /* version 2 hides no member */
#define MBEDTLS_PRIVATE(member) member
#endif

mbedtls_ctr_drbg_context drbg;

int seeded(void)
{
	static mbedtls_entropy_context entropy;
	static int done;
	if (!done) {
		mbedtls_entropy_init(&entropy);
		mbedtls_ctr_drbg_init(&drbg);
		done = mbedtls_ctr_drbg_seed(&drbg, mbedtls_entropy_func, &entropy, NULL, 0) == 0;
	}
	return done;
}

/* ---- curves ---- */

#if MBEDTLS_VERSION_NUMBER < 0x02130000 /* before 2.19 a program turns the bytes itself */
static void turned(uint8_t *to, const uint8_t *from, size_t length)
{
	for (size_t i = 0; i < length; i++)
		to[i] = from[length - 1 - i];
}

static int mbedtls_mpi_read_binary_le(mbedtls_mpi *number, const uint8_t *bytes, size_t length)
{
	uint8_t other[32];
	turned(other, bytes, length);
	return mbedtls_mpi_read_binary(number, other, length);
}

static int mbedtls_mpi_write_binary_le(const mbedtls_mpi *number, uint8_t *bytes, size_t length)
{
	uint8_t other[32];
	int error = mbedtls_mpi_write_binary(number, other, length);
	turned(bytes, other, length);
	return error;
}
#endif

/* param of a row */
struct curve {
	mbedtls_ecp_group_id id;
	int montgomery, brainpool;
};
static const struct curve x25519 = {MBEDTLS_ECP_DP_CURVE25519, 1, 0}, p256 = {MBEDTLS_ECP_DP_SECP256R1, 0, 0},
			  p384 = {MBEDTLS_ECP_DP_SECP384R1, 0, 0},
			  brainpool256 = {MBEDTLS_ECP_DP_BP256R1, 0, 1},
			  brainpool384 = {MBEDTLS_ECP_DP_BP384R1, 0, 1},
			  brainpool512 = {MBEDTLS_ECP_DP_BP512R1, 0, 1};

struct pair {
	mbedtls_ecp_group group;
	mbedtls_mpi secret, r, s;
	mbedtls_ecp_point public, made; /* of derive: the peer's; of keygen: that of r */
	size_t half;
	const struct curve *curve;
};

static void pair_close(pb_case *c)
{
	struct pair *pair = c->ctx;
	if (!pair)
		return;
	mbedtls_ecp_group_free(&pair->group);
	mbedtls_mpi_free(&pair->secret);
	mbedtls_mpi_free(&pair->r);
	mbedtls_mpi_free(&pair->s);
	mbedtls_ecp_point_free(&pair->public);
	mbedtls_ecp_point_free(&pair->made);
	free(pair);
	c->ctx = NULL;
}

static int failed(pb_case *c, const char *call, int error, void (*close)(pb_case *))
{
	close(c);
	return pb_fail(c, "%s: -0x%04x", call, (unsigned)-error);
}

/* RFC 7748 clears and sets bits of a Montgomery curve's number; the library refuses others. */
static int read_secret(struct pair *pair, mbedtls_mpi *number, const uint8_t *bytes)
{
	uint8_t clamped[32], reduced[64];
	if (pair->curve->brainpool) {
		memcpy(reduced, bytes, pair->half);
		brainpool_number(reduced, pair->half);
		return mbedtls_mpi_read_binary(number, reduced, pair->half);
	}
	if (!pair->curve->montgomery)
		return mbedtls_mpi_read_binary(number, bytes, pair->half);
	memcpy(clamped, bytes, sizeof clamped);
	clamped[0] &= 248;
	clamped[31] = (uint8_t)((clamped[31] & 127) | 64);
	return mbedtls_mpi_read_binary_le(number, clamped, sizeof clamped);
}

static struct pair *pair_new(pb_case *c)
{
	struct pair *pair = c->ctx = calloc(1, sizeof *pair);
	if (!pair || !seeded()) {
		pair_close(c);
		pb_fail(c, "mbedtls_ctr_drbg_seed");
		return NULL;
	}
	mbedtls_ecp_group_init(&pair->group);
	mbedtls_mpi_init(&pair->secret);
	mbedtls_mpi_init(&pair->r);
	mbedtls_mpi_init(&pair->s);
	mbedtls_ecp_point_init(&pair->public);
	mbedtls_ecp_point_init(&pair->made);
	pair->half = c->key_len;
	pair->curve = c->row->param;
	int error = mbedtls_ecp_group_load(&pair->group, pair->curve->id);
	if (!error)
		error = read_secret(pair, &pair->secret, c->key[0]);
	if (!error)
		return pair;
	failed(c, "the key", error, pair_close);
	return NULL;
}

static int agreement_open(pb_case *c)
{
	struct pair *pair = pair_new(c);
	int error;
	c->out_len = c->row->output;
	if (!pair)
		return -1;
	if (c->given) {
		error = mbedtls_ecp_point_read_binary(&pair->group, &pair->public, c->in, c->in_len);
		error = error ? error : mbedtls_ecp_check_pubkey(&pair->group, &pair->public);
	} else {
		error = read_secret(pair, &pair->r, c->nonce[0]);
		error = error ? error
			      : mbedtls_ecp_mul(&pair->group, &pair->public, &pair->r, &pair->group.G, DRAW);
	}
	return error ? failed(c, "the peer's public key", error, pair_close) : 0;
}

static int ecdsa_open(pb_case *c)
{
	struct pair *pair = pair_new(c);
	c->out_len = c->inverse ? 0 : c->row->output;
	if (!pair)
		return -1;
	int error = mbedtls_ecp_mul(&pair->group, &pair->public, &pair->secret, &pair->group.G, DRAW);
	return error ? failed(c, "mbedtls_ecp_mul", error, pair_close) : 0;
}

PB_LOOP(agreement_derive, struct pair,
	mbedtls_ecdh_compute_shared(&state->group, &state->r, &state->public, &state->secret, DRAW) ||
		(state->curve->montgomery ? mbedtls_mpi_write_binary_le(&state->r, out, out_max)
					  : mbedtls_mpi_write_binary(&state->r, out, out_max)))
PB_LOOP(agreement_keygen, struct pair, mbedtls_ecdh_gen_public(&state->group, &state->r, &state->made, DRAW))

/* The public key; it is that of the number, which is multiplied once more. */
static void show_pair(pb_case *c)
{
	struct pair *pair = c->ctx;
	mbedtls_ecp_point again;
	mbedtls_ecp_point_init(&again);
	c->failures += mbedtls_ecp_mul(&pair->group, &again, &pair->r, &pair->group.G, DRAW) ||
		       mbedtls_ecp_point_cmp(&again, &pair->made);
	mbedtls_ecp_point_free(&again);
	if (pair->curve->montgomery) {
		c->out_len = c->key_len;
		c->failures +=
			mbedtls_mpi_write_binary_le(&pair->made.MBEDTLS_PRIVATE(X), c->out, c->out_len) != 0;
	} else {
		c->failures +=
			mbedtls_ecp_point_write_binary(&pair->group, &pair->made, MBEDTLS_ECP_PF_UNCOMPRESSED,
						       &c->out_len, c->out, 2 * c->key_len + 1) != 0;
	}
}

PB_LOOP(ecdsa_make, struct pair,
	mbedtls_ecdsa_sign(&state->group, &state->r, &state->s, &state->secret, in, size, DRAW) ||
		mbedtls_mpi_write_binary(&state->r, out, state->half) ||
		mbedtls_mpi_write_binary(&state->s, out + state->half, state->half))
PB_LOOP(ecdsa_check, struct pair,
	mbedtls_mpi_read_binary(&state->r, in + size, state->half) ||
		mbedtls_mpi_read_binary(&state->s, in + size + state->half, state->half) ||
		mbedtls_ecdsa_verify(&state->group, in, size, &state->public, &state->r, &state->s))
static const pb_variant agreement_variants[] = {
	{"derive", "pk/1", "mbedtls_ecdh_compute_shared, mbedtls_mpi_write_binary", NULL, agreement_derive,
	 NULL},
	{"keygen", "pk/1", "mbedtls_ecdh_gen_public", NULL, agreement_keygen, show_pair},
	PB_END_OF_VARIANTS,
};
static const pb_variant ecdsa_variants[] = {
	{"sign", "pk/1", "mbedtls_ecdsa_sign, mbedtls_mpi_write_binary", NULL, ecdsa_make, NULL},
	{"verify", "pk/1", "mbedtls_mpi_read_binary, mbedtls_ecdsa_verify", NULL, ecdsa_check, NULL},
	PB_END_OF_VARIANTS,
};
static const pb_family agreement_family = {agreement_open, pair_close, agreement_variants};
static const pb_family ecdsa_family = {ecdsa_open, pair_close, ecdsa_variants};

/* ---- RSA ---- */

static void rsa_close(pb_case *c)
{
	if (c->ctx)
		mbedtls_rsa_free(c->ctx);
	free(c->ctx);
	c->ctx = NULL;
}

static int rsa_open(pb_case *c)
{
	enum { PKCS1_OVERHEAD = 11 };
	int pss = strncmp(c->row->algorithm, "rsa-pss", 7) == 0;
	const struct key_numbers *k = key_numbers;
	while (strncmp(k->row, "rsa", 3) != 0 || strcmp(k->row + 3, strrchr(c->row->algorithm, '-')) != 0)
		k++;
	if (pss && c->size != 32)
		return pb_fail(c, "%s signs a SHA-256 digest of 32 bytes", c->row->algorithm);
	if (c->size + PKCS1_OVERHEAD > c->row->output)
		return pb_fail(c, "%s signs at most %d bytes", c->row->algorithm,
			       c->row->output - PKCS1_OVERHEAD);
	mbedtls_rsa_context *rsa = c->ctx = calloc(1, sizeof *rsa);
	if (!rsa || !seeded())
		return rsa_close(c), pb_fail(c, "mbedtls_ctr_drbg_seed");
	c->out_len = c->inverse ? 0 : c->row->output;
#if MBEDTLS_VERSION_MAJOR >= 3
	mbedtls_rsa_init(rsa);
	mbedtls_rsa_set_padding(rsa, pss ? MBEDTLS_RSA_PKCS_V21 : MBEDTLS_RSA_PKCS_V15,
				pss ? MBEDTLS_MD_SHA256 : MBEDTLS_MD_NONE);
#else
	mbedtls_rsa_init(rsa, pss ? MBEDTLS_RSA_PKCS_V21 : MBEDTLS_RSA_PKCS_V15,
			 pss ? MBEDTLS_MD_SHA256 : MBEDTLS_MD_NONE);
#endif
	mbedtls_mpi p, q, e;
	mbedtls_mpi_init(&p);
	mbedtls_mpi_init(&q);
	mbedtls_mpi_init(&e);
	int error = mbedtls_mpi_read_string(&p, 16, k->p);
	error = error ? error : mbedtls_mpi_read_string(&q, 16, k->q);
	error = error ? error : mbedtls_mpi_lset(&e, 65537);
	error = error ? error : mbedtls_rsa_import(rsa, NULL, &p, &q, NULL, &e);
	error = error ? error : mbedtls_rsa_complete(rsa);
	mbedtls_mpi_free(&p);
	mbedtls_mpi_free(&q);
	mbedtls_mpi_free(&e);
	return error ? failed(c, "mbedtls_rsa_complete", error, rsa_close) : 0;
}

/* Version 2 asks besides which key is meant. */
#if MBEDTLS_VERSION_MAJOR >= 3
#define SIGN_BY DRAW
#define VERIFY_BY
#else
#define SIGN_BY   DRAW, MBEDTLS_RSA_PRIVATE
#define VERIFY_BY NULL, NULL, MBEDTLS_RSA_PUBLIC,
#endif
PB_LOOP(rsa_sign, mbedtls_rsa_context,
	mbedtls_rsa_rsassa_pkcs1_v15_sign(state, SIGN_BY, MBEDTLS_MD_NONE, (unsigned)size, in, out))
PB_LOOP(rsa_verify, mbedtls_rsa_context,
	mbedtls_rsa_rsassa_pkcs1_v15_verify(state, VERIFY_BY MBEDTLS_MD_NONE, (unsigned)size, in, in + size))
PB_LOOP(pss_sign, mbedtls_rsa_context,
	mbedtls_rsa_rsassa_pss_sign(state, SIGN_BY, MBEDTLS_MD_SHA256, (unsigned)size, in, out))
PB_LOOP(pss_verify, mbedtls_rsa_context,
	mbedtls_rsa_rsassa_pss_verify(state, VERIFY_BY MBEDTLS_MD_SHA256, (unsigned)size, in, in + size))
static const pb_variant rsa_variants[] = {
	{"sign", "pk/1", "mbedtls_rsa_rsassa_pkcs1_v15_sign", NULL, rsa_sign, NULL},
	{"verify", "pk/1", "mbedtls_rsa_rsassa_pkcs1_v15_verify", NULL, rsa_verify, NULL},
	PB_END_OF_VARIANTS,
};
static const pb_variant pss_variants[] = {
	{"sign", "pk/1", "mbedtls_rsa_rsassa_pss_sign", NULL, pss_sign, NULL},
	{"verify", "pk/1", "mbedtls_rsa_rsassa_pss_verify", NULL, pss_verify, NULL},
	PB_END_OF_VARIANTS,
};
static const pb_family rsa_family = {rsa_open, rsa_close, rsa_variants};
static const pb_family pss_family = {rsa_open, rsa_close, pss_variants};

const pb_row public_key_rows[] = {
	{"x25519", &agreement_family, &x25519, 32, 32, 1, 32},
	{"ecdh-p256", &agreement_family, &p256, 32, 32, 1, 32},
	{"ecdh-p384", &agreement_family, &p384, 48, 48, 1, 48},
	{"ecdh-brainpoolp256r1", &agreement_family, &brainpool256, 32, 32, 1, 32},
	{"ecdh-brainpoolp384r1", &agreement_family, &brainpool384, 48, 48, 1, 48},
	{"ecdh-brainpoolp512r1", &agreement_family, &brainpool512, 64, 64, 1, 64},
	{"ecdsa-p256", &ecdsa_family, &p256, 32, 0, 1, 64},
	{"ecdsa-p384", &ecdsa_family, &p384, 48, 0, 1, 96},
	{"ecdsa-brainpoolp256r1", &ecdsa_family, &brainpool256, 32, 0, 1, 64},
	{"ecdsa-brainpoolp384r1", &ecdsa_family, &brainpool384, 48, 0, 1, 96},
	{"ecdsa-brainpoolp512r1", &ecdsa_family, &brainpool512, 64, 0, 1, 128},
	{"rsa-2048", &rsa_family, NULL, 256, 0, 1, 256},
	{"rsa-3072", &rsa_family, NULL, 384, 0, 1, 384},
	{"rsa-4096", &rsa_family, NULL, 512, 0, 1, 512},
	{"rsa-pss-2048", &pss_family, NULL, 256, 0, 1, 256},
	{"rsa-pss-3072", &pss_family, NULL, 384, 0, 1, 384},
	{"rsa-pss-4096", &pss_family, NULL, 512, 0, 1, 512},
	PB_END_OF_ROWS,
};
