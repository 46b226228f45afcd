"""Functions that only compress blocks into a state: MD5, SHA-1 and SHA-2 without padding, as intrinsics have them.

The initial state and the padding are those of RFC 1321 and FIPS 180-4, and belong to the call that is timed.
"""

from __future__ import annotations

import math

_OLD = (0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476)
_PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53)


def _roots(primes: tuple[int, ...], bits: int, precision: int) -> tuple[int, ...]:
    """The last `bits` of `precision` bits of the fractions of square roots."""
    return tuple(math.isqrt(prime << 2 * precision) & ((1 << bits) - 1) for prime in primes)


# initial state, bytes of a word, bytes of a block
_STATES = {
    "md5": (_OLD, 4, 64),
    "sha-1": ((*_OLD, 0xC3D2E1F0), 4, 64),
    "sha-224": (_roots(_PRIMES[8:], 32, 64), 4, 64),
    "sha-256": (_roots(_PRIMES[:8], 32, 32), 4, 64),
    "sha-384": (_roots(_PRIMES[8:], 64, 64), 8, 128),
    "sha-512": (_roots(_PRIMES[:8], 64, 64), 8, 128),
}


def compresses(algorithm: str) -> bool:
    """True where blocks can be padded here."""
    return algorithm in _STATES


def compressing(algorithm: str, call: str, output: int) -> str:
    """The C of `trial_compress(state, out, in, size)`; `call` compresses `size` bytes at `in`, whole blocks.

    Raises KeyError for another algorithm.
    """
    words, width, block = _STATES[algorithm]
    values = ", ".join(f"0x{word:x}{'u' if width == 4 else 'ull'}" for word in words)
    macros = {"BYTES": block, "WIDTH": width, "WORD": f"uint{8 * width}_t", "OUTPUT": output, "CALL": call}
    macros |= {"INITIAL": values, "LOW": int(algorithm == "md5")}
    return "\n".join(
        [*(f"#define PADDED_{name} {value}" for name, value in macros.items()), '#include "padded.h"']
    )
