"""How much one key may encrypt, as data: messages and bytes, by how nonces are chosen, with the document.

Nothing here rules anything out: whoever has more data takes a new key in time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Literal

from msgspec import Meta, Struct

from perbyte import datafile, places
from perbyte.catalogue import pattern
from perbyte.catalogue.status import Day
from perbyte.datafile import Problem, Text
from perbyte.model import Algorithm

Nonces = Literal["random", "counted", "any", "none"]
Log2 = Annotated[float, Meta(gt=0, le=128)]


class KeyLimit(Struct, frozen=True, forbid_unknown_fields=True):
    """What one key may do, by a document: the powers of two of messages, of bytes, and of the bytes of a message.

    `nonces`: drawn at random, counted, either, or none (a sector's number). `means` says what is bounded.
    """

    algorithms: Text
    nonces: Nonces
    document: Text
    section: Text
    published: Day
    means: Text
    messages: Log2 | None = None
    bytes: Log2 | None = None
    message_bytes: Log2 | None = None
    protocol: str = ""
    confirmed: bool = True

    def __post_init__(self) -> None:
        if self.messages is None and self.bytes is None and self.message_bytes is None:
            raise Problem("limits nothing", key="messages", hint="messages, bytes or message_bytes")

    def most_bytes(self, message_bytes: int) -> float:
        """The bytes that one key may encrypt in messages of `message_bytes`; infinite where nothing limits them."""
        ends = [2.0**self.bytes] if self.bytes else []
        ends += [2.0**self.messages * message_bytes] if self.messages else []
        return min(ends, default=float("inf"))


class _Limits(Struct, forbid_unknown_fields=True):
    limits: tuple[KeyLimit, ...]


@cache
def key_limits() -> tuple[KeyLimit, ...]:
    """All limits of keys. Raises DataFileError."""
    return read_key_limits(places.data_dir("catalogue"))


def read_key_limits(place: Path) -> tuple[KeyLimit, ...]:
    """Read `key-limits.toml` of a catalogue; none where it has no such file. Raises DataFileError."""
    path = place / "key-limits.toml"
    return datafile.read_toml(path, _Limits).limits if path.is_file() else ()


def limits_of(algorithm: str, protocol: str = "") -> tuple[KeyLimit, ...]:
    """The limits of a key of `algorithm`: those of `protocol` where there are any, else the general ones."""
    limits = [limit for limit in key_limits() if pattern.matches(algorithm, limit.algorithms)]
    special = tuple(limit for limit in limits if protocol and limit.protocol == protocol)
    return special or tuple(limit for limit in limits if not limit.protocol)


def check_key_limits(limits: tuple[KeyLimit, ...], algorithms: Mapping[str, Algorithm]) -> Iterator[str]:
    """Complain about limits of what the catalogue does not have, or of what has no nonce to choose."""
    for limit in limits:
        concerned = [each for name, each in algorithms.items() if pattern.matches(name, limit.algorithms)]
        if not concerned:
            yield f"key-limits.toml: the catalogue has no algorithm '{limit.algorithms}'"
        if any((each.kind == "aead") == (limit.nonces == "none") for each in concerned):
            yield f"key-limits.toml: {limit.algorithms}: an AEAD has nonces, and a cipher for sectors none"
