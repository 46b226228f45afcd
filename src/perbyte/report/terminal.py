"""A run as text for a terminal: tables that fit the width, every doubt marked, the conditions below.

A table that is too wide is split by operation, then by size; a figure is never cut. Everything is returned as
text, colour only where asked for; printing is the caller's business. Names from a run are made harmless
before they are shown (see `units.plain`).
"""

from __future__ import annotations

import io
import os
import re
import shutil
import sys
import textwrap
from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.text import Text

from perbyte.model import CellFigure, Run
from perbyte.report.conditions import condition_lines, failure_lines, kinds_of, noise_line
from perbyte.report.units import number, percent, plain
from perbyte.report.views import Column, Entry, Mark, Place, Row, Table, tables, warning_mark
from perbyte.stats.quantity import Unit, read

# Space between columns, and the sign behind an interval: where room is short, the heading carries the sign.
_STYLES = ((2, "%"), (1, "%"), (1, ""))
_INDENT = "  "
_FAILED = {
    "unsupported": "–",
    "incorrect": "WRONG",
    "crashed": "crashed",
    "timed-out": "timed out",
    "garbled": "garbled",
    "refused": "refused",
    "absent": "absent",
}
_IN_PERCENT = "± in %"
_MEASURE = re.compile(r"(?<=[0-9]) (?=(?:s|%|B|KiB|MiB|MB|GHz|MHz|ns|µs)\b|%)")
_Style = tuple[int, str]
FASTEST, TIED = "►", "="


def render_table(
    run: Run, *, unit: Unit | None = None, width: int | None = None, colour: bool | None = None
) -> str:
    """Give the whole table of `run` with its legend, failures, noise floor and conditions.

    `width` is in characters and `colour` whether ANSI colours are used; without them both follow standard
    output (and `NO_COLOR`). The text ends with a line end.
    """
    lines: list[Text] = []
    for table in tables(run, unit):
        if lines:
            lines.append(Text())
        lines += table_lines(table, columns_of(width))
    if not lines:
        lines.append(Text("nothing was measured", style="bold"))
    for heading, body in (("Without a figure", failure_lines(run)), ("", _below(run))):
        if body:
            lines += [Text(), *([Text(heading, style="bold")] if heading else [])]
            lines += [part for line in body for part in prose(line, columns_of(width))]
    return to_text(lines, colour=colour)


def _below(run: Run) -> list[str]:
    return [*_warnings(run), noise_line(run), *condition_lines(run)]


def _warnings(run: Run) -> list[str]:
    """What the mark of a warning means in this run; a doubt with a mark of its own says itself."""
    kinds = kinds_of(
        one for figure in run.cells for one in figure.warnings if warning_mark(one) is Mark.WARNING
    )
    kept = [f"{text} (and {count - 1:,} more like it)" if count > 1 else text for text, count in kinds[:4]]
    more = [f"{len(kinds) - len(kept):,} more kinds: perbyte report"] if len(kinds) > len(kept) else []
    return [f"{Mark.WARNING}: {text}" for text in [*kept, *more]]


def table_lines(table: Table, width: int) -> list[Text]:
    """Draw one table within `width` characters, split into several where it does not fit."""
    said = "one value each, no interval known" if table.blind else f"median and ± of {_level(table)}"
    title = f"{table.unit.in_words} · {plain(table.contract, 40)} · {said}"
    lines = prose(title, width)
    lines[0].stylize("bold", 0, len(table.unit.in_words))
    for part, style in _parts(table, width):
        lines += [Text(), *_drawn(part, style)]
    if legend := _legend(table):
        lines += [Text(), *_wrapped(legend, width)]
    return lines


def prose(line: str, width: int) -> list[Text]:
    """Wrap a sentence at `width`, continuation lines indented; a number keeps its unit."""
    held = _MEASURE.sub("\u00a0", line)
    return [
        Text(part.replace("\u00a0", " "))
        for part in textwrap.wrap(held, width, subsequent_indent=_INDENT, break_on_hyphens=False) or [""]
    ]


def to_text(lines: Iterable[Text], *, colour: bool | None = None) -> str:
    """Turn lines into one string, with ANSI colours if wanted; no line is wrapped or cut here."""
    coloured = wants_colour() if colour is None else colour
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
        console.print(line, no_wrap=True, crop=False)
    return out.getvalue()


