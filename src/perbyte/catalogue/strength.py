"""How strong algorithms are said to be, as data: bits without a quantum computer, or NIST's category; with documents.

Nothing here rules anything out or ranks: it is said beside figures that rank the speed of unequal algorithms.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Annotated

from msgspec import Meta, Struct

from perbyte import datafile, places
from perbyte.catalogue import pattern
from perbyte.datafile import Problem, Text
from perbyte.model import Algorithm

Bits = Annotated[int, Meta(ge=1, le=512)]
Category = Annotated[int, Meta(ge=1, le=5)]


class Strength(Struct, frozen=True, forbid_unknown_fields=True):
    """The strength of `algorithms` (a glob) by `document`: a power of two (`bits`), or NIST's `category`."""

    algorithms: Text
    document: Text
    bits: Bits | None = None
    category: Category | None = None

    def __post_init__(self) -> None:
        if (self.bits is None) == (self.category is None):
            raise Problem("bits or category, one of them", key="bits")

    @property
    def said(self) -> str:
        """`128 bits` or `category 3`."""
        return f"{self.bits} bits" if self.bits else f"category {self.category}"


class _Strengths(Struct, forbid_unknown_fields=True):
    strengths: tuple[Strength, ...]


@cache
def strengths() -> tuple[Strength, ...]:
    """All strengths. Raises DataFileError."""
    return read_strengths(places.data_dir("catalogue"))


def read_strengths(place: Path) -> tuple[Strength, ...]:
    """Read `strength.toml` of a catalogue; none where it has no such file. Raises DataFileError."""
    path = place / "strength.toml"
    return datafile.read_toml(path, _Strengths).strengths if path.is_file() else ()


def strength_of(algorithm: str) -> Strength | None:
    """The strength of `algorithm`; None where none is known, or where a key's length says it."""
    return next((each for each in strengths() if pattern.matches(algorithm, each.algorithms)), None)


def check_strengths(strengths: tuple[Strength, ...], algorithms: Mapping[str, Algorithm]) -> Iterator[str]:
    """Complain about strengths of what the catalogue does not have."""
    for strength in strengths:
        if not any(pattern.matches(name, strength.algorithms) for name in algorithms):
            yield f"strength.toml: the catalogue has no algorithm '{strength.algorithms}'"
