#include "decode.h"

#define BIT(kind) (1u << (kind))

const char *const pb_kind_names[PB_KINDS] = {"aes",    "clmul",      "sha",        "multiply",
					     "divide", "vector_128", "vector_256", "vector_512",
					     "branch", "load",       "store"};

enum { ONE_BYTE, MAP_0F, MAP_0F38, MAP_0F3A, MAP_FP16 = 5 };
enum { LEGACY, VEX, EVEX };

/* An instruction while it is read. */
typedef struct reading {
	const uint8_t *code, *at;
	int map, form;
	int wide;     /* of 64 bits, by REX.W */
	int prefix;   /* the one that chooses among instructions: 0, 0x66, 0xf3, 0xf2 */
	int halved;   /* operands of 16 bits */
	int bits;     /* of vectors, as VEX and EVEX say it */
	int rounding; /* EVEX.b: in a register form it means rounding, and 512 bits */
	uint8_t opcode, modrm;
	int has_modrm, memory;
} reading;

static int in(uint8_t value, uint8_t low, uint8_t high)
{
	return value >= low && value <= high;
}

static void read_vex(reading *r, pb_instruction *i)
{
	static const int PREFIX[4] = {0, 0x66, 0xf3, 0xf2};
	const uint8_t *p = r->at;
	uint8_t last;
	r->form = p[0] == 0x62 ? EVEX : VEX;
	if (p[0] == 0xc5) {
		r->map = MAP_0F;
		last = p[1];
		r->bits = last & 4 ? 256 : 128;
		r->at += 2;
	} else if (p[0] == 0xc4) {
		r->map = p[1] & 0x1f;
		last = p[2];
		r->bits = last & 4 ? 256 : 128;
		r->at += 3;
	} else {
		r->map = p[1] & 7;
		last = p[2];
		r->bits = 128 << (p[3] >> 5 & 3);
		r->rounding = p[3] >> 4 & 1;
		r->at += 4;
	}
	r->prefix = PREFIX[last & 3];
	r->wide = p[0] != 0xc5 && last >> 7;
	i->rex = 0;
}

static void read_prefixes(reading *r, pb_instruction *i)
{
	for (;; r->at++) {
		uint8_t b = *r->at;
		if (b == 0x66)
			r->halved = 1;
		else if (b == 0xf2 || b == 0xf3)
			r->prefix = b;
		else if (b == 0x64 || b == 0x65)
			i->segment = b;
		else if (b == 0x67)
			i->short_address = 1;
		else if (b != 0x2e && b != 0x36 && b != 0x3e && b != 0x26 && b != 0xf0)
			break;
	}
	if (!r->prefix && r->halved)
		r->prefix = 0x66;
	if ((*r->at & 0xf0) == 0x40) {
		i->rex = *r->at++;
		r->wide = i->rex >> 3 & 1;
	}
}

static void read_opcode(reading *r, pb_instruction *i)
{
	if (*r->at == 0xc4 || *r->at == 0xc5 || *r->at == 0x62) {
		read_vex(r, i);
	} else if (*r->at == 0x0f) {
		r->at++;
		r->map = MAP_0F;
		if (*r->at == 0x38 || *r->at == 0x3a)
			r->map = *r->at++ == 0x38 ? MAP_0F38 : MAP_0F3A;
	}
	r->opcode = *r->at++;
}

static int takes_modrm(const reading *r)
{
	uint8_t o = r->opcode;
	if (r->form != LEGACY)
		return !(r->map == MAP_0F && o == 0x77);
	if (r->map == MAP_0F)
		return !(in(o, 0x05, 0x09) || o == 0x0b || o == 0x0e || in(o, 0x30, 0x37) || o == 0x77 ||
			 in(o, 0x80, 0x8f) || in(o, 0xa0, 0xa2) || in(o, 0xa8, 0xaa) || in(o, 0xc8, 0xcf));
	if (r->map != ONE_BYTE)
		return 1;
	return (o < 0x40 && (o & 7) < 4) || o == 0x63 || o == 0x69 || o == 0x6b || in(o, 0x80, 0x8f) ||
	       in(o, 0xc0, 0xc1) || in(o, 0xc6, 0xc7) || in(o, 0xd0, 0xd3) || in(o, 0xd8, 0xdf) ||
	       in(o, 0xf6, 0xf7) || in(o, 0xfe, 0xff);
}

