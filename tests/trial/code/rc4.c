/* RC4 with the key set apart. Each call begins where the key schedule ended, so that a call is a whole
 * message. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct {
	uint8_t s[256];
} rc4_key;

void rc4_set_key(rc4_key *schedule, const unsigned char *key, int keylen)
{
	for (int i = 0; i < 256; i++)
		schedule->s[i] = (uint8_t)i;
	for (int i = 0, j = 0; i < 256; i++) {
		uint8_t held = schedule->s[i];
		j = (j + held + key[i % keylen]) & 255;
		schedule->s[i] = schedule->s[j];
		schedule->s[j] = held;
	}
}

void rc4_crypt(const rc4_key *schedule, const uint8_t *in, uint8_t *out, size_t length)
{
	uint8_t s[256], i = 0, j = 0;
	memcpy(s, schedule->s, 256);
	for (size_t n = 0; n < length; n++) {
		uint8_t x = s[++i], y = s[j = (uint8_t)(j + x)];
		s[i] = y;
		s[j] = x;
		out[n] = in[n] ^ s[(uint8_t)(x + y)];
	}
}

/* The same in place, with the key in each call. */
void rc4_inplace(uint8_t *buf, size_t len, const uint8_t *k, size_t klen)
{
	rc4_key schedule;
	rc4_set_key(&schedule, k, (int)klen);
	rc4_crypt(&schedule, buf, buf, len);
}
