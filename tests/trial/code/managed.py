"""Functions of Python as a user has them: no import of Perbyte, no declaration."""

import hashlib
import hmac
import struct


def digest(data):
    return hashlib.sha256(data).digest()


def tag(key, message):
    return hmac.new(key, message, "sha256").digest()


def _block(key, counter, nonce):
    state = [0x61707865, 0x3320646E, 0x79622D32, 0x6B206574]
    state += [*struct.unpack("<8I", key), counter, *struct.unpack("<3I", nonce)]
    x = list(state)
    quarters = [(0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15)]
    quarters += [(0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14)]
    for _ in range(10):
        for a, b, c, d in quarters:
            for to, by, turned, left in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
                x[to] = (x[to] + x[by]) & 0xFFFFFFFF
                y = x[turned] ^ x[to]
                x[turned] = (y << left | y >> (32 - left)) & 0xFFFFFFFF
    return struct.pack("<16I", *((a + b) & 0xFFFFFFFF for a, b in zip(x, state, strict=True)))


def _stream(key, nonce, data):
    keys = b"".join(_block(key, 1 + i, nonce) for i in range((len(data) + 63) // 64))
    return bytes(a ^ b for a, b in zip(data, keys, strict=False))


def _tag(key, nonce, aad, sealed):
    start = _block(key, 0, nonce)
    r = int.from_bytes(start[:16], "little") & 0x0FFFFFFC0FFFFFFC0FFFFFFC0FFFFFFF
    text = aad + bytes(-len(aad) % 16) + sealed + bytes(-len(sealed) % 16)
    text += struct.pack("<QQ", len(aad), len(sealed))
    sum_ = 0
    for i in range(0, len(text), 16):
        sum_ = (sum_ + int.from_bytes(text[i : i + 16] + b"\1", "little")) * r % ((1 << 130) - 5)
    return ((sum_ + int.from_bytes(start[16:32], "little")) % (1 << 128)).to_bytes(16, "little")


def seal(key, nonce, plaintext, aad):
    sealed = _stream(key, nonce, plaintext)
    return sealed + _tag(key, nonce, aad, sealed)


def unseal(key, nonce, ciphertext, aad):
    sealed, sent = ciphertext[:-16], ciphertext[-16:]
    return _stream(key, nonce, sealed) if _tag(key, nonce, aad, sealed) == sent else None
