"""The writer of documents for a terminal: within its width, every doubt marked, colour only where it is asked for.

A grid that is too wide is split by operation, then by size or side; a figure is never cut. What only pages show (folds,
pictures, legends, commands) is not drawn. Printing is the caller's business.
"""

from __future__ import annotations

import bisect
import io
import itertools
import shutil
import sys
from collections.abc import Iterable, Sequence
from typing import NamedTuple, TypeAlias

from rich.console import Console
from rich.text import Text as Styled

from perbyte.model.text import plain, visible, wants_colour
from perbyte.report.document import Block, Card, Heading, Items, Listed, Text
from perbyte.report.grid import Column, Entry, Grid, GridRow
from perbyte.report.legends import legend_of
from perbyte.report.listing import Listing, lines, wrapped
from perbyte.report.many import rest_texts, without_folded
from perbyte.report.marks import ANSWER_SIGNS, FASTEST, SIGNS, TIED, UNDECIDED
from perbyte.report.wording import number, ratio_text, sentence, width_text
from perbyte.stats.compare import Answer
from perbyte.stats.quantity import read
from perbyte.stats.standing import Lead

# space between columns, and the sign behind an interval, which the heading carries where room is short
_STYLES = ((2, "%"), (1, "%"), (1, ""))
_INDENT = "  "
_FAILED = {
    "unsupported": "–",
    "incorrect": "WRONG",
    "audit": "REFUSED",
    "timed-out": "timed out",
    "not-reached": "not reached",
}
_IN_PERCENT = "± in %"
_LEADS = {Lead.FASTEST: "bold green", Lead.TIED: "green", Lead.UNKNOWN: "yellow"}
_HEADLINES = {FASTEST: "bold green", TIED: "bold green", UNDECIDED: "bold yellow"}

Part: TypeAlias = str | tuple[str, str] | Block | Grid | Styled
"""A sentence, one with its style, a block of a document, figures of a contract, or a line as it is."""


def render(parts: Iterable[Part], *, width: int | None = None, colour: bool | None = None) -> str:
    """Give parts below each other as text within `width`; the text ends with a line end, and is empty without parts.

    `width` is in characters and `colour` whether ANSI colours are used; without them both follow standard output (and
    `NO_COLOR`). What has a heading of its own stands behind an empty line.
    """
    width = max(width or shutil.get_terminal_size((100, 24)).columns, 40)
    drawn: list[Styled] = []
    for part in parts:
        lines = _lines(part, width)
        titled = isinstance(part, (Heading, Grid)) or (isinstance(part, Listing) and part.title)
        if titled and lines and drawn and drawn[-1].plain:
            drawn.append(Styled())
        drawn += lines
    return _to_text(drawn, colour=colour)


def _lines(part: Part, width: int) -> list[Styled]:
    match part:
        case Styled():
            return [part]
        case Text(said=text) | (str() as text):
            return _prose(text, width)
        case Heading():
            return _prose(part.said, width, "bold")
        case Items():
            return [drawn for line in part.lines for drawn in _item(line, width)]
        case Listed(listing=listing) | (Listing() as listing):
            return _listing(listing, width)
        case Card():
            return _card(part, width)
        case Grid():
            return _grid(part, width)
        case (text, style):
            return _prose(text, width, style)
    return []


def _item(line: str | tuple[str, ...], width: int) -> list[Styled]:
    lead, first, *more = ("", line) if isinstance(line, str) else line
    texts = (f"- {lead}: {first}" if lead else f"- {first}", *(f"  {text}" for text in more))
    return [drawn for text in texts for drawn in _prose(text, width)]


def _prose(line: str, width: int, style: str = "") -> list[Styled]:
    """Wrap a sentence at `width`, continuation lines indented; a number keeps its unit."""
    return [Styled(part, style=style) for part in wrapped(line, width)]


def _listing(listing: Listing, width: int) -> list[Styled]:
    drawn = lines(listing, width) if listing.rows else []
    return [
        *([Styled(listing.title, style="bold")] if listing.title else []),
        *(Styled(line, style="bold" if heads else "", no_wrap=True) for line, heads in drawn),
        *(part for note in listing.notes for part in _prose(note, width)),
    ]


def _card(card: Card, width: int) -> list[Styled]:
    drawn: list[Styled] = []
    for line in card.lines:
        about = f"({line.about})" if line.about else ""
        headline = " ".join(filter(None, (line.sign, line.winner, about)))
        drawn += _prose(headline, width, _HEADLINES.get(line.sign, "bold"))
        drawn += _indented(filter(None, (sentence(line.sure), line.cost)), width)
    drawn += _indented(card.notes, width)
    return [*drawn, Styled()] if drawn else []


def _indented(texts: Iterable[str], width: int) -> list[Styled]:
    parts = (part for text in texts for part in wrapped(text, width - len(_INDENT)))
    return [Styled(f"{_INDENT}{part}") for part in parts]


