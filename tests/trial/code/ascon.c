/* Ascon-AEAD128 (NIST SP 800-232) with the parameters that SUPERCOP's functions have. */
#include <stdint.h>
#include <string.h>

#define ROR(x, n) ((x) >> (n) | (x) << (64 - (n)))

typedef struct {
	uint64_t x[5];
} permuted;

static void permute(permuted *p, int rounds)
{
	uint64_t *x = p->x;
	for (int i = 12 - rounds; i < 12; i++) {
		uint64_t t[5];
		x[2] ^= (uint64_t)(0xf0 - 0x0f * i);
		x[0] ^= x[4], x[4] ^= x[3], x[2] ^= x[1];
		for (int j = 0; j < 5; j++)
			t[j] = x[j] ^ (~x[(j + 1) % 5] & x[(j + 2) % 5]);
		t[1] ^= t[0], t[0] ^= t[4], t[3] ^= t[2], t[2] = ~t[2];
		x[0] = t[0] ^ ROR(t[0], 19) ^ ROR(t[0], 28);
		x[1] = t[1] ^ ROR(t[1], 61) ^ ROR(t[1], 39);
		x[2] = t[2] ^ ROR(t[2], 1) ^ ROR(t[2], 6);
		x[3] = t[3] ^ ROR(t[3], 10) ^ ROR(t[3], 17);
		x[4] = t[4] ^ ROR(t[4], 7) ^ ROR(t[4], 41);
	}
}

static void load(uint64_t w[2], const unsigned char *bytes, unsigned long long n)
{
	unsigned char padded[16] = {0};
	memcpy(padded, bytes, n);
	if (n < 16)
		padded[n] = 1;
	memcpy(w, padded, 16);
}

static void begin(permuted *p, const unsigned char *k, const unsigned char *npub, const unsigned char *ad,
		  unsigned long long adlen)
{
	uint64_t w[2];
	p->x[0] = 0x00001000808c0001;
	memcpy(p->x + 1, k, 16);
	memcpy(p->x + 3, npub, 16);
	permute(p, 12);
	memcpy(w, k, 16);
	p->x[3] ^= w[0], p->x[4] ^= w[1];
	for (int more = adlen > 0; more; permute(p, 8)) {
		unsigned long long n = adlen < 16 ? adlen : 16;
		load(w, ad, n);
		p->x[0] ^= w[0], p->x[1] ^= w[1];
		more = n == 16;
		ad += n, adlen -= n;
	}
	p->x[4] ^= (uint64_t)1 << 63;
}

static void finish(permuted *p, const unsigned char *k, unsigned char *tag)
{
	uint64_t w[2];
	memcpy(w, k, 16);
	p->x[2] ^= w[0], p->x[3] ^= w[1];
	permute(p, 12);
	w[0] ^= p->x[3], w[1] ^= p->x[4];
	memcpy(tag, w, 16);
}

int crypto_aead_encrypt(unsigned char *c, unsigned long long *clen, const unsigned char *m,
			unsigned long long mlen, const unsigned char *ad, unsigned long long adlen,
			const unsigned char *nsec, const unsigned char *npub, const unsigned char *k)
{
	permuted p;
	uint64_t w[2];
	(void)nsec;
	*clen = mlen + 16;
	begin(&p, k, npub, ad, adlen);
	for (; mlen >= 16; m += 16, c += 16, mlen -= 16) {
		load(w, m, 16);
		p.x[0] ^= w[0], p.x[1] ^= w[1];
		memcpy(c, p.x, 16);
		permute(&p, 8);
	}
	load(w, m, mlen);
	p.x[0] ^= w[0], p.x[1] ^= w[1];
	memcpy(c, p.x, mlen);
	finish(&p, k, c + mlen);
	return 0;
}

int crypto_aead_decrypt(unsigned char *m, unsigned long long *mlen, unsigned char *nsec,
			const unsigned char *c, unsigned long long clen, const unsigned char *ad,
			unsigned long long adlen, const unsigned char *npub, const unsigned char *k)
{
	permuted p;
	uint64_t w[2];
	unsigned char tag[16];
	(void)nsec;
	if (clen < 16)
		return -1;
	*mlen = clen -= 16;
	begin(&p, k, npub, ad, adlen);
	for (; clen >= 16; m += 16, c += 16, clen -= 16) {
		load(w, c, 16);
		w[0] ^= p.x[0], w[1] ^= p.x[1];
		memcpy(p.x, c, 16);
		memcpy(m, w, 16);
		permute(&p, 8);
	}
	for (unsigned long long i = 0; i < clen; i++)
		m[i] = c[i] ^ ((unsigned char *)p.x)[i];
	load(w, m, clen);
	p.x[0] ^= w[0], p.x[1] ^= w[1];
	finish(&p, k, tag);
	return memcmp(tag, c + clen, 16) ? -1 : 0;
}
