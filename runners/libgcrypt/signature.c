/* Signatures and ECDH by S-expressions. The key's stays, as a user keeps it. The data of a message, its
 * signature and what the library gives back are S-expressions too: who has bytes must build and release them
 * for each message, so that belongs to the call. A signature is taken apart outside any timing. */
#include <stdlib.h>
#include <string.h>

#include "../openssl/brainpool.h"
#include "../openssl/key_numbers.h"
#include "families.h"

/* Formats of gcry_sexp_build. One of `data` takes length and bytes of what is signed. */
struct scheme {
	const char *curve; /* NULL: RSA */
	const char *flags; /* of a key on a curve */
	const char *point; /* name of its public point */
	const char *data;
	const char *kind; /* the first word of a signature's list */
};

struct state {
	gcry_sexp_t secret, public, result; /* result: of the last call, or of ECDH the peer's point */
	const struct scheme *scheme;
	size_t half; /* bytes of a number of the signature */
};

static const struct scheme ed25519 = {"Ed25519", "(flags eddsa)", "q@eddsa",
				      "(data(flags eddsa)(hash-algo sha512)(value %b))", "eddsa"};
static const struct scheme p256 = {"NIST P-256", "", "q", "(data(flags raw)(value %b))", "ecdsa"};
static const struct scheme p384 = {"NIST P-384", "", "q", "(data(flags raw)(value %b))", "ecdsa"};
static const struct scheme p521 = {"NIST P-521", "", "q", "(data(flags raw)(value %b))", "ecdsa"};
static const struct scheme secp256k1 = {"secp256k1", "", "q", "(data(flags raw)(value %b))", "ecdsa"};
static const struct scheme brainpool256 = {"brainpoolP256r1", "", "q", "(data(flags raw)(value %b))",
					   "ecdsa"};
static const struct scheme brainpool384 = {"brainpoolP384r1", "", "q", "(data(flags raw)(value %b))",
					   "ecdsa"};
static const struct scheme brainpool512 = {"brainpoolP512r1", "", "q", "(data(flags raw)(value %b))",
					   "ecdsa"};
static const struct scheme pkcs1 = {NULL, NULL, NULL, "(data(flags pkcs1-raw)(value %b))", "rsa"};
static const struct scheme pss = {NULL, NULL, NULL, "(data(flags pss)(salt-length 2:32)(hash sha256 %b))",
				  "rsa"};

static void state_close(pb_case *c)
{
	struct state *state = c->ctx;
	if (!state)
		return;
	gcry_sexp_release(state->secret);
	gcry_sexp_release(state->public);
	gcry_sexp_release(state->result);
	free(state);
	c->ctx = NULL;
}

/* The public point is computed from the private number. */
static gcry_error_t curve_key(struct state *state, const struct scheme *scheme, const uint8_t *key,
			      size_t length)
{
	char format[128];
	gcry_sexp_t alone = NULL;
	gcry_ctx_t ctx = NULL;
	gcry_mpi_t point = NULL;
	int bytes = (int)length;
	uint8_t number[66];
	memcpy(number, key, length);
	if (length == sizeof number)
		number[0] &= 1; /* P-521: of the first byte only the last bit counts */
	if (strncmp(scheme->curve, "brainpool", 9) == 0)
		brainpool_number(number, length);
	snprintf(format, sizeof format, "(private-key(ecc(curve %%s)%s(d %%b)))", scheme->flags);
	gcry_error_t error = gcry_sexp_build(&alone, NULL, format, scheme->curve, bytes, number);
	if (!error && !(error = gcry_mpi_ec_new(&ctx, alone, NULL)) &&
	    !(point = gcry_mpi_ec_get_mpi(scheme->point, ctx, 1)))
		error = gcry_error(GPG_ERR_NO_PUBKEY);
	snprintf(format, sizeof format, "(private-key(ecc(curve %%s)%s(q %%M)(d %%b)))", scheme->flags);
	if (!error)
		error = gcry_sexp_build(&state->secret, NULL, format, scheme->curve, point, bytes, number);
	snprintf(format, sizeof format, "(public-key(ecc(curve %%s)%s(q %%M)))", scheme->flags);
	if (!error)
		error = gcry_sexp_build(&state->public, NULL, format, scheme->curve, point);
	gcry_mpi_release(point);
	gcry_ctx_release(ctx);
	gcry_sexp_release(alone);
	return error;
}

