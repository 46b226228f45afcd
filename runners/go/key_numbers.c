/* The fixed RSA keys of the OpenSSL runner, so that signatures of the two can be compared. */
#include "../openssl/key_numbers.h"

#include <string.h>

/* The prime of the row, `second` or not; NULL if there is no such row. */
const char *pb_key_prime(const char *row, int second);

const char *pb_key_prime(const char *row, int second)
{
	for (size_t i = 0; i < sizeof key_numbers / sizeof *key_numbers; i++)
		if (strcmp(key_numbers[i].row, row) == 0)
			return second ? key_numbers[i].q : key_numbers[i].p;
	return NULL;
}
