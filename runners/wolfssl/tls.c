/* TLS 1.3 with both ends in this process, where the library is more than wolfCrypt. */
#include "families.h"

#include <wolfssl/ssl.h>
#include <wolfssl/wolfcrypt/error-crypt.h>

#include <stdlib.h>
#include <string.h>

#if defined(WOLFSSL_TLS13) && defined(HAVE_SESSION_TICKET) && defined(HAVE_KEYING_MATERIAL) &&               \
	!defined(WOLFCRYPT_ONLY)
struct tls {
	pb_ends ends;
	WOLFSSL_CTX *client, *server;
	WOLFSSL_SESSION *ticket; /* of resumed handshakes; else NULL */
};

static int take_in(WOLFSSL *end, char *data, int size, void *stream)
{
	(void)end;
	size_t got = pb_stream_get(stream, data, (size_t)size);
	return got ? (int)got : WOLFSSL_CBIO_ERR_WANT_READ;
}

static int give_out(WOLFSSL *end, char *data, int size, void *stream)
{
	(void)end;
	return pb_stream_put(stream, data, (size_t)size) < 0 ? WOLFSSL_CBIO_ERR_GENERAL : size;
}

static WOLFSSL *new_end(WOLFSSL_CTX *ctx, pb_stream *in, pb_stream *out)
{
	WOLFSSL *made = wolfSSL_new(ctx);
	if (made) {
		wolfSSL_SetIOReadCtx(made, in);
		wolfSSL_SetIOWriteCtx(made, out);
	}
	return made;
}

static int waits(WOLFSSL *end, int result)
{
	return result != WOLFSSL_SUCCESS && wolfSSL_get_error(end, result) == WOLFSSL_ERROR_WANT_READ;
}

static int group_of(const pb_case *c)
{
	const pb_tls *row = c->row->param;
	return strcmp(row->group, "p256") == 0 ? WOLFSSL_ECC_SECP256R1 : WOLFSSL_ECC_X25519;
}

static int greet(pb_case *c, pb_joint *j)
{
	const struct tls *t = c->ctx;
	pb_wire *w = j->wire = calloc(1, sizeof *w);
	WOLFSSL *client = j->client = w ? new_end(t->client, &w->down, &w->up) : NULL;
	return client && wolfSSL_UseKeyShare(client, (word16)group_of(c)) == WOLFSSL_SUCCESS &&
	       wolfSSL_UseSNI(client, WOLFSSL_SNI_HOST_NAME, "localhost", strlen("localhost")) ==
		       WOLFSSL_SUCCESS &&
	       wolfSSL_check_domain_name(client, "localhost") == WOLFSSL_SUCCESS &&
	       (!t->ticket || wolfSSL_set_session(client, t->ticket) == WOLFSSL_SUCCESS) &&
	       waits(client, wolfSSL_connect(client));
}

static int answer(pb_case *c, pb_joint *j)
{
	const struct tls *t = c->ctx;
	pb_wire *w = j->wire;
	WOLFSSL *server = j->server = new_end(t->server, &w->up, &w->down);
	return server && waits(server, wolfSSL_accept(server));
}

static int verify(pb_joint *j)
{
	return wolfSSL_connect(j->client) == WOLFSSL_SUCCESS;
}

static int admit(pb_joint *j)
{
	return wolfSSL_accept(j->server) == WOLFSSL_SUCCESS;
}

static int collect(pb_joint *j)
{
	uint8_t byte; /* there is none yet */
	return waits(j->client, wolfSSL_read(j->client, &byte, 1));
}

static int put(void *end, const uint8_t *data, size_t size)
{
	return wolfSSL_write(end, data, (int)size) == (int)size;
}