static gcry_mpi_t from_hex(const char *digits)
{
	gcry_mpi_t number = NULL;
	gcry_mpi_scan(&number, GCRYMPI_FMT_HEX, digits, 0, NULL);
	return number;
}

/* The pair of the OpenSSL runners. The library wants the smaller prime first, and its inverse. */
static gcry_error_t rsa_key(struct state *state, const pb_row *row)
{
	const char *bits = strrchr(row->algorithm, '-');
	const struct key_numbers *k = key_numbers;
	while (strncmp(k->row, "rsa", 3) != 0 || strcmp(k->row + 3, bits) != 0)
		k++;
	gcry_mpi_t p = from_hex(k->q), q = from_hex(k->p), e = gcry_mpi_set_ui(NULL, 65537);
	gcry_mpi_t n = gcry_mpi_new(0), d = gcry_mpi_new(0), u = gcry_mpi_new(0), p1 = gcry_mpi_new(0),
		   q1 = gcry_mpi_new(0);
	gcry_mpi_mul(n, p, q);
	gcry_mpi_sub_ui(p1, p, 1);
	gcry_mpi_sub_ui(q1, q, 1);
	gcry_mpi_mul(p1, p1, q1);
	gcry_mpi_invm(d, e, p1);
	gcry_mpi_invm(u, p, q);
	gcry_error_t error =
		gcry_sexp_build(&state->secret, NULL,
				"(private-key(rsa(n %m)(e %m)(d %m)(p %m)(q %m)(u %m)))", n, e, d, p, q, u);
	if (!error)
		error = gcry_sexp_build(&state->public, NULL, "(public-key(rsa(n %m)(e %m)))", n, e);
	gcry_mpi_t all[] = {p, q, e, n, d, u, p1, q1};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		gcry_mpi_release(all[i]);
	return error;
}

static int signature_open(pb_case *c)
{
	enum { PKCS1_OVERHEAD = 11, MOST = 65535 };
	const struct scheme *scheme = c->row->param;
	struct state *state = c->ctx = calloc(1, sizeof *state);
	if (!state)
		return pb_fail(c, "out of memory");
	state->scheme = scheme;
	state->half = scheme->curve ? c->row->output / 2 : c->row->output;
	c->out_len = c->inverse ? 0 : c->row->output;
	if (c->size > MOST)
		return state_close(c), pb_fail(c, "an S-expression holds at most %d bytes", MOST) + PB_UNFIT;
	if (scheme == &pss && c->size != 32)
		return state_close(c), pb_fail(c, "%s signs a SHA-256 digest of 32 bytes", c->row->algorithm);
	if (scheme == &pkcs1 && c->size + PKCS1_OVERHEAD > c->row->output)
		return state_close(c), pb_fail(c, "%s signs at most %d bytes", c->row->algorithm,
					       c->row->output - PKCS1_OVERHEAD);
	if (!refuse(c, "the key",
		    scheme->curve ? curve_key(state, scheme, c->key[0], c->key_len) : rsa_key(state, c->row)))
		return 0;
	state_close(c);
	return -1;
}

static int sign_one(struct state *state, const uint8_t *message, size_t size)
{
	gcry_sexp_t data;
	gcry_sexp_release(state->result);
	state->result = NULL;
	if (gcry_sexp_build(&data, NULL, state->scheme->data, (int)size, message))
		return 1;
	int bad = gcry_pk_sign(&state->result, data, state->secret) != 0;
	gcry_sexp_release(data);
	return bad;
}

