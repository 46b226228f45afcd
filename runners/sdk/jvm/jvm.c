/* The tables and loops of sdk/foreign for languages of the Java virtual machine, which is started in this process by
 * the invocation interface: its loops run on the thread that reads the clock. Data are arrays of the virtual machine
 * that live as long as the case. The class that is called has been written by `perbyte try` (Calls in trial/jvm.py).
 *
 *	perbyte-jvm CLASS LIBRARY VERSION ALGORITHM KIND KEY NONCE OUTPUT TEXT OPTION...
 *
 * OPTIONs are those of the virtual machine. */
#include "foreign.h"

#include <jni.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES_BETWEEN_LOOKS = 64 };

static JNIEnv *env;
static jclass calls;
static jmethodID of_open, of_run, of_show, of_warm, of_look, of_raised;
static const char *file_name;

typedef struct copy {
	struct copy *next;
	pb_case *c;
	jobject state;
	uint8_t *data; /* what the virtual machine was given, to see when a check changes it */
	int warm[4];
} copy;
static copy *copies;

/* True when nothing was thrown; what was is told on standard error. */
static int fine(void)
{
	if (!(*env)->ExceptionCheck(env))
		return 1;
	(*env)->ExceptionDescribe(env);
	(*env)->ExceptionClear(env);
	return 0;
}

static jbyteArray bytes(const uint8_t *from, size_t length)
{
	jbyteArray made = (*env)->NewByteArray(env, from ? (jsize)length : 0);
	if (made && from && length)
		(*env)->SetByteArrayRegion(env, made, 0, (jsize)length, (const jbyte *)from);
	return made;
}

static jobjectArray ring(const uint8_t *const *from, size_t length)
{
	jclass kind = (*env)->FindClass(env, "[B");
	jobjectArray made = (*env)->NewObjectArray(env, PB_RING, kind, NULL);
	for (int i = 0; made && i < PB_RING; i++) {
		jbyteArray one = bytes(from[i], length);
		(*env)->SetObjectArrayElement(env, made, i, one);
		(*env)->DeleteLocalRef(env, one);
	}
	return made;
}

/* The state of a case for its present input; NULL when the language threw. */
static jobject state_of(pb_case *c)
{
	jobject state = NULL, kept = NULL;
	if ((*env)->PushLocalFrame(env, 64) != 0)
		return NULL;
	jbyteArray data = bytes(c->in, c->in_len), aad = bytes(c->aad, c->aad_len);
	jobjectArray keys = ring(c->key, c->key_len), nonces = ring(c->nonce, c->nonce_len);
	if (fine())
		state = (*env)->CallStaticObjectMethod(env, calls, of_open, data, aad, keys, nonces);
	if (fine() && state)
		kept = (*env)->NewGlobalRef(env, state);
	(*env)->PopLocalFrame(env, NULL);
	return kept;
}

static copy *find(const pb_case *c)
{
	copy *at = copies;
	while (at && at->c != c)
		at = at->next;
	return at;
}

static void close_case(pb_case *c)
{
	for (copy **at = &copies; *at; at = &(*at)->next)
		if ((*at)->c == c) {
			copy *gone = *at;
			*at = gone->next;
			if (gone->state)
				(*env)->DeleteGlobalRef(env, gone->state);
			free(gone->data);
			free(gone);
			return;
		}
}

static size_t length_of(const pb_case *c, const char *operation)
{
	if (strcmp(operation, "seal") == 0)
		return c->inverse ? c->size : c->size + c->row->output;
	return strcmp(operation, "encrypt") == 0 ? c->size : c->row->output;
}

static int open_case(pb_case *c, int row)
{
	(void)row;
	copy *own = calloc(1, sizeof *own);
	if (!own || !(own->data = malloc(c->in_len + 1)))
		return free(own), 0;
	own->c = c;
	own->next = copies;
	copies = own;
	if (c->in_len)
		memcpy(own->data, c->in, c->in_len);
	if (!(own->state = state_of(c)))
		return close_case(c), 0;
	c->out_len = length_of(c, c->row->family->variants->operation);
	return 1;
}

/* Keep the words for what the calls of a case threw, if anything: of the first that did. */
static void keep_raised(pb_case *c)
{
	jstring text =
		(*env)->CallStaticObjectMethod(env, calls, of_raised, (*env)->NewStringUTF(env, file_name));
	const char *words = fine() && text ? (*env)->GetStringUTFChars(env, text, NULL) : NULL;
	if (words && words[0] && !c->error[0])
		pb_foreign_say(c, words);
	if (words)
		(*env)->ReleaseStringUTFChars(env, text, words);
}

