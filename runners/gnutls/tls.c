/* TLS 1.3 with both ends in this process. */
#include "tls.h"

#include <gnutls/gnutls.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct tls {
	pb_ends ends;
	gnutls_certificate_credentials_t trusted, own;
	gnutls_priority_t priorities;
	gnutls_datum_t ticket_key, ticket;
};

static ssize_t push(gnutls_transport_ptr_t to, const void *data, size_t size)
{
	return pb_stream_put(to, data, size);
}

/* The pointer is that of the wire's stream. */
static ssize_t pull(gnutls_transport_ptr_t from, void *data, size_t size)
{
	size_t got = pb_stream_get(from, data, size);
	if (!got)
		errno = EAGAIN;
	return got ? (ssize_t)got : -1;
}

static gnutls_session_t new_end(const struct tls *t, unsigned side, pb_stream *in, pb_stream *out)
{
	gnutls_session_t made = NULL;
	if (gnutls_init(&made, side | GNUTLS_NONBLOCK | GNUTLS_NO_AUTO_SEND_TICKET) ||
	    gnutls_priority_set(made, t->priorities) ||
	    gnutls_credentials_set(made, GNUTLS_CRD_CERTIFICATE, side == GNUTLS_CLIENT ? t->trusted : t->own))
		return made;
	gnutls_transport_set_ptr2(made, in, out);
	gnutls_transport_set_push_function(made, push);
	gnutls_transport_set_pull_function(made, pull);
	return made;
}

static int waits(gnutls_session_t end)
{
	return gnutls_handshake(end) == GNUTLS_E_AGAIN;
}

static int greet(pb_case *c, pb_joint *j)
{
	const struct tls *t = c->ctx;
	pb_wire *w = j->wire = calloc(1, sizeof *w);
	gnutls_session_t client = j->client = w ? new_end(t, GNUTLS_CLIENT, &w->down, &w->up) : NULL;
	if (!client || gnutls_server_name_set(client, GNUTLS_NAME_DNS, "localhost", strlen("localhost")))
		return 0;
	gnutls_session_set_verify_cert(client, "localhost", 0);
	return (!t->ticket.data || !gnutls_session_set_data(client, t->ticket.data, t->ticket.size)) &&
	       waits(client);
}

static int answer(pb_case *c, pb_joint *j)
{
	const struct tls *t = c->ctx;
	pb_wire *w = j->wire;
	gnutls_session_t server = j->server = new_end(t, GNUTLS_SERVER, &w->up, &w->down);
	return server && !gnutls_session_ticket_enable_server(server, &t->ticket_key) && waits(server);
}

static int verify(pb_joint *j)
{
	return gnutls_handshake(j->client) == GNUTLS_E_SUCCESS;
}

static int admit(pb_joint *j)
{
	return gnutls_handshake(j->server) == GNUTLS_E_SUCCESS &&
	       !gnutls_session_ticket_send(j->server, 1, 0);
}

static int collect(pb_joint *j)
{
	char byte; /* there is none yet */
	return gnutls_record_recv(j->client, &byte, 1) == GNUTLS_E_AGAIN;
}

static int put(void *end, const uint8_t *data, size_t size)
{
	while (size) {
		ssize_t sent = gnutls_record_send(end, data, size);
		if (sent <= 0)
			return 0;
		data += sent;
		size -= (size_t)sent;
	}
	return 1;
}

static int get(void *end, uint8_t *data, size_t size)
{
	while (size) {
		ssize_t got = gnutls_record_recv(end, data, size);
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
	return gnutls_protocol_get_version(end) == GNUTLS_TLS1_3 &&
	       !gnutls_session_is_resumed(end) == !t->ticket.data &&
	       !gnutls_prf_rfc5705(end, sizeof label - 1, label, 0, NULL, PB_SECRET, (char *)secret);
}

static void free_end(void *end)
{
	gnutls_deinit(end);
}

static const pb_steps steps = {greet, answer, verify,       admit,    collect,     put,
			       get,   export, pb_wire_sent, free_end, pb_wire_free};

static void tls_close(pb_case *c)
{
	struct tls *t = c->ctx;
	if (!t)
		return;
	pb_ends_close(c);
	gnutls_free(t->ticket.data);
	gnutls_free(t->ticket_key.data);
	if (t->priorities)
		gnutls_priority_deinit(t->priorities);
	if (t->trusted)
		gnutls_certificate_free_credentials(t->trusted);
	if (t->own)
		gnutls_certificate_free_credentials(t->own);
	free(t);
	c->ctx = NULL;
}

static gnutls_datum_t text(const char *pem)
{
	return (gnutls_datum_t){(unsigned char *)(uintptr_t)pem, (unsigned)strlen(pem)};
}

static int configure(struct tls *t, const pb_tls *row)
{
	const pb_certificate *own = pb_certificate_of(row->certificate);
	gnutls_datum_t root = text(own->root), leaf = text(own->leaf), key = text(own->key);
	const char *cipher = strcmp(row->cipher, "aes-128-gcm") == 0   ? "AES-128-GCM"
			     : strcmp(row->cipher, "aes-256-gcm") == 0 ? "AES-256-GCM"
								       : "CHACHA20-POLY1305";
	char priorities[200];
	snprintf(priorities, sizeof priorities,
		 "NORMAL:-VERS-ALL:+VERS-TLS1.3:-GROUP-ALL:+GROUP-%s:-CIPHER-ALL:+%s",
		 strcmp(row->group, "p256") == 0 ? "SECP256R1" : "X25519", cipher);
	return !gnutls_priority_init(&t->priorities, priorities, NULL) &&
	       !gnutls_certificate_allocate_credentials(&t->trusted) &&
	       !gnutls_certificate_allocate_credentials(&t->own) &&
	       gnutls_certificate_set_x509_trust_mem(t->trusted, &root, GNUTLS_X509_FMT_PEM) == 1 &&
	       gnutls_certificate_set_x509_key_mem(t->own, &leaf, &key, GNUTLS_X509_FMT_PEM) >= 0 &&
	       !gnutls_session_ticket_key_generate(&t->ticket_key);
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
	if (unfit || (t && configure(t, row) && pb_ends_open(c, &steps) &&
		      (!row->resumed || !gnutls_session_get_data2(t->ends.joint.client, &t->ticket))))
		return unfit;
	tls_close(c);
	return pb_fail(c, "no connection");
}

PB_TLS(tls_rows, tls_open, tls_close,
       "gnutls_init, gnutls_handshake, gnutls_record_recv, gnutls_deinit: both ends",
       "gnutls_init, gnutls_handshake, gnutls_record_recv, gnutls_deinit",
       "gnutls_init, gnutls_handshake, gnutls_session_ticket_send, gnutls_deinit", "gnutls_record_send",
       "gnutls_record_recv");
