/* The checksum of an implementation in SUPERCOP's layout, for `perbyte try --supercop`: inputs are drawn from Salsa20
 * (Bernstein 2005) under a fixed key, outputs go through its core as a hash. Which inputs in which order, and how many,
 * is the format of the files checksumsmall and checksumbig; the test compares with published ones. Lengths come as
 * macros; the program prints the small checksum, or with an argument the big one. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef unsigned long long length;

#ifndef OUTPUT
#define OUTPUT 0
#endif
#if defined OF_HASH
extern int crypto_hash(unsigned char *, const unsigned char *, length);
enum { SMALL_LOOPS = 64, BIG_LOOPS = 512 };
#elif defined OF_AUTH
extern int crypto_auth(unsigned char *, const unsigned char *, length, const unsigned char *);
enum { SMALL_LOOPS = 4096, BIG_LOOPS = 32768 };
#else
extern int crypto_aead_encrypt(unsigned char *, length *, const unsigned char *, length,
			       const unsigned char *, length, const unsigned char *, const unsigned char *,
			       const unsigned char *);
extern int crypto_aead_decrypt(unsigned char *, length *, unsigned char *, const unsigned char *, length,
			       const unsigned char *, length, const unsigned char *, const unsigned char *);
enum { SMALL_LOOPS = 64, BIG_LOOPS = 512 };
#endif
enum { SMALL_LONGEST = 128, BIG_LONGEST = 4096, ROOM = 3 * BIG_LONGEST, DRAWS_OF_FORGERIES = 6 };

static uint32_t load(const unsigned char *x)
{
	return x[0] | (uint32_t)x[1] << 8 | (uint32_t)x[2] << 16 | (uint32_t)x[3] << 24;
}

static uint32_t turned(uint32_t x, int by)
{
	return x << by | x >> (32 - by);
}

/* The 64 bytes of Salsa20/20 for 16 bytes of input and a key of 32; `out` may be the key. */
static void core(unsigned char *out, const unsigned char *in, const unsigned char *key)
{
	static const unsigned char sigma[] = "expand 32-byte k";
	static const int quarter[8][4] = {{0, 4, 8, 12}, {5, 9, 13, 1}, {10, 14, 2, 6}, {15, 3, 7, 11},
					  {0, 1, 2, 3},  {5, 6, 7, 4},  {10, 11, 8, 9}, {15, 12, 13, 14}};
	uint32_t start[16], x[16];
	for (int i = 0; i < 4; i++) {
		start[5 * i] = load(sigma + 4 * i);
		start[1 + i] = load(key + 4 * i);
		start[6 + i] = load(in + 4 * i);
		start[11 + i] = load(key + 16 + 4 * i);
	}
	memcpy(x, start, sizeof x);
	for (int round = 0; round < 10; round++)
		for (int i = 0; i < 8; i++) {
			const int *q = quarter[i];
			x[q[1]] ^= turned(x[q[0]] + x[q[3]], 7);
			x[q[2]] ^= turned(x[q[1]] + x[q[0]], 9);
			x[q[3]] ^= turned(x[q[2]] + x[q[1]], 13);
			x[q[0]] ^= turned(x[q[3]] + x[q[2]], 18);
		}
	for (int i = 0; i < 16; i++)
		for (int byte = 0; byte < 4; byte++)
			out[4 * i + byte] = (unsigned char)((x[i] + start[i]) >> 8 * byte);
}

/* The next input: the key stream of the nonce, which then counts up. */
static void draw(unsigned char *out, length size)
{
	static const unsigned char key[] = "generate inputs for test vectors";
	static uint64_t nonce;
	unsigned char block[64], in[16];
	for (length at = 0; at < size; at += 64) {
		for (int i = 0; i < 8; i++) {
			in[i] = (unsigned char)(nonce >> 8 * i);
			in[8 + i] = (unsigned char)((uint64_t)at / 64 >> 8 * i);
		}
		core(block, in, key);
		memcpy(out + at, block, size - at < 64 ? size - at : 64);
	}
	nonce++;
}

static uint64_t draw_number(void)
{
	unsigned char x[8];
	draw(x, sizeof x);
	return load(x) | (uint64_t)load(x + 4) << 32;
}

static unsigned char state[64];

static void add(const unsigned char *x, length size)
{
	unsigned char last[16] = {0};
	for (; size >= 16; x += 16, size -= 16)
		core(state, x, state);
	memcpy(last, x, size);
	last[size] = 1;
	state[0] ^= 1;
	core(state, last, state);
}

static unsigned char *room(void)
{
	unsigned char *made = aligned_alloc(64, ROOM);
	if (!made)
		abort();
	memset(made, 0, ROOM);
	return made;
}

static void expect(int good, const char *what)
{
	if (good)
		return;
	printf("%s\n", what);
	exit(1);
}

int main(int argc, char **argv)
{
	unsigned char *message = room(), *key = room(), *out = room();
	length longest = argc > 1 ? BIG_LONGEST : SMALL_LONGEST;
	(void)argv;
	for (int loop = argc > 1 ? BIG_LOOPS : SMALL_LOOPS; loop > 0; loop--) {
		length size = draw_number() % (longest + 1);
#if defined OF_HASH
		draw(message, size);
		expect(crypto_hash(out, message, size) == 0, "crypto_hash does not return 0");
		add(out, OUTPUT);
#elif defined OF_AUTH
		draw(message, size);
		draw(key, KEY);
		expect(crypto_auth(out, message, size, key) == 0, "crypto_auth does not return 0");
		add(out, OUTPUT);
#else
		static unsigned char *more, *secret, *nonce, *opened, *told;
		length more_size = draw_number() % (longest + 1), sealed = size + OUTPUT, back = sealed;
		if (!more)
			more = room(), secret = room(), nonce = room(), opened = room(), told = room();
		draw(message, size);
		draw(more, more_size);
		draw(secret, SECRET_NONCE);
		draw(nonce, NONCE);
		draw(key, KEY);
		expect(crypto_aead_encrypt(out, &sealed, message, size, more, more_size, secret, nonce,
					   key) == 0,
		       "crypto_aead_encrypt does not return 0");
		expect(sealed <= size + OUTPUT,
		       "crypto_aead_encrypt gives more than ABYTES beyond the message");
		add(out, sealed);
		expect(crypto_aead_decrypt(opened, &back, told, out, sealed, more, more_size, nonce, key) ==
				       0 &&
			       back == size && memcmp(opened, message, size) == 0,
		       "crypto_aead_decrypt does not give the message back");
		add(opened, back);
		add(told, SECRET_NONCE);
#endif
#if !defined OF_HASH
		for (int i = 0; i < DRAWS_OF_FORGERIES; i++)
			draw_number();
#endif
	}
	(void)key;
	for (int i = 0; i < 32; i++)
		printf("%02x", state[i]);
	printf("\n");
	return 0;
}
