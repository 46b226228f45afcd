"""What a chain of calls must give, where CPython's own hashlib knows the algorithm: it settles disputes.

SHA-2, SHA-3, BLAKE2, HMAC with SHA-2, PBKDF2 and scrypt. The chain is that of SPEC 11.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Callable

from perbyte.model import Algorithm, Cell
from perbyte.protocol.material import stream

_BASIS_FREE = 64  # bytes of an output that the value goes on with
_PRIME, _MASK = 0x100000001B3, 2**64 - 1
_HASHES = {
    **{f"sha-{bits}": f"sha{bits}" for bits in (1, 224, 256, 384, 512)},
    **{f"sha3-{bits}": f"sha3_{bits}" for bits in (224, 256, 384, 512)},
    "md5": "md5",
    "blake2b-512": "blake2b",
    "blake2s-256": "blake2s",
}
_MOST_BYTES = 1 << 27  # of data in all: a dispute is not worth seconds


def known_digest(cell: Cell, algorithm: Algorithm, seed: int, calls: int, *, key_seed: int) -> str | None:
    """The digest of a chain of `calls` calls from `seed`; None where hashlib does not know.

    `key_seed` is that of the handle, which key 0 comes from where the contract does not set one in the call.
    """
    call = _call(cell, algorithm)
    if call is None or calls * cell.size_bytes > _MOST_BYTES:
        return None
    value, data, output = seed, bytearray(stream(seed, "input", cell.size_bytes)), b""
    for _ in range(calls):
        key = stream(value if cell.contract == "rekey/1" else key_seed, "key/0", algorithm.key_bytes)
        try:
            output = call(key, stream(value, "nonce/0", algorithm.nonce_bytes), bytes(data))
        except (ValueError, MemoryError):
            return None
        data[: min(len(output), len(data))] = output[: len(data)]
        value = _fold(value, output[-_BASIS_FREE:])
    return f"{_fold(value, output):016x}"


def _call(cell: Cell, algorithm: Algorithm) -> Callable[[bytes, bytes, bytes], bytes] | None:
    name = cell.algorithm
    if cell.operation == "digest" and name in _HASHES:
        return lambda key, nonce, data: hashlib.new(_HASHES[name], data, usedforsecurity=False).digest()
    if (
        cell.operation == "mac"
        and (of := _HASHES.get(name.removeprefix("hmac-")))
        and name.startswith("hmac-")
    ):
        return lambda key, nonce, data: hmac.digest(key, data, of)
    if cell.operation != "hash":
        return None
    if match := re.fullmatch(r"pbkdf2-(sha-\d+)-(\d+)", name):
        digest, rounds = _HASHES[match[1]], int(match[2])
        return lambda key, nonce, data: hashlib.pbkdf2_hmac(digest, data, nonce, rounds, algorithm.tag_bytes)
    if match := re.fullmatch(r"scrypt-(\d+)-(\d+)-(\d+)", name):
        n, r, p = map(int, match.groups())
        return lambda key, nonce, data: hashlib.scrypt(
            data, salt=nonce, n=n, r=r, p=p, maxmem=256 * n * r * p, dklen=algorithm.tag_bytes
        )
    return None


def _fold(value: int, output: bytes) -> int:
    """FNV-1a over words, then over the rest, begun with `value` (SPEC 5)."""
    whole = len(output) // 8 * 8
    for at in range(0, whole, 8):
        value = (value ^ int.from_bytes(output[at : at + 8], "little")) * _PRIME & _MASK
    for byte in output[whole:]:
        value = (value ^ byte) * _PRIME & _MASK
    return value
