#include "pkey.h"

#include "brainpool.h"

#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/obj_mac.h>
#include <openssl/param_build.h>
#include <openssl/params.h>

#include <string.h>

enum { LONGEST_POINT = 133, LONGEST_NUMBER = 66, LONGEST_EXPONENT = 48 };

/* A pair or a public key of a curve. `private` or `point` may be NULL. */
static EVP_PKEY *from_numbers(const char *group, const BIGNUM *private, const uint8_t *point, size_t length)
{
	EVP_PKEY *key = NULL;
	OSSL_PARAM *params = NULL;
	OSSL_PARAM_BLD *build = OSSL_PARAM_BLD_new();
	EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_from_name(NULL, "EC", NULL);
	if (build && ctx && OSSL_PARAM_BLD_push_utf8_string(build, OSSL_PKEY_PARAM_GROUP_NAME, group, 0) &&
	    OSSL_PARAM_BLD_push_octet_string(build, OSSL_PKEY_PARAM_PUB_KEY, point, length) &&
	    (!private || OSSL_PARAM_BLD_push_BN(build, OSSL_PKEY_PARAM_PRIV_KEY, private)) &&
	    (params = OSSL_PARAM_BLD_to_param(build)) && EVP_PKEY_fromdata_init(ctx) == 1)
		EVP_PKEY_fromdata(ctx, &key, private ? EVP_PKEY_KEYPAIR : EVP_PKEY_PUBLIC_KEY, params);
	OSSL_PARAM_free(params);
	OSSL_PARAM_BLD_free(build);
	EVP_PKEY_CTX_free(ctx);
	return key;
}

static EVP_PKEY *curve_pair(const char *name, const uint8_t *private, size_t length)
{
	uint8_t bytes_of[LONGEST_NUMBER];
	memcpy(bytes_of, private, length);
	if (length == LONGEST_NUMBER)
		bytes_of[0] &= 1; /* P-521: of the first byte only the last bit counts */
	if (strncmp(name, "brainpool", 9) == 0)
		brainpool_number(bytes_of, length);
	EC_GROUP *group = EC_GROUP_new_by_curve_name(OBJ_sn2nid(name));
	EC_POINT *point = group ? EC_POINT_new(group) : NULL;
	BIGNUM *number = BN_bin2bn(bytes_of, (int)length, NULL);
	uint8_t encoded[LONGEST_POINT];
	size_t bytes = 0;
	EVP_PKEY *key = NULL;
	if (point && number && EC_POINT_mul(group, point, number, NULL, NULL, NULL))
		bytes = EC_POINT_point2oct(group, point, POINT_CONVERSION_UNCOMPRESSED, encoded,
					   sizeof encoded, NULL);
	if (bytes)
		key = from_numbers(name, number, encoded, bytes);
	BN_free(number);
	EC_POINT_free(point);
	EC_GROUP_free(group);
	return key;
}

/* A pair, a public key (without `private`) or the group alone (without both). */
static EVP_PKEY *from_exponents(const char *group, const BIGNUM *private, const BIGNUM *public)
{
	int what = private ? EVP_PKEY_KEYPAIR : public ? EVP_PKEY_PUBLIC_KEY : EVP_PKEY_KEY_PARAMETERS;
	EVP_PKEY *key = NULL;
	OSSL_PARAM *params = NULL;
	OSSL_PARAM_BLD *build = OSSL_PARAM_BLD_new();
	EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_from_name(NULL, "DH", NULL);
	if (build && ctx && OSSL_PARAM_BLD_push_utf8_string(build, OSSL_PKEY_PARAM_GROUP_NAME, group, 0) &&
	    (!public || OSSL_PARAM_BLD_push_BN(build, OSSL_PKEY_PARAM_PUB_KEY, public)) &&
	    (!private || OSSL_PARAM_BLD_push_BN(build, OSSL_PKEY_PARAM_PRIV_KEY, private)) &&
	    (params = OSSL_PARAM_BLD_to_param(build)) && EVP_PKEY_fromdata_init(ctx) == 1)
		EVP_PKEY_fromdata(ctx, &key, what, params);
	OSSL_PARAM_free(params);
	OSSL_PARAM_BLD_free(build);
	EVP_PKEY_CTX_free(ctx);
	return key;
}

