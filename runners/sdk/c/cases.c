#include "cases.h"
#include "material.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS = 256, AAD = 16, OUTPUT_ROOM = 24576 };

static const struct {
	const char *operation, *inverse, *producer;
} operations[] = {
	{"encrypt", "decrypt", NULL},
	{"decrypt", "encrypt", NULL},
	{"seal", "open", NULL},
	{"open", "seal", "seal"},
	{"sign", "verify", NULL},
	{"verify", NULL, "sign"},
	{"encapsulate", "decapsulate", NULL},
	{"decapsulate", NULL, "encapsulate"},
};

static const char *inverse_of(const char *operation)
{
	for (size_t i = 0; i < sizeof operations / sizeof *operations; i++)
		if (strcmp(operations[i].operation, operation) == 0)
			return operations[i].inverse;
	return NULL;
}

/* The operation that makes this one's input, e.g. seal for open; NULL if the seeded data will do. */
static const char *producer_of(const char *operation)
{
	for (size_t i = 0; i < sizeof operations / sizeof *operations; i++)
		if (strcmp(operations[i].operation, operation) == 0)
			return operations[i].producer;
	return NULL;
}

int pb_fail(pb_case *c, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	vsnprintf(c->error, sizeof c->error, format, args);
	va_end(args);
	return -1;
}

const pb_variant *pb_variant_find(const pb_row *row, const char *operation, const char *contract)
{
	for (const pb_variant *v = row->family->variants; v->operation; v++)
		if (strcmp(v->operation, operation) == 0 && strcmp(v->contract, contract) == 0)
			return v;
	return NULL;
}

static int is(const char *operation, const char *name)
{
	return strcmp(operation, name) == 0;
}

static size_t grain = 1;

void pb_case_align(unsigned bytes)
{
	grain = bytes ? bytes : 1;
}

static size_t aligned(size_t length)
{
	return (length + grain - 1) / grain * grain;
}

/* Memory for an input of the case's own, for free(). */
static uint8_t *input_room(size_t bytes)
{
	return grain > 1 ? aligned_alloc(grain, aligned(bytes)) : malloc(bytes);
}

/* Keys, then nonces, then additional data, in one block of memory. Vectors of key derivation and of password
 * hashes come with keys and salts of all lengths. */
static int lay_out_material(pb_prepared *p, const pb_vector *vector)
{
	pb_case *c = &p->c;
	size_t key_len = c->row->key, nonce_len = c->row->nonce;
	const char *operation = p->variant->operation;
	if (vector && is(operation, "expand"))
		key_len = vector->key_len;
	if (vector && (is(operation, "expand") || is(operation, "hash")))
		nonce_len = vector->nonce_len;
	size_t aad_len = vector ? vector->aad_len : AAD;
	p->material = calloc(1, PB_RING * (aligned(key_len) + aligned(nonce_len)) + aad_len + grain);
	if (!p->material)
		return -1;
	uint8_t *at = p->material + (aligned((uintptr_t)p->material) - (uintptr_t)p->material);
	for (int i = 0; i < PB_RING; i++) {
		char label[24];
		snprintf(label, sizeof label, "key/%d", i);
		if (vector && vector->key_len)
			memcpy(at, vector->key, key_len);
		else
			pb_stream(p->seed, label, at, key_len);
		c->key[i] = at;
		at += aligned(key_len);
		snprintf(label, sizeof label, "nonce/%d", i);
		if (vector && vector->nonce_len)
			memcpy(at, vector->nonce, nonce_len);
		else
			pb_stream(p->seed, label, at, nonce_len);
		c->nonce[i] = at;
		at += aligned(nonce_len);
	}
	if (vector && aad_len)
		memcpy(at, vector->aad, aad_len);
	else if (!vector)
		pb_stream(p->seed, "aad", at, aad_len);
	c->aad = at;
	c->key_len = key_len;
	c->nonce_len = nonce_len;
	c->aad_len = aad_len;
	return 0;
}

static const char *say(char *words, const char *code, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	vsnprintf(words, WORDS, format, args);
	va_end(args);
	return code;
}

