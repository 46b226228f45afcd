#include "fresh.h"
#include "material.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

enum { WORDS = 256 };
enum { IN_MEMORY = 0x01021994, OLD_IN_MEMORY = 0x858458f6 }; /* tmpfs and ramfs, of linux/magic.h */

const pb_fresh_ways *pb_fresh_language;

static const char *refuse(const char *code, const char *why, char *words)
{
	snprintf(words, WORDS, "%s", why);
	return code;
}

/* Its data is the area that the run's data lies in, and no copy or product of it. */
static int on_the_area(const pb_prepared *p)
{
	static const char *const operations[] = {"encrypt", "decrypt", "seal", "digest", "mac"};
	for (size_t i = 0; i < sizeof operations / sizeof *operations; i++)
		if (strcmp(p->variant->operation, operations[i]) == 0)
			return !p->own_input && !p->c.given && p->c.size > 0;
	return 0;
}

static uint64_t digest_at(pb_prepared *p, size_t at)
{
	p->fresh.at = at;
	pb_case_begin(p, 1);
	pb_fresh_calls(p, p->variant, 1);
	if (p->variant->show)
		p->variant->show(&p->c);
	return pb_digest(p->c.out, p->c.out_len);
}

/* Whether a call takes what `in` points to now: other data must give another output. */
static int follows(pb_prepared *p)
{
	size_t size = p->c.size;
	if (p->fresh.bytes < 2 * size || memcmp(p->fresh.area, p->fresh.area + size, size) == 0)
		return 1;
	uint64_t first = digest_at(p, 0), second = digest_at(p, size);
	p->c.in = p->fresh.area;
	p->fresh.at = 0;
	return first != second;
}

static const char *open_file(pb_prepared *p, char *words)
{
	struct statfs system;
	if (!p->input_path)
		return refuse("input", "data that is read from the disk needs a file (--input)", words);
	p->fresh.file = open(p->input_path, O_RDONLY | O_CLOEXEC);
	if (p->fresh.file < 0)
		return refuse("input", strerror(errno), words);
	if (fstatfs(p->fresh.file, &system) == 0 &&
	    (system.f_type == IN_MEMORY || system.f_type == OLD_IN_MEMORY))
		return refuse("input", "the file lies in memory and on no disk", words);
	p->fresh.to = pb_fresh_language ? pb_fresh_language->data(&p->c) : p->fresh.area;
	if (!p->fresh.to)
		return refuse("input", "nobody knows where the calls have their data", words);
	fdatasync(p->fresh.file); /* what is not written yet is not forgotten */
	return NULL;
}

const char *pb_fresh_begin(pb_prepared *p, size_t walk_bytes, int from_disk, char *words)
{
	int too_short;
	if (!on_the_area(p) || (walk_bytes && pb_fresh_language && !pb_fresh_language->walk))
		return refuse("input", "each call cannot be given data of its own here", words);
	size_t bytes = walk_bytes / p->c.size * p->c.size;
	p->fresh.bytes = bytes ? bytes : p->c.size;
	p->fresh.at = 0;
	p->fresh.file = -1;
	p->fresh.area = (uint8_t *)pb_input(p->seed, p->input_path, p->fresh.bytes, p->offset, &too_short);
	const char *code = NULL;
	if (!p->fresh.area)
		return too_short ? refuse("input", "the file is shorter than the area to walk through", words)
				 : refuse("bad-size", strerror(errno), words);
	if (p->fresh.area != p->c.in || !follows(p))
		code = refuse("input", "the calls do not follow their data", words);
	else if (from_disk)
		code = open_file(p, words);
	if (code)
		pb_fresh_end(p);
	return code;
}

void pb_fresh_end(pb_prepared *p)
{
	p->c.in = p->fresh.area;
	p->fresh.area = NULL;
	if (p->fresh.file >= 0)
		close(p->fresh.file);
}

void pb_fresh_forget(const pb_prepared *p)
{
	if (p->fresh.area && p->fresh.file >= 0)
		posix_fadvise(p->fresh.file, 0, 0, POSIX_FADV_DONTNEED);
}

static int read_data(pb_prepared *p)
{
	size_t got = 0;
	while (got < p->c.size) {
		ssize_t more = pread(p->fresh.file, p->fresh.to + p->fresh.at + got, p->c.size - got,
				     (off_t)(p->fresh.at + got));
		if (more <= 0 && !(more < 0 && errno == EINTR))
			return -1;
		got += more > 0 ? (size_t)more : 0;
	}
	return 0;
}

void pb_fresh_calls(pb_prepared *p, const pb_variant *work, uint64_t n)
{
	if (pb_fresh_language && pb_fresh_language->walk && p->fresh.file < 0) {
		pb_fresh_language->walk(&p->c, work, n, p->fresh.area, p->fresh.bytes, &p->fresh.at);
		return;
	}
	for (uint64_t i = 0; i < n; i++) {
		if (p->fresh.at + p->c.size > p->fresh.bytes)
			p->fresh.at = 0;
		p->c.in = p->fresh.area + p->fresh.at;
		if (p->fresh.file >= 0 && read_data(p) != 0)
			p->c.failures++;
		work->loop(&p->c, 1);
		p->fresh.at += p->c.size;
	}
}
