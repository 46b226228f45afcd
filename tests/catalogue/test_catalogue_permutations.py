"""The known answers of permutations, by hash functions that are made of them: each is its specification, in Python."""

from __future__ import annotations

import hashlib
import struct

import pytest

from perbyte.catalogue import load

M64, M32 = (1 << 64) - 1, (1 << 32) - 1


def left64(word: int, by: int) -> int:
    return (word << by | word >> (64 - by)) & M64 if by else word


def keccak_f1600(state: bytes) -> bytes:
    """FIPS 202, section 3.2."""
    lanes = dict(zip([(x, y) for y in range(5) for x in range(5)], struct.unpack("<25Q", state), strict=True))
    register = 1
    for _ in range(24):
        parity = [lanes[x, 0] ^ lanes[x, 1] ^ lanes[x, 2] ^ lanes[x, 3] ^ lanes[x, 4] for x in range(5)]
        lanes = {
            (x, y): lane ^ parity[x - 1] ^ left64(parity[(x + 1) % 5], 1) for (x, y), lane in lanes.items()
        }
        x, y, current = 1, 0, lanes[1, 0]
        for t in range(24):
            x, y = y, (2 * x + 3 * y) % 5
            current, lanes[x, y] = lanes[x, y], left64(current, (t + 1) * (t + 2) // 2 % 64)
        lanes = {
            (x, y): lanes[x, y] ^ (~lanes[(x + 1) % 5, y] & lanes[(x + 2) % 5, y])
            for y in range(5)
            for x in range(5)
        }
        for j in range(7):
            register = (register << 1) ^ ((register >> 7) * 0x171)
            if register & 2:
                lanes[0, 0] ^= 1 << ((1 << j) - 1)
    return struct.pack("<25Q", *(lanes[x, y] for y in range(5) for x in range(5)))


def ascon_p12(state: bytes) -> bytes:
    """NIST SP 800-232, section 3."""
    x = list(struct.unpack("<5Q", state))
    for r in range(12):
        x[2] ^= 0xF0 - 0x0F * r
        x[0] ^= x[4]
        x[4] ^= x[3]
        x[2] ^= x[1]
        t = [(x[i] ^ M64) & x[(i + 1) % 5] for i in range(5)]
        x = [x[i] ^ t[(i + 1) % 5] for i in range(5)]
        x[1] ^= x[0]
        x[0] ^= x[4]
        x[3] ^= x[2]
        x[2] ^= M64
        for i, (a, b) in enumerate(((19, 28), (61, 39), (1, 6), (10, 17), (7, 41))):
            x[i] ^= left64(x[i], 64 - a) ^ left64(x[i], 64 - b)
    return struct.pack("<5Q", *x)


def gimli(state: bytes) -> bytes:
    """Bernstein and others, CHES 2017, algorithm 1."""
    s = list(struct.unpack("<12I", state))
    for r in range(24, 0, -1):
        for column in range(4):
            x = (s[column] << 24 | s[column] >> 8) & M32
            y = (s[4 + column] << 9 | s[4 + column] >> 23) & M32
            z = s[8 + column]
            s[8 + column] = (x ^ z << 1 ^ (y & z) << 2) & M32
            s[4 + column] = (y ^ x ^ (x | z) << 1) & M32
            s[column] = (z ^ y ^ (x & y) << 3) & M32
        if r % 4 == 0:
            s[0:4] = [s[1], s[0], s[3], s[2]]
            s[0] ^= 0x9E377900 | r
        elif r % 4 == 2:
            s[0:4] = [s[2], s[3], s[0], s[1]]
    return struct.pack("<12I", *s)


PERMUTATIONS = {"keccak-f1600": keccak_f1600, "ascon-p12": ascon_p12, "gimli": gimli}


@pytest.mark.parametrize("name", PERMUTATIONS)
def test_known_answers_are_those_of_the_specification(name: str):
    known = load().known_answers(name, "permute")
    assert len(known) == 2
    for answer in known:
        assert PERMUTATIONS[name](bytes.fromhex(answer.input)).hex() == answer.output


def test_this_keccak_is_that_of_sha_3():
    message = b"a message of one block"
    padded = bytearray(message.ljust(200, b"\0"))
    padded[len(message)] ^= 6
    padded[135] ^= 128
    assert keccak_f1600(bytes(padded))[:32] == hashlib.sha3_256(message).digest()


def test_this_ascon_is_that_of_ascon_hash():
    answers = load().known_answers("ascon-hash256", "digest")
    assert answers
    for answer in answers:
        message = bytes.fromhex(answer.input) + b"\x01"
        message = message.ljust(-(-len(message) // 8) * 8, b"\0")
        state = ascon_p12(struct.pack("<5Q", 0x0000080100CC0002, 0, 0, 0, 0))
        for at in range(0, len(message), 8):
            first = bytes(a ^ b for a, b in zip(state[:8], message[at : at + 8], strict=True))
            state = ascon_p12(first + state[8:])
        digest = b""
        for _ in range(4):
            digest, state = digest + state[:8], ascon_p12(state)
        assert digest.hex() == answer.output


def test_this_gimli_gives_the_published_words():
    words = [(i * i * i + i * 0x9E3779B9) & M32 for i in range(12)]
    given = struct.unpack("<12I", gimli(struct.pack("<12I", *words)))
    assert [f"{word:08x}" for word in given[:4]] == ["ba11c85a", "91bad119", "380ce880", "d24c2c68"]
