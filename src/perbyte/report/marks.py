"""The signs before a figure (who is the fastest), the marks behind it (why to read it with care), and their words."""

from __future__ import annotations

import enum
from collections.abc import Iterable

from perbyte.model import CellFigure, Doubt, Quality, Warning
from perbyte.stats.compare import Answer
from perbyte.stats.standing import Lead

FASTEST, TIED, UNDECIDED = "►", "=", "?"
SIGNS = {Lead.FASTEST: FASTEST, Lead.TIED: TIED, Lead.UNKNOWN: UNDECIDED, Lead.NONE: ""}
"""What stands before a figure, in every medium."""
ANSWER_SIGNS = {Answer.TIED: TIED, Answer.UNDECIDED: UNDECIDED}
"""What stands beside a ratio of which no difference is claimed."""
CLASSES = {FASTEST: "fast", TIED: "tie", UNDECIDED: "open", "": ""}
"""The style of a sign on a page."""
IN_CHARTS = {
    Lead.FASTEST: "► fastest of its algorithm",
    Lead.TIED: "= fastest, a tie",
    Lead.UNKNOWN: "? may be the fastest",
    Lead.NONE: "others",
}
SURE = {
    FASTEST: "known to be the fastest",
    TIED: "known to be alike",
    UNDECIDED: "not known which is the fastest",
    "": "measured alone",
}
SHORT = {FASTEST: "known", TIED: "alike", UNDECIDED: "not known"}
AUDIT_SAW_OTHERS = "the audit did not see its work, and saw others'"


class Mark(enum.StrEnum):
    """Why a cell is to be read with care; the value is what a table prints, `meaning` the legend's text."""

    meaning: str

    IMPRECISE = "~", "interval wider than requested"
    LONG = "L", "one call outlasts a sample"
    PIECES = "p", "one call outlasts ten samples: pieces of it were timed"
    NOISY = "!", "too few clean samples"
    UNSETTLED = "t", "still showed a trend"
    DOUBTED = "a", "not audited: the audit from outside does not vouch for it"
    NO_CYCLES = "n", "no cycle source, time only"
    FAILED = "x", "failed later in the run"
    DRAWN = "d", "of single calls the median is given, quantiles stand below"
    VARIED = "m", "calls vary with message and key: the mean of many is given, quantiles stand below"
    WARNING = "w", "has a warning"

    def __new__(cls, letter: str, meaning: str) -> Mark:
        """A mark that is its letter."""
        mark = str.__new__(cls, letter)
        mark._value_, mark.meaning = letter, meaning
        return mark


_MARKS: dict[str, Mark] = {
    Quality.IMPRECISE: Mark.IMPRECISE,
    Quality.LONG: Mark.LONG,
    Quality.NOISY: Mark.NOISY,
    Quality.UNSETTLED: Mark.UNSETTLED,
    Quality.DOUBTED: Mark.DOUBTED,
    Doubt.AUDIT: Mark.DOUBTED,
    Doubt.THREADS: Mark.DOUBTED,
    Doubt.NO_INTERVAL: Mark.IMPRECISE,
    Doubt.PIECES: Mark.PIECES,
    Doubt.WHOLE: Mark.LONG,
    Doubt.DRAWN: Mark.DRAWN,
    Doubt.VARIED: Mark.VARIED,
}
"""By quality and kind of warning; the first four qualities are kinds of warnings too, of the same names."""


def marks_of(figure: CellFigure) -> tuple[Mark, ...]:
    """Every reason to read `figure` with care; none for another program's, of which the table says all there is."""
    if not figure.interval.known:
        return ()
    marks = {*marks_of_kinds([figure.quality], (warning.kind for warning in figure.warnings))}
    if figure.cycles_per_call is None:
        marks.add(Mark.NO_CYCLES)
    return tuple(mark for mark in Mark if mark in marks)


def warning_mark(warning: Warning) -> Mark:
    """The mark of a warning: that of the quality it led to, else the one of warnings."""
    return _MARKS.get(warning.kind, Mark.WARNING)


def marks_of_kinds(qualities: Iterable[str], doubts: Iterable[str]) -> tuple[Mark, ...]:
    """The marks of figures taken together, by the names of their qualities and of their warnings' kinds."""
    marks = {_MARKS[quality] for quality in qualities if quality in _MARKS}
    marks |= {_MARKS.get(doubt, Mark.WARNING) for doubt in doubts}
    return tuple(mark for mark in Mark if mark in marks)
