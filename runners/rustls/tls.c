/* rustls: the steps of an end, whose work is in src/lib.rs. */
#include <ends.h>

#include <stdlib.h>
#include <string.h>

void *rustls_configs(const char *group, const char *cipher, int resumed, const char *root, const char *leaf,
		     const char *key);
void rustls_free_configs(void *);
void *rustls_end(void *configs, int client, pb_stream *in, pb_stream *out);
void rustls_free_end(void *);
int rustls_go_on(void *end);
int rustls_put(void *end, const uint8_t *, size_t);
int rustls_get(void *end, uint8_t *, size_t);
int rustls_export(const void *end, uint8_t *, size_t);

enum { DONE, WAITS };

struct tls {
	pb_ends ends;
	void *configs;
};

static int greet(pb_case *c, pb_joint *j)
{
	const struct tls *t = c->ctx;
	pb_wire *w = j->wire = calloc(1, sizeof *w);
	return w && (j->client = rustls_end(t->configs, 1, &w->down, &w->up)) &&
	       rustls_go_on(j->client) == WAITS;
}

static int answer(pb_case *c, pb_joint *j)
{
	const struct tls *t = c->ctx;
	pb_wire *w = j->wire;
	return (j->server = rustls_end(t->configs, 0, &w->up, &w->down)) && rustls_go_on(j->server) == WAITS;
}

static int verify(pb_joint *j)
{
	return rustls_go_on(j->client) == DONE;
}

static int admit(pb_joint *j)
{
	return rustls_go_on(j->server) == DONE;
}

static int collect(pb_joint *j)
{
	return rustls_go_on(j->client) == DONE;
}

static int export(pb_case *c, void *end, uint8_t secret[PB_SECRET])
{
	(void)c;
	return rustls_export(end, secret, PB_SECRET);
}

static const pb_steps steps = {greet,      answer, verify,       admit,           collect,     rustls_put,
			       rustls_get, export, pb_wire_sent, rustls_free_end, pb_wire_free};

static void tls_close(pb_case *c)
{
	struct tls *t = c->ctx;
	if (!t)
		return;
	pb_ends_close(c);
	if (t->configs)
		rustls_free_configs(t->configs);
	free(t);
	c->ctx = NULL;
}

static int tls_open(pb_case *c)
{
	const pb_tls *row = c->row->param;
	const pb_certificate *own = pb_certificate_of(row->certificate);
	int unfit = pb_ends_unfit(c);
	struct tls *t = c->ctx = unfit ? NULL : calloc(1, sizeof *t);
	if (unfit || (t &&
		      (t->configs = rustls_configs(row->group, row->cipher, row->resumed, own->root,
						   own->leaf, own->key)) &&
		      pb_ends_open(c, &steps)))
		return unfit;
	tls_close(c);
	return pb_fail(c, "no connection");
}

extern const pb_row tls_rows[];
PB_TLS(tls_rows, tls_open, tls_close,
       "ClientConnection::new, ServerConnection::new, read_tls, process_new_packets, write_tls: both ends",
       "ClientConnection::new, read_tls, process_new_packets, write_tls",
       "ServerConnection::new, read_tls, process_new_packets, write_tls", "writer, write_tls",
       "reader, read_tls, process_new_packets");
static const pb_row *const tables[] = {tls_rows, NULL};

/* With the provider ring there is no post-quantum key exchange, and no ML-DSA. */
static int offers(const pb_row *row)
{
	const pb_tls *kind = row->param;
	return strcmp(kind->group, "x25519mlkem768") != 0 && strcmp(kind->certificate, "ml-dsa-65") != 0;
}

static int start(const char *tier)
{
	return strcmp(tier, "full") == 0 ? 0 : -1;
}

static const char *version(void)
{
	return "0.23.46, ring 0.17.14";
}

const pb_runner perbyte_rust_runner = {
	.name = "rustls",
	.library = "rustls",
	.license = "Apache-2.0 OR ISC OR MIT",
	.version = version,
	.object = (const void *)rustls_end,
	.start = start,
	.offers = offers,
	.tables = tables,
};
