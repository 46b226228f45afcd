/* libxcrypt's crypt_r: bcrypt with cost 10. */
#include <perbyte.h>

#include <crypt.h>

#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 72, TURNS = 16, SALT = 16, HASH_AT = 29, HASH = 23 };

static const char DIGITS[] = "./ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

struct state {
	struct crypt_data data;
	char password[MOST_BYTES + 1], setting[TURNS][32];
	const char *made;
};

/* bcrypt's base 64: the highest bits first, no padding. */
static void write_setting(char *text, const uint8_t *salt)
{
	unsigned held = 0, bits = 0;
	strcpy(text, "$2b$10$");
	text += 7;
	for (int i = 0; i < SALT; i++) {
		held = held << 8 | salt[i];
		for (bits += 8; bits >= 6; bits -= 6)
			*text++ = DIGITS[held >> (bits - 6) & 63];
	}
	*text++ = DIGITS[held << (6 - bits) & 63];
	*text = '\0';
}

static int open_bcrypt(pb_case *c)
{
	struct state *s = calloc(1, sizeof *s);
	if (!s)
		return pb_fail(c, "out of memory");
	c->ctx = s;
	if (c->nonce_len != SALT || c->in_len > MOST_BYTES) {
		free(s);
		c->ctx = NULL;
		return pb_fail(c, "bcrypt takes a salt of 16 bytes and at most 72 bytes of password") +
		       PB_UNFIT;
	}
	memcpy(s->password, c->in, c->in_len); /* a byte of zero ends it, as in C */
	for (int i = 0; i < TURNS; i++)
		write_setting(s->setting[i], c->nonce[i]);
	c->out_len = HASH;
	return 0;
}

static void close_bcrypt(pb_case *c)
{
	free(c->ctx);
}

static int hash(struct state *s, uint64_t turn)
{
	s->made = crypt_r(s->password, s->setting[turn % TURNS], &s->data);
	return !s->made || s->made[0] != '$';
}

PB_LOOP(bcrypt, struct state, hash(state, turn))

static void show(pb_case *c)
{
	const struct state *s = c->ctx;
	unsigned held = 0, bits = 0;
	size_t at = 0;
	if (!s->made || strlen(s->made) <= HASH_AT)
		return;
	for (const char *digit = s->made + HASH_AT; *digit && at < HASH; digit++) {
		const char *found = strchr(DIGITS, *digit);
		held = held << 6 | (unsigned)(found ? found - DIGITS : 0);
		for (bits += 6; bits >= 8 && at < HASH; bits -= 8)
			c->out[at++] = (uint8_t)(held >> (bits - 8));
	}
}

static const pb_variant variants[] = {
	{"hash", "password/1", "crypt_r", NULL, bcrypt, show},
	PB_END_OF_VARIANTS,
};
static const pb_family family = {open_bcrypt, close_bcrypt, variants};
static const pb_row rows[] = {
	{"bcrypt-10", &family, NULL, 0, SALT, 1, HASH},
	PB_END_OF_ROWS,
};
static const pb_row *const tables[] = {rows, NULL};

static const char *version(void)
{
#ifdef XCRYPT_VERSION_STR
	return XCRYPT_VERSION_STR;
#else
	return "unknown";
#endif
}

static const pb_runner runner = {
	.name = "libxcrypt",
	.library = "libxcrypt",
	.license = "LGPL-2.1-or-later",
	.version = version,
	.object = (const void *)crypt_r,
	.tables = tables,
};

int main(int argc, char **argv)
{
	return pb_runner_main(&runner, argc, argv);
}
