/* The gauge of runners/sdk/c for the Java virtual machine: one gauge and one sample per process, because one
 * thread measures. `before` ends with the tick read and `after` begins with it, so that a sample contains the
 * way back from one native call and the way into the next one; calibration measures that with an empty loop
 * (Gauge.java). Unarmed, both return at once: then the same Java code is warmed up and checked that is timed.
 */
#include "kernel.h"

#include <jni.h>
#include <string.h>

#define NATIVE(type, name) JNIEXPORT type JNICALL Java_perbyte_sdk_Gauge_##name

static pb_gauge gauge;
static pb_open_sample opened;
static pb_sample sample;
static int armed;

enum { FIELDS = 9, FACTS = 12 };

NATIVE(void, before)(JNIEnv *env, jclass self)
{
	(void)env;
	(void)self;
	if (armed)
		pb_gauge_before(&gauge, &opened, &sample);
}

NATIVE(void, after)(JNIEnv *env, jclass self)
{
	(void)env;
	(void)self;
	if (armed)
		pb_gauge_after(&gauge, &opened, &sample);
}

NATIVE(void, arm)(JNIEnv *env, jclass self, jboolean on)
{
	(void)env;
	(void)self;
	armed = on;
}

NATIVE(void, begin)(JNIEnv *env, jclass self)
{
	(void)env;
	(void)self;
	pb_kernel_begin(&gauge);
}

/* The flags that all samples of the burst get. */
NATIVE(jint, end)(JNIEnv *env, jclass self)
{
	pb_sample all = {0};
	(void)env;
	(void)self;
	pb_kernel_end(&gauge, &all, 1);
	return (jint)all.flags;
}

NATIVE(jlong, ticks)(JNIEnv *env, jclass self)
{
	(void)env;
	(void)self;
	return (jlong)pb_gauge_ticks();
}

/* start, ticks, clock before and after, contention before and after, cycles, flags, core */
NATIVE(void, read)(JNIEnv *env, jclass self, jlongArray to)
{
	jlong fields[FIELDS] = {
		(jlong)sample.start,
		(jlong)sample.ticks,
		(jlong)sample.clock_before,
		(jlong)sample.clock_after,
		(jlong)sample.contention_before,
		(jlong)sample.contention_after,
		(jlong)sample.cycles,
		sample.flags,
		(jlong)sample.core,
	};
	(void)self;
	(*env)->SetLongArrayRegion(env, to, 0, FIELDS, fields);
}

NATIVE(jint, await)(JNIEnv *env, jclass self, jdouble floor, jdouble tolerance, jint patience)
{
	pb_quiet quiet = {floor, tolerance, (unsigned)patience};
	(void)env;
	(void)self;
	return (jint)pb_gauge_wait(&gauge, &quiet);
}

/* Whether the sample that was read last is clean, with the flags that Java knows better. */
NATIVE(jboolean, clean)
(JNIEnv *env, jclass self, jdouble floor, jdouble tolerance, jdouble clock_tolerance, jint flags)
{
	pb_quiet quiet = {floor, tolerance, 0};
	pb_sample judged = sample;
	(void)env;
	(void)self;
	judged.flags = (uint32_t)flags;
	return pb_gauge_clean(&gauge, &quiet, clock_tolerance, &judged) != 0;
}

/* Fills tick rate, quantum, probe cycles, contention floor, the two self-checks, whether there is a PMU,
 * length, shared reading and limit of the reorder-buffer probe, how long it took and how much of it was alone;
 * returns "source\ndetector\nwindow\nreason". */
NATIVE(jstring, calibrate)
(JNIEnv *env, jclass self, jdouble limit_ms, jdouble patience_ms, jstring window, jdouble floor,
 jdouble shared, jstring cores, jdoubleArray facts)
{
	char words[48 + sizeof gauge.found + sizeof gauge.reason];
	const char *list = (*env)->GetStringUTFChars(env, cores, NULL);
	pb_known known = {(*env)->GetStringUTFChars(env, window, NULL), floor, shared};
	(void)self;
	pb_gauge_cores(&gauge, list);
	if (list)
		(*env)->ReleaseStringUTFChars(env, cores, list);
	pb_gauge_calibrate(&gauge, limit_ms, patience_ms, &known);
	if (known.window)
		(*env)->ReleaseStringUTFChars(env, window, known.window);
	jdouble values[FACTS] = {
		gauge.tick_hz,
		(jdouble)gauge.tick_quantum,
		gauge.probe_cycles,
		gauge.contention_floor,
		gauge.check_add,
		gauge.check_rotate,
		gauge.pmu >= 0,
		gauge.length,
		gauge.contention_shared,
		gauge.waited_ms,
		gauge.alone,
		gauge.contention_limit,
	};
	(*env)->SetDoubleArrayRegion(env, facts, 0, FACTS, values);
	strcpy(words, gauge.cycle_source);
	strcat(words, "\n");
	strcat(words, gauge.detector);
	strcat(words, "\n");
	strcat(words, gauge.found);
	strcat(words, "\n");
	strcat(words, gauge.reason);
	return (*env)->NewStringUTF(env, words);
}
