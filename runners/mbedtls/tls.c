/* TLS 1.3 with both ends in this process, where the library has it and the secrets that are exported: from 3.6.2 on. */
#include "public.h"

#include <mbedtls/ssl.h>
#include <mbedtls/version.h>

#if defined(MBEDTLS_SSL_PROTO_TLS1_3) && defined(MBEDTLS_SSL_KEYING_MATERIAL_EXPORT) &&                      \
	defined(MBEDTLS_SSL_SESSION_TICKETS)
#include <mbedtls/ssl_ticket.h>
#include <psa/crypto.h>

#include <stdlib.h>
#include <string.h>

enum { TICKET_S = 7 * 24 * 3600 }; /* the longest that TLS 1.3 allows */

struct tls {
	pb_ends ends;
	mbedtls_ssl_config client, server;
	mbedtls_x509_crt root, leaf;
	mbedtls_pk_context key;
	mbedtls_ssl_ticket_context tickets;
	mbedtls_ssl_session ticket; /* of resumed handshakes, where there is one */
	int has_ticket, suites[2];
	uint16_t groups[2];
};

typedef struct end {
	mbedtls_ssl_context ssl;
	pb_stream *in, *out;
	int verified; /* certificates that the client saw */
} end;

static int give_out(void *of, const unsigned char *data, size_t size)
{
	return (int)pb_stream_put(((const end *)of)->out, data, size);
}

static int take_in(void *of, unsigned char *data, size_t size)
{
	size_t got = pb_stream_get(((const end *)of)->in, data, size);
	return got ? (int)got : MBEDTLS_ERR_SSL_WANT_READ;
}

static int see_certificate(void *of, mbedtls_x509_crt *shown, int depth, uint32_t *flags)
{
	(void)shown, (void)depth, (void)flags;
	((end *)of)->verified++;
	return 0;
}

static end *new_end(const mbedtls_ssl_config *config, pb_stream *in, pb_stream *out)
{
	end *made = calloc(1, sizeof *made);
	if (!made)
		return NULL;
	made->in = in;
	made->out = out;
	mbedtls_ssl_init(&made->ssl);
	mbedtls_ssl_set_bio(&made->ssl, made, give_out, take_in, NULL);
	mbedtls_ssl_set_verify(&made->ssl, see_certificate, made);
	if (!mbedtls_ssl_setup(&made->ssl, config))
		return made;
	mbedtls_ssl_free(&made->ssl);
	free(made);
	return NULL;
}

static void free_end(void *of)
{
	mbedtls_ssl_free(&((end *)of)->ssl);
	free(of);
}

static int waits(void *of)
{
	return mbedtls_ssl_handshake(&((end *)of)->ssl) == MBEDTLS_ERR_SSL_WANT_READ;
}

static int done(void *of)
{
	return mbedtls_ssl_handshake(&((end *)of)->ssl) == 0;
}

static int greet(pb_case *c, pb_joint *j)
{
	const struct tls *t = c->ctx;
	pb_wire *w = j->wire = calloc(1, sizeof *w);
	end *client = j->client = w ? new_end(&t->client, &w->down, &w->up) : NULL;
	return client && !mbedtls_ssl_set_hostname(&client->ssl, "localhost") &&
	       (!t->has_ticket || !mbedtls_ssl_set_session(&client->ssl, &t->ticket)) && waits(client);
}

static int answer(pb_case *c, pb_joint *j)
{
	const struct tls *t = c->ctx;
	pb_wire *w = j->wire;
	return (j->server = new_end(&t->server, &w->up, &w->down)) && waits(j->server);
}

static int verify(pb_joint *j)
{
	return done(j->client);
}

static int admit(pb_joint *j)
{
	return done(j->server);
}

/* The first read sees that a ticket comes, the second one takes it in. */
static int collect(pb_joint *j)
{
	mbedtls_ssl_context *client = &((end *)j->client)->ssl;
	uint8_t byte; /* there is none yet */
	return mbedtls_ssl_read(client, &byte, 1) == MBEDTLS_ERR_SSL_WANT_READ &&
	       mbedtls_ssl_read(client, &byte, 1) == MBEDTLS_ERR_SSL_RECEIVED_NEW_SESSION_TICKET;
}

static int put(void *of, const uint8_t *data, size_t size)
{
	while (size) {
		int sent = mbedtls_ssl_write(&((end *)of)->ssl, data, size);
		if (sent <= 0)
			return 0;
		data += sent;
		size -= (size_t)sent;
	}
	return 1;
}

static int get(void *of, uint8_t *data, size_t size)
{
	while (size) {
		int got = mbedtls_ssl_read(&((end *)of)->ssl, data, size);
		if (got <= 0)
			return 0;
		data += got;
		size -= (size_t)got;
	}
	return 1;
}

static int export(pb_case *c, void *of, uint8_t secret[PB_SECRET])
{
	static const char label[] = "EXPORTER-perbyte";
	const struct tls *t = c->ctx;
	end *e = of;
	int server = mbedtls_ssl_context_get_config(&e->ssl) == &t->server;
	return mbedtls_ssl_get_version_number(&e->ssl) == MBEDTLS_SSL_VERSION_TLS1_3 &&
	       (server || (e->verified == 0) == t->has_ticket) &&
	       !mbedtls_ssl_export_keying_material(&e->ssl, secret, PB_SECRET, label, sizeof label - 1, NULL,
						   0, 0);
}

static const pb_steps steps = {greet, answer, verify,       admit,    collect,     put,
			       get,   export, pb_wire_sent, free_end, pb_wire_free};