static int verify_one(struct state *state, const uint8_t *message, size_t size, const uint8_t *signed_by)
{
	gcry_sexp_t data = NULL, signature = NULL;
	int half = (int)state->half;
	const char *kind = state->scheme->kind;
	int bad = state->scheme->curve ? gcry_sexp_build(&signature, NULL, "(sig-val(%s(r %b)(s %b)))", kind,
							 half, signed_by, half, signed_by + half) != 0
				       : gcry_sexp_build(&signature, NULL, "(sig-val(%s(s %b)))", kind, half,
							 signed_by) != 0;
	bad = bad || gcry_sexp_build(&data, NULL, state->scheme->data, (int)size, message) ||
	      gcry_pk_verify(signature, data, state->public);
	gcry_sexp_release(data);
	gcry_sexp_release(signature);
	return bad;
}

/* Numbers come without their leading zeros. */
static int take_number(gcry_sexp_t list, const char *name, uint8_t *to, size_t length)
{
	size_t got = 0;
	gcry_sexp_t found = gcry_sexp_find_token(list, name, 0);
	const char *bytes = found ? gcry_sexp_nth_data(found, 1, &got) : NULL;
	for (; bytes && got > length && !*bytes; got--)
		bytes++;
	int good = bytes && got <= length;
	if (good) {
		memset(to, 0, length - got);
		memcpy(to + length - got, bytes, got);
	}
	gcry_sexp_release(found);
	return good;
}

static void show_signature(pb_case *c)
{
	struct state *state = c->ctx;
	size_t half = state->half;
	if (!state->result)
		return; /* the call has failed and was counted */
	c->failures += state->scheme->curve ? !take_number(state->result, "r", c->out, half) ||
						      !take_number(state->result, "s", c->out + half, half)
					    : !take_number(state->result, "s", c->out, half);
}

