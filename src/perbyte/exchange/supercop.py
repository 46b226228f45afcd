"""SUPERCOP's database as readings: the lines of `data`, best implementation of each primitive and size.

`version host abi date crypto_OP PRIMITIVE/SECURITY WORD ...`. A line of cycles says the length, the middle one of its
timings, and how far the others lie from it; that is a spread, and no interval. What the implementation is stands in a
line before, and so does the clock's rate. Of associated data only none, or as much as Perbyte's material has, is taken.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from perbyte.exchange.listing import whole_number

_LINE = re.compile(r"(\S+) (\S+) (\S+) (\d{8}) crypto_(\w+) ([^/\s]+)(?:/(\S+))? (\w+) ?(.*)$")
_OPERATIONS = {
    ("hash", "cycles"): "digest",
    ("auth", "cycles"): "mac",
    ("onetimeauth", "cycles"): "mac",
    ("stream", "xor_cycles"): "encrypt",
    ("aead", "encrypt_cycles"): "seal",
    ("aead", "decrypt_cycles"): "open",
    ("sign", "cycles"): "sign",
    ("sign", "open_cycles"): "verify",
    ("kem", "enc_cycles"): "encapsulate",
    ("kem", "dec_cycles"): "decapsulate",
    ("scalarmult", "cycles"): "derive",
}
_WITH_AAD, _AAD = 1_000_000, (0, 13)
_SIZE = 32  # under which operations without a length are measured


def read_supercop(text: str) -> Iterator[tuple[str, int, float, float, int]]:
    """Name, line, nanoseconds and cycles of a call, and bytes: the best of all implementations of each."""
    hertz: dict[tuple[str, ...], float] = {}
    best: dict[tuple[str, int], tuple[float, float, int]] = {}
    for number, raw in enumerate(text.split("\n"), start=1):
        if not (match := _LINE.match(raw.strip())):
            continue
        *where, operation, primitive, _, word, rest = match.groups()
        values = rest.split()
        if word == "cpucycles_persecond" and values:
            hertz[tuple(where)] = float(whole_number(values[0]))
        named = _OPERATIONS.get((operation, word))
        rate = hertz.get(tuple(where), 0.0)
        if not named or len(values) < 2 or rate <= 0:
            continue
        cycles = float(whole_number(values[1]))
        size = _SIZE if values[0] == "-" else whole_number(values[0])
        if cycles <= 0 or size < 0:
            continue
        if operation == "aead":
            if size // _WITH_AAD not in _AAD:
                continue
            size %= _WITH_AAD
        key = (f"{re.sub(r'v[0-9]+$', '', primitive)} {named}", size)
        if key not in best or cycles < best[key][1]:
            best[key] = (cycles / rate * 1e9, cycles, number)
    for (name, length), (ns, cost, number) in best.items():
        yield name, number, ns, cost, length
