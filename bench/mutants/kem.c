/* ML-KEM-768 (FIPS 203) as it is written down, slow and plain, with faults in what follows a decryption. */
#include "mutants.h"

#include <openssl/evp.h>
#include <openssl/rand.h>

#include <stdlib.h>
#include <string.h>

enum {
	Q = 3329,
	N = 256,
	K = 3,
	DU = 10,
	DV = 4,
	PUBLIC = 384 * K + 32,
	CIPHERTEXT = 32 * (DU * K + DV),
	SYM = 32
};

typedef int16_t poly[N];

typedef struct keys {
	uint8_t public[PUBLIC], hash[SYM], z[SYM], made[CIPHERTEXT];
	poly secret[K], matrix[K][K];
	unsigned opened;
} keys;

static void hash(const char *name, const uint8_t *in, size_t size, uint8_t *out, size_t length)
{
	static EVP_MD *known[8];
	static EVP_MD_CTX *x;
	EVP_MD **md = known;
	while (*md && !EVP_MD_is_a(*md, name))
		md++;
	if (!*md)
		*md = EVP_MD_fetch(NULL, name, NULL);
	x = x ? x : EVP_MD_CTX_new();
	EVP_DigestInit_ex(x, *md, NULL);
	EVP_DigestUpdate(x, in, size);
	if (strncmp(name, "SHAKE", 5) == 0)
		EVP_DigestFinalXOF(x, out, length);
	else
		EVP_DigestFinal_ex(x, out, NULL);
}

static int zeta(int i)
{
	static int table[128];
	if (!table[0]) {
		int power[128];
		power[0] = 1;
		for (int j = 1; j < 128; j++)
			power[j] = power[j - 1] * 17 % Q;
		for (int j = 0; j < 128; j++) {
			int reversed = 0;
			for (int bit = 0; bit < 7; bit++)
				reversed |= (j >> bit & 1) << (6 - bit);
			table[j] = power[reversed];
		}
	}
	return table[i];
}

static void ntt(poly f)
{
	for (int length = 128, i = 1; length >= 2; length /= 2)
		for (int start = 0; start < N; start += 2 * length, i++)
			for (int j = start; j < start + length; j++) {
				int t = zeta(i) * f[j + length] % Q;
				f[j + length] = (int16_t)((f[j] - t + Q) % Q);
				f[j] = (int16_t)((f[j] + t) % Q);
			}
}

static void inverse_ntt(poly f)
{
	for (int length = 2, i = 127; length <= 128; length *= 2)
		for (int start = 0; start < N; start += 2 * length, i--)
			for (int j = start; j < start + length; j++) {
				int t = f[j];
				f[j] = (int16_t)((t + f[j + length]) % Q);
				f[j + length] = (int16_t)(zeta(i) * (f[j + length] - t + Q) % Q);
			}
	for (int j = 0; j < N; j++)
		f[j] = (int16_t)(f[j] * 3303 % Q);
}

/* h += f * g, of polynomials that are transformed. */
static void multiply(const poly f, const poly g, poly h)
{
	for (int i = 0; i < 128; i++) {
		int gamma = zeta(64 + i / 2);
		if (i % 2)
			gamma = Q - gamma;
		int a0 = f[2 * i], a1 = f[2 * i + 1], b0 = g[2 * i], b1 = g[2 * i + 1];
		h[2 * i] = (int16_t)((h[2 * i] + a0 * b0 + a1 * b1 % Q * gamma) % Q);
		h[2 * i + 1] = (int16_t)((h[2 * i + 1] + a0 * b1 + a1 * b0) % Q);
	}
}

static void sample_ntt(const uint8_t *rho, int i, int j, poly a)
{
	uint8_t seed[SYM + 2], stream[1344];
	memcpy(seed, rho, SYM);
	seed[SYM] = (uint8_t)j;
	seed[SYM + 1] = (uint8_t)i;
	hash("SHAKE128", seed, sizeof seed, stream, sizeof stream);
	for (int at = 0, n = 0; n < N; at += 3) {
		int d1 = stream[at] + 256 * (stream[at + 1] % 16),
		    d2 = stream[at + 1] / 16 + 16 * stream[at + 2];
		if (d1 < Q)
			a[n++] = (int16_t)d1;
		if (d2 < Q && n < N)
			a[n++] = (int16_t)d2;
	}
}

