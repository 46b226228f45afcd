/* The checksum of an implementation in SUPERCOP's layout, for `perbyte try --supercop`: inputs are drawn from Salsa20
 * (Bernstein 2005) under a fixed key, outputs go through its core as a hash. Which inputs in which order, and how many,
 * is the format of the files checksumsmall and checksumbig; the test compares with published ones. Before it stand the
 * operation (OF_HASH), its functions, SMALL_LOOPS, and the lengths under api.h's names. The program prints the small
 * checksum, or with an argument the big one. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef unsigned long long length;

#if defined OF_ONETIMEAUTH
#define crypto_auth crypto_onetimeauth
#define OF_AUTH
#endif
enum { SMALL_LONGEST = 128, BIG_LONGEST = 4096, BIG = 8, ROOM = 4 << 20, FORGERIES = 3 };

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

static void quarter(uint32_t *x, int a, int b, int c, int d)
{
	x[a] += x[b], x[d] = turned(x[d] ^ x[a], 16);
	x[c] += x[d], x[b] = turned(x[b] ^ x[c], 12);
	x[a] += x[b], x[d] = turned(x[d] ^ x[a], 8);
	x[c] += x[d], x[b] = turned(x[b] ^ x[c], 7);
}

/* What key pairs, encapsulations and signatures draw: ChaCha20's key stream under nonce 0, of which the first 32 of 768
 * bytes are the next key; the first key is zero. */
void randombytes(unsigned char *out, length size)
{
	static unsigned char pool[768];
	static length at = sizeof pool;
	for (; size > 0; size--) {
		if (at == sizeof pool) {
			uint32_t start[16] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574}, x[16];
			for (int i = 0; i < 8; i++)
				start[4 + i] = load(pool + 4 * i);
			for (start[12] = 0; start[12] < sizeof pool / 64; start[12]++) {
				memcpy(x, start, sizeof x);
				for (int round = 0; round < 10; round++) {
					for (int i = 0; i < 4; i++)
						quarter(x, i, 4 + i, 8 + i, 12 + i);
					for (int i = 0; i < 4; i++)
						quarter(x, i, 4 + (i + 1) % 4, 8 + (i + 2) % 4,
							12 + (i + 3) % 4);
				}
				for (int i = 0; i < 64; i++)
					pool[64 * start[12] + (uint32_t)i] =
						(unsigned char)((x[i / 4] + start[i / 4]) >> 8 * (i % 4));
			}
			at = 32;
		}
		*out++ = pool[at++];
	}
}

static unsigned char *room(void)
{
	unsigned char *made = calloc(1, ROOM);
	if (!made)
		abort();
	return made;
}

static void expect(int good, const char *what)
{
	if (good)
		return;
	printf("%s\n", what);
	exit(1);
}

/* One byte of x becomes another; a factor first, then the place. */
static void spoil(unsigned char *x, length size)
{
	unsigned char by = (unsigned char)(1 + draw_number() % 255);
	x[draw_number() % size] += by;
}

