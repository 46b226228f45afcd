/* Key pairs of OpenSSL 1.1, made of the run's material: what pkey.c is for OpenSSL 3. */
#include "pkey.h"

#include "brainpool.h"

#include <openssl/ec.h>
#include <openssl/obj_mac.h>

#include <string.h>

enum { LONGEST_POINT = 133, LONGEST_NUMBER = 66 };

static EVP_PKEY *of_curve(EC_KEY *numbers)
{
	EVP_PKEY *key = EVP_PKEY_new();
	if (numbers && key && EVP_PKEY_assign_EC_KEY(key, numbers) == 1)
		return key;
	EVP_PKEY_free(key);
	EC_KEY_free(numbers);
	return NULL;
}

static EVP_PKEY *curve_pair(const char *name, const uint8_t *private, size_t length)
{
	uint8_t bytes_of[LONGEST_NUMBER];
	memcpy(bytes_of, private, length);
	if (length == LONGEST_NUMBER)
		bytes_of[0] &= 1; /* P-521: of the first byte only the last bit counts */
	if (strncmp(name, "brainpool", 9) == 0)
		brainpool_number(bytes_of, length);
	EC_KEY *numbers = EC_KEY_new_by_curve_name(OBJ_sn2nid(name));
	const EC_GROUP *group = numbers ? EC_KEY_get0_group(numbers) : NULL;
	EC_POINT *point = group ? EC_POINT_new(group) : NULL;
	BIGNUM *number = BN_bin2bn(bytes_of, (int)length, NULL);
	int done = point && number && EC_POINT_mul(group, point, number, NULL, NULL, NULL) &&
		   EC_KEY_set_private_key(numbers, number) && EC_KEY_set_public_key(numbers, point);
	BN_free(number);
	EC_POINT_free(point);
	if (done)
		return of_curve(numbers);
	EC_KEY_free(numbers);
	return NULL;
}

/* EC_KEY_oct2key refuses what is not on the curve. */
static EVP_PKEY *curve_public(const char *name, const uint8_t *encoded, size_t length)
{
	EC_KEY *numbers = EC_KEY_new_by_curve_name(OBJ_sn2nid(name));
	if (numbers && EC_KEY_oct2key(numbers, encoded, length, NULL) == 1)
		return of_curve(numbers);
	EC_KEY_free(numbers);
	return NULL;
}

#if OPENSSL_VERSION_NUMBER >= 0x10101000L
#define RAW(WHICH, NAME, BYTES, LENGTH) EVP_PKEY_new_raw_##WHICH##_key(OBJ_sn2nid(NAME), NULL, BYTES, LENGTH)
#else
#define RAW(WHICH, NAME, BYTES, LENGTH) NULL
#endif

EVP_PKEY *pkey_of(pb_case *c, const struct pkey_kind *kind, const uint8_t *private)
{
	EVP_PKEY *key = kind->form == PKEY_EC ? curve_pair(kind->group, private, c->key_len)
					      : RAW(private, kind->name, private, c->key_len);
	if (!key)
		evp_fail(c, "the key pair could not be made");
	return key;
}

EVP_PKEY *pkey_public(pb_case *c, const struct pkey_kind *kind, const uint8_t *encoded, size_t length)
{
	EVP_PKEY *key = kind->form == PKEY_EC ? curve_public(kind->group, encoded, length)
					      : RAW(public, kind->name, encoded, length);
	if (!key)
		evp_fail(c, "the public key was refused");
	return key;
}

EVP_PKEY_CTX *pkey_maker(const struct pkey_kind *kind)
{
	int curve = kind->form == PKEY_EC;
	EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_id(curve ? EVP_PKEY_EC : OBJ_sn2nid(kind->name), NULL);
	if (ctx && EVP_PKEY_keygen_init(ctx) == 1 &&
	    (!curve || (EVP_PKEY_CTX_set_ec_paramgen_curve_nid(ctx, OBJ_sn2nid(kind->group)) == 1 &&
			EVP_PKEY_CTX_set_ec_param_enc(ctx, OPENSSL_EC_NAMED_CURVE) == 1)))
		return ctx;
	EVP_PKEY_CTX_free(ctx);
	return NULL;
}

int pkey_show(pb_case *c, EVP_PKEY *key)
{
	const EC_KEY *numbers = EVP_PKEY_get0_EC_KEY(key);
	if (numbers) {
		c->out_len = EC_POINT_point2oct(EC_KEY_get0_group(numbers), EC_KEY_get0_public_key(numbers),
						POINT_CONVERSION_UNCOMPRESSED, c->out, LONGEST_POINT, NULL);
		return c->out_len > 0;
	}
#if OPENSSL_VERSION_NUMBER >= 0x10101000L
	c->out_len = LONGEST_POINT;
	return EVP_PKEY_get_raw_public_key(key, c->out, &c->out_len) == 1;
#else
	return 0;
#endif
}
