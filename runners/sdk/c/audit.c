/* audit: calls on data that nobody could know before, each made from what the last one gave (SPEC section 11). */
#include "material.h"
#include "serve.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

int pb_auditing;

enum { TAIL = 64, PAGE = 4096, CUT_ONE_IN = 8 };

typedef struct chain {
	pb_prepared *p, *producer; /* of what `open` takes; NULL for all others */
	uint8_t *block,
		*data;  /* the data of the next call, `offset` from a page boundary, or in the case's place */
	uint8_t *first; /* that of the first call, where the chain begins anew every `repeat` calls */
	uint64_t value, forged, refused, failures;
	size_t length;             /* of the last output; that of a forgery is empty */
	int afresh;                /* the language copies its material when it opens a case, and only then */
	int (*refresh)(pb_case *); /* or takes it over from the case's places; else NULL */
	uint8_t *own;              /* what was in the place of the data then */
	int control;               /* all but the call that is timed */
	uint64_t seed, repeat;
} chain;

/* Operations whose output follows from key, nonce and data, or whose cost does. */
static int can_be_chained(const char *operation)
{
	static const char *const known[] = {"encrypt", "decrypt", "seal", "open", "digest",  "squeeze", "mac",
					    "expand",  "hash",    "sign", "run",  "permute", "transfer"};
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (strcmp(known[i], operation) == 0)
			return 1;
	return 0;
}

/* What is sealed to a public key has randomness of its own, so no chain repeats; and of many messages at once one alone is
 * dearer than it is among them. */
static int unlike_alone(const char *contract)
{
	return strncmp(contract, "letter/", 7) == 0 || strncmp(contract, "many/", 5) == 0;
}

static int sets_key(const char *contract)
{
	return strcmp(contract, "rekey/1") == 0 || strcmp(contract, "setup/1") == 0;
}

static uint64_t tail(uint64_t value, const uint8_t *bytes, size_t length)
{
	size_t last = length < TAIL ? length : TAIL;
	return pb_words(value, bytes + length - last, last);
}

static void renew(const chain *k, pb_prepared *p)
{
	if (p->c.nonce_len)
		pb_stream(k->value, "nonce/0", (uint8_t *)p->c.nonce[0], p->c.nonce_len);
	if (sets_key(p->variant->contract))
		pb_stream(k->value, "key/0", (uint8_t *)p->c.key[0], p->c.key_len);
}

static void replace_data(const chain *k, const uint8_t *output, size_t length)
{
	memcpy(k->data, output, length < k->p->c.size ? length : k->p->c.size);
}

/* `n` calls on the chain's data, one or none. Returns 0 when the language cannot open a case again. */
static int call(chain *k, pb_prepared *p, uint64_t n)
{
	pb_case *c = &p->c;
	if (k->refresh) {
		if (!k->refresh(c))
			return 0;
	} else if (k->afresh) {
		c->row->family->close(c);
		if (c->row->family->open(c) != 0)
			return 0;
	}
	if (n || !k->refresh) {
		pb_case_run(p, n);
		return 1;
	}
	c->failures = 0; /* a language is entered all the same, which is no part of a call */
	pb_case_begin(p, 1);
	p->variant->loop(c, 0);
	if (p->variant->show)
		p->variant->show(c);
	return 1;
}

static int plain_link(chain *k)
{
	pb_prepared *p = k->p;
	renew(k, p);
	if (!call(k, p, !k->control))
		return 0;
	k->failures += k->control ? 0 : p->c.failures;
	k->length = p->c.out_len;
	replace_data(k, p->c.out, k->length);
	k->value = tail(k->value, p->c.out, k->length);
	return 1;
}

/* Seal, forge now and then, open. The sealed text is the data of the next call. */
static int opened_link(chain *k)
{
	pb_prepared *p = k->p, *seal = k->producer;
	uint64_t before = k->value;
	if (sets_key(p->variant->contract)) {
		pb_stream(k->value, "key/0", (uint8_t *)p->c.key[0], p->c.key_len);
		memcpy((uint8_t *)seal->c.key[0], p->c.key[0], p->c.key_len);
	}
	pb_stream(k->value, "nonce/0", (uint8_t *)p->c.nonce[0], p->c.nonce_len);
	memcpy((uint8_t *)seal->c.nonce[0], p->c.nonce[0], p->c.nonce_len);
	if (!call(k, seal, 1))
		return 0;
	k->failures += seal->c.failures;
	memcpy(p->own_input, seal->c.out, p->c.in_len);
	replace_data(k, p->own_input, p->c.in_len);
	k->value = tail(k->value, p->own_input, p->c.in_len);
	int forge = !k->control && before % CUT_ONE_IN == 0;
	if (forge)
		p->own_input[(before >> 8) % p->c.in_len] ^= 1;
	if (!call(k, p, !k->control))
		return 0;
	k->length = forge ? 0 : p->c.out_len;
	if (forge) {
		k->forged++;
		k->refused += p->c.failures != 0;
	} else {
		k->failures += k->control ? 0 : p->c.failures;
		k->value = tail(k->value, p->c.out, p->c.out_len);
	}
	return 1;
}

