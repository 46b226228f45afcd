/* Both ends of a secure connection in one process: what one timed call is, what is proven before anything is timed, and
 * what the other end does meanwhile. A library's runner brings the steps of an end. */
#ifndef PERBYTE_ENDS_H
#define PERBYTE_ENDS_H

#include "perbyte.h"

enum { PB_SECRET = 32, PB_PROOF = PB_SECRET + 12 }; /* bytes that both ends export; output of a handshake */

/* One connection: two ends, and what lies between them. Each is the library's own; NULL where there is none. */
typedef struct pb_joint {
	void *client, *server, *wire;
} pb_joint;

/* What is under way to one end, for libraries that ask for functions to send and receive. */
typedef struct pb_stream {
	uint8_t *bytes;
	size_t from, to, room;
	uint64_t sent;
} pb_stream;

typedef struct pb_wire {
	pb_stream up, down; /* to the server, to the client */
} pb_wire;

/* The bytes that were taken: all of them, or -1 without memory; what is there at most, 0 where nothing is. */
long pb_stream_put(pb_stream *, const void *, size_t);
size_t pb_stream_get(pb_stream *, void *, size_t);
void pb_wire_free(void *wire); /* from calloc */
void pb_wire_sent(const pb_joint *, uint64_t *up, uint64_t *down);

/* PEM: of the root that the client trusts, of the server, and the server's private key. */
typedef struct pb_certificate {
	const char *name, *root, *leaf, *key;
} pb_certificate;

/* That of a name in certificates.h, the same for all libraries. */
const pb_certificate *pb_certificate_of(const char *name);

/* The steps, each 1 where it went as it must. */
typedef struct pb_steps {
	int (*greet)(pb_case *, pb_joint *);  /* a new client says hello */
	int (*answer)(pb_case *, pb_joint *); /* a new server answers */
	int (*verify)(pb_joint *);            /* the client verifies that, and is done */
	int (*admit)(pb_joint *);             /* the server sees it, is done, and gives out a ticket */
	int (*collect)(pb_joint *);           /* the client takes the ticket in */
	int (*put)(void *end, const uint8_t *, size_t);
	int (*get)(void *end, uint8_t *, size_t);
	/* TLS 1.3, resumed or not as the row says, with a certificate that the client trusts: the secret */
	int (*export)(pb_case *, void *end, uint8_t secret[PB_SECRET]);
	void (*sent)(const pb_joint *, uint64_t *up, uint64_t *down); /* bytes so far */
	void (*free_end)(void *end);
	void (*free_wire)(void *wire);
} pb_steps;

/* What a case's ctx begins with. */
typedef struct pb_ends {
	const pb_steps *steps;
	pb_joint joint; /* the one connection of `handshake` and of records */
	struct pb_slot *slots;
	size_t count;
	uint64_t waiting; /* records that the other end has not read */
} pb_ends;

/* 0, or what a family's open returns for a vector of a handshake, and for records without data. */
int pb_ends_unfit(pb_case *);
/* Makes the first connection, untimed: 1 where that went well. */
int pb_ends_open(pb_case *, const pb_steps *);
void pb_ends_close(pb_case *);

void pb_ends_begin_client(pb_case *), pb_ends_begin_server(pb_case *), pb_ends_begin_send(pb_case *),
	pb_ends_begin_receive(pb_case *);
void pb_ends_handshake(pb_case *, uint64_t), pb_ends_client(pb_case *, uint64_t),
	pb_ends_server(pb_case *, uint64_t), pb_ends_transfer(pb_case *, uint64_t),
	pb_ends_send(pb_case *, uint64_t), pb_ends_receive(pb_case *, uint64_t);
void pb_ends_show(pb_case *), pb_ends_show_end(pb_case *), pb_ends_show_sent(pb_case *);

#define PB_HANDSHAKE_VARIANTS(BOTH, CLIENT, SERVER)                                                          \
	{"handshake", "handshake/1", BOTH, NULL, pb_ends_handshake, pb_ends_show},                           \
		{"client", "handshake/1", CLIENT, pb_ends_begin_client, pb_ends_client, pb_ends_show_end},   \
		{"server", "handshake/1", SERVER, pb_ends_begin_server, pb_ends_server, pb_ends_show_end},   \
		PB_END_OF_VARIANTS