static void run(pb_case *c, uint64_t n, int call)
{
	copy *own = c ? find(c) : NULL;
	jboolean good =
		(*env)->CallStaticBooleanMethod(env, calls, of_run, own ? own->state : NULL, (jint)n, call);
	if ((*env)->ExceptionCheck(env))
		good = fine();
	if (!good && c) {
		c->failures++;
		(*env)->PushLocalFrame(env, 4);
		keep_raised(c);
		(*env)->PopLocalFrame(env, NULL);
	}
}

static void begin(pb_case *c, int call)
{
	static int samples;
	copy *own = find(c);
	if (!own)
		return;
	if (c->inverse && c->in_len && memcmp(own->data, c->in, c->in_len) != 0) {
		memcpy(own->data, c->in, c->in_len);
		(*env)->DeleteGlobalRef(env, own->state);
		own->state = state_of(c);
	} else if (!own->warm[call] && !c->given) {
		own->warm[call] = 1;
		(*env)->CallStaticVoidMethod(env, calls, of_warm, own->state, (jint)call);
		fine();
	}
	if (++samples % SAMPLES_BETWEEN_LOOKS == 0) {
		(*env)->CallStaticVoidMethod(env, calls, of_look);
		fine();
	}
}

static void show(pb_case *c)
{
	copy *own = find(c);
	jbyteArray last = (*env)->CallStaticObjectMethod(env, calls, of_show, own ? own->state : NULL);
	if (!fine() || !last) { /* nothing was returned: what the call before left is no output */
		if (c->out_len)
			memset(c->out, 0, c->out_len);
		return;
	}
	jsize length = (*env)->GetArrayLength(env, last);
	if ((size_t)length == c->out_len)
		(*env)->GetByteArrayRegion(env, last, 0, length, (jbyte *)c->out);
	(*env)->DeleteLocalRef(env, last);
}

static int start(const char *name, int count, char **texts)
{
	JavaVM *machine;
	JavaVMOption options[64];
	JavaVMInitArgs given = {.version = JNI_VERSION_10, .options = options};
	for (int i = 0; i < count && i < 64; i++)
		options[given.nOptions++].optionString = texts[i];
	if (JNI_CreateJavaVM(&machine, (void **)&env, &given) != JNI_OK)
		return 0;
	jclass found = (*env)->FindClass(env, name);
	if (!fine() || !found)
		return 0;
	calls = (*env)->NewGlobalRef(env, found);
	of_open = (*env)->GetStaticMethodID(env, calls, "open", "([B[B[[B[[B)Ljava/lang/Object;");
	of_run = (*env)->GetStaticMethodID(env, calls, "run", "(Ljava/lang/Object;II)Z");
	of_show = (*env)->GetStaticMethodID(env, calls, "show", "(Ljava/lang/Object;)[B");
	of_warm = (*env)->GetStaticMethodID(env, calls, "warm", "(Ljava/lang/Object;I)V");
	of_look = (*env)->GetStaticMethodID(env, calls, "look", "()V");
	of_raised = (*env)->GetStaticMethodID(env, calls, "raised", "(Ljava/lang/String;)Ljava/lang/String;");
	return fine();
}

int main(int argc, char **argv)
{
	static const pb_foreign jvm = {
		.open = open_case, .close = close_case, .run = run, .begin = begin, .show = show};
	if (argc < 10 || !start(argv[1], argc - 10, argv + 10)) {
		fprintf(stderr, "perbyte-jvm: the virtual machine does not start\n");
		return 3;
	}
	file_name = argv[2];
	if (getenv("PERBYTE_LOOK")) {
		jmethodID of_inspect = (*env)->GetStaticMethodID(env, calls, "inspect", "()V");
		if (of_inspect)
			(*env)->CallStaticVoidMethod(env, calls, of_inspect);
		return fine() ? 0 : 1;
	}
	pb_foreign_rows(1);
	pb_foreign_row(0, argv[4], atoi(argv[5]), argv[9], (unsigned)atoi(argv[6]), (unsigned)atoi(argv[7]),
		       (unsigned)atoi(argv[8]));
	return pb_foreign_main(&jvm, getenv("PERBYTE_NAME"), argv[2], "not stated", argv[3], "");
}
