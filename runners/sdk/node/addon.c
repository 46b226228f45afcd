/* The tables and loops of sdk/foreign for JavaScript: one addon, loaded by process.dlopen. The protocol blocks the one
 * thread there is, so nothing else of the runtime runs meanwhile. Data are copies that live as long as the case. */
#include "foreign.h"

#include <node_api.h>
#include <stdlib.h>
#include <string.h>

/* libuv's, declared here because other runtimes that load the addon have neither the header nor the function */
struct uv_loop_s;
enum { UV_RUN_ONCE = 1 };
extern int uv_run(struct uv_loop_s *, int) __attribute__((weak));

static napi_env env;
static napi_ref functions[5];
enum { OPEN, CLOSE, RUN, SHOW, WARM };

/* What JavaScript holds of a case's input, to be refreshed when a check changes it. */
typedef struct copy {
	struct copy *next;
	pb_case *c;
	int warm[4];
	void *data;
	napi_ref keep;
} copy;
static copy *copies;

static napi_value number(double value)
{
	napi_value made;
	napi_create_double(env, value, &made);
	return made;
}

static napi_value bytes(const uint8_t *from, size_t length, void **data)
{
	napi_value made;
	void *room = NULL;
	napi_create_buffer_copy(env, length, from ? from : (const uint8_t *)"", &room, &made);
	if (data)
		*data = room;
	return made;
}

/* An array of copies; `first` is where the first one is. */
static napi_value ring(const uint8_t *const *from, size_t length, void **first)
{
	napi_value made;
	napi_create_array_with_length(env, PB_RING, &made);
	for (uint32_t i = 0; i < PB_RING; i++)
		napi_set_element(env, made, i, bytes(from[i], from[i] ? length : 0, i ? NULL : first));
	return made;
}

/* Calls one of the functions; NULL when it threw, whose words the case keeps. */
static napi_value call(pb_case *c, int which, size_t count, napi_value *arguments)
{
	napi_value function, undefined, result = NULL, thrown, text;
	char words[sizeof c->error] = "";
	napi_get_reference_value(env, functions[which], &function);
	napi_get_undefined(env, &undefined);
	if (napi_call_function(env, undefined, function, count, arguments, &result) == napi_ok)
		return result;
	if (napi_get_and_clear_last_exception(env, &thrown) == napi_ok &&
	    napi_coerce_to_string(env, thrown, &text) == napi_ok)
		napi_get_value_string_utf8(env, text, words, sizeof words, NULL);
	if (c && words[0] && !c->error[0])
		pb_foreign_say(c, words);
	return NULL;
}

static napi_value id_of(const pb_case *c)
{
	return number((double)(uintptr_t)c);
}

static void close_case(pb_case *c)
{
	napi_handle_scope scope;
	napi_open_handle_scope(env, &scope);
	napi_value arguments[] = {id_of(c)};
	call(c, CLOSE, 1, arguments);
	for (copy **at = &copies; *at; at = &(*at)->next)
		if ((*at)->c == c) {
			copy *gone = *at;
			*at = gone->next;
			napi_delete_reference(env, gone->keep);
			free(gone);
			break;
		}
	napi_close_handle_scope(env, scope);
}

static int open_case(pb_case *c, int row)
{
	napi_handle_scope scope;
	copy *own = calloc(1, sizeof *own);
	int64_t length = -1;
	if (!own || napi_open_handle_scope(env, &scope) != napi_ok)
		return 0;
	own->c = c;
	void *key = NULL, *nonce = NULL, *message = NULL;
	/* what is written to from here must not be collected, whether a row uses it or not */
	napi_value kept,
		parts[] = {bytes(c->in, c->in_len, &own->data), ring(c->key, c->key_len, &key),
			   ring(c->nonce, c->nonce_len, &nonce), ring(c->message, c->size, &message)};
	napi_create_array_with_length(env, 4, &kept);
	for (uint32_t i = 0; i < 4; i++)
		napi_set_element(env, kept, i, parts[i]);
	napi_create_reference(env, kept, 1, &own->keep);
	own->next = copies;
	copies = own;
	napi_value arguments[] = {
		id_of(c),           number(row),     parts[0], number((double)c->size),
		parts[1],           parts[2],        parts[3], bytes(c->aad, c->aad_len, NULL),
		number(c->inverse), number(c->given)};
	napi_value result = call(c, OPEN, sizeof arguments / sizeof *arguments, arguments);
	if (result)
		napi_get_value_int64(env, result, &length);
	napi_close_handle_scope(env, scope);
	if (length < 0) { /* another case may come to stand at this address */
		close_case(c);
		return 0;
	}
	c->out_len = (size_t)length;
	pb_foreign_copies(c, own->data, key, nonce, message);
	return 1;
}

/* Copies an output to the case; 0 where it is no buffer of that length. */
static int take(pb_case *c, napi_value output)
{
	void *data = NULL;
	size_t length = 0;
	bool is_buffer = false;
	if (!output || napi_is_buffer(env, output, &is_buffer) != napi_ok || !is_buffer ||
	    napi_get_buffer_info(env, output, &data, &length) != napi_ok || length != c->out_len)
		return 0;
	memcpy(c->out, data, length);
	return 1;
}

