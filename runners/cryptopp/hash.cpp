/* Hashes and HMAC. Both are HashTransformations: Final leaves the object ready for the next message. */
#include <cstddef>
#include <cstdint>

#include "families.h"

namespace
{

using CryptoPP::HashTransformation;
using CryptoPP::MessageAuthenticationCode;

int open_hash(pb_case *c)
{
	return open_object<HashTransformation>(c, [=](HashTransformation &hash) {
		if (hash.DigestSize() != c->row->output)
			throw CryptoPP::InvalidArgument("the digest has another length than the row's");
	});
}

int open_mac(pb_case *c)
{
	return open_object<MessageAuthenticationCode>(
		c, [=](MessageAuthenticationCode &mac) { mac.SetKey(c->key[0], c->key_len); });
}

/* What `ctx` points to, as the class that both families' objects are. */
template <class Interface> HashTransformation &hash_of(pb_case *c)
{
	return *static_cast<Interface *>(c->ctx);
}

template <class Interface> void message(pb_case *c, uint64_t n)
{
	guarded(c, [=] {
		HashTransformation &hash = hash_of<Interface>(c);
		const uint8_t *in = c->in;
		uint8_t *out = c->out;
		size_t size = c->size, output = c->row->output;
		PB_REPEAT(n, turn, {
			hash.Update(in, size);
			hash.TruncatedFinal(out, output);
		});
	});
	c->out_len = c->row->output;
}

template <class Interface> void begin_stream(pb_case *c)
{
	guarded(c, [=] { hash_of<Interface>(c).Restart(); });
}

template <class Interface> void stream(pb_case *c, uint64_t n)
{
	guarded(c, [=] {
		HashTransformation &hash = hash_of<Interface>(c);
		const uint8_t *in = c->in;
		size_t size = c->size;
		PB_REPEAT(n, turn, hash.Update(in, size));
	});
}

template <class Interface> void show_stream(pb_case *c)
{
	guarded(c, [=] { hash_of<Interface>(c).TruncatedFinal(c->out, c->row->output); });
	c->out_len = c->row->output;
}

/* As many bytes of output as are asked for. */
void squeeze(pb_case *c, uint64_t n)
{
	guarded(c, [=] {
		HashTransformation &hash = hash_of<HashTransformation>(c);
		const uint8_t *const *nonce = c->nonce;
		uint8_t *out = c->out;
		size_t size = c->size, nonce_len = c->nonce_len;
		PB_REPEAT(n, turn, {
			hash.Update(PB_TURN(nonce, turn), nonce_len);
			hash.TruncatedFinal(out, size);
		});
	});
	c->out_len = c->size;
}

void rekey_mac(pb_case *c, uint64_t n)
{
	guarded(c, [=] {
		MessageAuthenticationCode &mac = *static_cast<MessageAuthenticationCode *>(c->ctx);
		const uint8_t *const *key = c->key, *in = c->in;
		uint8_t *out = c->out;
		size_t size = c->size, key_len = c->key_len, output = c->row->output;
		PB_REPEAT(n, turn, {
			mac.SetKey(PB_TURN(key, turn), key_len);
			mac.Update(in, size);
			mac.TruncatedFinal(out, output);
		});
	});
	c->out_len = c->row->output;
}

using Mac = MessageAuthenticationCode;

#define DIGEST                                                                                               \
	{"digest", "oneshot/1", "Update, TruncatedFinal", nullptr, message<HashTransformation>, nullptr},    \
	{                                                                                                    \
		"digest", "stream/1", "Update", begin_stream<HashTransformation>,                            \
			stream<HashTransformation>, show_stream<HashTransformation>                          \
	}

const pb_variant hash_variants[] = {DIGEST, PB_END_OF_VARIANTS};

const pb_variant xof_variants[] = {
	DIGEST,
	{"squeeze", "expand/1", "Update, TruncatedFinal", nullptr, squeeze, nullptr},
	PB_END_OF_VARIANTS,
};

const pb_variant mac_variants[] = {
	{"mac", "message/1", "Update, TruncatedFinal", nullptr, message<Mac>, nullptr},
	{"mac", "rekey/1", "SetKey, Update, TruncatedFinal", nullptr, rekey_mac, nullptr},
	{"mac", "stream/1", "Update", begin_stream<Mac>, stream<Mac>, show_stream<Mac>},
	PB_END_OF_VARIANTS,
};

} // namespace

const pb_family hash_family = {open_hash, close_object<HashTransformation>, hash_variants};
const pb_family xof_family = {open_hash, close_object<HashTransformation>, xof_variants};
const pb_family mac_family = {open_mac, close_object<MessageAuthenticationCode>, mac_variants};