static void tls_close(pb_case *c)
{
	struct tls *t = c->ctx;
	if (!t)
		return;
	pb_ends_close(c);
	mbedtls_ssl_session_free(&t->ticket);
	mbedtls_ssl_ticket_free(&t->tickets);
	mbedtls_ssl_config_free(&t->client);
	mbedtls_ssl_config_free(&t->server);
	mbedtls_x509_crt_free(&t->root);
	mbedtls_x509_crt_free(&t->leaf);
	mbedtls_pk_free(&t->key);
	free(t);
	c->ctx = NULL;
}

static int configure(struct tls *t, mbedtls_ssl_config *config, int end)
{
	if (mbedtls_ssl_config_defaults(config, end, MBEDTLS_SSL_TRANSPORT_STREAM,
					MBEDTLS_SSL_PRESET_DEFAULT))
		return 0;
	mbedtls_ssl_conf_rng(config, DRAW);
	mbedtls_ssl_conf_min_tls_version(config, MBEDTLS_SSL_VERSION_TLS1_3);
	mbedtls_ssl_conf_ciphersuites(config, t->suites);
	mbedtls_ssl_conf_groups(config, t->groups);
	mbedtls_ssl_conf_tls13_key_exchange_modes(config, MBEDTLS_SSL_TLS1_3_KEY_EXCHANGE_MODE_EPHEMERAL_ALL);
	return 1;
}

static int configure_both(struct tls *t, const pb_tls *row)
{
	const pb_certificate *own = pb_certificate_of(row->certificate);
#define PEM(TEXT) (const unsigned char *)(TEXT), strlen(TEXT) + 1
	t->suites[0] = strcmp(row->cipher, "aes-128-gcm") == 0   ? MBEDTLS_TLS1_3_AES_128_GCM_SHA256
		       : strcmp(row->cipher, "aes-256-gcm") == 0 ? MBEDTLS_TLS1_3_AES_256_GCM_SHA384
								 : MBEDTLS_TLS1_3_CHACHA20_POLY1305_SHA256;
	t->groups[0] = strcmp(row->group, "p256") == 0 ? MBEDTLS_SSL_IANA_TLS_GROUP_SECP256R1
						       : MBEDTLS_SSL_IANA_TLS_GROUP_X25519;
	if (!configure(t, &t->client, MBEDTLS_SSL_IS_CLIENT) ||
	    !configure(t, &t->server, MBEDTLS_SSL_IS_SERVER) ||
	    mbedtls_x509_crt_parse(&t->root, PEM(own->root)) ||
	    mbedtls_x509_crt_parse(&t->leaf, PEM(own->leaf)) ||
	    mbedtls_pk_parse_key(&t->key, PEM(own->key), NULL, 0, DRAW) ||
	    mbedtls_ssl_conf_own_cert(&t->server, &t->leaf, &t->key) ||
	    mbedtls_ssl_ticket_setup(&t->tickets, DRAW, MBEDTLS_CIPHER_AES_256_GCM, TICKET_S))
		return 0;
	mbedtls_ssl_conf_ca_chain(&t->client, &t->root, NULL);
	mbedtls_ssl_conf_tls13_enable_signal_new_session_tickets(
		&t->client, MBEDTLS_SSL_TLS1_3_SIGNAL_NEW_SESSION_TICKETS_ENABLED);
	mbedtls_ssl_conf_session_tickets_cb(&t->server, mbedtls_ssl_ticket_write, mbedtls_ssl_ticket_parse,
					    &t->tickets);
	return 1;
}

int tls_there(const pb_row *row)
{
	const pb_tls *kind = row->param;
	return strcmp(kind->group, "x25519mlkem768") != 0 && strcmp(kind->certificate, "ed25519") != 0 &&
	       strcmp(kind->certificate, "ml-dsa-65") != 0;
}

static int tls_open(pb_case *c)
{
	const pb_tls *row = c->row->param;
	int unfit = pb_ends_unfit(c);
	struct tls *t = c->ctx = unfit ? NULL : calloc(1, sizeof *t);
	if (!t)
		return unfit ? unfit : pb_fail(c, "out of memory");
	mbedtls_ssl_config_init(&t->client);
	mbedtls_ssl_config_init(&t->server);
	mbedtls_x509_crt_init(&t->root);
	mbedtls_x509_crt_init(&t->leaf);
	mbedtls_pk_init(&t->key);
	mbedtls_ssl_ticket_init(&t->tickets);
	mbedtls_ssl_session_init(&t->ticket);
	if (psa_crypto_init() == PSA_SUCCESS && seeded() && configure_both(t, row) &&
	    pb_ends_open(c, &steps) &&
	    (!row->resumed || !mbedtls_ssl_get_session(&((end *)t->ends.joint.client)->ssl, &t->ticket))) {
		t->has_ticket = row->resumed;
		return 0;
	}
	tls_close(c);
	return pb_fail(c, "no connection");
}

PB_TLS(tls_rows, tls_open, tls_close,
       "mbedtls_ssl_setup, mbedtls_ssl_handshake, mbedtls_ssl_read, mbedtls_ssl_free: both ends",
       "mbedtls_ssl_setup, mbedtls_ssl_handshake, mbedtls_ssl_read, mbedtls_ssl_free",
       "mbedtls_ssl_setup, mbedtls_ssl_handshake, mbedtls_ssl_free", "mbedtls_ssl_write", "mbedtls_ssl_read");
#else
const pb_row tls_rows[] = {PB_END_OF_ROWS};

int tls_there(const pb_row *row)
{
	(void)row;
	return 0;
}
#endif