/* Bytes of constants behind the operands. */
static int constant_bytes(const reading *r)
{
	uint8_t o = r->opcode;
	int word = r->halved && !r->wide ? 2 : 4, field = r->modrm >> 3 & 7;
	if (r->map == MAP_0F) {
		if (in(o, 0x80, 0x8f) && r->form == LEGACY)
			return 4;
		return in(o, 0x70, 0x73) || o == 0xc2 || in(o, 0xc4, 0xc6) ||
		       (r->form == LEGACY && (o == 0xa4 || o == 0xac || o == 0xba));
	}
	if (r->map != ONE_BYTE)
		return r->map == MAP_0F3A;
	if (o < 0x40)
		return (o & 7) == 4 ? 1 : (o & 7) == 5 ? word : 0;
	if (in(o, 0xb8, 0xbf))
		return r->wide ? 8 : word;
	if (in(o, 0xa0, 0xa3))
		return 8;
	if (o == 0x68 || o == 0x69 || o == 0x81 || o == 0xa9 || o == 0xc7 || (o == 0xf7 && field < 2))
		return word;
	if (o == 0xe8 || o == 0xe9)
		return 4;
	if (o == 0xc2 || o == 0xca)
		return 2;
	if (o == 0xc8)
		return 3;
	return o == 0x6a || o == 0x6b || in(o, 0x70, 0x7f) || o == 0x80 || o == 0x83 || o == 0xa8 ||
	       in(o, 0xb0, 0xb7) || in(o, 0xc0, 0xc1) || o == 0xc6 || o == 0xcd || in(o, 0xe0, 0xe7) ||
	       o == 0xeb || (o == 0xf6 && field < 2);
}

static void skip_operands(reading *r)
{
	int mode = r->modrm >> 6, base = r->modrm & 7, has_base = 1;
	r->memory = mode != 3;
	if (!r->memory)
		return;
	if (base == 4)
		base = *r->at++ & 7; /* the SIB byte */
	else
		has_base = !(mode == 0 && base == 5);
	if (mode == 1)
		r->at += 1;
	else if (mode == 2 || !has_base || (mode == 0 && base == 5))
		r->at += 4;
}

