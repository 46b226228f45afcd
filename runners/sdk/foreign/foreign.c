/* See foreign.h. */
#include "foreign.h"

#include <ends.h>
#include <fresh.h>

#include <stdlib.h>
#include <string.h>

enum { MOST_VARIANTS = 5 };

static const pb_foreign *language;
static pb_row *rows;
static pb_family *families; /* one a row, because the texts of the calls differ */
static pb_variant (*variants)[MOST_VARIANTS];

const char pb_foreign_rests;

typedef struct copies {
	struct copies *next;
	const pb_case *of;
	void *in, *key, *nonce, *message;
} copies;
static copies *known;

static copies **copies_of(const pb_case *c)
{
	copies **at = &known;
	while (*at && (*at)->of != c)
		at = &(*at)->next;
	return at;
}

void pb_foreign_copies(pb_case *c, void *in, void *key, void *nonce, void *message)
{
	copies **at = copies_of(c), *own = *at ? *at : calloc(1, sizeof *own);
	if (own)
		*own = (copies){*at ? own->next : known, c, in, key, nonce, message};
	if (own && !*at)
		known = own;
}

static void take_over(void *to, const uint8_t *from, size_t length)
{
	if (to && length)
		memcpy(to, from, length);
}

static const pb_variant of_kind[PB_KINDS][MOST_VARIANTS];

static int is_connection(const pb_case *c)
{
	return c->row->param == of_kind[PB_HANDSHAKE] || c->row->param == of_kind[PB_RECORDS];
}

static int refresh(pb_case *c)
{
	if (is_connection(c))
		return 0;
	const copies *own = *copies_of(c);
	if (!own)
		return language->in_place;
	take_over(own->in, c->in, c->in_len);
	take_over(own->key, c->key[0], c->key_len);
	take_over(own->nonce, c->nonce[0], c->nonce_len);
	take_over(own->message, c->message[0], c->size);
	return 1;
}

static int connect_ends(pb_case *c)
{
	int unfit = pb_ends_unfit(c);
	if (unfit)
		return unfit;
	if ((c->ctx = calloc(1, sizeof(pb_ends))) && language->open(c, (int)(c->row - rows)) &&
	    pb_ends_open(c, language->steps))
		return 0;
	return c->error[0] ? -1 : pb_fail(c, "no connection");
}

pb_walk pb_foreign_walk;

static void walk(pb_case *c, const pb_variant *work, uint64_t n, const uint8_t *area, size_t bytes,
		 size_t *at)
{
	pb_foreign_walk = (pb_walk){area, bytes, *at};
	work->loop(c, n);
	*at = pb_foreign_walk.at;
	pb_foreign_walk.area = NULL;
}

static uint8_t *data_of(pb_case *c)
{
	const copies *own = *copies_of(c);
	return own ? own->in : language->in_place ? (uint8_t *)c->in : NULL;
}

static int open_case(pb_case *c)
{
	if (is_connection(c))
		return connect_ends(c);
	if (language->open(c, (int)(c->row - rows)))
		return 0;
	return c->error[0] ? -1 : pb_fail(c, "the library refused the key");
}

void pb_foreign_say(pb_case *c, const char *words)
{
	pb_fail(c, "%s", words);
}

static void close_case(pb_case *c)
{
	copies **at = copies_of(c), *gone = *at;
	if (gone)
		*at = gone->next;
	free(gone);
	if (is_connection(c)) {
		pb_ends_close(c);
		free(c->ctx);
		c->ctx = NULL;
	}
	language->close(c);
}

/* Entering a language for nothing would be dear beside the short calls of an audit. */
static int rests(const pb_case *c)
{
	return pb_auditing && c->ctx == &pb_foreign_rests;
}

#define LOOP(name, call)                                                                                     \
	static void name(pb_case *c, uint64_t n)                                                             \
	{                                                                                                    \
		language->run(c, n, call);                                                                   \
	}                                                                                                    \
	static void begin_##name(pb_case *c)                                                                 \
	{                                                                                                    \
		if (language->begin && !rests(c))                                                            \
			language->begin(c, call);                                                            \
	}

LOOP(message, PB_MESSAGE)
LOOP(rekey, PB_REKEY)
LOOP(inverse, PB_INVERSE)
LOOP(inverse_rekey, PB_INVERSE_REKEY)

static void show(pb_case *c)
{
	if (language->show && !rests(c))
		language->show(c);
}

static void empty(void)
{
	language->run(NULL, 0, PB_MESSAGE);
}