/* In an audit the output is taken at once, because asking for it makes garbage; a call that is left out gives none. */
static const pb_case *taken;

static void run_as(pb_case *c, uint64_t n, int which, int function)
{
	napi_handle_scope scope;
	napi_open_handle_scope(env, &scope);
	napi_value arguments[] = {id_of(c), number((double)n), number(which)};
	napi_value output = call(c, function, 3, arguments);
	if (!output && c)
		c->failures++;
	taken = pb_auditing && c && (n == 0 || take(c, output)) ? c : NULL;
	napi_close_handle_scope(env, scope);
}

static void begin(pb_case *c, int which)
{
	for (copy *at = copies; at; at = at->next)
		if (at->c == c) {
			if (c->inverse && c->in_len && memcmp(at->data, c->in, c->in_len) != 0)
				memcpy(at->data, c->in, c->in_len);
			else if (!at->warm[which] && !c->given)
				run_as(c, 0, which, WARM);
			at->warm[which] = 1;
		}
}

static void run(pb_case *c, uint64_t n, int which)
{
	run_as(c, n, which, RUN);
}

static void show(pb_case *c)
{
	napi_handle_scope scope;
	if (taken == c)
		return;
	napi_open_handle_scope(env, &scope);
	napi_value arguments[] = {id_of(c)};
	take(c, call(c, SHOW, 1, arguments));
	napi_close_handle_scope(env, scope);
}

static char *text_of(napi_value value)
{
	size_t length = 0;
	napi_get_value_string_utf8(env, value, NULL, 0, &length);
	char *text = malloc(length + 1);
	if (text)
		napi_get_value_string_utf8(env, value, text, length + 1, &length);
	return text;
}

/* rows(count); row(index, algorithm, kind, calls, key, nonce, output) */
static napi_value add_row(napi_env e, napi_callback_info info)
{
	size_t count = 7;
	napi_value given[7];
	int32_t values[5];
	env = e;
	napi_get_cb_info(e, info, &count, given, NULL, NULL);
	napi_get_value_int32(e, given[0], &values[0]);
	if (count < 7) {
		pb_foreign_rows(values[0]);
		return NULL;
	}
	napi_get_value_int32(e, given[2], &values[1]);
	for (int i = 0; i < 3; i++)
		napi_get_value_int32(e, given[4 + i], &values[2 + i]);
	pb_foreign_row(values[0], text_of(given[1]), values[1], text_of(given[3]), (unsigned)values[2],
		       (unsigned)values[3], (unsigned)values[4]);
	return NULL;
}

/* main(open, close, run, show, warm, name, library, license, version, features): speaks the protocol until it ends. */
static napi_value run_main(napi_env e, napi_callback_info info)
{
	static const pb_foreign javascript = {
		.open = open_case, .close = close_case, .run = run, .begin = begin, .show = show};
	size_t count = 10;
	napi_value given[10];
	env = e;
	napi_get_cb_info(e, info, &count, given, NULL, NULL);
	for (int i = 0; i < 5; i++)
		napi_create_reference(e, given[i], 1, &functions[i]);
	exit(pb_foreign_main(&javascript, text_of(given[5]), text_of(given[6]), text_of(given[7]),
			     text_of(given[8]), text_of(given[9])));
}

/* chain(x, steps): the chain of multiplications on 64 bits; the lower 32 of the result. */
static napi_value run_chain(napi_env e, napi_callback_info info)
{
	size_t count = 2;
	napi_value given[2], made;
	double x = 0, steps = 0;
	napi_get_cb_info(e, info, &count, given, NULL, NULL);
	napi_get_value_double(e, given[0], &x);
	napi_get_value_double(e, given[1], &steps);
	napi_create_double(e, (uint32_t)pb_chain((uint64_t)x, (uint64_t)steps), &made);
	return made;
}

/* turn(): one turn of libuv's loop, which waits for what was begun. Only Node.js has it. It is called before Node.js runs
 * the loop itself, because the protocol is spoken from the main script. */
static napi_value turn(napi_env e, napi_callback_info info)
{
	struct uv_loop_s *loop = NULL;
	(void)info;
	if (!uv_run || napi_get_uv_event_loop(e, &loop) != napi_ok || !loop)
		napi_throw_error(e, NULL, "this runtime has no loop to turn");
	else
		uv_run(loop, UV_RUN_ONCE);
	return NULL;
}

static napi_value start(napi_env e, napi_value exports)
{
	napi_value function;
	napi_create_function(e, "chain", NAPI_AUTO_LENGTH, run_chain, NULL, &function);
	napi_set_named_property(e, exports, "chain", function);
	napi_create_function(e, "turn", NAPI_AUTO_LENGTH, turn, NULL, &function);
	napi_set_named_property(e, exports, "turn", function);
	napi_create_function(e, "row", NAPI_AUTO_LENGTH, add_row, NULL, &function);
	napi_set_named_property(e, exports, "row", function);
	napi_create_function(e, "main", NAPI_AUTO_LENGTH, run_main, NULL, &function);
	napi_set_named_property(e, exports, "main", function);
	return exports;
}

NAPI_MODULE(perbyte, start)
