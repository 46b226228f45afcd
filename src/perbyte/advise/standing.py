"""What authorities say of an algorithm, for a use, under a profile, on a date."""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from perbyte.catalogue import pattern
from perbyte.catalogue.status import ANY, OWN, Authority, Document, Effect, StatusRow, statuses
from perbyte.model import Algorithm

SMALL_BLOCK = 8  # bytes
SMALL_BLOCK_LIMIT = 1 << 20  # blocks a key: SP 800-67 revision 2, 3.1, for TDEA


@dataclass(frozen=True, slots=True)
class Quote:
    """A row of an authority, with the document it stands in."""

    authority: str
    row: StatusRow
    document: Document


@dataclass(frozen=True, slots=True)
class Standing:
    """How an algorithm stands. `effect` is the strictest that counts; `quotes` are the rows that make it.

    `unlisted` names the authority whose profile does not list it: it is out where that list is closed, and comes
    behind what is listed where it is open. `repeats` is the chance that two blocks of 64 bits are equal at the volume
    of data, 0 for larger blocks, and `too_much` says that the volume is above the limit for such blocks. `silent`: no
    authority speaks of it.
    """

    effect: Effect
    quotes: tuple[Quote, ...] = ()
    unlisted: str = ""
    repeats: float = 0.0
    too_much: bool = False
    silent: bool = False

    @property
    def out(self) -> bool:
        """True when it is not to be recommended."""
        return self.effect == "forbidden"


@dataclass(frozen=True, slots=True)
class Asked:
    """What the user said: the profile, the date it has to hold on, and the volume of data under one key in bytes.

    `known` are the statuses with a profile of the user's own; None: those that Perbyte ships. `strength`: the bits that
    are asked for at the least; 0: what the task asks for. `assumed`: nobody named the volume.
    """

    date: datetime.date
    profile: str = ANY
    volume_bytes: float = 1e9
    known: Mapping[str, Authority] | None = None
    strength: int = 0
    assumed: bool = False

    def standing(self, algorithm: Algorithm, use: str | None, protocol: str = "") -> Standing:
        """How `algorithm` stands; `use` None: no authority has a say. `protocol` is what the work is for.

        Under `none` counts whatever an authority forbids in general, and what one allows without reserve is allowed;
        under any other profile what its authority forbids, discourages or does not list.
        """
        if use is None:
            return Standing("allowed")
        quotes = list(self._quotes(algorithm.id, use, protocol))
        repeats = _repeat_chance(algorithm, self.volume_bytes)
        too_much = bool(repeats) and self.volume_bytes / SMALL_BLOCK > SMALL_BLOCK_LIMIT
        forbidding = tuple(quote for quote in quotes if quote.row.effect == "forbidden")
        listing = tuple(quote for quote in quotes if quote.row.effect != "forbidden")
        own = None if self.profile == ANY else self._known[self.profile]
        unlisted = (
            own.authority if own and not any(quote.authority in self._followed for quote in quotes) else ""
        )
        if forbidding or (own and unlisted and own.closed) or too_much:
            return Standing("forbidden", forbidding, unlisted, repeats, too_much)
        doubted = any(quote.row.effect != "allowed" for quote in listing)
        if own is None:  # an authority whose reserve counts is chosen by its profile
            doubted = doubted and not any(quote.row.effect == "allowed" for quote in listing)
        effect: Effect = "discouraged" if doubted or repeats or unlisted else "allowed"
        if own and any(quote.row.effect == "unrecommended" for quote in listing):
            effect = "unrecommended"
        return Standing(effect, listing, unlisted, repeats, False, silent=not quotes and not unlisted)

    def turning_days(self, algorithm: Algorithm, use: str | None) -> set[datetime.date]:
        """The days after the date on which a row about `algorithm` begins or has ended."""
        days = set()
        for authority in self._authorities():
            for row in self._rows(authority, algorithm.id, use):
                ended = row.until and row.until + datetime.timedelta(days=1)
                days |= {day for day in (row.from_, ended) if day and day > self.date}
        return days

    @property
    def _known(self) -> Mapping[str, Authority]:
        return statuses() if self.known is None else self.known

    def _authorities(self) -> list[Authority]:
        """Those whose rows count under the profile."""
        if self.profile == ANY:
            return [each for name, each in self._known.items() if name == OWN or each.general]
        names = (OWN, self.profile, *self._known[self.profile].extends)
        return [each for name, each in self._known.items() if name in names]

    @property
    def _followed(self) -> set[str]:
        """The authority of the profile, and those that it extends."""
        return {self._known[name].authority for name in (self.profile, *self._known[self.profile].extends)}

    def _rows(self, authority: Authority, name: str, use: str | None) -> list[StatusRow]:
        return [
            row
            for row in authority.rows
            if use in row.uses
            and (row.general or self.profile != ANY)
            and pattern.matches(name, row.algorithms)
        ]

    def _quotes(self, name: str, use: str, protocol: str) -> Iterator[Quote]:
        for authority in self._authorities():
            rows = [
                row
                for row in self._rows(authority, name, use)
                if row.holds(self.date) and row.protocol in ("", protocol)
            ]
            special = any(row.protocol for row in rows)
            for row in rows:
                if row.protocol or row.effect == "forbidden" or not special:
                    yield Quote(authority.authority, row, authority.documents[row.document])


def _repeat_chance(algorithm: Algorithm, volume_bytes: float) -> float:
    """The chance that at least two of the 64-bit blocks of `volume_bytes` under one key are equal; else 0.

    1 - exp(-n (n - 1) / 2^65) for n blocks, the usual bound of the birthday problem.
    """
    if algorithm.kind != "block-cipher" or algorithm.block_bytes != SMALL_BLOCK:
        return 0.0
    blocks = volume_bytes / SMALL_BLOCK
    return -math.expm1(-blocks * max(blocks - 1, 0.0) / 2.0**65)