static void sample_noise(const uint8_t *seed, int number, poly f)
{
	uint8_t in[SYM + 1], bytes[128];
	memcpy(in, seed, SYM);
	in[SYM] = (uint8_t)number;
	hash("SHAKE256", in, sizeof in, bytes, sizeof bytes);
	for (int i = 0; i < N; i++) {
		int four = bytes[i / 2] >> 4 * (i % 2);
		f[i] = (int16_t)(((four & 1) + (four >> 1 & 1) - (four >> 2 & 1) - (four >> 3 & 1) + Q) % Q);
	}
}

static void encode(const poly f, int d, uint8_t *out)
{
	memset(out, 0, (size_t)(32 * d));
	for (int i = 0; i < N * d; i++)
		out[i / 8] |= (uint8_t)((f[i / d] >> i % d & 1) << i % 8);
}

static void decode(const uint8_t *in, int d, poly f)
{
	memset(f, 0, sizeof(poly));
	for (int i = 0; i < N * d; i++)
		f[i / d] |= (int16_t)((in[i / 8] >> i % 8 & 1) << i % d);
}

static void compress(poly f, int d)
{
	for (int i = 0; i < N; i++)
		f[i] = (int16_t)(((f[i] << d) + Q / 2) / Q % (1 << d));
}

static void decompress(poly f, int d)
{
	for (int i = 0; i < N; i++)
		f[i] = (int16_t)((f[i] * Q + (1 << (d - 1))) >> d);
}

static void make_keys(keys *k, const uint8_t *seed)
{
	uint8_t in[SYM + 1], both[64];
	memcpy(in, seed, SYM);
	in[SYM] = K;
	hash("SHA3-512", in, sizeof in, both, 64);
	for (int i = 0; i < K; i++) {
		sample_noise(both + SYM, i, k->secret[i]);
		ntt(k->secret[i]);
	}
	for (int i = 0; i < K; i++) {
		poly t;
		sample_noise(both + SYM, K + i, t);
		ntt(t);
		for (int j = 0; j < K; j++) {
			sample_ntt(both, i, j, k->matrix[i][j]);
			multiply(k->matrix[i][j], k->secret[j], t);
		}
		encode(t, 12, k->public + 384 * i);
	}
	memcpy(k->public + 384 * K, both, SYM);
	hash("SHA3-256", k->public, PUBLIC, k->hash, SYM);
	memcpy(k->z, seed + SYM, SYM);
}

static void encrypt(const keys *k, const uint8_t *m, const uint8_t *r, uint8_t *out)
{
	poly y[K], u, v, a, noise, message;
	for (int i = 0; i < K; i++) {
		sample_noise(r, i, y[i]);
		ntt(y[i]);
	}
	for (int i = 0; i < K; i++) {
		memset(u, 0, sizeof u);
		for (int j = 0; j < K; j++)
			multiply(k->matrix[j][i], y[j], u);
		inverse_ntt(u);
		sample_noise(r, K + i, noise);
		for (int j = 0; j < N; j++)
			u[j] = (int16_t)((u[j] + noise[j]) % Q);
		compress(u, DU);
		encode(u, DU, out + 32 * DU * i);
	}
	memset(v, 0, sizeof v);
	for (int i = 0; i < K; i++) {
		decode(k->public + 384 * i, 12, a);
		multiply(a, y[i], v);
	}
	inverse_ntt(v);
	sample_noise(r, 2 * K, noise);
	decode(m, 1, message);
	decompress(message, 1);
	for (int j = 0; j < N; j++)
		v[j] = (int16_t)((v[j] + noise[j] + message[j]) % Q);
	compress(v, DV);
	encode(v, DV, out + 32 * DU * K);
}

static void decrypt(const keys *k, const uint8_t *c, uint8_t *m)
{
	poly u, v, w;
	memset(w, 0, sizeof w);
	for (int i = 0; i < K; i++) {
		decode(c + 32 * DU * i, DU, u);
		decompress(u, DU);
		ntt(u);
		multiply(k->secret[i], u, w);
	}
	inverse_ntt(w);
	decode(c + 32 * DU * K, DV, v);
	decompress(v, DV);
	for (int j = 0; j < N; j++)
		w[j] = (int16_t)((v[j] - w[j] + Q) % Q);
	compress(w, 1);
	encode(w, 1, m);
}

static int open_case(pb_case *c)
{
	keys *k = c->ctx = calloc(1, sizeof *k);
	make_keys(k, c->key[0]);
	return 0;
}

