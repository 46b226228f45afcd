#include "ends.h"

#include "certificates.h"

#include <stdlib.h>
#include <string.h>

long pb_stream_put(pb_stream *s, const void *data, size_t size)
{
	if (s->from == s->to)
		s->from = s->to = 0;
	if (s->to + size > s->room) {
		size_t room = 2 * (s->to + size);
		uint8_t *bytes = realloc(s->bytes, room);
		if (!bytes)
			return -1;
		s->bytes = bytes;
		s->room = room;
	}
	memcpy(s->bytes + s->to, data, size);
	s->to += size;
	s->sent += size;
	return (long)size;
}

size_t pb_stream_get(pb_stream *s, void *data, size_t size)
{
	size_t left = s->to - s->from;
	size = size < left ? size : left;
	if (size)
		memcpy(data, s->bytes + s->from, size);
	s->from += size;
	return size;
}

void pb_wire_free(void *wire)
{
	pb_wire *w = wire;
	free(w->up.bytes);
	free(w->down.bytes);
	free(w);
}

void pb_wire_sent(const pb_joint *j, uint64_t *up, uint64_t *down)
{
	const pb_wire *w = j->wire;
	*up = w->up.sent;
	*down = w->down.sent;
}

const pb_certificate *pb_certificate_of(const char *name)
{
	const pb_certificate *own = pb_certificates;
	while (own->name && strcmp(own->name, name) != 0)
		own++;
	return own;
}

enum { MOST = 16, SLOTS = 4096, FACT = 4, DATA = 1024 };

/* Three connections at different stages, so that one call does all that a client (or a server) does for a handshake: the
 * end of `last`, the middle of `middle`, the beginning of `first`. */
typedef struct pb_slot {
	pb_joint last, middle, first;
	int used; /* by a timed call since it was made ready */
} slot;

static void drop(const pb_steps *s, pb_joint *j)
{
	if (j->client)
		s->free_end(j->client);
	if (j->server)
		s->free_end(j->server);
	if (j->wire)
		s->free_wire(j->wire);
	memset(j, 0, sizeof *j);
}

static void empty_slot(const pb_steps *s, slot *at)
{
	drop(s, &at->last);
	drop(s, &at->middle);
	drop(s, &at->first);
	at->used = 0;
}

void pb_ends_close(pb_case *c)
{
	pb_ends *e = c->ctx;
	if (!e || !e->steps)
		return;
	drop(e->steps, &e->joint);
	for (size_t i = 0; i < e->count; i++)
		empty_slot(e->steps, &e->slots[i]);
	free(e->slots);
	e->steps = NULL;
}

static int shake(pb_case *c, const pb_steps *s, pb_joint *j)
{
	return s->greet(c, j) && s->answer(c, j) && s->verify(j) && s->admit(j) && s->collect(j);
}

int pb_ends_open(pb_case *c, const pb_steps *steps)
{
	pb_ends *e = c->ctx;
	e->steps = steps;
	c->most = MOST;
	c->out_len = c->row->output ? PB_PROOF : c->size;
	return shake(c, steps, &e->joint);
}

int pb_ends_unfit(pb_case *c)
{
	if (c->row->output ? !c->given : c->size != 0)
		return 0;
	pb_fail(c, c->given ? "the library draws what a handshake is made of" : "no record is without data");
	return c->given ? -1 + PB_UNFIT : -1;
}

int pb_is_tls(const pb_row *row)
{
	return strncmp(row->algorithm, "tls13-", 6) == 0;
}

void pb_ends_handshake(pb_case *c, uint64_t n)
{
	pb_ends *e = c->ctx;
	const pb_steps *s = e->steps;
	uint64_t bad = 0;
	for (; n; n--) {
		drop(s, &e->joint);
		bad += !shake(c, s, &e->joint);
	}
	c->failures += bad;
}

/* Both ends export one secret, and data come back. Shows the secret, then how many bytes went to the server and to the
 * client, and round trips before the client's data: four bytes each, the most significant first. */
static void prove(pb_case *c, const pb_steps *s, pb_joint *j)
{
	uint8_t other[PB_SECRET], there[DATA], back[DATA];
	uint64_t facts[] = {0, 0, 1};
	size_t size = c->size < DATA ? c->size : DATA;
	int proven = j->client && j->server;
	if (proven)
		s->sent(j, &facts[0], &facts[1]);
	proven = proven && s->export(c, j->client, c->out) && s->export(c, j->server, other) &&
		 memcmp(c->out, other, PB_SECRET) == 0;
	const uint8_t *data = size ? c->in : other;
	size = size ? size : PB_SECRET;
	proven = proven && s->put(j->client, data, size) && s->get(j->server, there, size) &&
		 s->put(j->server, there, size) && s->get(j->client, back, size) &&
		 memcmp(back, data, size) == 0;
	c->failures += !proven;
	c->out_len = PB_PROOF;
	for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
		for (size_t k = 0; k < FACT; k++)
			c->out[PB_SECRET + FACT * i + k] = (uint8_t)(facts[i] >> (8 * (FACT - 1 - k)));
	if (!proven && !c->error[0])
		pb_fail(c, "the two ends of a connection do not understand each other");
}

void pb_ends_show(pb_case *c)
{
	pb_ends *e = c->ctx;
	prove(c, e->steps, &e->joint);
	drop(e->steps, &e->joint); /* nothing is proven twice */
}