static const char *check_lengths(const pb_row *row, const char *operation, size_t size,
				 const pb_vector *vector, int takes_tag, char *words)
{
	int expand = is(operation, "expand");
	if (vector && vector->key_len && vector->key_len != row->key && !expand)
		return say(words, "unsupported", "a key of %zu bytes; this row takes %u", vector->key_len,
			   row->key);
	if (vector && vector->nonce_len && vector->nonce_len != row->nonce && !expand &&
	    !is(operation, "hash"))
		return say(words, "unsupported", "a nonce of %zu bytes; this row takes %u", vector->nonce_len,
			   row->nonce);
	if (vector && takes_tag && vector->input_len < row->output)
		return say(words, "unsupported", "an input that is shorter than a tag");
	if (size % row->multiple)
		return say(words, vector ? "unsupported" : "bad-size", "size %zu is no multiple of %u bytes",
			   size, row->multiple);
	return NULL;
}

/* The input of open and verify: what the producing operation gives for call 0, behind the data where it must
 * be. */
static const char *produce_input(pb_prepared *p, const char *producer, char *words)
{
	pb_prepared other;
	const pb_row *row = p->c.row;
	const pb_variant *variant = pb_variant_find(row, producer, p->variant->contract);
	int signature = is(producer, "sign");
	if (!variant)
		variant = pb_variant_find(row, producer, PB_UNTIMED);
	if (!variant)
		return say(words, "unsupported", "%s has no %s under %s", row->algorithm, producer,
			   p->variant->contract);
	const char *code =
		pb_case_open(&other, row, variant, p->c.size, p->seed, p->offset, p->input_path, NULL, words);
	if (code)
		return code;
	pb_case_run(&other, 1);
	if (other.c.failures)
		code = say(words, "library", "%s failed while making the input: %s", producer, other.c.error);
	else {
		p->c.in_len = signature ? p->c.size + other.c.out_len : other.c.out_len;
		if (is(producer, "encapsulate"))
			p->c.in_len -= row->output; /* the secret behind the ciphertext */
		p->own_input = input_room(p->c.in_len + 1);
		if (!p->own_input)
			code = say(words, "bad-size", "out of memory");
		else if (signature) {
			memcpy(p->own_input, other.c.in, p->c.size);
			memcpy(p->own_input + p->c.size, other.c.out, other.c.out_len);
		} else {
			memcpy(p->own_input, other.c.out, p->c.in_len);
		}
		p->c.in = p->own_input;
	}
	pb_case_close(&other);
	return code;
}

static const char *find_input(pb_prepared *p, const pb_vector *vector, char *words)
{
	const char *producer = producer_of(p->variant->operation);
	if (vector) {
		p->own_input = input_room(vector->input_len + 1);
		if (!p->own_input)
			return say(words, "bad-size", "out of memory");
		if (vector->input_len)
			memcpy(p->own_input, vector->input, vector->input_len);
		p->c.in = p->own_input;
		p->c.in_len = vector->input_len;
		return NULL;
	}
	int short_file;
	p->c.in = pb_input(p->seed, p->input_path, p->c.size, p->offset, &short_file);
	p->c.in_len = p->c.size;
	if (!p->c.in && p->input_path)
		return say(words, "input", "%.120s: %s", p->input_path,
			   short_file && !errno ? "shorter than the size asked for" : strerror(errno));
	if (!p->c.in)
		return say(words, "bad-size", "no memory for %zu bytes of input", p->c.size);
	return producer ? produce_input(p, producer, words) : NULL;
}

void pb_case_apart(size_t bytes)
{
	pb_output_apart(bytes / grain * grain);
}

/* What sign works on: message 0 is the data, the others are streams of their own. */
static int lay_out_messages(pb_prepared *p)
{
	for (int i = 0; i < PB_RING; i++)
		p->c.message[i] = p->c.in;
	if (p->c.given || !is(p->variant->operation, "sign"))
		return 0;
	size_t apart = aligned(p->c.size);
	p->messages = input_room((PB_RING - 1) * apart + 1);
	for (int i = 1; p->messages && i < PB_RING; i++) {
		char label[24];
		uint8_t *at = p->messages + (size_t)(i - 1) * apart;
		snprintf(label, sizeof label, "message/%d", i);
		pb_stream(p->seed, label, at, p->c.size);
		p->c.message[i] = at;
	}
	return p->messages ? 0 : -1;
}

/* Sixteen messages of one key tell how long these take. Where candidates are rejected, the mean of others may be a fifth
 * away, however well these are timed. */
int pb_case_vary_begin(pb_prepared *p)
{
	size_t apart = aligned(p->c.size);
	if (!p->messages || p->c.turns < 2 || !p->c.size)
		return 0;
	if (!p->varied && !(p->varied = input_room(PB_RING * apart + 1)))
		return 0;
	for (size_t i = 0; i < PB_RING; i++) {
		memcpy(p->varied + i * apart, p->c.message[i], p->c.size);
		p->c.message[i] = p->varied + i * apart;
	}
	return 1;
}

