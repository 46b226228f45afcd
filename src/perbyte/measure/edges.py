"""Inputs at which code takes another path: data that end about the end of a block, counters that carry.

A run measures few lengths, most of them whole blocks, and known answers are few. So a padding that is wrong where it
needs a block of its own, or a counter of 32 bits, would be called right. What hashlib knows is compared with it at
each length about the blocks of the hashes in use. A counter mode is compared with itself: its output behind the first
block is that of the next counter.
"""

from __future__ import annotations

import random

from perbyte.errors import RunnerRefused
from perbyte.measure.known_calls import call_of
from perbyte.measure.sessions import Sessions, incorrect
from perbyte.model import Algorithm, Cell, Failure, KnownAnswer
from perbyte.protocol.material import digest
from perbyte.runners.changes import Change, Put, ask

BLOCKS = (64, 72, 104, 128, 136, 144)  # of MD5, SHA-2, BLAKE2 and SHA-3
# bytes that a length may lack: a bit and the length of 64 bits, a byte of padding, nothing
BEFORE = (9, 8, 1, 0)
WIDE_BEFORE = (17, 16)  # the length of SHA-512 has 128 bits
LONG = (256, 512, 1024, 2048, 4096)  # about which loops over many blocks end
CARRIES = (1, 2, 4, 8)  # bytes of a counter that are ones
COUNTED = 4  # blocks


def lengths() -> tuple[int, ...]:
    """The lengths of data that hashes and MACs are asked for."""
    short = {size - less for size in BLOCKS for less in BEFORE}
    wide = {128 - less for less in WIDE_BEFORE}
    long = {size + more for size in LONG for more in (-1, 0, 1)}
    return tuple(sorted({0, 1, 65, 129, 137, *short, *wide, *long}))


def of_row(sessions: Sessions, cell: Cell, algorithm: Algorithm) -> Failure | None:
    """What is wrong with a row at its edges; None where nothing is, or nobody can tell. Raises RunnerError."""
    if cell.operation in ("digest", "mac"):
        return _compare(sessions, cell, algorithm)
    if cell.operation == "encrypt" and cell.algorithm.endswith("-ctr"):
        return _count(sessions, cell, algorithm)
    return None


def _compare(sessions: Sessions, cell: Cell, algorithm: Algorithm) -> Failure | None:
    call = call_of(cell, algorithm)
    if call is None:
        return None
    rng = random.Random(f"{sessions.seed}/{cell.algorithm}/edges")
    key = rng.randbytes(algorithm.key_bytes)
    inputs = [rng.randbytes(length) for length in lengths()]
    changes: list[Change] = [(Put("i", data),) for data in inputs]
    material = KnownAnswer(cell.algorithm, cell.operation, "", key=key.hex(), input=inputs[2].hex())
    try:
        outcomes = ask(sessions.of(cell), sessions.handle(cell), changes, material).changed
    except RunnerRefused as refusal:
        if refusal.code != "unsupported":
            raise
        return None
    for data, got in zip(inputs, outcomes, strict=True):
        if got and got != (expected := digest(call(key, b"", data))):  # a length may be refused
            return incorrect(cell, f"disagrees with hashlib on {len(data)} bytes", expected, got)
    return None


def _count(sessions: Sessions, cell: Cell, algorithm: Algorithm) -> Failure | None:
    width = algorithm.nonce_bytes
    rng = random.Random(f"{sessions.seed}/{cell.algorithm}/edges")
    key = rng.randbytes(algorithm.key_bytes)
    for carried in (count for count in CARRIES if count < width):
        # the byte above is neither zero nor all ones, so that the carry ends there
        first = rng.randbytes(width - carried - 1) + bytes([rng.randrange(1, 255)]) + b"\xff" * carried
        following = (int.from_bytes(first, "big") + 1).to_bytes(width, "big")
        longer = _encrypted(sessions, cell, key, first, COUNTED * width)
        if not longer:
            return None
        expected = _encrypted(sessions, cell, key, following, (COUNTED - 1) * width)
        behind = longer[2 * width :]
        if expected and behind != expected:
            what = f"the counter does not carry beyond {carried} bytes of ones"
            return incorrect(cell, what, expected, behind)
    return None


def _encrypted(sessions: Sessions, cell: Cell, key: bytes, counter: bytes, length: int) -> str:
    """Zeros encrypted, in hexadecimal digits; empty where the library refuses it."""
    known = KnownAnswer(
        cell.algorithm, cell.operation, "", key=key.hex(), nonce=counter.hex(), input="00" * length
    )
    try:
        output = sessions.of(cell).check_vector(sessions.handle(cell), known).output
    except RunnerRefused as refusal:
        if refusal.code not in ("unsupported", "library"):
            raise
        return ""
    return output if isinstance(output, str) else ""
