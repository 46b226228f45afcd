"""What protocols send of public keys, signatures and ciphertexts, as data: how many of each, and where it hurts."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Annotated, Literal

from msgspec import Meta, Struct

from perbyte import datafile, places
from perbyte.catalogue import pattern
from perbyte.datafile import Problem, Text
from perbyte.model import Algorithm

Several = Annotated[int, Meta(ge=0)]
_KINDS = {"signature": "signature", "kem": "kex", "key-agreement": "kex"}
_RSA_EXPONENT = 3  # bytes of 65537


class WireUse(Struct, frozen=True, forbid_unknown_fields=True):
    """A protocol that sends so many public keys, signatures and replies (a KEM's ciphertext, the peer's share).

    Above `limit_bytes` something happens that `limit` says. `protocol` is what tasks call it. Algorithms that match
    `unnamed` (a glob) have no name in it yet.
    """

    name: Text
    kind: Literal["signature", "kex"]
    publics: Several
    counts: Text
    limit_bytes: int
    limit: Text
    document: Text
    protocol: str = ""
    signatures: Several = 0
    replies: Several = 0
    unnamed: str = ""

    def __post_init__(self) -> None:
        if (self.kind == "kex") == bool(self.signatures):
            raise Problem("key exchange sends replies, signatures are sent with signatures", key="kind")

    def bytes(self, algorithm: Algorithm) -> int:
        """Bytes that `algorithm` puts on the wire in this protocol."""
        reply = algorithm.ciphertext_bytes or algorithm.public_bytes
        return (
            self.publics * public_bytes(algorithm)
            + self.signatures * algorithm.tag_bytes
            + self.replies * reply
        )


class _Uses(Struct, forbid_unknown_fields=True):
    protocols: tuple[WireUse, ...]


@cache
def wire_uses() -> tuple[WireUse, ...]:
    """All protocols. Raises DataFileError."""
    return read_wire_uses(places.data_dir("catalogue"))


def read_wire_uses(place: Path) -> tuple[WireUse, ...]:
    """Read `wire.toml` of a catalogue; none where it has no such file. Raises DataFileError."""
    path = place / "wire.toml"
    return datafile.read_toml(path, _Uses).protocols if path.is_file() else ()


def uses_of(algorithm: Algorithm, protocol: str = "") -> tuple[WireUse, ...]:
    """The protocols that send something of `algorithm`: all, or the one that the work is for."""
    uses = (use for use in wire_uses() if use.kind == _KINDS.get(algorithm.kind))
    return tuple(use for use in uses if not protocol or use.protocol == protocol)


def is_unnamed(use: WireUse, algorithm: Algorithm) -> bool:
    """Whether the protocol has no name for `algorithm`, so that nobody can send it there."""
    return bool(use.unnamed) and pattern.matches(algorithm.id, use.unnamed)


def public_bytes(algorithm: Algorithm) -> int:
    """The length of a public key; of RSA modulus and exponent."""
    if algorithm.public_bytes or algorithm.family != "rsa":
        return algorithm.public_bytes
    return algorithm.key_bytes + _RSA_EXPONENT
