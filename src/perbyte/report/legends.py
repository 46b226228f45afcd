"""The legend of a grid: every sign that it shows, with its meaning, in all media."""

from __future__ import annotations

from collections.abc import Iterable

from perbyte.model.cell import FULL
from perbyte.report.grid import Grid, in_tiers
from perbyte.report.marks import SIGNS, TIED, UNDECIDED
from perbyte.report.wording import percent
from perbyte.stats.compare import Answer, Comparison
from perbyte.stats.standing import Lead

_TIERS = {FULL: "with the processor's own instructions for it", "soft": "without them"}


def legend_of(grid: Grid) -> list[tuple[str, str]]:
    """Every sign that the grid shows, with its meaning."""
    if grid.baseline:
        compared = [entry.comparison for entry in grid.entries if entry.comparison]
        absent = any(not (entry.figure or entry.failure) for entry in grid.entries)
        open_ = any(comparison.direction is Answer.UNDECIDED for comparison in compared)
        shown = (
            (TIED, _alike_text(compared), any(comparison.tie for comparison in compared)),
            (UNDECIDED, "not known which costs less", open_),
            ("–", "not in that run", absent),
        )
        return [(sign, meaning) for sign, meaning, there in shown if there] + _marks(grid) + _tiers(grid)
    leads = {entry.lead for entry in grid.entries}
    among = (
        "its algorithm in the column"
        if grid.ranked_within == "algorithm"
        else "those in the column with equally long keys or digests"
    )
    meanings = {
        Lead.FASTEST: f"fastest of {among}",
        Lead.TIED: f"fastest of {among}, a tie: known to be alike",
        Lead.UNKNOWN: f"before a figure: may be the fastest of {among}, it is not known who is",
    }
    legend = [(SIGNS[lead], meaning) for lead, meaning in meanings.items() if lead in leads]
    if any(entry.failure and entry.failure.kind == "unsupported" for entry in grid.entries):
        legend.append(("–", "not in this library"))
    return legend + _marks(grid) + _tiers(grid)


def _marks(grid: Grid) -> list[tuple[str, str]]:
    """The marks, those that every figure carries once for all."""
    everywhere = grid.everywhere
    legend = [(str(mark), mark.meaning) for mark in grid.marks() if mark not in everywhere]
    return legend + [("", f"every figure: {mark.meaning} ({mark})") for mark in everywhere]


def _tiers(grid: Grid) -> list[tuple[str, str]]:
    """What the names of the tiers mean, where an algorithm stands in several."""
    if not in_tiers(row.cell for row in grid.rows):
        return []
    headings = [row.heading for row in grid.rows]
    return [
        (f"({name})", meaning)
        for name, meaning in _TIERS.items()
        if any(f"({name}" in head for head in headings)
    ]


def _alike_text(compared: Iterable[Comparison]) -> str:
    """What a tie means among `compared`, whose margins may differ."""
    margins = sorted({comparison.margin for comparison in compared if comparison.tie})
    within = percent(margins[-1]) if margins else ""
    return f"a tie: known to be alike within {'up to ' * (len(margins) > 1)}{within}"
