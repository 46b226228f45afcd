"""How many bytes a benchmark's call takes: what rounded figures of a tool tell, and numbers with units in a name."""

from __future__ import annotations

import math
from dataclasses import dataclass

UNSIZED_BYTES = 32
"""The size under which public-key operations are measured that are told no length."""
SIZED = frozenset(
    {"block-cipher", "stream-cipher", "aead", "hash", "checksum", "xof", "mac", "public-encryption"}
)
"""Kinds of algorithms whose figures say nothing without a size."""
BITS = frozenset({"bit", "bits"})
ONE = frozenset({"b", "byte", "bytes"})
_BINARY = {"k": 2**10, "m": 2**20, "g": 2**30, "kib": 2**10, "mib": 2**20, "gib": 2**30}
_EITHER = {"kb": (10**3, 2**10), "mb": (10**6, 2**20), "gb": (10**9, 2**30)}
_MOST = 2**40
_STANDS_OUT = 4  # times the width of the range: then one multiple is the only one that people choose


@dataclass(frozen=True, slots=True)
class Sizes:
    """Bytes of a call, as far as rounded figures tell: from `low` to `high`. Both 0 where the tool says nothing."""

    low: float = 0.0
    high: float = 0.0

    @property
    def known(self) -> bool:
        """True where the tool says anything."""
        return self.high > 0

    def holds(self, size: float) -> bool:
        """Whether `size` is within the rounding."""
        return self.low <= size <= self.high

    def roundest(self) -> int:
        """The only size in the range, or the one that people choose: a multiple of a large power of two or ten.

        0 where none stands out.
        """
        low, high = math.ceil(self.low), math.floor(self.high)
        if low == high:
            return low
        if low > high or high > _MOST:
            return 0
        best = [multiple for base in (2, 10) if (multiple := _multiple(low, high, base))]
        steps = sorted(best, key=lambda entry: entry[1])
        if len(steps) == 2 and steps[0][0] != steps[1][0] and steps[1][1] < _STANDS_OUT * steps[0][1]:
            return 0
        return steps[-1][0] if steps else 0


def rounded(value: float, *printed: str) -> Sizes:
    """The sizes that `value` may be of, when it is the product of figures that were `printed` with so many digits."""
    off = sum(_half_a_digit(text) for text in printed)
    slack = 1e-9 * value
    return Sizes(value * (1 - off) - slack, value * (1 + off) + slack)


def exact(size: int) -> Sizes:
    """The sizes of a tool that says it itself."""
    return Sizes(size, size)


def units_of(value: int, unit: str) -> tuple[int, ...]:
    """What a number with a unit may be in bytes; () for a unit of something else, and too many bytes.

    `kB` is written for 1000 and for 1024 bytes.
    """
    word = unit.lower()
    if not word or word in ONE or word in BITS:
        factors: tuple[int, ...] = (1,)
    elif word in _BINARY:
        factors = (_BINARY[word],)
    else:
        factors = _EITHER.get(word, ())
    return tuple(value * factor for factor in factors if value * factor <= _MOST)


def _half_a_digit(text: str) -> float:
    """Half of the last digit of a printed number, as a part of it."""
    mantissa, _, _ = text.lower().partition("e")
    value = abs(float(mantissa))
    decimals = len(mantissa.partition(".")[2])
    return 0.5 * 10.0**-decimals / value if value else 1.0


def _multiple(low: int, high: int, base: int) -> tuple[int, int] | None:
    """The multiple in the range of the largest power of `base`, with that power, where it stands out; else None."""
    power = 1
    while -(-low // (power * base)) * power * base <= high:
        power *= base
    if power < _STANDS_OUT * (high - low):
        return None
    return -(-low // power) * power, power
