/* What SUPERCOP provides around an implementation, and what takes its glued signatures apart: `crypto_sign` gives the
 * signature and its message in one piece, in any order, and the SDK wants them apart. SIGNATURE: bytes of the longest
 * one, defined for implementations of crypto_sign only. */
void crypto_declassify(const void *x, unsigned long long length)
{
	(void)x, (void)length;
}

#define VERIFY(length)                                                                                       \
	int crypto_verify_##length(const unsigned char *x, const unsigned char *y)                           \
	{                                                                                                    \
		unsigned different = 0;                                                                      \
		for (int i = 0; i < length; i++)                                                             \
			different |= x[i] ^ y[i];                                                            \
		return (int)(1 & ((different - 1) >> 8)) - 1;                                                \
	}
VERIFY(8)
VERIFY(16)
VERIFY(32)
VERIFY(64)

#ifdef SIGNATURE
#include <stdlib.h>
#include <string.h>

typedef unsigned long long length;
extern int crypto_sign(unsigned char *, length *, const unsigned char *, length, const unsigned char *);
extern int crypto_sign_open(unsigned char *, length *, const unsigned char *, length, const unsigned char *);
static unsigned char *room;
static length room_bytes;

static unsigned char *make_room(length bytes)
{
	if (bytes > room_bytes)
		room = realloc(room, room_bytes = bytes);
	return room;
}

/* Where the message lies in what crypto_sign gives: mostly behind the signature, before it or in its midst with some.
 * Signatures may have several lengths. */
static length front = SIGNATURE;
static struct {
	unsigned char head[16];
	length bytes;
} known[64];
static unsigned count;

static length bytes_of(const unsigned char *sig)
{
	for (unsigned i = 0; i < 64; i++)
		if (known[i].bytes && memcmp(known[i].head, sig, sizeof known[i].head) == 0)
			return known[i].bytes;
	return SIGNATURE;
}

int crypto_sign_detached(unsigned char *sig, length *siglen, const unsigned char *m, length mlen,
			 const unsigned char *sk)
{
	length smlen = 0;
	unsigned char *sm = make_room(2 * (mlen + SIGNATURE) + 64);
	int answer = crypto_sign(sm, &smlen, m, mlen, sk);
	length bytes = smlen - mlen;
	if (smlen < mlen || bytes > SIGNATURE)
		return -1;
	front = bytes;
	while (front && memcmp(sm + front, m, mlen) != 0)
		front--;
	if (memcmp(sm + front, m, mlen) != 0)
		return -1;
	memcpy(sig, sm, front);
	memcpy(sig + front, sm + front + mlen, bytes - front);
	memset(sig + bytes, 0, SIGNATURE - bytes);
	if (bytes >= sizeof known[0].head) {
		memcpy(known[count % 64].head, sig, sizeof known[0].head);
		known[count++ % 64].bytes = bytes;
	}
	*siglen = bytes;
	return answer;
}

int crypto_sign_checked(const unsigned char *sig, const unsigned char *m, unsigned long long mlen,
			const unsigned char *pk)
{
	length opened = 0, bytes = bytes_of(sig), before = front < bytes ? front : bytes;
	unsigned char *sm = make_room(2 * (mlen + SIGNATURE) + 64);
	memcpy(sm, sig, before);
	memcpy(sm + before, m, mlen);
	memcpy(sm + before + mlen, sig + before, bytes - before);
	return crypto_sign_open(sm + mlen + bytes, &opened, sm, mlen + bytes, pk);
}
#endif