static void close_case(pb_case *c)
{
	free(c->ctx);
}

static void encapsulate(pb_case *c, uint64_t n)
{
	keys *k = c->ctx;
	uint8_t in[64], both[64];
	for (uint64_t turn = 0; turn < n; turn++) {
		RAND_bytes(in, SYM);
		memcpy(in + SYM, k->hash, SYM);
		hash("SHA3-512", in, 64, both, 64);
		encrypt(k, in, both + SYM, c->out);
		memcpy(c->out + CIPHERTEXT, both, SYM);
	}
	c->out_len = CIPHERTEXT + SYM;
}

/* Not 0 where the ciphertext is not the one that was made, as far as the planted fault sees it. */
static int changed(keys *k, const uint8_t *in)
{
	if (has("no-comparison") || (has("every-third") && k->opened++ % 3 == 2))
		return 0;
	if (has("first-1024-alone"))
		return memcmp(k->made, in, 1024) != 0;
	if (has("last-8"))
		return memcmp(k->made, in, CIPHERTEXT - 8) != 0;
	if (has("first-polynomial"))
		return memcmp(k->made + 32 * DU, in + 32 * DU, CIPHERTEXT - 32 * DU) != 0;
	if (has("second-half-alone"))
		return memcmp(k->made + CIPHERTEXT / 2, in + CIPHERTEXT / 2, CIPHERTEXT / 2) != 0;
	if (has("as-text"))
		return strncmp((const char *)k->made, (const char *)in, CIPHERTEXT) != 0;
	if (has("after-9") && k->opened++ > 9)
		return 0;
	if (has("last-32"))
		return memcmp(k->made, in, CIPHERTEXT - 32) != 0;
	if (has("first-32-alone"))
		return memcmp(k->made, in, 32) != 0;
	if (has("u-alone"))
		return memcmp(k->made, in, 32 * DU * K) != 0;
	if (has("v-alone"))
		return memcmp(k->made + 32 * DU * K, in + 32 * DU * K, 32 * DV) != 0;
	if (has("32-in-the-middle"))
		return memcmp(k->made, in, 500) != 0 ||
		       memcmp(k->made + 532, in + 532, CIPHERTEXT - 532) != 0;
	return differs(k->made, in, CIPHERTEXT);
}

static void decapsulate(pb_case *c, uint64_t n)
{
	keys *k = c->ctx;
	uint8_t in[64], both[64], other[SYM + CIPHERTEXT];
	for (uint64_t turn = 0; turn < n; turn++) {
		decrypt(k, c->in, in);
		memcpy(in + SYM, k->hash, SYM);
		hash("SHA3-512", in, 64, both, 64);
		encrypt(k, in, both + SYM, k->made);
		memcpy(other, k->z, SYM);
		memcpy(other + SYM, c->in, CIPHERTEXT);
		if (!changed(k, c->in)) {
			memcpy(c->out, both, SYM);
			continue;
		}
		hash("SHAKE256", other, sizeof other, c->out, SYM);
		if (has("rejects-by-secret"))
			hash("SHA3-256", both, SYM, c->out, SYM);
		if (has("rejects-in-half"))
			memcpy(c->out, both, SYM / 2);
		if (has("rejects-by-hash-of-z"))
			hash("SHA3-256", k->z, SYM, c->out, SYM);
		if (has("rejects-by-other-order")) {
			memcpy(other, c->in, CIPHERTEXT);
			memcpy(other + CIPHERTEXT, k->z, SYM);
			hash("SHAKE256", other, sizeof other, c->out, SYM);
		}
		if (has("rejects-by-constant"))
			memset(c->out, 0, SYM);
		if (has("rejects-by-z"))
			memcpy(c->out, k->z, SYM);
		if (has("rejects-at-random"))
			RAND_bytes(c->out, SYM);
		if (has("rejects-without-z"))
			hash("SHAKE256", c->in, CIPHERTEXT, c->out, SYM);
		if (has("rejects-by-beginning"))
			hash("SHAKE256", other, SYM + 64, c->out, SYM);
		c->failures += has("refuses");
	}
	c->out_len = SYM;
}

static const pb_variant variants[] = {
	{"encapsulate", "pk/1", "encapsulate", NULL, encapsulate, NULL},
	{"decapsulate", "pk/1", "decapsulate", NULL, decapsulate, NULL},
	PB_END_OF_VARIANTS,
};
const pb_family kem_family = {open_case, close_case, variants};