enum { VARIED = 32 }; /* bytes at the beginning of a message: all of it would fill the caches */

void pb_case_vary_step(pb_prepared *p, uint64_t chance)
{
	size_t apart = aligned(p->c.size), varied = p->c.size < VARIED ? p->c.size : VARIED;
	uint8_t drawn[PB_RING * VARIED];
	pb_stream(chance, "varied", drawn, sizeof drawn);
	for (size_t i = 0; i < PB_RING; i++)
		memcpy(p->varied + i * apart, drawn + i * VARIED, varied);
}

void pb_case_vary_end(pb_prepared *p)
{
	size_t apart = aligned(p->c.size);
	p->c.message[0] = p->c.in;
	for (size_t i = 1; i < PB_RING; i++)
		p->c.message[i] = p->messages + (i - 1) * apart;
}

static void free_case(pb_prepared *p)
{
	free(p->own_input);
	free(p->material);
	free(p->messages);
	free(p->varied);
	free(p->input_path);
	memset(p, 0, sizeof *p);
}

const char *pb_case_open(pb_prepared *p, const pb_row *row, const pb_variant *variant, size_t size,
			 uint64_t seed, size_t offset, const char *input_path, const pb_vector *vector,
			 char *words)
{
	memset(p, 0, sizeof *p);
	p->variant = variant;
	p->seed = seed;
	p->offset = offset = offset / grain * grain;
	p->c.row = row;
	p->c.given = vector != NULL;
	int takes_tag = is(variant->operation, "open") || is(variant->operation, "verify");
	if (vector)
		size = takes_tag ? vector->input_len - row->output : vector->input_len;
	const char *code = check_lengths(row, variant->operation, size, vector, takes_tag, words);
	if (code)
		return code;
	p->c.size = p->c.out_len = size;
	p->c.inverse =
		is(variant->operation, "decrypt") || is(variant->operation, "decapsulate") || takes_tag;
	/* the digest of a large file needs no room for as much */
	int sums = row->output && (is(variant->operation, "digest") || is(variant->operation, "mac"));
	p->c.out = pb_output((sums ? 0 : size) + row->output + OUTPUT_ROOM, offset);
	p->input_path = input_path ? strdup(input_path) : NULL;
	if (!p->c.out || (input_path && !p->input_path) || lay_out_material(p, vector) != 0)
		code = say(words, "bad-size", "no memory for %zu bytes", size);
	if (!code)
		code = find_input(p, vector, words);
	if (!code && lay_out_messages(p) != 0)
		code = say(words, "bad-size", "no memory for messages of %zu bytes", size);
	int opened = code ? 0 : row->family->open(&p->c);
	if (opened != 0)
		code = say(words, opened < -1 && vector ? "unsupported" : "library", "%s",
			   p->c.error[0] ? p->c.error : "could not be prepared");
	p->opened = !code;
	if (code)
		free_case(p);
	return code;
}

static void close_family(pb_prepared *p)
{
	if (p->opened)
		p->c.row->family->close(&p->c);
	p->opened = 0;
}

int pb_case_reopen(pb_prepared *p)
{
	close_family(p);
	p->c.out_len = p->c.size;
	p->opened = p->c.row->family->open(&p->c) == 0;
	return p->opened;
}

void pb_case_close(pb_prepared *p)
{
	close_family(p);
	free_case(p);
}

void pb_case_begin(pb_prepared *p, uint64_t n)
{
	p->c.calls = n;
	if (p->variant->begin)
		p->variant->begin(&p->c);
}

void pb_case_run(pb_prepared *p, uint64_t n)
{
	p->c.failures = 0;
	p->c.error[0] = '\0';
	pb_case_begin(p, n);
	if (n)
		p->variant->loop(&p->c, n);
	if (p->variant->show)
		p->variant->show(&p->c);
}

