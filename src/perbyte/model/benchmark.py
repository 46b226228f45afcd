"""A benchmark of a user's project."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Benchmark:
    """A benchmark as its program lists it.

    `bytes` is 0 where none are declared; `why` says that it cannot be measured, `note` what has to be known of its
    figure.
    """

    id: str
    name: str
    bytes: int = 0
    contract: str = ""
    why: str = ""
    note: str = ""
