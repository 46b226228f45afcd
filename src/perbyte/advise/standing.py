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


def standing(
    algorithm: Algorithm,
    use: str | None,
    profile: str,
    date: datetime.date,
    volume_bytes: float = 0.0,
    known: Mapping[str, Authority] | None = None,
    protocol: str = "",
) -> Standing:
    """Look up how `algorithm` stands; `use` None: no authority has a say. `known` are the statuses, all by default.

    Under `none` counts whatever an authority forbids in general, and what one allows without reserve is allowed; under
    any other profile what its authority forbids, discourages or does not list. `protocol` is what the work is for.
    """
    if use is None:
        return Standing("allowed")
    known = statuses() if known is None else known
    quotes = list(_rows(algorithm.id, use, profile, date, known, protocol))
    repeats = repeat_chance(algorithm, volume_bytes)
    too_much = bool(repeats) and volume_bytes / SMALL_BLOCK > SMALL_BLOCK_LIMIT
    forbidding = tuple(quote for quote in quotes if quote.row.effect == "forbidden")
    listing = tuple(quote for quote in quotes if quote.row.effect != "forbidden")
    own = None if profile == ANY else known[profile]
    unlisted = own.authority if own and not any(_of(quote, own, known) for quote in quotes) else ""
    if forbidding or (own and unlisted and own.closed) or too_much:
        return Standing("forbidden", forbidding, unlisted, repeats, too_much)
    doubted = any(quote.row.effect == "discouraged" for quote in listing)
    if profile == ANY:  # an authority whose reserve counts is chosen by its profile
        doubted = doubted and not any(quote.row.effect == "allowed" for quote in listing)
    effect: Effect = "discouraged" if doubted or repeats or unlisted else "allowed"
    return Standing(effect, listing, unlisted, repeats, False, silent=not quotes and not unlisted)


def _of(quote: Quote, own: Authority, known: Mapping[str, Authority]) -> bool:
    """True for a row of the profile's own authority, or of one that it extends."""
    return quote.authority in {own.authority, *(known[name].authority for name in own.extends)}


def repeat_chance(algorithm: Algorithm, volume_bytes: float) -> float:
    """The chance that at least two of the 64-bit blocks of `volume_bytes` under one key are equal; else 0.

    1 - exp(-n (n - 1) / 2^65) for n blocks, the usual bound of the birthday problem.
    """
    if algorithm.kind != "block-cipher" or algorithm.block_bytes != SMALL_BLOCK:
        return 0.0
    blocks = volume_bytes / SMALL_BLOCK
    return -math.expm1(-blocks * max(blocks - 1, 0.0) / 2.0**65)


def turning_days(
    algorithm: Algorithm,
    use: str | None,
    profile: str,
    after: datetime.date,
    known: Mapping[str, Authority] | None = None,
) -> set[datetime.date]:
    """The days after `after` on which a row about `algorithm` begins or has ended."""
    days = set()
    known = statuses() if known is None else known
    for name, authority in known.items():
        if _counts(name, profile, known):
            for row in authority.rows:
                counts = row.general or profile != ANY
                if counts and use in row.uses and pattern.matches(algorithm.id, row.algorithms):
                    ended = row.until and row.until + datetime.timedelta(days=1)
                    days |= {day for day in (row.from_, ended) if day and day > after}
    return days


def _counts(name: str, profile: str, known: Mapping[str, Authority]) -> bool:
    if profile == ANY:
        return name == OWN or known[name].general
    return name in (OWN, profile, *known[profile].extends)


def _rows(
    name: str, use: str, profile: str, date: datetime.date, known: Mapping[str, Authority], protocol: str
) -> Iterator[Quote]:
    for stem, authority in known.items():
        if not _counts(stem, profile, known):
            continue
        rows = [
            row
            for row in authority.rows
            if use in row.uses
            and row.holds(date)
            and row.protocol in ("", protocol)
            and (row.general or profile != ANY)
            and pattern.matches(name, row.algorithms)
        ]
        special = any(row.protocol for row in rows)
        for row in rows:
            if row.protocol or row.effect == "forbidden" or not special:
                yield Quote(authority.authority, row, authority.documents[row.document])
