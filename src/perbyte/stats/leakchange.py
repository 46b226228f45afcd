"""What became of a leak: verdicts of one side beside those of another, by cell and contrast; nothing is measured.

The words follow from both verdicts and their intervals. A leak is called new where the first side is not said to leak,
larger or smaller where the intervals of both leave each other out.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass

from perbyte.model import Cell
from perbyte.model.leak import LeakFigure
from perbyte.stats.pairing import pair_cells


class Became(enum.StrEnum):
    """What became of it."""

    NEW = "leaks now"
    LARGER = "leaks more"
    SAME = "leaks as before"
    SMALLER = "leaks less"
    GONE = "no longer seen"
    NONE = "no leak on either side"
    UNKNOWN = "not known"


@dataclass(frozen=True, slots=True)
class LeakChange:
    """One cell and contrast on two sides."""

    before: LeakFigure
    after: LeakFigure

    @property
    def became(self) -> Became:
        """What the two verdicts and their intervals say."""
        before, after = self.before, self.after
        if after.verdict == "leaks":
            if before.verdict != "leaks":
                return Became.NEW
            if before.unit == after.unit and _beyond(after, before):
                return Became.LARGER
            return Became.SMALLER if before.unit == after.unit and _beyond(before, after) else Became.SAME
        if after.verdict == "none":
            return Became.GONE if before.verdict == "leaks" else Became.NONE
        return Became.UNKNOWN

    @property
    def worse(self) -> bool:
        """True where the second side leaks what the first one does not, or more than it."""
        return self.became in (Became.NEW, Became.LARGER)


@dataclass(frozen=True, slots=True)
class LeakChanges:
    """What both sides looked at, and the names of what one has alone: `lost` of the first, `added` of the second."""

    found: tuple[LeakChange, ...]
    lost: tuple[str, ...]
    added: tuple[str, ...]


def leak_changes(first: Sequence[LeakFigure], later: Sequence[LeakFigure]) -> LeakChanges:
    """Pair the figures of two sides: the same cell, else cells that `stats.pairing` pairs; the same contrast."""
    partners = _partners([figure.cell for figure in first], [figure.cell for figure in later])
    there = {_key(figure.cell, figure): figure for figure in later}
    changes, lost = [], []
    for leak in first:
        other = there.pop(_key(partners.get(leak.cell, leak.cell), leak), None)
        if other:
            changes.append(LeakChange(leak, other))
        else:
            lost.append(_name(leak))
    return LeakChanges(tuple(changes), tuple(lost), tuple(map(_name, there.values())))


def _partners(first: Sequence[Cell], later: Sequence[Cell]) -> dict[Cell, Cell]:
    a = [cell for cell in dict.fromkeys(first) if cell not in later]
    b = [cell for cell in dict.fromkeys(later) if cell not in first]
    return {a[i]: b[j] for i, j in pair_cells(a, b).pairs} if a and b else {}


def _key(cell: Cell, figure: LeakFigure) -> tuple[object, ...]:
    return cell, figure.contrast, figure.cold


def _name(figure: LeakFigure) -> str:
    return f"{figure.cell.address}, {figure.contrast}{', emptied caches' * figure.cold}"


def _beyond(more: LeakFigure, less: LeakFigure) -> bool:
    """True where a part of `more`, its shift or its spread, lies beyond the whole interval of the other's."""
    if not (more.found and less.found):
        return False
    pairs = ((more.found.shift, less.found.shift), (more.found.spread, less.found.spread))
    return any(difference.least > other.bound for difference, other in pairs)