def _grid(grid: Grid, width: int) -> list[Styled]:
    title = f"{grid.unit.in_words} · {plain(grid.contract, 40)} · {_what(grid)}"
    drawn = _prose(title, width)
    drawn[0].stylize("bold", 0, len(grid.unit.in_words))
    for table in _tables(without_folded(grid), width):
        drawn += [Styled(), *table]
    for note in rest_texts(grid):
        drawn += _prose(note, width)
    if legend := legend_of(grid):
        drawn += [Styled(), *_wrapped(legend, width)]
    return drawn


def _what(grid: Grid) -> str:
    if grid.baseline:
        return f"× cost of a call as a multiple of that in {grid.columns[0].side}: above 1 is slower"
    if grid.blind:
        return "one value each, no interval known"
    levels = {round(figure.interval.level * 100, 2) for figure in grid.figures}
    level = f"the {levels.pop():g} % interval" if len(levels) == 1 else "the interval"
    return f"median and ± of {level}"


def _tables(grid: Grid, width: int) -> list[list[Styled]]:
    """Draw a grid as tables within `width`: one if it fits, else parts of it below each other."""
    for gap, sign in _STYLES:
        drawn = _drawn(grid, gap, sign)
        if _reach(drawn) <= width:
            return [drawn]
    movable = grid.columns[int(grid.baseline) :]
    operations = list(dict.fromkeys(column.operation for column in movable))
    if len(operations) > 1:
        parts = [
            grid.only(column for column in movable if column.operation == operation)
            for operation in operations
        ]
    elif len(movable) > 1:
        most = range(2, min(len(movable), max(width, 2) + 1))  # no column has less than a character and a gap
        fits = bisect.bisect_right(
            most, width, key=lambda count: _reach(_drawn(grid.only(movable[:count]), *_STYLES[-1]))
        )
        # Equal parts read better than a full one and a rest of one column.
        count = -(-len(movable) // (fits + 1))
        step = -(-len(movable) // count)
        parts = [grid.only(movable[start : start + step]) for start in range(0, len(movable), step)]
    else:
        return [drawn]
    return [table for part in parts for table in _tables(part, width)]


def _reach(drawn: Sequence[Styled]) -> int:
    return max(len(line) for line in drawn)


def _drawn(grid: Grid, gap: int, sign: str) -> list[Styled]:
    labels = _labels(grid)
    columns = [
        _Drawn(grid, column, [row.entries[index] for row in grid.rows], sign)
        for index, column in enumerate(grid.columns)
    ]
    # A heading's row has no figures, so it may reach over the columns.
    stub = max([0 if sign else len(_IN_PERCENT), *(len(label) for label, row in labels if row)])
    lines = []
    if any(column.operation for column in grid.columns):
        lines.append(_operations_line(columns, stub, gap))
    sizes = Styled(("" if sign else _IN_PERCENT).ljust(stub), style="bold", no_wrap=True)
    for column in columns:
        sizes.append(" " * gap + column.head())
    sizes.rstrip()
    if sizes.plain:
        lines.append(sizes)
    rule = "─" * (stub + sum(gap + column.width for column in columns))
    lines.append(Styled(rule, style="dim", no_wrap=True))
    cells = zip(*(column.cells for column in columns), strict=True)
    for label, row in labels:
        line = Styled(label.ljust(stub), style="" if row else "bold", no_wrap=True)
        for cell in next(cells) if row else ():
            line.append(" " * gap).append_text(cell)
        line.rstrip()
        lines.append(line)
    return lines


def _operations_line(columns: Sequence[_Drawn], stub: int, gap: int) -> Styled:
    line = Styled(" " * stub, no_wrap=True)
    for name, group in itertools.groupby(columns, key=lambda column: column.column.operation):
        span = sum(gap + column.width for column in group) - gap
        shown = plain(name, 24)
        line.append(" " * gap).append(shown, style="bold")
        line.append((" " + "─" * (span - len(shown) - 1))[: max(span - len(shown), 0)], style="dim")
    return line


def _labels(grid: Grid) -> list[tuple[str, GridRow | None]]:
    groups = grid.groups()
    labels: list[tuple[str, GridRow | None]] = []
    alone = all(len(rows) == 1 for _, rows in groups)
    several = grid.baseline or len({row.label for row in grid.rows}) > 1
    for heading, rows in groups:
        title = plain(heading, 90 if grid.baseline else 40)
        if alone and not grid.baseline:
            labels.append((f"{title} {plain(rows[0].label, 24)}" if several else title, rows[0]))
            continue
        labels.append((title, None))
        labels += [(_INDENT + plain(row.label, 24), row) for row in rows]
    return labels


class _Parts(NamedTuple):
    """What an entry shows: a mark before its value (or the words of a failure, without one), and what stands behind."""

    lead: str
    value: str = ""
    beside: str = ""
    marks: str = ""

    @property
    def whole(self) -> str:
        """The digits before the decimal point."""
        return self.value.partition(".")[0]

    @property
    def rest(self) -> str:
        """The point and the digits behind it."""
        return self.value[len(self.whole) :]


def _longest(texts: Iterable[str]) -> int:
    return max(map(len, texts), default=0)


class _Drawn:
    """One column as text: figures aligned at the decimal point, intervals or ratios and marks beside them."""

    def __init__(self, grid: Grid, column: Column, entries: Sequence[Entry], sign: str) -> None:
        self.column = column
        compared = any(entry.comparison for entry in entries)
        parts = [
            _compared_texts(grid, entry, sign, compared) if column.side else _texts(grid, entry, sign)
            for entry in entries
        ]
        figures = [part for part in parts if part.value]
        whole, rest = _longest(part.whole for part in figures), _longest(part.rest for part in figures)
        share, marks = _longest(part.beside for part in figures), _longest(part.marks for part in figures)
        words = _longest(part.lead for part in parts if not part.value)
        self.width = max(1 + whole + rest + 1 + share + marks, len(column.side or column.size), words)
        self.figure_end = self.width - marks - share - 1
        self.cells = []
        for entry, part in zip(entries, parts, strict=True):
            if not part.value:
                bad = entry.failure is not None and entry.failure.kind != "unsupported"
                self.cells.append(Styled(part.lead.rjust(self.width), style="bold red" if bad else "dim"))
                continue
            start = self.figure_end - rest - whole
            text = Styled(" " * (start - 1) + (part.lead + part.whole).rjust(whole + 1))
            text.append(part.rest.ljust(rest))
            text.append(f" {part.beside.rjust(share)}", style=_ratio_style(entry))
            text.append(part.marks.ljust(marks), style="yellow")
            if entry.lead in _LEADS:
                text.stylize(_LEADS[entry.lead], 0, self.figure_end)
            self.cells.append(text)

    def head(self) -> str:
        """The heading, right-aligned over the digits rather than over the interval."""
        text = self.column.side or self.column.size
        room = max(self.figure_end, len(text))
        return text.rjust(room).ljust(self.width)[: max(self.width, len(text))]


def _texts(grid: Grid, entry: Entry, sign: str) -> _Parts:
    if entry.figure is None:
        return _Parts(_failed(entry, ""))
    marks = grid.told_at(entry)
    reading = read(entry.figure, grid.unit)
    if reading is None:
        return _Parts(f"n/a {marks}".rstrip())
    lead = SIGNS[entry.lead] or " "
    wide = width_text(reading).replace("%", sign) if entry.figure.interval.known else ""
    return _Parts(lead, number(reading.value, reading.half_width), wide, marks)


def _failed(entry: Entry, absent: str) -> str:
    kind = entry.failure.kind if entry.failure else absent
    return plain(_FAILED.get(kind, kind), 20)


def _compared_texts(grid: Grid, entry: Entry, sign: str, compared: bool) -> _Parts:
    """Value, ratio to the first side with its interval, what can be told (`=` a tie, `?` not known), and doubts.

    The first side has no ratio, and so its own interval.
    """
    if entry.figure is None:
        return _Parts(_failed(entry, "–"))
    reading = read(entry.figure, grid.unit)
    value = number(reading.value, reading.half_width) if reading else "n/a"
    comparison, marks = entry.comparison, grid.told_at(entry)
    if comparison is None or not comparison.ratio.value > 0:
        own = width_text(reading).replace("%", sign) if reading and reading.known else ""
        return _Parts(" ", value, own, " " * compared + marks)
    ratio = f"×{ratio_text(comparison.ratio)}"
    wide = f" {width_text(comparison.ratio).replace('%', sign)}" if comparison.ratio.known else ""
    return _Parts(" ", value, ratio + wide, ANSWER_SIGNS.get(comparison.direction, " ") + marks)


def _ratio_style(entry: Entry) -> str:
    comparison = entry.comparison
    if comparison is None or comparison.direction not in (Answer.SLOWER, Answer.FASTER):
        return "dim"
    return "red" if comparison.direction is Answer.SLOWER else "green"


def _wrapped(legend: Sequence[tuple[str, str]], width: int) -> list[Styled]:
    lines: list[Styled] = []
    for mark, meaning in legend:
        item = Styled.assemble((mark, "yellow"), f"{' ' if mark else ''}{meaning}")
        if lines and lines[-1].cell_len + 3 + item.cell_len <= width:
            lines[-1].append("   ").append_text(item)
        elif item.cell_len <= width:
            lines.append(item)
        else:
            lines += _prose(item.plain, width)
    return lines


def _to_text(lines: Iterable[Styled], *, colour: bool | None = None) -> str:
    """Turn lines into one string, with ANSI colours if wanted; no line is wrapped or cut here."""
    coloured = wants_colour(sys.stdout) if colour is None else colour
    out = io.StringIO()
    console = Console(
        file=out,
        width=100_000,
        force_terminal=coloured,
        color_system="standard" if coloured else None,
        no_color=not coloured,
        highlight=False,
        markup=False,
        emoji=False,
        legacy_windows=False,
    )
    for line in lines:
        line.plain = visible(line.plain)  # the stream lets our own colours pass
        console.print(line, no_wrap=True, crop=False)
    return out.getvalue()