#define PB_RECORD_VARIANTS(WRITE, READ)                                                                      \
	{"transfer", "record/1", WRITE ", " READ, NULL, pb_ends_transfer, NULL},                             \
		{"send", "record/1", WRITE, pb_ends_begin_send, pb_ends_send, pb_ends_show_sent},            \
		{"receive", "record/1", READ, pb_ends_begin_receive, pb_ends_receive, NULL},                 \
		PB_END_OF_VARIANTS

/* What a row of TLS 1.3 is made with; the row's param. */
typedef struct pb_tls {
	const char *group;       /* "x25519", "p256", "x25519mlkem768" */
	const char *certificate; /* its name in certificates.h */
	const char *cipher;      /* "aes-128-gcm", "aes-256-gcm", "chacha20-poly1305" */
	int resumed;             /* begins with the ticket of the first connection */
} pb_tls;

#define PB_TLS_ROW(ID, FAMILY, GROUP, CERTIFICATE, CIPHER, RESUMED, OUTPUT)                                  \
	{                                                                                                    \
		"tls13-" ID, &FAMILY, &(const pb_tls){GROUP, CERTIFICATE, CIPHER, RESUMED}, 0, 0, 1, OUTPUT  \
	}
#define PB_TLS_GROUP(FAMILY, GROUP)                                                                          \
	PB_TLS_ROW(GROUP "-ecdsa-p256", FAMILY, GROUP, "ecdsa-p256", "aes-128-gcm", 0, PB_PROOF),            \
		PB_TLS_ROW(GROUP "-rsa-2048", FAMILY, GROUP, "rsa-2048", "aes-128-gcm", 0, PB_PROOF),        \
		PB_TLS_ROW(GROUP "-ed25519", FAMILY, GROUP, "ed25519", "aes-128-gcm", 0, PB_PROOF),          \
		PB_TLS_ROW(GROUP "-ml-dsa-65", FAMILY, GROUP, "ml-dsa-65", "aes-128-gcm", 0, PB_PROOF),      \
		PB_TLS_ROW(GROUP "-resumed", FAMILY, GROUP, "ecdsa-p256", "aes-128-gcm", 1, PB_PROOF)
/* All rows of TLS 1.3, with their families. OPEN and CLOSE are those of both; the texts are the library's calls. */
#define PB_TLS(ROWS, OPEN, CLOSE, BOTH, CLIENT, SERVER, WRITE, READ)                                         \
	static const pb_variant tls_handshakes[] = {PB_HANDSHAKE_VARIANTS(BOTH, CLIENT, SERVER)};            \
	static const pb_variant tls_records[] = {PB_RECORD_VARIANTS(WRITE, READ)};                           \
	static const pb_family tls_handshake_family = {OPEN, CLOSE, tls_handshakes};                         \
	static const pb_family tls_record_family = {OPEN, CLOSE, tls_records};                               \
	const pb_row ROWS[] = {                                                                              \
		PB_TLS_GROUP(tls_handshake_family, "x25519"),                                                \
		PB_TLS_GROUP(tls_handshake_family, "p256"),                                                  \
		PB_TLS_GROUP(tls_handshake_family, "x25519mlkem768"),                                        \
		PB_TLS_ROW("aes-128-gcm", tls_record_family, "p256", "ecdsa-p256", "aes-128-gcm", 0, 0),     \
		PB_TLS_ROW("aes-256-gcm", tls_record_family, "p256", "ecdsa-p256", "aes-256-gcm", 0, 0),     \
		PB_TLS_ROW("chacha20-poly1305", tls_record_family, "p256", "ecdsa-p256",                     \
			   "chacha20-poly1305", 0, 0),                                                       \
		PB_END_OF_ROWS}

/* Whether a row is one of connections. */
int pb_is_tls(const pb_row *);

#endif
