/* Loops of Python as what foreign.c calls. They are entered from here and not through ctypes, which takes a microsecond:
 * beside a call of that length a chain of an audit would tell nothing of it. The names are of Python's stable ABI; the
 * interpreter that loads this has them. */
#include "foreign.h"

#include <stdlib.h>
#include <string.h>

typedef struct _object PyObject;
extern PyObject *PyLong_FromUnsignedLongLong(unsigned long long);
extern PyObject *PyObject_CallFunctionObjArgs(PyObject *, ...);
extern int PyBytes_AsStringAndSize(PyObject *, char **, ptrdiff_t *);
extern void Py_IncRef(PyObject *), Py_DecRef(PyObject *), PyErr_Clear(void);
extern void PyErr_Fetch(PyObject **, PyObject **, PyObject **),
	PyErr_NormalizeException(PyObject **, PyObject **, PyObject **);
extern int pb_auditing;

typedef struct entry {
	struct entry *next;
	const pb_case *c;
	PyObject *loops[4],
		*last;    /* by PB_MESSAGE and so on; what the last call gave, NULL before the first */
	int still, chain; /* an audit has nothing to begin; what it gives is the chain's value */
} entry;

static entry *entries;
static PyObject *as_bytes, *in_words;
static pb_foreign python;
static void (*begin_case)(pb_case *, int);
static void (*close_case)(pb_case *);

static entry **entry_of(const pb_case *c)
{
	entry **at = &entries;
	while (*at && (*at)->c != c)
		at = &(*at)->next;
	return at;
}

static void drop(const pb_case *c)
{
	entry **at = entry_of(c), *gone = *at;
	if (!gone)
		return;
	*at = gone->next;
	for (int i = 0; i < 4; i++)
		Py_DecRef(gone->loops[i]);
	Py_DecRef(gone->last);
	free(gone);
}

/* The loops of a case, each a function that makes so many calls and returns what the last one gave, or None. */
void pb_python_loops(const pb_case *c, PyObject *message, PyObject *rekey, PyObject *inverse,
		     PyObject *inverse_rekey, int still, int chain)
{
	drop(c);
	entry *own = calloc(1, sizeof *own);
	if (!own)
		abort();
	*own = (entry){entries, c, {message, rekey, inverse, inverse_rekey}, NULL, still, chain};
	for (int i = 0; i < 4; i++)
		Py_IncRef(own->loops[i]);
	entries = own;
}

/* The words for what a call raised: of the first that failed, which are asked for in no timing that counts. */
static void keep_raised(pb_case *c)
{
	PyObject *type, *value, *trace;
	char *words;
	PyErr_Fetch(&type, &value, &trace);
	if (c && !c->error[0]) {
		ptrdiff_t length;
		PyErr_NormalizeException(&type, &value, &trace);
		PyObject *told = PyObject_CallFunctionObjArgs(in_words, value, trace, NULL);
		if (told && PyBytes_AsStringAndSize(told, &words, &length) == 0)
			pb_foreign_say(c, words);
		PyErr_Clear();
		Py_DecRef(told);
	}
	Py_DecRef(type);
	Py_DecRef(value);
	Py_DecRef(trace);
}

static void run(pb_case *c, uint64_t n, int which)
{
	entry *own = *entry_of(c);
	PyObject *count = PyLong_FromUnsignedLongLong(n);
	PyObject *last = PyObject_CallFunctionObjArgs(own->loops[which], count, NULL);
	Py_DecRef(count);
	if (!last) {
		keep_raised(c);
		c->failures += c != NULL;
	} else if (n) { /* an audit enters it without calls, and what the last one gave stays */
		Py_DecRef(own->last);
		own->last = last;
	} else {
		Py_DecRef(last);
	}
}

static void begin(pb_case *c, int which)
{
	if (!(pb_auditing && (*entry_of(c))->still))
		begin_case(c, which);
}

static void show(pb_case *c)
{
	entry *own = *entry_of(c);
	char *from = (char *)&pb_chain_value;
	ptrdiff_t length = sizeof pb_chain_value;
	PyObject *made = NULL;
	if (!own->chain && (!own->last || PyBytes_AsStringAndSize(own->last, &from, &length) != 0)) {
		PyErr_Clear(); /* parts, or an array of bytes */
		made = own->last ? PyObject_CallFunctionObjArgs(as_bytes, own->last, NULL) : NULL;
		if (!made || PyBytes_AsStringAndSize(made, &from, &length) != 0)
			length = -1;
		PyErr_Clear();
	}
	if (length >= 0 && (size_t)length == c->out_len)
		memcpy(c->out, from, c->out_len);
	Py_DecRef(made);
}

static void close_both(pb_case *c)
{
	drop(c);
	close_case(c);
}

/* Speak the protocol until it ends. `bytes_of` makes bytes of an output that is none, `words_of` of an
 * exception and its traceback. */
int pb_python_main(int (*open)(pb_case *, int), void (*close)(pb_case *), void (*begins)(pb_case *, int),
		   PyObject *bytes_of, PyObject *words_of, const char *name, const char *library,
		   const char *license, const char *version, const char *features)
{
	as_bytes = bytes_of;
	in_words = words_of;
	begin_case = begins;
	close_case = close;
	python = (pb_foreign){.open = open, .close = close_both, .run = run, .begin = begin, .show = show};
	return pb_foreign_main(&python, name, library, license, version, features);
}