/* Where the case's own material was, so that it can be used afterwards as before. */
static uint8_t *copy(const uint8_t *bytes, size_t length)
{
	uint8_t *kept = malloc(length + 1);
	if (kept && length)
		memcpy(kept, bytes, length);
	return kept;
}

static const char *make_ready(chain *k, pb_prepared *producer, char *words)
{
	pb_prepared *p = k->p;
	if (strcmp(p->variant->operation, "open") == 0) {
		const pb_variant *seal = pb_variant_find(p->c.row, "seal", p->variant->contract);
		if (!seal)
			return "unsupported";
		const char *code = pb_case_open(producer, p->c.row, seal, p->c.size, p->seed, p->offset, NULL,
						NULL, words);
		if (code)
			return code;
		k->producer = producer;
	}
	if (k->refresh) {
		k->data = (uint8_t *)(k->producer ? producer : p)->c.in;
		k->own = copy(k->data, p->c.size);
	} else {
		k->block = aligned_alloc(PAGE, (p->offset + p->c.size + 2 * PAGE) / PAGE * PAGE);
		k->data = k->block + p->offset;
	}
	if (!k->block && !k->own)
		return "bad-size";
	pb_stream(k->value, "input", k->data, p->c.size);
	return k->repeat && !(k->first = copy(k->data, p->c.size)) ? "bad-size" : NULL;
}

static int run(chain *k, uint64_t calls)
{
	pb_case *c = &k->p->c, *taker = k->producer ? &k->producer->c : c;
	const uint8_t *in = c->in, *message = c->message[0];
	uint8_t *nonce = copy(c->nonce[0], c->nonce_len), *key = copy(c->key[0], c->key_len);
	uint8_t *sealed = k->producer ? copy(k->p->own_input, c->in_len) : NULL;
	int fine = nonce && key && (sealed || !k->producer);
	taker->in = taker->message[0] = k->data;
	for (uint64_t i = 0; fine && i < calls; i++) {
		if (k->repeat && i % k->repeat == 0) {
			k->value = k->seed;
			memcpy(k->data, k->first, c->size);
		}
		fine = k->producer ? opened_link(k) : plain_link(k);
	}
	if (nonce)
		memcpy((uint8_t *)c->nonce[0], nonce, c->nonce_len);
	if (key)
		memcpy((uint8_t *)c->key[0], key, c->key_len);
	free(nonce);
	free(key);
	if (sealed)
		memcpy(k->p->own_input, sealed, c->in_len);
	free(sealed);
	if (!k->producer) {
		c->in = in;
		c->message[0] = message;
	}
	if (k->own)
		memcpy(k->data, k->own, c->size);
	if (k->refresh) {
		fine &= k->refresh(c);
	} else if (k->afresh) {
		c->row->family->close(c);
		fine &= c->row->family->open(c) == 0;
	}
	return fine;
}

void pb_audit(pb_server *s, const pb_request *q)
{
	pb_prepared *p = pb_find_handle(s, q), producer;
	char words[256] = "out of memory";
	int64_t calls = pb_get_integer(q, "calls", 0);
	if (!p)
		return;
	if (calls < 1) {
		pb_refuse(s, "malformed", "audit needs calls, 1 or more");
		return;
	}
	if (!can_be_chained(p->variant->operation) || unlike_alone(p->variant->contract) || p->c.given) {
		pb_refuse(s, "unsupported", "calls of this operation cannot be chained");
		return;
	}
	int64_t repeat = pb_get_integer(q, "repeat", 0);
	uint64_t seed = pb_get_unsigned(q, "seed", 0);
	chain k = {.p = p,
		   .value = seed,
		   .seed = seed,
		   .repeat = repeat > 0 ? (uint64_t)repeat : 0,
		   .refresh = s->runner->refresh && s->runner->refresh(&p->c) ? s->runner->refresh : NULL,
		   .control = pb_get_truth(q, "control")};
	k.afresh = s->runner->empty && !k.refresh;
	const char *code = make_ready(&k, &producer, words);
	if (!code) {
		pb_case_begin(p, 1);
		pb_auditing = 1;
		if (!run(&k, (uint64_t)calls))
			code = "library";
		pb_auditing = 0;
	}
	if (code) {
		pb_refuse(s, code, words);
	} else {
		pb_begin_answer(s);
		pb_text_add(&s->answer,
			    ",\"length\":%zu,\"digest\":\"%016" PRIx64 "\",\"failures\":%" PRIu64
			    ",\"forged\":%" PRIu64 ",\"refused\":%" PRIu64
			    ",\"afresh\":%s,\"control\":%s,\"repeat\":%" PRIu64 "}",
			    k.length, pb_words(k.value, p->c.out, k.length), k.failures, k.forged, k.refused,
			    k.afresh ? "true" : "false", k.control ? "true" : "false", k.repeat);
	}
	if (k.producer)
		pb_case_close(k.producer);
	free(k.block);
	free(k.own);
	free(k.first);
}