const char *pb_case_round_trip(pb_prepared *p, int *passed, char *words)
{
	const char *inverse_name = inverse_of(p->variant->operation);
	const pb_variant *inverse =
		inverse_name ? pb_variant_find(p->c.row, inverse_name, p->variant->contract) : NULL;
	int again = strncmp(p->variant->contract, "letter/", 7) == 0 && is(p->variant->operation, "open");
	if (!inverse || again ||
	    strcmp(p->variant->contract, "setup/1") == 0) /* no letter is sealed alike twice */
		return say(words, "unsupported", "%s has no inverse here", p->variant->operation);
	pb_case_run(p, 1);
	if (p->c.failures)
		return p->c.error[0] ? say(words, "library", "%s", p->c.error)
				     : say(words, "library", "%s failed", p->variant->operation);

	/* The way back works on the output as its input; `verify` needs the message in front of the
	 * signature. */
	int signature = is(p->variant->operation, "sign"), kem = is(p->variant->operation, "encapsulate");
	size_t front = signature ? p->c.size : 0, secret = kem ? p->c.row->output : 0;
	size_t length = front + p->c.out_len - secret;
	uint8_t *middle = malloc(length + secret + 1);
	if (!middle)
		return say(words, "bad-size", "out of memory");
	if (front)
		memcpy(middle, p->c.in, front);
	memcpy(middle + front, p->c.out, p->c.out_len);

	pb_prepared back;
	pb_vector vector = {.key = p->c.key[0],
			    .nonce = p->c.nonce[0],
			    .aad = p->c.aad,
			    .input = middle,
			    .key_len = p->c.key_len,
			    .nonce_len = p->c.nonce_len,
			    .aad_len = p->c.aad_len,
			    .input_len = length};
	const char *code =
		pb_case_open(&back, p->c.row, inverse, p->c.size, p->seed, p->offset, NULL, &vector, words);
	if (!code) {
		pb_case_run(&back, 1);
		const uint8_t *goal = kem ? middle + length : p->c.in;
		size_t goal_len = kem ? secret : p->c.in_len;
		*passed = back.c.failures == 0 && (signature || (back.c.out_len == goal_len &&
								 memcmp(back.c.out, goal, goal_len) == 0));
		const char *back_again = kem ? "the secret" : signature ? "the message" : "the input";
		say(words, NULL, "%s after %s %s %s", inverse_name, p->variant->operation,
		    *passed ? "gives back" : "does not give back", back_again);
		pb_case_close(&back);
	}
	free(middle);
	return code;
}

/* Returns 1 if the call is refused with this bit of the input flipped. */
static int refused(pb_prepared *p, size_t byte)
{
	p->own_input[byte] ^= 1;
	pb_case_run(p, 1);
	p->own_input[byte] ^= 1;
	return p->c.failures != 0;
}

/* A KEM refuses nothing: a changed ciphertext must give another secret, and the same one each time. */
static const char *implicit_rejection(pb_prepared *p, int *passed, char *words)
{
	enum { LONGEST = 256 };
	uint8_t genuine[LONGEST], first[LONGEST];
	size_t length = p->c.out_len;
	if (length > LONGEST)
		return say(words, "unsupported", "a secret of %zu bytes", length);
	pb_case_run(p, 1);
	uint64_t failures = p->c.failures;
	memcpy(genuine, p->c.out, length);
	p->own_input[0] ^= 1;
	pb_case_run(p, 1);
	failures += p->c.failures;
	memcpy(first, p->c.out, length);
	pb_case_run(p, 1);
	failures += p->c.failures;
	int other = memcmp(genuine, first, length) != 0, same = memcmp(first, p->c.out, length) == 0;
	p->own_input[0] ^= 1;
	pb_case_run(p, 1);
	*passed = failures == 0 && other && same;
	say(words, NULL, "changed ciphertext %s, %s secret, %s in a second call",
	    failures ? "REFUSED" : "taken", other ? "another" : "THE SAME", same ? "the same" : "ANOTHER");
	return NULL;
}

const char *pb_case_forgery(pb_prepared *p, int *passed, char *words)
{
	if (is(p->variant->operation, "decapsulate") && p->own_input)
		return implicit_rejection(p, passed, words);
	if (!producer_of(p->variant->operation) || !p->own_input)
		return say(words, "unsupported", "%s checks no tag", p->variant->operation);
	pb_case_run(p, 1);
	int accepts = p->c.failures == 0;
	int tag = refused(p, p->c.in_len - 1), data = p->c.size == 0 || refused(p, 0);
	*passed = accepts && tag && data;
	say(words, NULL, "genuine input %s, changed tag %s, changed data %s",
	    accepts ? "accepted" : "REFUSED", tag ? "refused" : "ACCEPTED", data ? "refused" : "ACCEPTED");
	pb_case_run(p, 1);
	return NULL;
}
