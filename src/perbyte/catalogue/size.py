"""Sizes as people type them: `16`, `8k`, `10MB`, `1.5MiB`.

The units are those of GNU dd and split, without regard to case: a bare letter (k, M, G) and the forms with
`iB` are powers of 1024, the forms with `B` are powers of 1000. So `10MB` is 10,000,000 bytes, `8k` is 8192.
"""

from __future__ import annotations

import re
from fractions import Fraction

from perbyte.errors import UsageError

_UNITS = {
    "": 1,
    "b": 1,
    "k": 1 << 10,
    "m": 1 << 20,
    "g": 1 << 30,
    "kib": 1 << 10,
    "mib": 1 << 20,
    "gib": 1 << 30,
    "kb": 10**3,
    "mb": 10**6,
    "gb": 10**9,
}
_SIZE = re.compile(r"(\d{1,18}(?:\.\d{1,9})?)\s*([a-z]*)", re.ASCII)
_LARGEST = 1 << 48
_WAY_OUT = "write bytes, or a unit: 16, 8k, 8KiB (8192), 10MB (10,000,000), 10MiB (10,485,760)"


def parse_size(text: str) -> int:
    """Return the number of bytes that `text` means. Raises UsageError when that is no whole number."""
    found = _SIZE.fullmatch(text.strip().lower())
    if not found or found[2] not in _UNITS:
        raise UsageError(f"'{text}' is not a size", hint=_WAY_OUT)
    size = Fraction(found[1]) * _UNITS[found[2]]
    if size.denominator != 1:
        raise UsageError(f"'{text}' is not a whole number of bytes", hint=_WAY_OUT)
    if size > _LARGEST:
        raise UsageError(f"'{text}' is more than any memory holds", hint=_WAY_OUT)
    return int(size)


def parse_sizes(text: str) -> tuple[int, ...]:
    """Return the sizes of a comma-separated list, in order and each once. Raises UsageError."""
    return tuple(dict.fromkeys(parse_size(part) for part in text.split(",")))
