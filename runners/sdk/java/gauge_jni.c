/* The gauge of runners/sdk/c for the Java virtual machine: one gauge and one sample per process, because one
 * thread measures. `before` ends with the tick read and `after` begins with it, so that a sample contains the
 * way back from one native call and the way into the next one; calibration measures that with an empty loop
 * (Gauge.java). Unarmed, both return at once: then the same Java code is warmed up and checked that is timed.
 */
#include "kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <jni.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#define NATIVE(type, name) JNIEXPORT type JNICALL Java_perbyte_sdk_Gauge_##name

static pb_gauge gauge;
static pb_open_sample opened;
static pb_sample sample;
static int armed;

enum { FIELDS = 9, FACTS = 12 };
enum { IN_MEMORY = 0x01021994, OLD_IN_MEMORY = 0x858458f6 }; /* tmpfs and ramfs, of linux/magic.h */

/* What each sample reads first, as java.io reads into an array: by a buffer of its own. `to` is NULL where it reads
 * nothing. */
static struct {
	int file, failed;
	jbyteArray to;
	jbyte *buffer;
	jsize size;
} disk;

static void read_data(JNIEnv *env)
{
	jsize got = 0;
	while (got < disk.size && !disk.failed) {
		ssize_t more = pread(disk.file, disk.buffer + got, (size_t)(disk.size - got), got);
		disk.failed = more == 0 || (more < 0 && errno != EINTR);
		got += more > 0 ? (jsize)more : 0;
	}
	(*env)->SetByteArrayRegion(env, disk.to, 0, disk.size, disk.buffer);
}

NATIVE(void, before)(JNIEnv *env, jclass self)
{
	(void)self;
	if (!armed)
		return;
	if (disk.to) {
		disk.failed = 0;
		posix_fadvise(disk.file, 0, 0, POSIX_FADV_DONTNEED);
	}
	pb_gauge_before(&gauge, &opened, &sample);
	if (disk.to)
		read_data(env);
}

NATIVE(void, after)(JNIEnv *env, jclass self)
{
	(void)env;
	(void)self;
	if (armed)
		pb_gauge_after(&gauge, &opened, &sample);
	if (armed && disk.to && disk.failed)
		sample.flags |= PB_FAILED_CALL;
}

/* From now on each sample reads `to` from the file first; NULL: no longer. What is wrong in words, else NULL. */
NATIVE(jstring, disk)(JNIEnv *env, jclass self, jstring path, jbyteArray to)
{
	struct statfs system;
	(void)self;
	if (disk.to) {
		(*env)->DeleteGlobalRef(env, disk.to);
		disk.to = NULL;
		free(disk.buffer);
		close(disk.file);
	}
	if (!path)
		return NULL;
	const char *name = (*env)->GetStringUTFChars(env, path, NULL);
	disk.file = name ? open(name, O_RDONLY | O_CLOEXEC) : -1;
	const char *wrong = disk.file < 0 ? strerror(errno) : NULL;
	if (name)
		(*env)->ReleaseStringUTFChars(env, path, name);
	if (!wrong && fstatfs(disk.file, &system) == 0 &&
	    (system.f_type == IN_MEMORY || system.f_type == OLD_IN_MEMORY))
		wrong = "the file lies in memory and on no disk";
	disk.size = (*env)->GetArrayLength(env, to);
	disk.buffer = wrong ? NULL : malloc((size_t)disk.size);
	if (!wrong && !disk.buffer)
		wrong = strerror(ENOMEM);
	if (wrong) {
		if (disk.file >= 0)
			close(disk.file);
		return (*env)->NewStringUTF(env, wrong);
	}
	fdatasync(disk.file); /* what is not written yet is not forgotten */
	disk.to = (*env)->NewGlobalRef(env, to);
	return NULL;
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