/* Exponents are as long as RFC 7919, section 5.2, has them: 225 bits in 29 bytes, 275 in 35. */
static EVP_PKEY *group_pair(const char *name, const uint8_t *private, size_t length)
{
	uint8_t bytes_of[LONGEST_EXPONENT];
	memcpy(bytes_of, private, length);
	bytes_of[0] = (uint8_t)(length == 29 ? 1 : (bytes_of[0] & 3) | 4);
	EVP_PKEY *key = NULL, *group = from_exponents(name, NULL, NULL);
	BIGNUM *prime = NULL, *two = BN_new(), *public = BN_new();
	BIGNUM *number = BN_bin2bn(bytes_of, (int)length, NULL);
	BN_CTX *scratch = BN_CTX_new();
	if (group && number && two && public && scratch && BN_set_word(two, 2) &&
	    EVP_PKEY_get_bn_param(group, OSSL_PKEY_PARAM_FFC_P, &prime) == 1 &&
	    BN_mod_exp(public, two, number, prime, scratch))
		key = from_exponents(name, number, public);
	BN_CTX_free(scratch);
	BN_free(public);
	BN_free(two);
	BN_free(number);
	BN_free(prime);
	EVP_PKEY_free(group);
	return key;
}

static EVP_PKEY *group_public(const char *name, const uint8_t *encoded, size_t length)
{
	BIGNUM *public = BN_bin2bn(encoded, (int)length, NULL);
	EVP_PKEY *key = public ? from_exponents(name, NULL, public) : NULL;
	BN_free(public);
	return key;
}

static EVP_PKEY *seeded_pair(const char *name, const uint8_t *seed, size_t length)
{
	EVP_PKEY *key = NULL;
	OSSL_PARAM params[] = {OSSL_PARAM_construct_octet_string("seed", (void *)seed, length),
			       OSSL_PARAM_construct_end()};
	EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_from_name(NULL, name, NULL);
	if (ctx && EVP_PKEY_keygen_init(ctx) == 1 && EVP_PKEY_CTX_set_params(ctx, params) == 1)
		EVP_PKEY_generate(ctx, &key);
	EVP_PKEY_CTX_free(ctx);
	return key;
}

EVP_PKEY *pkey_of(pb_case *c, const struct pkey_kind *kind, const uint8_t *private)
{
	static EVP_PKEY *own; /* one kind has none of its own choice */
	EVP_PKEY *key = NULL;
	switch (kind->form) {
	case PKEY_RAW:
		key = EVP_PKEY_new_raw_private_key_ex(NULL, kind->name, NULL, private, c->key_len);
		break;
	case PKEY_EC:
		key = curve_pair(kind->group, private, c->key_len);
		break;
	case PKEY_DH:
		key = group_pair(kind->group, private, c->key_len);
		break;
	case PKEY_SEED:
		key = seeded_pair(kind->name, private, c->key_len);
		break;
	case PKEY_OWN:
		if (own || (own = EVP_PKEY_Q_keygen(NULL, NULL, kind->name)))
			EVP_PKEY_up_ref(key = own);
		break;
	}
	if (!key)
		evp_fail(c, "the key pair could not be made");
	return key;
}

EVP_PKEY *pkey_public(pb_case *c, const struct pkey_kind *kind, const uint8_t *encoded, size_t length)
{
	EVP_PKEY *key = kind->form == PKEY_EC ? from_numbers(kind->group, NULL, encoded, length)
			: kind->form == PKEY_DH
				? group_public(kind->group, encoded, length)
				: EVP_PKEY_new_raw_public_key_ex(NULL, kind->name, NULL, encoded, length);
	if (!key)
		evp_fail(c, "the public key was refused");
	return key;
}

EVP_PKEY_CTX *pkey_maker(const struct pkey_kind *kind)
{
	EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_from_name(NULL, kind->name, NULL);
	if (ctx && EVP_PKEY_keygen_init(ctx) == 1 &&
	    (!kind->group || EVP_PKEY_CTX_set_group_name(ctx, kind->group) == 1))
		return ctx;
	EVP_PKEY_CTX_free(ctx);
	return NULL;
}

int pkey_show(pb_case *c, EVP_PKEY *key)
{
	enum { ROOM = 8192 };
	unsigned char *encoded = NULL;
	if (EVP_PKEY_get_octet_string_param(key, OSSL_PKEY_PARAM_PUB_KEY, c->out, ROOM, &c->out_len) == 1)
		return 1;
	size_t length =
		EVP_PKEY_get1_encoded_public_key(key, &encoded); /* hybrids have no other name for it */
	if (length && length <= ROOM)
		memcpy(c->out, encoded, c->out_len = length);
	OPENSSL_free(encoded);
	return length && length <= ROOM;
}
