/* TLS 1.3 with both ends in this process, joined by two memory buffers (BIO_s_mem). */
#include "evp.h"

#include <ends.h>

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>

#include <stdlib.h>
#include <string.h>

#if defined(TLS1_3_VERSION)
struct tls {
	pb_ends ends;
	SSL_CTX *client, *server;
	SSL_SESSION *ticket; /* of resumed handshakes; else NULL */
};

struct wire {
	BIO *up, *down; /* to the server, to the client */
};

static void free_wire(void *wire)
{
	struct wire *w = wire;
	BIO_free(w->up);
	BIO_free(w->down);
	free(w);
}

/* Ended as if both had said goodbye: the session of a connection that breaks off is not resumed again. */
static void free_end(void *end)
{
	SSL_set_shutdown(end, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
	SSL_free(end);
}

static void tls_close(pb_case *c)
{
	struct tls *t = c->ctx;
	if (!t)
		return;
	pb_ends_close(c);
	SSL_SESSION_free(t->ticket);
	SSL_CTX_free(t->client);
	SSL_CTX_free(t->server);
	free(t);
	c->ctx = NULL;
}

/* An end has gone as far as it can until the other one says more. */
static int waits(SSL *end, int result)
{
	return result != 1 && SSL_get_error(end, result) == SSL_ERROR_WANT_READ;
}

static int attach(SSL *end, BIO *in, BIO *out)
{
	if (!end || !BIO_up_ref(in) || !BIO_up_ref(out))
		return 0;
	SSL_set_bio(end, in, out);
	return 1;
}

#if OPENSSL_VERSION_NUMBER >= 0x40000000L
#define EXPECT_NAME SSL_set1_dnsname
#else
#define EXPECT_NAME SSL_set1_host
#endif

static int greet(pb_case *c, pb_joint *j)
{
	const struct tls *t = c->ctx;
	struct wire *w = j->wire = calloc(1, sizeof *w);
	if (!w || !(w->up = BIO_new(BIO_s_mem())) || !(w->down = BIO_new(BIO_s_mem())))
		return 0;
	BIO_set_mem_eof_return(w->up, -1);
	BIO_set_mem_eof_return(w->down, -1);
	SSL *client = j->client = SSL_new(t->client);
	return attach(client, w->down, w->up) && SSL_set_tlsext_host_name(client, "localhost") &&
	       EXPECT_NAME(client, "localhost") && (!t->ticket || SSL_set_session(client, t->ticket)) &&
	       waits(client, SSL_connect(client));
}

static int answer(pb_case *c, pb_joint *j)
{
	const struct tls *t = c->ctx;
	struct wire *w = j->wire;
	SSL *server = j->server = SSL_new(t->server);
	return attach(server, w->up, w->down) && waits(server, SSL_accept(server));
}

static int verify(pb_joint *j)
{
	return SSL_connect(j->client) == 1;
}

static int admit(pb_joint *j)
{
	return SSL_accept(j->server) == 1;
}

static int collect(pb_joint *j)
{
	uint8_t byte; /* there is none yet */
	return waits(j->client, SSL_read(j->client, &byte, 1));
}

static int put(void *end, const uint8_t *data, size_t size)
{
	return SSL_write(end, data, (int)size) == (int)size;
}

static int get(void *end, uint8_t *data, size_t size)
{
	while (size) {
		int got = SSL_read(end, data, (int)size);
		if (got <= 0)
			return 0;
		data += got;
		size -= (size_t)got;
	}
	return 1;
}

static int export(pb_case *c, void *end, uint8_t secret[PB_SECRET])
{
	static const char label[] = "EXPORTER-perbyte";
	const struct tls *t = c->ctx;
	return SSL_version(end) == TLS1_3_VERSION && SSL_session_reused(end) == (t->ticket != NULL) &&
	       (SSL_is_server(end) || SSL_get_verify_result(end) == X509_V_OK) &&
	       SSL_export_keying_material(end, secret, PB_SECRET, label, sizeof label - 1, NULL, 0, 0) == 1;
}

static void sent(const pb_joint *j, uint64_t *up, uint64_t *down)
{
	const struct wire *w = j->wire;
	*up = BIO_number_written(w->up);
	*down = BIO_number_written(w->down);
}

static const pb_steps steps = {greet, answer, verify, admit,    collect,  put,
			       get,   export, sent,   free_end, free_wire};

static int use_certificate(const struct tls *t, const pb_tls *row)
{
	const pb_certificate *own = pb_certificate_of(row->certificate);
	BIO *root = BIO_new_mem_buf(own->root, -1), *leaf = BIO_new_mem_buf(own->leaf, -1),
	    *secret = BIO_new_mem_buf(own->key, -1);
	X509 *trusted = PEM_read_bio_X509(root, NULL, NULL, NULL),
	     *shown = PEM_read_bio_X509(leaf, NULL, NULL, NULL);
	EVP_PKEY *key = PEM_read_bio_PrivateKey(secret, NULL, NULL, NULL);
	int used = trusted && shown && key &&
		   X509_STORE_add_cert(SSL_CTX_get_cert_store(t->client), trusted) == 1 &&
		   SSL_CTX_use_certificate(t->server, shown) == 1 &&
		   SSL_CTX_use_PrivateKey(t->server, key) == 1;
	EVP_PKEY_free(key);
	X509_free(shown);
	X509_free(trusted);
	BIO_free(secret);
	BIO_free(leaf);
	BIO_free(root);
	return used;
}

static const char *group_name(const pb_tls *row)
{
	return strcmp(row->group, "p256") == 0     ? "P-256"
	       : strcmp(row->group, "x25519") == 0 ? "X25519"
						   : "X25519MLKEM768";
}

#ifdef OPENSSL_IS_BORINGSSL
static int use_suite(SSL_CTX *ctx, const pb_tls *row)
{
	uint16_t suite = strcmp(row->cipher, "aes-128-gcm") == 0   ? SSL_CIPHER_AES_128_GCM_SHA256
			 : strcmp(row->cipher, "aes-256-gcm") == 0 ? SSL_CIPHER_AES_256_GCM_SHA384
								   : SSL_CIPHER_CHACHA20_POLY1305_SHA256;
	return SSL_CTX_set1_tls13_ciphers(ctx, &suite, NULL, 1);
}
#else
static int use_suite(SSL_CTX *ctx, const pb_tls *row)
{
	return SSL_CTX_set_ciphersuites(
		ctx, strcmp(row->cipher, "aes-128-gcm") == 0   ? "TLS_AES_128_GCM_SHA256"
		     : strcmp(row->cipher, "aes-256-gcm") == 0 ? "TLS_AES_256_GCM_SHA384"
							       : "TLS_CHACHA20_POLY1305_SHA256");
}
#endif

#if defined(OPENSSL_IS_AWSLC) ||                                                                             \
	defined(OPENSSL_IS_BORINGSSL) /* sends a ticket with the first data, and hands it to a function at the client */
static SSL_SESSION *newest;

static int keep(SSL *client, SSL_SESSION *session)
{
	(void)client;
	SSL_SESSION_free(newest);
	newest = session;
	return 1;
}

static void keep_tickets(const struct tls *t)
{
	SSL_CTX_set_session_cache_mode(t->client, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
	SSL_CTX_sess_set_new_cb(t->client, keep);
}

static int take_ticket(struct tls *t)
{
	uint8_t byte = 0;
	int sent = put(t->ends.joint.server, &byte, 1) && get(t->ends.joint.client, &byte, 1);
	t->ticket = newest;
	newest = NULL;
	return sent && t->ticket != NULL;
}

/* By itself it offers no Ed25519; BoringSSL no ML-DSA either. */
static int allow(SSL_CTX *ctx, const pb_tls *row)
{
#ifdef OPENSSL_IS_BORINGSSL
	uint16_t scheme = strcmp(row->certificate, "ed25519") == 0     ? SSL_SIGN_ED25519
			  : strcmp(row->certificate, "ml-dsa-65") == 0 ? SSL_SIGN_ML_DSA_65
								       : 0;
	return !scheme || SSL_CTX_set_verify_algorithm_prefs(ctx, &scheme, 1) == 1;
#else
	return strcmp(row->certificate, "ed25519") != 0 || SSL_CTX_set1_sigalgs_list(ctx, "ed25519") == 1;
#endif
}
#else
static void keep_tickets(const struct tls *t)
{
	(void)t;
}

static int take_ticket(struct tls *t)
{
	return (t->ticket = SSL_get1_session(t->ends.joint.client)) != NULL;
}

static int allow(SSL_CTX *ctx, const pb_tls *row)
{
	(void)ctx;
	(void)row;
	return 1;
}
#endif

static int configure(SSL_CTX *ctx, const pb_tls *row)
{
	return ctx && SSL_CTX_set_min_proto_version(ctx, TLS1_3_VERSION) == 1 && allow(ctx, row) &&
	       use_suite(ctx, row) == 1 && SSL_CTX_set1_groups_list(ctx, group_name(row)) == 1 &&
	       SSL_CTX_set_num_tickets(ctx, 1) == 1;
}

/* Asked once for each name: a runner that starts asks for all its rows. */
static int known(const char *name, int (*there)(const char *))
{
	enum { NAMES = 8 };
	static const char *names[NAMES];
	static int found[NAMES];
	int i = 0;
	while (i < NAMES && names[i] && strcmp(names[i], name) != 0)
		i++;
	if (i == NAMES)
		return there(name);
	if (!names[i]) {
		names[i] = name;
		found[i] = there(name);
	}
	return found[i];
}

static int has_group(const char *name)
{
	static SSL_CTX *ctx;
	return (ctx || (ctx = SSL_CTX_new(TLS_client_method()))) && SSL_CTX_set1_groups_list(ctx, name) == 1;
}

static int has_certificate(const char *name)
{
	BIO *from = BIO_new_mem_buf(pb_certificate_of(name)->key, -1);
	EVP_PKEY *key = PEM_read_bio_PrivateKey(from, NULL, NULL, NULL);
	int there = key != NULL;
	EVP_PKEY_free(key);
	BIO_free(from);
	return there;
}

int tls_there(const pb_row *row)
{
	const pb_tls *kind = row->param;
#ifdef RUNNER_FIPS
	if (strcmp(kind->cipher, "chacha20-poly1305") == 0)
		return 0;
#endif
	return known(group_name(kind), has_group) && known(kind->certificate, has_certificate);
}

static int tls_open(pb_case *c)
{
	const pb_tls *row = c->row->param;
	int unfit = pb_ends_unfit(c);
	struct tls *t = c->ctx = unfit ? NULL : calloc(1, sizeof *t);
	if (!t)
		return unfit ? unfit : pb_fail(c, "out of memory");
	if (strcmp(row->certificate, "ml-dsa-65") == 0)
		c->turns = PB_RING; /* a signature takes some candidates, by chance */
	t->client = SSL_CTX_new(TLS_client_method());
	t->server = SSL_CTX_new(TLS_server_method());
	if (configure(t->client, row) && configure(t->server, row) && use_certificate(t, row)) {
		SSL_CTX_set_verify(t->client, SSL_VERIFY_PEER, NULL);
		keep_tickets(t);
		if (pb_ends_open(c, &steps) && (!row->resumed || take_ticket(t)))
			return 0;
	}
	evp_fail(c, "no connection");
	tls_close(c);
	return -1;
}

PB_TLS(tls_rows, tls_open, tls_close, "SSL_new, SSL_connect, SSL_accept, SSL_read, SSL_free",
       "SSL_new, SSL_connect, SSL_read, SSL_free", "SSL_new, SSL_accept, SSL_free", "SSL_write", "SSL_read");
#else /* OpenSSL 1.1.0 */
const pb_row tls_rows[] = {PB_END_OF_ROWS};

int tls_there(const pb_row *row)
{
	(void)row;
	return 0;
}
#endif
