"""What signatures tell of the numbers behind them, by arithmetic: an RSA key's modulus, the nonces of ECDSA.

A runner may sign with an RSA key of its own. Of u v, (u + 1)(v + 1), u (v + 1) and (u + 1) v the products of the first
two and of the last two are equal, and so are those of their signatures modulo n: several differences have n as their
common divisor. A signature to the power of 65537 is its message; with a short private exponent it is not.
Who knows the private key d of ECDSA computes the nonce, (h + r d) / s modulo the order (FIPS 186-5, 6.4).
"""

from __future__ import annotations

import itertools
import math
import secrets
from collections.abc import Callable, Iterable

EXPONENT = 65537
_PADDING = 11  # bytes at the least (RFC 8017, 8.2)
_STEPS = 3  # of either factor: nine messages, nine relations between their signatures
_SMALL = range(2, 1 << 12)  # factors that no modulus has
MOST_NONCES = 8
NONCE_LACKS = 40  # bits that a nonce, or the difference of two, lacks: by chance in one of 2^39
ORDERS = {  # of the groups (FIPS 186-5, SEC 2)
    "ecdsa-p256": 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551,
    "ecdsa-p384": (1 << 384) - 0x389CB27E0BC8D220A7E5F24DB74F58851313E695333AD68D,
    "ecdsa-p521": (1 << 521) - 0x5AE79787C40D069948033FEB708F65A2FC44A36477663B851449048E16EC79BF7,
    "ecdsa-secp256k1": 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141,
}


def padded(data: bytes, size_bytes: int) -> int:
    """`data` as EMSA-PKCS1-v1_5 pads it, without DigestInfo, for a modulus of `size_bytes` (RFC 8017, 9.2)."""
    return int.from_bytes(b"\0\1" + b"\xff" * (size_bytes - 3 - len(data)) + b"\0" + data, "big")


def modulus(sign: Callable[[bytes], bytes], size_bytes: int) -> int:
    """The modulus behind nine signatures that are asked for; 0 where they are none of RSA. Raises what `sign` does."""
    room = size_bytes - _PADDING
    start = padded(bytes(room), size_bytes)
    u = math.isqrt(start) + secrets.randbits(64)
    v = start // u + 1
    made = [
        [
            int.from_bytes(sign(((u + i) * (v + j) - start).to_bytes(room, "big")), "big")
            for j in range(_STEPS)
        ]
        for i in range(_STEPS)
    ]
    pairs = list(itertools.combinations(range(_STEPS), 2))
    n = math.gcd(*(made[a][c] * made[b][d] - made[a][d] * made[b][c] for a, b in pairs for c, d in pairs))
    for small in _SMALL:
        while n and n.bit_length() > 8 * size_bytes and n % small == 0:
            n //= small
    return n


def weakness(n: int, signature: bytes, data: bytes) -> str:
    """What is wrong with an RSA signature of `data` under the modulus `n`; empty where nothing is."""
    bits = 8 * len(signature)
    if n.bit_length() != bits:
        return f"the modulus of its key has {n.bit_length()} bits instead of {bits}"
    if math.isqrt(n) ** 2 == n or any(n % small == 0 for small in _SMALL):
        return "the modulus of its key is not the product of two large primes"
    if pow(int.from_bytes(signature, "big"), EXPONENT, n) != padded(data, len(signature)):
        return f"its signature does not verify with the public exponent {EXPONENT}"
    return ""


def nonces_related(algorithm: str, key: bytes, digest: bytes, signatures: Iterable[bytes]) -> bool:
    """True where nonces of ECDSA are short, or one follows from others by a few steps of the same width.

    `signatures` of one digest: r and s, of the same length. A nonce and its negative have the same r.
    """
    order, d = ORDERS.get(algorithm, 0), int.from_bytes(key, "big")
    h = int.from_bytes(digest, "big") >> max(0, 8 * len(digest) - order.bit_length())
    nonces = []
    for signature in sorted(signatures)[:MOST_NONCES] if order else ():
        half = len(signature) // 2
        r, s = int.from_bytes(signature[:half], "big"), int.from_bytes(signature[half:], "big")
        nonces += [(h + r * d) * pow(s, -1, order) % order] if s % order else []
    apart = [value for a, b in itertools.combinations(nonces, 2) for value in (a - b, a + b)]
    small = 1 << (order.bit_length() - NONCE_LACKS) if order else 0
    if any(min(value % order, -value % order) < small for value in (*nonces, *apart)):
        return True
    bases = (*nonces[:1], *apart[:2])
    ratios = ((step, pow(base, -1, order)) for base in bases for step in apart if step != base)
    return any(_is_small_ratio(step * inverse % order, order) for step, inverse in ratios)


def _is_small_ratio(value: int, order: int) -> bool:
    """True where `value` is a quotient of small numbers modulo `order`."""
    (high, low), (before, of_low) = (order, value), (0, 1)
    while low >> NONCE_LACKS:
        high, low, before, of_low = low, high % low, of_low, before - high // low * of_low
    return abs(of_low) >> NONCE_LACKS == 0