static int room_for(pb_ends *e, uint64_t calls)
{
	if (calls <= e->count)
		return 1;
	slot *more = calls > SLOTS ? NULL : realloc(e->slots, calls * sizeof *more);
	if (!more)
		return 0;
	memset(more + e->count, 0, (calls - e->count) * sizeof *more);
	e->slots = more;
	e->count = calls;
	return 1;
}

/* What the last call began goes on. */
static void move_on(const pb_steps *s, slot *at)
{
	drop(s, &at->last);
	at->last = at->middle;
	at->middle = at->first;
	memset(&at->first, 0, sizeof at->first);
	at->used = 0;
}

/* Before calls of a client the server has admitted `last`, and has answered `middle`. */
static int ready_for_client(pb_case *c, const pb_steps *s, slot *at)
{
	if (at->used) {
		move_on(s, at);
		return s->admit(&at->last) && s->answer(c, &at->middle);
	}
	return (at->last.client || (s->greet(c, &at->last) && s->answer(c, &at->last) &&
				    s->verify(&at->last) && s->admit(&at->last))) &&
	       (at->middle.client || (s->greet(c, &at->middle) && s->answer(c, &at->middle)));
}

/* Before those of a server the client of `middle` is done, and that of `first` has said hello. */
static int ready_for_server(pb_case *c, const pb_steps *s, slot *at)
{
	if (at->used) {
		move_on(s, at);
		return s->verify(&at->middle) && s->greet(c, &at->first);
	}
	return (at->last.client || shake(c, s, &at->last)) &&
	       (at->middle.client ||
		(s->greet(c, &at->middle) && s->answer(c, &at->middle) && s->verify(&at->middle))) &&
	       (at->first.client || s->greet(c, &at->first));
}

static void begin(pb_case *c, int (*ready)(pb_case *, const pb_steps *, slot *))
{
	pb_ends *e = c->ctx;
	uint64_t calls = c->calls ? c->calls : 1;
	int made = room_for(e, calls);
	for (uint64_t i = 0; made && i < calls; i++)
		if (!ready(c, e->steps, &e->slots[i])) {
			empty_slot(e->steps, &e->slots[i]);
			made = 0;
		}
	c->failures += !made;
	if (!made && !c->error[0])
		pb_fail(c, "the other end of a connection refused it");
}

void pb_ends_begin_client(pb_case *c)
{
	begin(c, ready_for_client);
}

void pb_ends_begin_server(pb_case *c)
{
	begin(c, ready_for_server);
}

void pb_ends_client(pb_case *c, uint64_t n)
{
	pb_ends *e = c->ctx;
	const pb_steps *s = e->steps;
	uint64_t bad = n > e->count ? n - e->count : 0;
	n -= bad;
	for (slot *at = e->slots; n; n--, at++) {
		at->used = 1;
		bad += !s->collect(&at->last);
		s->free_end(at->last.client);
		at->last.client = NULL;
		bad += !s->verify(&at->middle) || !s->greet(c, &at->first);
	}
	c->failures += bad;
}

void pb_ends_server(pb_case *c, uint64_t n)
{
	pb_ends *e = c->ctx;
	const pb_steps *s = e->steps;
	uint64_t bad = n > e->count ? n - e->count : 0;
	n -= bad;
	for (slot *at = e->slots; n; n--, at++) {
		at->used = 1;
		s->free_end(at->last.server);
		at->last.server = NULL;
		bad += !s->admit(&at->middle) || !s->answer(c, &at->first);
	}
	c->failures += bad;
}

/* The last call's connection is used up by the proof, and its slot is filled again. */
void pb_ends_show_end(pb_case *c)
{
	pb_ends *e = c->ctx;
	const pb_steps *s = e->steps;
	uint64_t last = c->calls ? c->calls - 1 : 0;
	slot none = {0}, *at = last < e->count ? &e->slots[last] : &none;
	if (at->used && !c->failures && (at->last.client || s->admit(&at->middle)) && s->collect(&at->middle))
		prove(c, s, &at->middle);
	else
		prove(c, s, &none.middle);
	empty_slot(s, at);
}

static void read_waiting(pb_case *c)
{
	pb_ends *e = c->ctx;
	for (; e->waiting; e->waiting--)
		c->failures += !e->steps->get(e->joint.server, c->out, c->size);
}

void pb_ends_begin_send(pb_case *c)
{
	read_waiting(c);
}

void pb_ends_show_sent(pb_case *c)
{
	read_waiting(c);
}

void pb_ends_begin_receive(pb_case *c)
{
	pb_ends *e = c->ctx;
	read_waiting(c);
	for (uint64_t i = 0; i < (c->calls ? c->calls : 1); i++, e->waiting++)
		c->failures += !e->steps->put(e->joint.client, c->in, c->size);
}

void pb_ends_transfer(pb_case *c, uint64_t n)
{
	const pb_ends *e = c->ctx;
	const pb_steps *s = e->steps;
	uint64_t bad = 0;
	for (; n; n--)
		bad += !s->put(e->joint.client, c->in, c->size) || !s->get(e->joint.server, c->out, c->size);
	c->failures += bad;
}

void pb_ends_send(pb_case *c, uint64_t n)
{
	pb_ends *e = c->ctx;
	uint64_t bad = 0;
	for (e->waiting += n; n; n--)
		bad += !e->steps->put(e->joint.client, c->in, c->size);
	c->failures += bad;
}

void pb_ends_receive(pb_case *c, uint64_t n)
{
	pb_ends *e = c->ctx;
	uint64_t bad = 0;
	for (e->waiting -= n < e->waiting ? n : e->waiting; n; n--)
		bad += !e->steps->get(e->joint.server, c->out, c->size);
	c->failures += bad;
}