static int get(void *end, uint8_t *data, size_t size)
{
	while (size) {
		int got = wolfSSL_read(end, data, (int)size);
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
	return strcmp(wolfSSL_get_version(end), "TLSv1.3") == 0 &&
	       !wolfSSL_session_reused(end) == !t->ticket &&
	       wolfSSL_export_keying_material(end, secret, PB_SECRET, label, sizeof label - 1, NULL, 0, 0) ==
		       WOLFSSL_SUCCESS;
}

static void free_end(void *end)
{
	wolfSSL_free(end);
}

static const pb_steps steps = {greet, answer, verify,       admit,    collect,     put,
			       get,   export, pb_wire_sent, free_end, pb_wire_free};

static void tls_close(pb_case *c)
{
	struct tls *t = c->ctx;
	if (!t)
		return;
	pb_ends_close(c);
	wolfSSL_SESSION_free(t->ticket);
	wolfSSL_CTX_free(t->client);
	wolfSSL_CTX_free(t->server);
	free(t);
	c->ctx = NULL;
}

static int configure(WOLFSSL_CTX *ctx, const pb_case *c)
{
	const pb_tls *row = c->row->param;
	int group = group_of(c);
	const char *suite = strcmp(row->cipher, "aes-128-gcm") == 0   ? "TLS13-AES128-GCM-SHA256"
			    : strcmp(row->cipher, "aes-256-gcm") == 0 ? "TLS13-AES256-GCM-SHA384"
								      : "TLS13-CHACHA20-POLY1305-SHA256";
	if (!ctx)
		return 0;
	wolfSSL_CTX_SetIORecv(ctx, take_in);
	wolfSSL_CTX_SetIOSend(ctx, give_out);
	return wolfSSL_CTX_set_cipher_list(ctx, suite) == WOLFSSL_SUCCESS &&
	       wolfSSL_CTX_set_groups(ctx, &group, 1) == WOLFSSL_SUCCESS;
}

static int use_certificate(const struct tls *t, const pb_tls *row)
{
	const pb_certificate *own = pb_certificate_of(row->certificate);
#define PEM(TEXT) (const unsigned char *)(TEXT), (long)strlen(TEXT), WOLFSSL_FILETYPE_PEM
	return wolfSSL_CTX_load_verify_buffer(t->client, PEM(own->root)) == WOLFSSL_SUCCESS &&
	       wolfSSL_CTX_use_certificate_buffer(t->server, PEM(own->leaf)) == WOLFSSL_SUCCESS &&
	       wolfSSL_CTX_use_PrivateKey_buffer(t->server, PEM(own->key)) == WOLFSSL_SUCCESS;
}

int tls_there(const pb_row *row)
{
	const pb_tls *kind = row->param;
	return strcmp(kind->group, "x25519mlkem768") != 0 && strcmp(kind->certificate, "ml-dsa-65") != 0;
}

static int tls_open(pb_case *c)
{
	const pb_tls *row = c->row->param;
	int unfit = pb_ends_unfit(c);
	struct tls *t = c->ctx = unfit ? NULL : calloc(1, sizeof *t);
	if (!t)
		return unfit ? unfit : pb_fail(c, "out of memory");
	t->client = wolfSSL_CTX_new(wolfTLSv1_3_client_method());
	t->server = wolfSSL_CTX_new(wolfTLSv1_3_server_method());
	if (configure(t->client, c) && configure(t->server, c) && use_certificate(t, row)) {
		wolfSSL_CTX_set_verify(t->client, WOLFSSL_VERIFY_PEER, NULL);
		if (pb_ends_open(c, &steps) &&
		    (!row->resumed || (t->ticket = wolfSSL_get1_session(t->ends.joint.client))))
			return 0;
	}
	tls_close(c);
	return pb_fail(c, "no connection");
}

PB_TLS(tls_rows, tls_open, tls_close,
       "wolfSSL_new, wolfSSL_connect, wolfSSL_accept, wolfSSL_read, wolfSSL_free",
       "wolfSSL_new, wolfSSL_connect, wolfSSL_read, wolfSSL_free",
       "wolfSSL_new, wolfSSL_accept, wolfSSL_free", "wolfSSL_write", "wolfSSL_read");
#else
const pb_row tls_rows[] = {PB_END_OF_ROWS};

int tls_there(const pb_row *row)
{
	(void)row;
	return 0;
}
#endif
