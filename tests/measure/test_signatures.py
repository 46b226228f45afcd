"""What signatures tell of keys and nonces: arithmetic, by numbers chosen here."""

from __future__ import annotations

import math
import random
from collections.abc import Callable

import pytest

from perbyte.measure.signatures import EXPONENT, ORDERS, modulus, nonces_related, padded, weakness

P, Q = (1 << 521) - 1, (1 << 607) - 1
SIZE = 141
DIGEST = bytes(range(32))
ORDER = ORDERS["ecdsa-p256"]
RNG = random.Random(5)
KEY = RNG.randrange(ORDER).to_bytes(32, "big")


def signer(private: int, n: int = P * Q) -> Callable[[bytes], bytes]:
    return lambda data: pow(padded(data, SIZE), private, n).to_bytes(SIZE, "big")


def told(sign: Callable[[bytes], bytes]) -> str:
    return weakness(modulus(sign, SIZE), sign(DIGEST), DIGEST)


def test_a_modulus_is_what_products_of_signatures_have_in_common() -> None:
    sign = signer(pow(EXPONENT, -1, math.lcm(P - 1, Q - 1)))
    assert modulus(sign, SIZE) == P * Q
    assert told(sign) == ""


@pytest.mark.parametrize("private", [(1 << 63) + 29, (1 << 300) + 7])
def test_a_short_private_exponent_belongs_to_another_public_one(private: int) -> None:
    assert "does not verify with the public exponent" in told(signer(private))


def test_a_small_public_exponent_is_not_the_one_that_was_asked_for() -> None:
    q = (1 << 1279) - 1
    shorter = weakness(q, bytes(160), DIGEST)
    assert shorter == "the modulus of its key has 1279 bits instead of 1280"
    assert "product of two large primes" in weakness((1 << 1279) * 5 // 4, bytes(160), DIGEST)
    assert "product of two large primes" in weakness(((1 << 640) - 3) ** 2, bytes(160), DIGEST)


def test_signatures_that_are_none_of_rsa_have_no_modulus() -> None:
    assert modulus(lambda data: RNG.randbytes(SIZE), SIZE).bit_length() < 4 * SIZE


def signed(nonces: list[int]) -> list[bytes]:
    """Signatures with nonces; r is any number, since only s tells the nonce."""
    d, h, made = int.from_bytes(KEY, "big"), int.from_bytes(DIGEST, "big"), []
    for k in nonces:
        r = RNG.randrange(1, ORDER)
        s = (h + r * d) * pow(k, -1, ORDER) % ORDER
        made.append(r.to_bytes(32, "big") + s.to_bytes(32, "big"))
    return made


FIRST, STEP = RNG.randrange(ORDER), RNG.randrange(ORDER)


@pytest.mark.parametrize(
    ("nonces", "related"),
    [
        ([RNG.randrange(1, ORDER) for _ in range(16)], False),
        ([FIRST], False),
        ([], False),
        ([RNG.randrange(1, ORDER), RNG.getrandbits(128)], True),
        ([RNG.randrange(1, ORDER), ORDER - RNG.getrandbits(64)], True),
        ([FIRST, FIRST + 5], True),
        ([FIRST, ORDER - FIRST - 5], True),
        ([FIRST + i * STEP for i in (1, 2, 4)], True),
        ([i * STEP for i in (3, 7)], True),
    ],
)
def test_nonces_are_long_and_no_steps_of_one_width(nonces: list[int], related: bool) -> None:
    assert nonces_related("ecdsa-p256", KEY, DIGEST, signed(nonces)) is related
    assert not nonces_related("ecdsa-p256", RNG.randbytes(32), DIGEST, signed(nonces)), "by another key"
    assert not nonces_related("dsa-2048", KEY, DIGEST, signed(nonces)), "of an unknown group"


def test_what_is_no_signature_tells_nothing() -> None:
    assert not nonces_related("ecdsa-p256", KEY, DIGEST, [b"", bytes(64), b"\1"])
