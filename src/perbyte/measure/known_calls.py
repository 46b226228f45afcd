"""What CPython's own hashlib can compute: SHA-2, SHA-3, BLAKE2, HMAC with them, PBKDF2 and scrypt."""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Callable

from perbyte.model import Algorithm, Cell

_HASHES = {
    **{f"sha-{bits}": f"sha{bits}" for bits in (1, 224, 256, 384, 512)},
    **{f"sha3-{bits}": f"sha3_{bits}" for bits in (224, 256, 384, 512)},
    "md5": "md5",
    "blake2b-512": "blake2b",
    "blake2s-256": "blake2s",
}


def call_of(cell: Cell, algorithm: Algorithm) -> Callable[[bytes, bytes, bytes], bytes] | None:
    """The operation of a cell on key, nonce and data; None where hashlib does not know it."""
    name = cell.algorithm
    if cell.operation == "digest" and name in _HASHES:
        return lambda key, nonce, data: hashlib.new(_HASHES[name], data, usedforsecurity=False).digest()
    kind, _, base = name.partition("-")
    if cell.operation == "mac" and kind == "hmac" and (of := _HASHES.get(base)):
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