#define ROW(operation, contract, loop)                                                                       \
	{                                                                                                    \
		operation, contract, NULL, begin_##loop, loop, show                                          \
	}

static const pb_variant of_kind[PB_KINDS][MOST_VARIANTS] = {
	[PB_HASH] = {ROW("digest", "oneshot/1", message)},
	[PB_MAC] = {ROW("mac", "message/1", message), ROW("mac", "rekey/1", rekey)},
	[PB_STREAM] = {ROW("encrypt", "message/1", message), ROW("encrypt", "rekey/1", rekey),
		       ROW("decrypt", "message/1", message), ROW("decrypt", "rekey/1", rekey)},
	[PB_AEAD] = {ROW("seal", "message/1", message), ROW("seal", "rekey/1", rekey),
		     ROW("open", "message/1", inverse), ROW("open", "rekey/1", inverse_rekey)},
	[PB_SIGNATURE] = {ROW("sign", "pk/1", message), ROW("verify", "pk/1", inverse)},
	[PB_AGREEMENT] = {ROW("derive", "pk/1", message)},
	[PB_KEM] = {ROW("encapsulate", "pk/1", message), ROW("decapsulate", "pk/1", inverse)},
	[PB_CHAIN] = {ROW("run", "stream/1", message)},
	[PB_LETTER] = {ROW("seal", "letter/1", message), ROW("open", "letter/1", inverse)},
	[PB_PAIRS] = {ROW("keygen", "draw/1", message)},
	[PB_NEW_PAIR] = {ROW("keygen", "pk/1", message)},
	[PB_EXPAND] = {ROW("expand", "expand/1", message)},
	[PB_HANDSHAKE] = {PB_HANDSHAKE_VARIANTS("", "", "")},
	[PB_RECORDS] = {PB_RECORD_VARIANTS("", "")},
	[PB_RANDOM] = {ROW("draw", "random/1", message)},
	[PB_ROUTINE] = {ROW("call", "routine/1", message)},
};

void pb_foreign_rows(int count)
{
	rows = calloc((size_t)count + 1, sizeof *rows);
	families = calloc((size_t)count, sizeof *families);
	variants = calloc((size_t)count, sizeof *variants);
	if (!rows || !families || !variants)
		abort();
}

void pb_foreign_row(int index, const char *algorithm, int kind, const char *calls, unsigned key,
		    unsigned nonce, unsigned output)
{
	memcpy(variants[index], of_kind[kind], sizeof variants[index]);
	for (pb_variant *v = variants[index]; v->operation; v++)
		v->calls = strdup(calls);
	families[index] = (pb_family){open_case, close_case, variants[index]};
	rows[index] = (pb_row){strdup(algorithm), &families[index], of_kind[kind],
			       (uint16_t)key,     (uint16_t)nonce,  1,
			       (uint16_t)output};
}

static const char *version_text, *features_text;

static const char *version(void)
{
	return version_text;
}

static const char *cpu_features(void)
{
	return features_text;
}

/* Tiers are brought about by the environment that the orchestrator sets. */
static int start(const char *tier)
{
	(void)tier;
	return 0;
}

int pb_foreign_main(const pb_foreign *with, const char *name, const char *library, const char *license,
		    const char *the_version, const char *features)
{
	static const pb_row *tables[2];
	static pb_runner runner;
	static pb_fresh_ways ways;
	static char *arguments[] = {"runner", NULL};
	language = with;
	ways = (pb_fresh_ways){data_of, with->walks ? walk : NULL};
	pb_fresh_language = &ways;
	tables[0] = rows;
	version_text = strdup(the_version);
	features_text = strdup(features);
	runner = (pb_runner){
		.name = strdup(name),
		.library = strdup(library),
		.license = strdup(license),
		.version = version,
		.cpu_features = cpu_features,
		.object = (const void *)pb_foreign_main,
		.start = start,
		.tables = tables,
		.empty = empty,
		.refresh = refresh,
	};
	return pb_runner_main(&runner, 1, arguments);
}

uint64_t pb_chain_value, pb_chain_steps;

void pb_chain_go(void)
{
	pb_chain_value = pb_chain(pb_chain_value, pb_chain_steps);
}

uint64_t pb_chain(uint64_t x, uint64_t steps)
{
	const uint64_t factor = 0xbf58476d1ce4e5b9;
	for (uint64_t i = 0; i < steps; i++) {
		x *= factor;
		__asm__ volatile("" : "+r"(x));
	}
	return x;
}
