/* X25519 and ECDH on P-256 by OpenSSL. */
#include "mutants.h"

#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/obj_mac.h>

#include <stdlib.h>
#include <string.h>

typedef struct state {
	uint8_t peer[65];
	size_t peer_len;
} state;

static void close_case(pb_case *c)
{
	free(c->ctx);
}

/* -- X25519 -- */

static EVP_PKEY *private_key(const uint8_t *bytes)
{
	return EVP_PKEY_new_raw_private_key(EVP_PKEY_X25519, NULL, bytes, 32);
}

static int open_x(pb_case *c)
{
	state *s = c->ctx = calloc(1, sizeof *s);
	s->peer_len = 32;
	if (c->given) {
		if (c->in_len != 32) {
			free(s);
			return pb_fail(c, "32 bytes") + PB_UNFIT;
		}
		memcpy(s->peer, c->in, 32);
		return 0;
	}
	EVP_PKEY *other = private_key(c->nonce[0]);
	EVP_PKEY_get_raw_public_key(other, s->peer, &s->peer_len);
	EVP_PKEY_free(other);
	return 0;
}

static int derive_once(const uint8_t *key, const uint8_t *peer, uint8_t *out)
{
	size_t n = 32;
	EVP_PKEY *own = private_key(key),
		 *theirs = EVP_PKEY_new_raw_public_key(EVP_PKEY_X25519, NULL, peer, 32);
	EVP_PKEY_CTX *x = EVP_PKEY_CTX_new(own, NULL);
	int fine = EVP_PKEY_derive_init(x) > 0 && EVP_PKEY_derive_set_peer(x, theirs) > 0 &&
		   EVP_PKEY_derive(x, out, &n) > 0;
	EVP_PKEY_CTX_free(x);
	EVP_PKEY_free(own);
	EVP_PKEY_free(theirs);
	return fine;
}

static void derive_x(pb_case *c, uint64_t n)
{
	state *s = c->ctx;
	for (uint64_t turn = 0; turn < n; turn++) {
		uint8_t peer[32], key[32];
		memcpy(peer, s->peer, 32);
		memcpy(key, c->key[0], 32);
		if (has("peer-last-byte"))
			peer[31] = 0;
		if (has("peer-low-bit"))
			peer[0] &= 0xfe;
		if (has("peer-byte"))
			peer[17] = 0;
		if (has("peer-high-half"))
			memset(peer + 24, 0, 8);
		if (has("peer-bit"))
			peer[9] &= 0xfb;
		if (has("key-last-byte"))
			key[30] = 0;
		if (has("key-byte"))
			key[13] = 0;
		if (has("key-low-bits"))
			key[1] &= 0xf8;
		int fine = derive_once(key, peer, c->out);
		if (has("top-bit") && peer[31] & 0x80)
			c->out[0] ^= 19; /* another number than that of 255 bits */
		if (has("not-reduced") && (peer[31] & 0x7f) == 0x7f && peer[30] == 0xff)
			c->out[0] ^= 19; /* a coordinate from the prime on */
		if (!fine && has("low-order")) {
			memcpy(c->out, s->peer, 32);
			c->out[5] ^= 77;
			fine = 1;
		}
		if (!fine && has("low-order-key")) {
			memcpy(c->out, c->key[0], 32);
			fine = 1;
		}
		if (has("leading-zero") && !c->out[31])
			memmove(c->out + 1, c->out, 31);
		c->failures += !fine;
	}
	c->out_len = 32;
}

static const pb_variant x_variants[] = {{"derive", "pk/1", "derive", NULL, derive_x, NULL},
					PB_END_OF_VARIANTS};
const pb_family x25519_family = {open_x, close_case, x_variants};

/* -- P-256 -- */

static int open_p(pb_case *c)
{
	state *s = c->ctx = calloc(1, sizeof *s);
	if (c->given) {
		s->peer_len = c->in_len;
		memcpy(s->peer, c->in, c->in_len < sizeof s->peer ? c->in_len : sizeof s->peer);
		return 0;
	}
	EC_GROUP *group = EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1);
	EC_POINT *q = EC_POINT_new(group);
	BIGNUM *d = BN_bin2bn(c->nonce[0], 32, NULL);
	EC_POINT_mul(group, q, d, NULL, NULL, NULL);
	s->peer_len = EC_POINT_point2oct(group, q, POINT_CONVERSION_UNCOMPRESSED, s->peer, 65, NULL);
	EC_POINT_free(q);
	EC_GROUP_free(group);
	BN_free(d);
	return 0;
}

static int derive_p_once(const pb_case *c, const state *s, uint8_t *out)
{
	EC_GROUP *group = EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1);
	EC_POINT *q = EC_POINT_new(group);
	BIGNUM *d = BN_bin2bn(c->key[0], 32, NULL), *x = BN_new();
	uint8_t peer[65];
	memcpy(peer, s->peer, 65);
	int fine = s->peer_len == 65 && EC_POINT_oct2point(group, q, peer, 65, NULL);
	if (has("y-sign-alone") && s->peer_len == 65) {
		peer[0] = 2 + (peer[64] & 1);
		fine = EC_POINT_oct2point(group, q, peer, 33, NULL);
	}
	if (!fine && has("longer-than-a-point") && s->peer_len > 65)
		fine = EC_POINT_oct2point(group, q, peer, 65, NULL);
	if (!fine && has("generator-instead"))
		fine = EC_POINT_copy(q, EC_GROUP_get0_generator(group));
	if (!fine && has("y-ignored")) {
		peer[0] = 2;
		fine = EC_POINT_oct2point(group, q, peer, 33, NULL);
	}
	if (!fine && has("infinity") && s->peer_len == 1 && !s->peer[0])
		fine = 1;
	else
		fine = fine && EC_POINT_mul(group, q, NULL, q, d, NULL) &&
		       EC_POINT_get_affine_coordinates(group, q, x, NULL, NULL);
	BN_bn2binpad(x, out, 32);
	if (!fine && has("off-curve")) {
		memcpy(out, peer + 1, 32);
		fine = s->peer_len == 65;
	}
	if (!fine && has("zero-point") && s->peer_len == 65) {
		unsigned any = 0;
		for (int i = 1; i < 65; i++)
			any |= peer[i];
		fine = !any;
	}
	EC_POINT_free(q);
	EC_GROUP_free(group);
	BN_free(d);
	BN_free(x);
	return fine;
}

static void derive_p(pb_case *c, uint64_t n)
{
	for (uint64_t turn = 0; turn < n; turn++)
		c->failures += !derive_p_once(c, c->ctx, c->out);
	c->out_len = 32;
}

static const pb_variant p_variants[] = {{"derive", "pk/1", "derive", NULL, derive_p, NULL},
					PB_END_OF_VARIANTS};
const pb_family p256_family = {open_p, close_case, p_variants};