int main(int argc, char **argv)
{
	unsigned char *message = room(), *key = room(), *out = room(), *more = room(), *opened = room();
	length longest = argc > 1 ? BIG_LONGEST : SMALL_LONGEST, size = 0;
	(void)argv;
	for (int loop = argc > 1 ? BIG * SMALL_LOOPS : SMALL_LOOPS; loop > 0; loop--) {
#if !defined OF_SCALARMULT && !defined OF_KEM
		size = draw_number() % (longest + 1);
#endif
#if defined OF_HASH
		draw(message, size);
		expect(crypto_hash(out, message, size) == 0, "crypto_hash does not return 0");
		add(out, BYTES);
#elif defined OF_AUTH
		draw(message, size);
		draw(key, KEYBYTES);
		expect(crypto_auth(out, message, size, key) == 0, "crypto_auth does not return 0");
		add(out, BYTES);
#elif defined OF_STREAM
		draw(more, NONCEBYTES);
		draw(key, KEYBYTES);
		expect(crypto_stream(out, size, more, key) == 0, "crypto_stream does not return 0");
		add(out, size);
		draw(message, size);
		expect(crypto_stream_xor(opened, message, size, more, key) == 0,
		       "crypto_stream_xor does not return 0");
		for (length i = 0; i < size; i++)
			expect((out[i] ^ message[i]) == opened[i],
			       "crypto_stream_xor does not fit crypto_stream");
		add(opened, size);
#elif defined OF_SCALARMULT
		draw(key, SCALARBYTES);
		expect(crypto_scalarmult_base(out, key) == 0, "crypto_scalarmult_base does not return 0");
		add(out, BYTES);
		draw(more, SCALARBYTES);
		expect(crypto_scalarmult_base(opened, more) == 0, "crypto_scalarmult_base does not return 0");
		add(opened, BYTES);
		expect(crypto_scalarmult(message, key, opened) == 0, "crypto_scalarmult does not return 0");
		add(message, BYTES);
		expect(crypto_scalarmult(message, more, out) == 0, "crypto_scalarmult does not return 0");
		add(message, BYTES);
#elif defined OF_SIGN
		length whole = size + BYTES, back = whole;
		expect(crypto_sign_keypair(more, key) == 0, "crypto_sign_keypair does not return 0");
		add(more, PUBLICKEYBYTES);
		add(key, SECRETKEYBYTES);
		draw(message, size);
		expect(crypto_sign(out, &whole, message, size, key) == 0, "crypto_sign does not return 0");
		expect(whole <= size + BYTES, "crypto_sign gives more than BYTES beyond the message");
		add(out, whole);
		expect(crypto_sign_open(opened, &back, out, whole, more) == 0 && back == size &&
			       memcmp(opened, message, size) == 0,
		       "crypto_sign_open does not give the message back");
		add(opened, back);
		for (int i = 0; i < FORGERIES; i++) {
			spoil(out, whole);
			expect(crypto_sign_open(opened, &back, out, whole, more) != 0 ||
				       (back == size && memcmp(opened, message, size) == 0),
			       "crypto_sign_open takes a forgery");
		}
#elif defined OF_KEM
		expect(crypto_kem_keypair(more, key) == 0, "crypto_kem_keypair does not return 0");
		add(more, PUBLICKEYBYTES);
		add(key, SECRETKEYBYTES);
		expect(crypto_kem_enc(out, message, more) == 0, "crypto_kem_enc does not return 0");
		add(out, CIPHERTEXTBYTES);
		add(message, BYTES);
		expect(crypto_kem_dec(opened, out, key) == 0 && memcmp(opened, message, BYTES) == 0,
		       "crypto_kem_dec does not give the secret");
		add(opened, BYTES);
		for (int i = 0; i < FORGERIES; i++) {
			spoil(out, CIPHERTEXTBYTES);
			int taken = crypto_kem_dec(opened, out, key) == 0;
			add(taken ? opened : out, taken ? BYTES : CIPHERTEXTBYTES);
		}
#else
		static unsigned char *secret, *third, *told;
		length more_size = draw_number() % (longest + 1), sealed = size + ABYTES, back = sealed;
		if (!secret)
			secret = room(), third = room(), told = room();
		draw(message, size);
		draw(more, more_size);
		draw(secret, NSECBYTES);
		draw(third, NPUBBYTES);
		draw(key, KEYBYTES);
		expect(crypto_aead_encrypt(out, &sealed, message, size, more, more_size, secret, third,
					   key) == 0,
		       "crypto_aead_encrypt does not return 0");
		expect(sealed <= size + ABYTES,
		       "crypto_aead_encrypt gives more than ABYTES beyond the message");
		add(out, sealed);
		expect(crypto_aead_decrypt(opened, &back, told, out, sealed, more, more_size, third, key) ==
				       0 &&
			       back == size && memcmp(opened, message, size) == 0,
		       "crypto_aead_decrypt does not give the message back");
		add(opened, back);
		add(told, NSECBYTES);
#endif
#if defined OF_AUTH || defined OF_AEAD
		for (int i = 0; i < FORGERIES; i++)
			spoil(out, 1);
#endif
	}
	for (int i = 0; i < 32; i++)
		printf("%02x", state[i]);
	printf("\n");
	return 0;
}
