/* Keys read and written in their forms, for what has an EVP_PKEY: a part of message_signature.c, and of AWS-LC's load.c.
 * Whoever includes it has a struct state with key, made, text, encoded and encoded_len, and a pkey_show. */
#ifndef PERBYTE_OPENSSL_KEY_FORMS_H
#define PERBYTE_OPENSSL_KEY_FORMS_H

#include <openssl/pem.h>
#include <openssl/x509.h>

/* What load gets, once for each opening: PKCS #8, or of the public key SubjectPublicKeyInfo; as text; as plain bytes. */
static void encode(pb_case *c)
{
	struct state *state = c->ctx;
	PKCS8_PRIV_KEY_INFO *info = state->encoded ? NULL : EVP_PKEY2PKCS8(state->key);
	if (info)
		state->encoded_len = i2d_PKCS8_PRIV_KEY_INFO(info, &state->encoded);
	c->failures += !state->encoded;
	PKCS8_PRIV_KEY_INFO_free(info);
}

static void encode_public(pb_case *c)
{
	struct state *state = c->ctx;
	if (!state->encoded)
		state->encoded_len = i2d_PUBKEY(state->key, &state->encoded);
	c->failures += !state->encoded;
}

static BIO *text_of(EVP_PKEY *key)
{
	BIO *text = BIO_new(BIO_s_mem());
	if (text && key && PEM_write_bio_PKCS8PrivateKey(text, key, NULL, NULL, 0, NULL, NULL) == 1)
		return text;
	BIO_free(text);
	return NULL;
}

static void keep_text(pb_case *c, BIO *text)
{
	struct state *state = c->ctx;
	char *bytes;
	long length = text ? BIO_get_mem_data(text, &bytes) : 0;
	if (length > 0)
		state->encoded = OPENSSL_memdup(bytes, (size_t)(state->encoded_len = length));
	c->failures += !state->encoded;
	BIO_free(text);
}

static void encode_text(pb_case *c)
{
	struct state *state = c->ctx;
	if (!state->encoded)
		keep_text(c, text_of(state->key));
}

static void encode_public_text(pb_case *c)
{
	struct state *state = c->ctx;
	BIO *text = state->encoded ? NULL : BIO_new(BIO_s_mem());
	if (text && PEM_write_bio_PUBKEY(text, state->key) != 1) {
		BIO_free(text);
		text = NULL;
	}
	if (!state->encoded)
		keep_text(c, text);
}

static EVP_PKEY *from_text(const uint8_t *text, long length, int public)
{
	BIO *from = BIO_new_mem_buf(text, (int)length);
	EVP_PKEY *key = !from    ? NULL
			: public ? PEM_read_bio_PUBKEY(from, NULL, NULL, NULL)
				 : PEM_read_bio_PrivateKey(from, NULL, NULL, NULL);
	BIO_free(from);
	return key;
}

/* MADE is a key of the `length` bytes at `at`. */
#define LOAD(NAME, BYTES, LENGTH, MADE)                                                                      \
	static void NAME(pb_case *c, uint64_t n)                                                             \
	{                                                                                                    \
		struct state *state = c->ctx;                                                                \
		const uint8_t *bytes = BYTES;                                                                \
		long length = (long)(LENGTH);                                                                \
		uint64_t bad = 0;                                                                            \
		PB_REPEAT(n, turn, {                                                                         \
			const uint8_t *at = bytes;                                                           \
			EVP_PKEY_free(state->made);                                                          \
			state->made = MADE;                                                                  \
			bad += !state->made;                                                                 \
		});                                                                                          \
		c->failures += bad;                                                                          \
	}
#define LOAD_ENCODED(NAME, MADE) LOAD(NAME, state->encoded, state->encoded_len, MADE)
LOAD_ENCODED(load, d2i_AutoPrivateKey(NULL, &at, length))
LOAD_ENCODED(load_public, d2i_PUBKEY(NULL, &at, length))
LOAD_ENCODED(load_text, from_text(at, length, 0))
LOAD_ENCODED(load_public_text, from_text(at, length, 1))

/* What is stored is read again, outside the timing, and shows the public key as `load` does. */
static void store(pb_case *c, uint64_t n)
{
	struct state *state = c->ctx;
	uint64_t bad = 0;
	PB_REPEAT(n, turn, {
		OPENSSL_free(state->encoded);
		state->encoded = NULL;
		PKCS8_PRIV_KEY_INFO *info = EVP_PKEY2PKCS8(state->key);
		state->encoded_len = info ? i2d_PKCS8_PRIV_KEY_INFO(info, &state->encoded) : 0;
		PKCS8_PRIV_KEY_INFO_free(info);
		bad += state->encoded_len <= 0;
	});
	c->failures += bad;
}

static void store_text(pb_case *c, uint64_t n)
{
	struct state *state = c->ctx;
	uint64_t bad = 0;
	PB_REPEAT(n, turn, {
		BIO_free(state->text);
		bad += !(state->text = text_of(state->key));
	});
	c->failures += bad;
}

static void store_public(pb_case *c, uint64_t n)
{
	struct state *state = c->ctx;
	uint64_t bad = 0;
	PB_REPEAT(n, turn, {
		OPENSSL_free(state->encoded);
		state->encoded = NULL;
		state->encoded_len = i2d_PUBKEY(state->key, &state->encoded);
		bad += state->encoded_len <= 0;
	});
	c->failures += bad;
}

static void show_stored_public(pb_case *c)
{
	struct state *state = c->ctx;
	const uint8_t *at = state->encoded;
	EVP_PKEY *key = at && !c->failures ? d2i_PUBKEY(NULL, &at, state->encoded_len) : NULL;
	c->failures += !key || !pkey_show(c, key);
	EVP_PKEY_free(key);
}

static void show_stored(pb_case *c)
{
	struct state *state = c->ctx;
	const uint8_t *at = state->encoded;
	EVP_PKEY *key = state->text          ? PEM_read_bio_PrivateKey(state->text, NULL, NULL, NULL)
			: at && !c->failures ? d2i_AutoPrivateKey(NULL, &at, state->encoded_len)
					     : NULL;
	c->failures += !key || !pkey_show(c, key);
	EVP_PKEY_free(key);
}

static void show_loaded(pb_case *c)
{
	struct state *state = c->ctx;
	c->failures += !state->made || !pkey_show(c, state->made);
}

#define KEY_FORMS                                                                                            \
	{"load", "pk/1", "d2i_AutoPrivateKey, EVP_PKEY_free", encode, load, show_loaded},                    \
		{"load",      "pem/1",   "PEM_read_bio_PrivateKey, EVP_PKEY_free",                           \
		 encode_text, load_text, show_loaded},                                                       \
		{"load", "public/1", "d2i_PUBKEY, EVP_PKEY_free", encode_public, load_public, show_loaded},  \
		{"load",           "publicpem/1", "PEM_read_bio_PUBKEY, EVP_PKEY_free", encode_public_text,  \
		 load_public_text, show_loaded},                                                             \
		{"store", "pk/1", "EVP_PKEY2PKCS8, i2d_PKCS8_PRIV_KEY_INFO", NULL, store, show_stored},      \
		{"store", "public/1", "i2d_PUBKEY", NULL, store_public, show_stored_public},                 \
	{                                                                                                    \
		"store", "pem/1", "PEM_write_bio_PKCS8PrivateKey", NULL, store_text, show_stored             \
	}

#endif
