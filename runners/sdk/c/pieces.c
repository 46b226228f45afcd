#include "pieces.h"
#include "material.h"

#include <stdlib.h>
#include <string.h>

/* Digests and MACs go to one place; what is as long as the data goes where its piece is. */
static void stand_for(pb_prepared *p, size_t at, size_t bytes)
{
	p->c.in = p->piece.in + at;
	p->c.out = p->c.row->output ? p->piece.out : p->piece.out + at;
	p->c.size = p->c.in_len = bytes;
}

static void begin(pb_prepared *p)
{
	p->c.failures = 0;
	if (p->piece.variant->begin)
		p->piece.variant->begin(&p->c);
}

/* What stands at the beginning of `out` after the calls since begin(). */
static uint64_t shown(pb_prepared *p, size_t bytes)
{
	stand_for(p, 0, bytes);
	if (p->piece.variant->show)
		p->piece.variant->show(&p->c);
	return pb_digest(p->c.out, p->c.row->output ? p->c.out_len : bytes);
}

static int pieces_agree(pb_prepared *p, size_t bytes)
{
	const pb_variant *variant = p->piece.variant;
	stand_for(p, 0, 2 * bytes);
	begin(p);
	variant->loop(&p->c, 1);
	uint64_t failures = p->c.failures, whole = shown(p, 2 * bytes);
	memset(p->piece.out, 0, p->c.row->output ? p->c.row->output : 2 * bytes);
	stand_for(p, 0, bytes);
	begin(p);
	variant->loop(&p->c, 1);
	stand_for(p, bytes, bytes);
	variant->loop(&p->c, 1);
	failures += p->c.failures;
	return failures == 0 && shown(p, 2 * bytes) == whole;
}

int pb_pieces_begin(pb_prepared *p, size_t bytes)
{
	if (!p->piece.out) {
		p->piece.in = p->c.in;
		p->piece.out = p->c.out;
		p->piece.size = p->c.size;
		p->piece.variant = pb_variant_find(p->c.row, p->variant->operation, "stream/1");
	}
	if (!p->piece.variant || !bytes || bytes % p->c.row->multiple || 2 * bytes > p->piece.size ||
	    p->c.turns > 1)
		return 0;
	size_t *known = p->piece.agree;
	if (known[0] != bytes && known[1] != bytes) {
		int agree = pieces_agree(p, bytes);
		pb_pieces_whole(p);
		if (!agree)
			return 0;
		known[1] = known[0];
		known[0] = bytes;
	}
	p->piece.bytes = bytes;
	begin(p);
	return 1;
}

void pb_pieces_step(pb_prepared *p)
{
	if (p->piece.at + p->piece.bytes > p->piece.size)
		p->piece.at = 0;
	stand_for(p, p->piece.at, p->piece.bytes);
	p->piece.at += p->piece.bytes;
}

void pb_pieces_whole(pb_prepared *p)
{
	if (p->piece.out)
		stand_for(p, 0, p->piece.size);
}