/* ECDSA uses as many bytes of a digest as its numbers have; the library would reduce a longer one instead. */
#define CUT (size < state->half ? size : state->half)
PB_LOOP(sign_message, struct state, sign_one(state, PB_TURN(message, turn), size))
PB_LOOP(verify_message, struct state, verify_one(state, in, size, in + size))
PB_LOOP(sign_digest, struct state, sign_one(state, in, CUT))
PB_LOOP(verify_digest, struct state, verify_one(state, in, CUT, in + size))
#define SIGN   "gcry_sexp_build (data), gcry_pk_sign, gcry_sexp_release"
#define VERIFY "gcry_sexp_build (signature, data), gcry_pk_verify, gcry_sexp_release"
#define FAMILY(NAME, WHAT)                                                                                   \
	static const pb_variant NAME##_variants[] = {                                                        \
		{"sign", "pk/1", SIGN, NULL, sign_##WHAT, show_signature},                                   \
		{"verify", "pk/1", VERIFY, NULL, verify_##WHAT, NULL},                                       \
		PB_END_OF_VARIANTS,                                                                          \
	};                                                                                                   \
	static const pb_family NAME##_family = {signature_open, state_close, NAME##_variants};
FAMILY(message, message)
FAMILY(digest, digest)

/* ---- ECDH on the curves of NIST: what decrypting with an EC key is ---- */

static int ecdh_open(pb_case *c)
{
	const struct scheme *scheme = c->row->param;
	struct state peer = {0}, *state = c->ctx = calloc(1, sizeof *state);
	gcry_error_t error = 0;
	if (!state)
		return pb_fail(c, "out of memory");
	c->out_len = state->half = c->row->output;
	if (c->given && c->in_len != 2 * state->half + 1)
		return state_close(c), pb_fail(c, "a point has another length") + PB_UNFIT;
	if (c->given) {
		error = gcry_sexp_build(&state->result, NULL, "(enc-val(ecdh(e %b)))", (int)c->in_len, c->in);
	} else if (!(error = curve_key(&peer, scheme, c->nonce[0], c->nonce_len))) {
		gcry_sexp_t point = gcry_sexp_find_token(peer.public, "q", 0);
		size_t length = 0;
		const char *bytes = point ? gcry_sexp_nth_data(point, 1, &length) : NULL;
		error = gcry_sexp_build(&state->result, NULL, "(enc-val(ecdh(e %b)))", (int)length, bytes);
		gcry_sexp_release(point);
	}
	gcry_sexp_release(peer.secret);
	gcry_sexp_release(peer.public);
	if (!refuse(c, "the key", error ? error : curve_key(state, scheme, c->key[0], c->key_len)))
		return 0;
	state_close(c);
	return -1;
}

/* What comes out is the point; x stands behind its first byte. */
static int ecdh_one(struct state *state, uint8_t *out)
{
	gcry_sexp_t shared;
	size_t length = 0;
	if (gcry_pk_decrypt(&shared, state->result, state->secret))
		return 1;
	const char *bytes = gcry_sexp_nth_data(shared, 1, &length);
	int good = bytes && length == 2 * state->half + 1;
	if (good)
		memcpy(out, bytes + 1, state->half);
	gcry_sexp_release(shared);
	return !good;
}

PB_LOOP(ecdh_derive, struct state, ecdh_one(state, out))
static const pb_variant ecdh_variants[] = {
	{"derive", "pk/1", "gcry_pk_decrypt, gcry_sexp_nth_data, gcry_sexp_release", NULL, ecdh_derive, NULL},
	PB_END_OF_VARIANTS,
};
static const pb_family ecdh_family = {ecdh_open, state_close, ecdh_variants};

const pb_row public_key_rows[] = {
	{"ed25519", &message_family, &ed25519, 32, 0, 1, 64},
	{"ecdsa-p256", &digest_family, &p256, 32, 0, 1, 64},
	{"ecdsa-p384", &digest_family, &p384, 48, 0, 1, 96},
	{"ecdsa-p521", &digest_family, &p521, 66, 0, 1, 132},
	{"ecdsa-secp256k1", &digest_family, &secp256k1, 32, 0, 1, 64},
	{"ecdsa-brainpoolp256r1", &digest_family, &brainpool256, 32, 0, 1, 64},
	{"ecdsa-brainpoolp384r1", &digest_family, &brainpool384, 48, 0, 1, 96},
	{"ecdsa-brainpoolp512r1", &digest_family, &brainpool512, 64, 0, 1, 128},
	{"rsa-2048", &digest_family, &pkcs1, 256, 0, 1, 256},
	{"rsa-3072", &digest_family, &pkcs1, 384, 0, 1, 384},
	{"rsa-4096", &digest_family, &pkcs1, 512, 0, 1, 512},
	{"rsa-pss-2048", &digest_family, &pss, 256, 0, 1, 256},
	{"rsa-pss-3072", &digest_family, &pss, 384, 0, 1, 384},
	{"rsa-pss-4096", &digest_family, &pss, 512, 0, 1, 512},
	{"ecdh-p256", &ecdh_family, &p256, 32, 32, 1, 32},
	{"ecdh-p384", &ecdh_family, &p384, 48, 48, 1, 48},
	{"ecdh-p521", &ecdh_family, &p521, 66, 66, 1, 66},
	{"ecdh-secp256k1", &ecdh_family, &secp256k1, 32, 32, 1, 32},
	{"ecdh-brainpoolp256r1", &ecdh_family, &brainpool256, 32, 32, 1, 32},
	{"ecdh-brainpoolp384r1", &ecdh_family, &brainpool384, 48, 48, 1, 48},
	{"ecdh-brainpoolp512r1", &ecdh_family, &brainpool512, 64, 64, 1, 64},
	PB_END_OF_ROWS,
};