static int64_t constant(const uint8_t *at, int bytes)
{
	if (bytes == 1)
		return (int8_t)*at;
	return (int32_t)((uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 |
			 (uint32_t)at[3] << 24);
}

static void find_flow(const reading *r, pb_instruction *i)
{
	uint8_t o = r->opcode;
	int field = r->modrm >> 3 & 7;
	i->flow = PB_ON;
	i->condition = o & 15;
	if (r->form != LEGACY)
		return;
	if (r->map == MAP_0F) {
		i->flow = in(o, 0x80, 0x8f) ? PB_IF
			  : o == 0x05       ? PB_SYSTEM_CALL
			  : o == 0x0b || o == 0xb9 || o == 0xff || in(o, 0x34, 0x35) || o == 0x07
				  ? PB_ELSEWHERE
				  : PB_ON;
	} else if (r->map == ONE_BYTE) {
		if (in(o, 0x70, 0x7f)) {
			i->flow = PB_IF;
		} else if (in(o, 0xe0, 0xe3)) {
			i->flow = PB_LOOP;
			i->condition = o & 3;
		} else if (o == 0xe8) {
			i->flow = PB_CALL;
		} else if (o == 0xe9 || o == 0xeb) {
			i->flow = PB_JUMP;
		} else if (o == 0xc2 || o == 0xc3) {
			i->flow = PB_RETURN;
			i->drop = o == 0xc2 ? (uint16_t)(r->at[0] | r->at[1] << 8) : 0;
		} else if (o == 0xff && (field == 2 || field == 4)) {
			i->flow = field == 2 ? PB_CALL_WHERE : PB_JUMP_WHERE;
		} else if (o == 0xcc) {
			i->flow = PB_TRAP;
		} else if ((o == 0xff && (field == 3 || field == 5)) || o == 0xca || o == 0xcb || o == 0xcd ||
			   o == 0xcf || o == 0xf1 || o == 0xf4 || (o == 0xc7 && r->modrm == 0xf8)) {
			i->flow = PB_ELSEWHERE;
		}
	}
}

enum { READS = BIT(PB_LOAD), WRITES = BIT(PB_STORE), BOTH = READS + WRITES };

static unsigned touched_one_byte(const reading *r)
{
	uint8_t o = r->opcode;
	int field = r->modrm >> 3 & 7, m = r->memory;
	if (o < 0x40)
		return !m || (o & 7) > 3 ? 0 : (o & 7) > 1 || o >= 0x38 ? READS : BOTH;
	if (in(o, 0x50, 0x57) || o == 0x68 || o == 0x6a || o == 0x9c || o == 0xc8 || o == 0xe8)
		return WRITES;
	if (in(o, 0x58, 0x5f) || o == 0x9d || o == 0xc9 || in(o, 0xc2, 0xc3))
		return READS;
	if (in(o, 0xa0, 0xa1) || in(o, 0xa6, 0xa7) || in(o, 0xac, 0xaf))
		return READS;
	if (in(o, 0xa2, 0xa3) || in(o, 0xaa, 0xab))
		return WRITES;
	if (in(o, 0xa4, 0xa5) || (o == 0x8f && m))
		return BOTH;
	if (o == 0x8f)
		return READS;
	if (o == 0xff && (field == 2 || field == 6))
		return m ? BOTH : WRITES;
	if (!m || o == 0x8d)
		return 0;
	if (o == 0x80 || o == 0x81 || o == 0x83)
		return field == 7 ? READS : BOTH;
	if (in(o, 0x88, 0x89) || o == 0x8c || in(o, 0xc6, 0xc7))
		return WRITES;
	if (in(o, 0x86, 0x87) || in(o, 0xc0, 0xc1) || in(o, 0xd0, 0xd3) || o == 0xfe)
		return BOTH;
	if (o == 0xf6 || o == 0xf7)
		return field == 2 || field == 3 ? BOTH : READS;
	if (o == 0xff)
		return field < 2 ? BOTH : READS;
	if (in(o, 0xd8, 0xdf)) /* x87: odd opcodes store with these fields */
		return o & 1 && (field == 2 || field == 3 || field > 5 || (field == 1 && o != 0xd9)) ? WRITES
												     : READS;
	return READS;
}

static unsigned touched_0f(const reading *r)
{
	uint8_t o = r->opcode;
	int field = r->modrm >> 3 & 7, plain = r->form == LEGACY;
	if (plain && (o == 0xa0 || o == 0xa8))
		return WRITES;
	if (plain && (o == 0xa1 || o == 0xa9))
		return READS;
	if (!r->memory)
		return 0;
	if (o == 0x0d || in(o, 0x18, 0x1f)) /* prefetches and no-operations */
		return 0;
	if (o == 0x11 || o == 0x13 || o == 0x17 || o == 0x29 || o == 0x2b || o == 0x7f || o == 0xd6 ||
	    o == 0xe7 || (o == 0x7e && r->prefix != 0xf3) || (plain && (in(o, 0x90, 0x9f) || o == 0xc3)) ||
	    (!plain && o == 0x91))
		return WRITES;
	if (!plain)
		return READS;
	if (o == 0xab || o == 0xb3 || o == 0xbb || in(o, 0xa4, 0xa5) || in(o, 0xac, 0xad) ||
	    in(o, 0xb0, 0xb1) || in(o, 0xc0, 0xc1) || (o == 0xba && field > 4) || (o == 0xc7 && field == 1))
		return BOTH;
	if (o == 0xc7)
		return field == 4 || field == 5 ? WRITES : READS; /* xsavec and xsaves */
	if (o == 0xae)
		return field == 0 || field == 3 || field == 4 || (field == 6 && !r->prefix) ? WRITES
		       : field > 5                                                          ? 0
											    : READS;
	return READS;
}

static unsigned touched(const reading *r)
{
	uint8_t o = r->opcode;
	if (r->map == ONE_BYTE)
		return touched_one_byte(r);
	if (r->map == MAP_0F)
		return touched_0f(r);
	if (!r->memory)
		return 0;
	if (r->map == MAP_0F3A)
		return in(o, 0x14, 0x17) || o == 0x19 || o == 0x1b || o == 0x1d || o == 0x39 || o == 0x3b
			       ? WRITES
			       : READS;
	if (r->map == MAP_0F38 && r->form == LEGACY)
		return o == 0xf1 && r->prefix != 0xf2 ? WRITES : o == 0xf9 ? WRITES : READS;
	if (r->map == MAP_0F38 && r->form == VEX)
		return in(o, 0x2e, 0x2f) || o == 0x8e ? WRITES : READS;
	if (r->map == MAP_0F38) {
		int narrows = r->prefix == 0xf3 && in(o & 15, 0, 5) && in(o >> 4, 1, 3);
		return narrows || o == 0x63 || in(o, 0x8a, 0x8b) || in(o, 0xa0, 0xa3) ? WRITES : READS;
	}
	return r->map == MAP_FP16 && (o == 0x11 || o == 0x7e) ? WRITES : READS;
}

/* 1 if the instruction works on vector registers (those of MMX are none). */
static int is_vector(const reading *r)
{
	uint8_t o = r->opcode;
	if (r->form == EVEX)
		return 1;
	if (r->form == VEX) {
		if (r->map == MAP_0F)
			return !(o == 0x77 || in(o, 0x41, 0x4b) || in(o, 0x90, 0x93) || in(o, 0x98, 0x99));
		if (r->map == MAP_0F38)
			return !(in(o, 0xf2, 0xf3) || in(o, 0xf5, 0xf7));
		return !(in(o, 0x30, 0x33) || o == 0xf0);
	}
	if (r->map == MAP_0F38)
		return (r->prefix == 0x66 && o < 0xf0 && !in(o, 0x80, 0x82)) || in(o, 0xc8, 0xcd);
	if (r->map == MAP_0F3A)
		return r->prefix == 0x66 || o == 0xcc;
	if (r->map != MAP_0F)
		return 0;
	if (in(o, 0x10, 0x17) || in(o, 0x28, 0x2f) || in(o, 0x50, 0x5f) || o == 0xc2 || o == 0xc6)
		return 1;
	return r->prefix &&
	       (in(o, 0x60, 0x76) || in(o, 0x7c, 0x7f) || in(o, 0xc4, 0xc5) || in(o, 0xd0, 0xfe));
}

static unsigned work(const reading *r)
{
	uint8_t o = r->opcode;
	int field = r->modrm >> 3 & 7;
	if (r->map == MAP_0F38 && in(o, 0xdb, 0xdf))
		return BIT(PB_AES);
	if (r->map == MAP_0F3A && o == 0xdf)
		return BIT(PB_AES);
	if (r->map == MAP_0F3A && o == 0x44)
		return BIT(PB_CLMUL);
	if ((r->form == LEGACY && r->map == MAP_0F38 && in(o, 0xc8, 0xcd)) ||
	    (r->form == LEGACY && r->map == MAP_0F3A && o == 0xcc) ||
	    (r->form == VEX && r->map == MAP_0F38 && in(o, 0xcb, 0xcd)))
		return BIT(PB_SHA);
	if (r->form == VEX && r->map == MAP_0F38 && o == 0xf6)
		return BIT(PB_MULTIPLY);
	if (r->form != LEGACY)
		return 0;
	if (r->map == MAP_0F)
		return o == 0xaf ? BIT(PB_MULTIPLY) : 0;
	if (r->map != ONE_BYTE)
		return 0;
	if (o == 0x69 || o == 0x6b || (in(o, 0xf6, 0xf7) && in((uint8_t)field, 4, 5)))
		return BIT(PB_MULTIPLY);
	return in(o, 0xf6, 0xf7) && field > 5 ? BIT(PB_DIVIDE) : 0;
}

static unsigned vector_kind(const reading *r)
{
	int bits = r->form == LEGACY ? 128 : r->rounding && !r->memory ? 512 : r->bits;
	return bits == 128 ? BIT(PB_VECTOR_128) : bits == 256 ? BIT(PB_VECTOR_256) : BIT(PB_VECTOR_512);
}

void pb_decode(const uint8_t *code, pb_instruction *i)
{
	reading r = {.code = code, .at = code};
	*i = (pb_instruction){0};
	read_prefixes(&r, i);
	read_opcode(&r, i);
	if (takes_modrm(&r)) {
		i->modrm_at = (uint8_t)(r.at - code);
		r.has_modrm = 1;
		r.modrm = *r.at++;
		skip_operands(&r);
	}
	int bytes = constant_bytes(&r);
	if (r.map == ONE_BYTE && in(r.opcode, 0xa0, 0xa3) && i->short_address)
		bytes = 4;
	find_flow(&r, i);
	if (i->flow == PB_IF || i->flow == PB_LOOP || i->flow == PB_JUMP || i->flow == PB_CALL)
		i->distance = constant(r.at, bytes);
	i->length = (uint8_t)(r.at + bytes - code);
	unsigned kinds = touched(&r) | work(&r) | (is_vector(&r) ? vector_kind(&r) : 0);
	if (i->flow != PB_ON && i->flow != PB_SYSTEM_CALL)
		kinds |= BIT(PB_BRANCH);
	i->kinds = (uint16_t)kinds;
}
