"""The marks behind a figure: why it is to be read with care, in one letter, with the legend's words.

What stands before a figure (who is the fastest) is no mark but a `Place` of `grid`.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable

from perbyte.model import CellFigure, Doubt, Quality, Warning


class Mark(enum.StrEnum):
    """Why a cell is to be read with care; the value is what a table prints."""

    IMPRECISE = "~"
    LONG = "L"
    PIECES = "p"
    NOISY = "!"
    UNSETTLED = "t"
    DOUBTED = "?"
    NO_CYCLES = "n"
    FAILED = "x"
    DRAWN = "d"
    WARNING = "w"

    @property
    def meaning(self) -> str:
        """The legend's text."""
        return _MEANINGS[self]


_MEANINGS = {
    Mark.IMPRECISE: "interval wider than requested",
    Mark.LONG: "one call outlasts a sample",
    Mark.PIECES: "one call outlasts ten samples: pieces of it were timed",
    Mark.NOISY: "too few clean samples",
    Mark.UNSETTLED: "still showed a trend",
    Mark.DOUBTED: "the audit from outside does not vouch for it",
    Mark.NO_CYCLES: "no cycle source, time only",
    Mark.FAILED: "failed later in the run",
    Mark.DRAWN: "calls vary at random: the median is given, quantiles stand below",
    Mark.WARNING: "has a warning",
}
_OF_QUALITY = {
    Quality.IMPRECISE: Mark.IMPRECISE,
    Quality.LONG: Mark.LONG,
    Quality.NOISY: Mark.NOISY,
    Quality.UNSETTLED: Mark.UNSETTLED,
    Quality.DOUBTED: Mark.DOUBTED,
}
_OF_DOUBT = {
    Doubt(quality.value): mark for quality, mark in _OF_QUALITY.items() if quality is not Quality.DOUBTED
}
_OF_DOUBT |= dict.fromkeys((Doubt.AUDIT, Doubt.THREADS), Mark.DOUBTED)
_OF_DOUBT[Doubt.NO_INTERVAL] = Mark.IMPRECISE
_OF_DOUBT[Doubt.PIECES] = Mark.PIECES
_OF_DOUBT[Doubt.WHOLE] = Mark.LONG
_OF_DOUBT[Doubt.DRAWN] = Mark.DRAWN


def marks_of(figure: CellFigure) -> tuple[Mark, ...]:
    """Every reason to read `figure` with care; none for another program's, of which the table says all there is."""
    if not figure.interval.known:
        return ()
    marks = {_OF_QUALITY[figure.quality]} if figure.quality in _OF_QUALITY else set()
    if figure.cycles_per_call is None:
        marks.add(Mark.NO_CYCLES)
    marks |= {warning_mark(warning) for warning in figure.warnings}
    return tuple(mark for mark in Mark if mark in marks)


def warning_mark(warning: Warning) -> Mark:
    """The mark of a warning: that of the quality it led to, else the one of warnings."""
    return _OF_DOUBT.get(warning.kind, Mark.WARNING)


def marks_of_kinds(qualities: Iterable[str], doubts: Iterable[str]) -> tuple[Mark, ...]:
    """The marks of figures taken together, by the names of their qualities and of their warnings' kinds."""
    known = {quality.value: quality for quality in Quality}
    marks = {_OF_QUALITY[known[quality]] for quality in qualities if known.get(quality) in _OF_QUALITY}
    marks |= {
        _OF_DOUBT.get(Doubt(doubt), Mark.WARNING) if doubt in {*Doubt} else Mark.WARNING for doubt in doubts
    }
    return tuple(mark for mark in Mark if mark in marks)
