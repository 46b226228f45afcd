/* HMAC and CMAC through gcry_mac. The handle keeps the hashed inner and outer pads, so that message/1 does
 * not pay for the key again. */
#include <stdint.h>

#include "families.h"

static int open_mac(pb_case *c)
{
	gcry_mac_hd_t handle;
	if (refuse(c, "gcry_mac_open", gcry_mac_open(&handle, algorithm_of(c)->algo, 0, NULL)))
		return -1;
	if (refuse(c, "gcry_mac_setkey", gcry_mac_setkey(handle, c->key[0], c->key_len))) {
		gcry_mac_close(handle);
		return -1;
	}
	c->ctx = handle;
	return 0;
}

static void close_mac(pb_case *c)
{
	gcry_mac_close(c->ctx);
}

static void message(pb_case *c, uint64_t n)
{
	gcry_mac_hd_t handle = c->ctx;
	const uint8_t *in = c->in;
	uint8_t *out = c->out;
	size_t size = c->size, output = c->row->output;
	uint64_t failures = 0;
	PB_REPEAT(n, turn, {
		size_t length = output;
		failures += gcry_mac_reset(handle) != 0;
		failures += gcry_mac_write(handle, in, size) != 0;
		failures += gcry_mac_read(handle, out, &length) != 0;
	});
	c->failures += failures;
	c->out_len = output;
}

/* gcry_mac_setkey resets the handle as well, but not one of CMAC. */
static inline __attribute__((always_inline)) void rekeyed(pb_case *c, uint64_t n, int reset)
{
	gcry_mac_hd_t handle = c->ctx;
	const uint8_t *const *key = c->key, *in = c->in;
	uint8_t *out = c->out;
	size_t size = c->size, key_len = c->key_len, output = c->row->output;
	uint64_t failures = 0;
	PB_REPEAT(n, turn, {
		size_t length = output;
		if (reset)
			failures += gcry_mac_reset(handle) != 0;
		failures += gcry_mac_setkey(handle, PB_TURN(key, turn), key_len) != 0;
		failures += gcry_mac_write(handle, in, size) != 0;
		failures += gcry_mac_read(handle, out, &length) != 0;
	});
	c->failures += failures;
	c->out_len = output;
}

static void rekey(pb_case *c, uint64_t n)
{
	rekeyed(c, n, 0);
}

static void rekey_reset(pb_case *c, uint64_t n)
{
	rekeyed(c, n, 1);
}

static void begin_stream(pb_case *c)
{
	c->failures += gcry_mac_reset((gcry_mac_hd_t)c->ctx) != 0;
}

static void stream(pb_case *c, uint64_t n)
{
	gcry_mac_hd_t handle = c->ctx;
	const uint8_t *in = c->in;
	size_t size = c->size;
	uint64_t failures = 0;
	PB_REPEAT(n, turn, failures += gcry_mac_write(handle, in, size) != 0);
	c->failures += failures;
}

static void show_stream(pb_case *c)
{
	size_t length = c->row->output;
	c->failures += gcry_mac_read(c->ctx, c->out, &length) != 0;
	c->out_len = length;
}

static const pb_variant variants[] = {
	{"mac", "message/1", "gcry_mac_reset, gcry_mac_write, gcry_mac_read", NULL, message, NULL},
	{"mac", "rekey/1", "gcry_mac_setkey, gcry_mac_write, gcry_mac_read", NULL, rekey, NULL},
	{"mac", "stream/1", "gcry_mac_write", begin_stream, stream, show_stream},
	PB_END_OF_VARIANTS,
};
const pb_family mac_family = {open_mac, close_mac, variants};

static const pb_variant cmac_variants[] = {
	{"mac", "message/1", "gcry_mac_reset, gcry_mac_write, gcry_mac_read", NULL, message, NULL},
	{"mac", "rekey/1", "gcry_mac_reset, gcry_mac_setkey, gcry_mac_write, gcry_mac_read", NULL,
	 rekey_reset, NULL},
	PB_END_OF_VARIANTS,
};
const pb_family cmac_family = {open_mac, close_mac, cmac_variants};