def wants_colour() -> bool:
    """True when standard output is a terminal and `NO_COLOR` is unset or empty (no-color.org)."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def columns_of(width: int | None) -> int:
    """Give `width`, or the terminal's; never less than 40."""
    return max(width or shutil.get_terminal_size((100, 24)).columns, 40)


def _parts(table: Table, width: int) -> Iterable[tuple[Table, _Style]]:
    """Split a table until every part fits; each part comes with the style it fits in."""
    for style in _STYLES:
        if _width(table, style) <= width:
            return [(table, style)]
    operations = list(dict.fromkeys(column.operation for column in table.columns))
    if len(operations) > 1:
        parts = [
            table.only(column for column in table.columns if column.operation == operation)
            for operation in operations
        ]
    elif len(table.columns) > 1:
        most = len(table.columns) - 1
        fits = (n for n in range(most, 1, -1) if _width(table.only(table.columns[:n]), _STYLES[-1]) <= width)
        # Equal parts read better than a full one and a rest of one column.
        count = -(-len(table.columns) // next(fits, 1))
        step = -(-len(table.columns) // count)
        starts = range(0, len(table.columns), step)
        parts = [table.only(table.columns[start : start + step]) for start in starts]
    else:
        return [(table, _STYLES[-1])]
    return [part for one in parts for part in _parts(one, width)]


def _drawn(table: Table, style: _Style) -> list[Text]:
    labels = _labels(table)
    gap, sign = style
    stub = _stub(labels, sign)
    columns = _columns(table, sign)
    lines = [_operations_line(columns, stub, gap)]
    sizes = Text(("" if sign else _IN_PERCENT).ljust(stub), style="bold", no_wrap=True)
    for column in columns:
        sizes.append(" " * gap + column.head(column.column.size))
    sizes.rstrip()
    if sizes.plain:
        lines.append(sizes)
    rule = Text("─" * (stub + sum(gap + column.width for column in columns)), style="dim", no_wrap=True)
    lines.append(rule)
    number_of_row = 0
    for label, row in labels:
        line = Text(label.ljust(stub), style="" if row else "bold", no_wrap=True)
        if row:
            for column in columns:
                line.append(" " * gap).append_text(column.cells[number_of_row])
            number_of_row += 1
        line.rstrip()
        lines.append(line)
    return lines


def _columns(table: Table, sign: str) -> list[_Drawn]:
    return [
        _Drawn(column, [row.entries[index] for row in table.rows], table.unit, sign)
        for index, column in enumerate(table.columns)
    ]


def _operations_line(columns: Sequence[_Drawn], stub: int, gap: int) -> Text:
    """Each operation's name over its columns, with a rule that shows how far it reaches."""
    line = Text(" " * stub, no_wrap=True)
    spans: dict[str, int] = {}
    for column in columns:
        name = column.column.operation
        spans[name] = spans.get(name, -gap) + gap + column.width
    for name, span in spans.items():
        shown = plain(name, 24)
        line.append(" " * gap).append(shown, style="bold")
        line.append((" " + "─" * (span - len(shown) - 1))[: max(span - len(shown), 0)], style="dim")
    return line


def _stub(labels: Sequence[tuple[str, Row | None]], sign: str) -> int:
    # A heading's row has no figures, so it may reach over the columns.
    least = 0 if sign else len(_IN_PERCENT)
    return max([least, *(len(label) for label, row in labels if row)])


def _labels(table: Table) -> list[tuple[str, Row | None]]:
    """Row labels; a group of several rows gets a heading of its own, a lone row carries its algorithm."""
    groups = table.groups()
    found: list[tuple[str, Row | None]] = []
    alone = all(len(rows) == 1 for _, rows in groups)
    several = len({row.runner for row in table.rows}) > 1
    for title, rows in groups:
        title = plain(title, 40)
        if alone:
            found.append((f"{title} {plain(rows[0].runner, 24)}" if several else title, rows[0]))
            continue
        found.append((title, None))
        found += [(_INDENT + plain(row.runner, 24), row) for row in rows]
    return found


class _Drawn:
    """One column as text: figures aligned at the decimal point, intervals and marks beside them."""

    def __init__(self, column: Column, entries: Sequence[Entry], unit: Unit, sign: str) -> None:
        self.column = column
        parts = [_texts(entry, unit, sign) for entry in entries]
        figures = [part for part in parts if part[1]]
        whole = max((len(value.partition(".")[0]) for _, value, _, _ in figures), default=0)
        rest = max((len(value) - len(value.partition(".")[0]) for _, value, _, _ in figures), default=0)
        share = max((len(wide) for _, _, wide, _ in figures), default=0)
        marks = max((len(mark) for _, _, _, mark in figures), default=0)
        # The heading may not be wider than the figures leave room for; the failures' words likewise.
        words = max((len(part[0]) for part in parts if not part[1]), default=0)
        self.width = max(1 + whole + rest + 1 + share + marks, len(column.size), words)
        self.figure_end = self.width - marks - share - 1
        self.cells = []
        for entry, (lead, value, wide, mark) in zip(entries, parts, strict=True):
            if not value:
                bad = entry.failure is not None and entry.failure.kind != "unsupported"
                self.cells.append(Text(lead.rjust(self.width), style="bold red" if bad else "dim"))
                continue
            before, point, after = value.partition(".")
            start = self.figure_end - rest - whole
            text = Text(" " * (start - 1) + (lead + before).rjust(whole + 1))
            text.append((point + after).ljust(rest))
            text.append(f" {wide.rjust(share)}", style="dim")
            text.append(mark.ljust(marks), style="yellow")
            if entry.place is not Place.NONE:
                text.stylize("bold green" if entry.place is Place.FASTEST else "green", 0, self.figure_end)
            self.cells.append(text)

    def head(self, text: str) -> str:
        """The heading, right-aligned over the digits rather than over the interval."""
        room = max(self.figure_end, len(text))
        return text.rjust(room).ljust(self.width)[: max(self.width, len(text))]


def _texts(entry: Entry, unit: Unit, sign: str) -> tuple[str, str, str, str]:
    """Lead mark (or the words of a failure), value, interval, trailing marks."""
    if entry.figure is None:
        return (_FAILED.get(entry.failure.kind, "failed") if entry.failure else ""), "", "", ""
    marks = "".join(entry.marks)
    reading = read(entry.figure, unit)
    if reading is None:
        return f"n/a {marks}".rstrip(), "", "", ""
    lead = {Place.FASTEST: FASTEST, Place.TIED: TIED}.get(entry.place, " ")
    return (
        lead,
        number(reading.value, reading.half_width),
        f"±{percent(reading.relative).replace('%', sign)}" if entry.figure.interval.known else "",
        marks,
    )


def _width(table: Table, style: _Style) -> int:
    gap, sign = style
    labels = _labels(table)
    spans: dict[str, int] = {}
    for column in _columns(table, sign):
        name = column.column.operation
        spans[name] = spans.get(name, -gap) + gap + column.width
    reach = _stub(labels, sign) + sum(gap + max(span, len(plain(name, 24))) for name, span in spans.items())
    return max([reach, *(len(label) for label, row in labels if not row)])


def _level(table: Table) -> str:
    levels = {round(figure.interval.level * 100, 2) for figure in _figures(table)}
    return f"the {levels.pop():g} % interval" if len(levels) == 1 else "the interval"


def _figures(table: Table) -> Iterable[CellFigure]:
    return (entry.figure for row in table.rows for entry in row.entries if entry.figure)


def _legend(table: Table) -> list[tuple[str, str]]:
    places = {entry.place for row in table.rows for entry in row.entries}
    among = "its algorithm in the column" if table.ranked_within == "algorithm" else "the column"
    legend = [(FASTEST, f"fastest of {among}")] if Place.FASTEST in places else []
    if Place.TIED in places:
        legend.append((TIED, f"fastest of {among}, a tie"))
    if any(
        entry.failure and entry.failure.kind == "unsupported" for row in table.rows for entry in row.entries
    ):
        legend.append(("–", "not in this library"))
    return legend + [(str(mark), mark.meaning) for mark in Mark if mark in table.marks()]


def _wrapped(legend: Sequence[tuple[str, str]], width: int) -> list[Text]:
    lines: list[Text] = []
    for mark, meaning in legend:
        item = Text.assemble((mark, "yellow"), f" {meaning}")
        if lines and lines[-1].cell_len + 3 + item.cell_len <= width:
            lines[-1].append("   ").append_text(item)
        else:
            lines.append(item)
    return lines
