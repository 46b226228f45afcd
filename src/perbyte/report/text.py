"""Grids, verdicts and conditions as text for a terminal: within its width, every doubt marked.

A grid that is too wide is split by operation, then by size or side; a figure is never cut. Everything is returned as
text, colour only where asked for; printing is the caller's business. Names from a run are made harmless before they
are shown (see `wording.plain`).
"""

from __future__ import annotations

import bisect
import itertools
import textwrap
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from rich.text import Text

from perbyte.model import NoiseFloor, Run
from perbyte.model.text import counted, plain
from perbyte.report.beside import bindings_listing, draws_listing
from perbyte.report.card import Card, card_lines, comparison_card, run_card
from perbyte.report.facts import condition_lines, failure_lines, kinds_of, noise_line
from perbyte.report.grid import Column, Entry, Grid, GridRow, run_grids
from perbyte.report.legends import legend_of
from perbyte.report.lines import columns_of, listing_text, prose, to_text
from perbyte.report.many import rest_texts, without_folded
from perbyte.report.marks import ANSWER_SIGNS, FASTEST, SIGNS, TIED, UNDECIDED, Mark, warning_mark
from perbyte.report.wording import number, ratio_text, sentence, width_text
from perbyte.stats.compare import Answer
from perbyte.stats.quantity import Unit, read
from perbyte.stats.standing import Lead
from perbyte.studies.model import Judgement, Outcome, Verdict

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
_COLOURS = {
    Outcome.REPRODUCED: "green",
    Outcome.NOT_REPRODUCED: "bold red",
    Outcome.INCONCLUSIVE: "yellow",
    Outcome.NOT_TESTABLE: "dim",
}


def render_table(
    run: Run, *, unit: Unit | None = None, width: int | None = None, colour: bool | None = None
) -> str:
    """Give the answer and the whole table of `run` with its legend, failures, noise floor and conditions.

    `width` is in characters and `colour` whether ANSI colours are used; without them both follow standard
    output (and `NO_COLOR`). The text ends with a line end.
    """
    width = columns_of(width)
    lines = card_text(run_card(run, unit), width)
    lines += _grids(run_grids(run, unit), width) or [Text("nothing was measured", style="bold")]
    for listing in (bindings_listing(run), draws_listing(run)):
        if listing.rows:
            lines += [Text(), *listing_text(listing, width)]
    below = [*_warnings(run), noise_line(run.noise_floor), *condition_lines(run)]
    for heading, body in (("Without a figure", failure_lines(run)), ("", below)):
        if body:
            lines += [Text(), *([Text(heading, style="bold")] if heading else [])]
            lines += [part for line in body for part in prose(line, width)]
    return to_text(lines, colour=colour)


def render_comparison(
    grids: Sequence[Grid], noise: NoiseFloor | None, *, width: int | None = None, colour: bool | None = None
) -> str:
    """Give grids with a baseline as tables of values and ratios, with what they come to and the noise floor."""
    width = columns_of(width)
    lines = card_text(comparison_card(grids), width)
    lines += _grids(grids, width) or [Text("the runs hold no figures")]
    lines.append(Text())
    for index, column in enumerate(grids[0].columns[1:] if grids else (), start=1):
        comparisons = [row.entries[index].comparison for grid in grids for row in grid.rows]
        counts = Counter(comparison.direction for comparison in comparisons if comparison)
        shown = [answer for answer in Answer if counts[answer] or answer is not Answer.UNDECIDED]
        texts = (f"{counts[answer]} {answer.value}" for answer in shown)
        lines += prose(f"{column.side}: {', '.join(texts)}", width)
    lines += [part for line in _doubts(grids) for part in prose(line, width)]
    lines += prose(noise_line(noise), width)
    return to_text(lines, colour=colour)


def render_judgement(
    judgement: Judgement, *, width: int | None = None, colour: bool | None = None, numbers: bool = False
) -> str:
    """Give every claim with its verdict and the sentences that explain it; with `numbers`, those as well."""
    from perbyte.report.studyview import PARTIAL, decided_first, number_text, outcome_of, tally

    width = columns_of(width)
    lines = prose(plain(judgement.study.title, 300), width, "bold")
    lines += prose(plain(judgement.study.citation, 600), width)
    lines += [Text(), *prose(sentence(tally(judgement)), width, "bold")]
    partial = len(PARTIAL) * any(verdict.partial for verdict in judgement.verdicts)
    label = max(len(outcome) for outcome in Outcome) + 2 + partial
    for verdict in decided_first(judgement):
        lines += [Text(), *_claim(verdict, outcome_of(verdict), width, label)]
        for entry in verdict.numbers if numbers else ():
            row = f"{plain(entry.group, 80)}: {number_text(entry)}"
            lines.append(Text(" " * (label + 2) + row, style="dim", no_wrap=True))
    return to_text(lines, colour=colour)


def card_text(card: Card, width: int) -> list[Text]:
    """The card that opens a table: headlines, what stands below each, and a line after it."""
    lines: list[Text] = []
    for headline, texts in card_lines(card):
        style = _HEADLINES.get(headline[:1], "bold")
        lines += prose(headline, width, style) if headline else []
        below = [part for text in texts for part in prose(text, width - len(_INDENT))]
        lines += [Text(f"{_INDENT}{part.plain}") for part in below]
    return [*lines, Text()] if lines else []


def _warnings(run: Run) -> list[str]:
    """What the mark of a warning means in this run; a doubt with a mark of its own says itself."""
    warnings = (warning for figure in run.cells for warning in figure.warnings)
    kinds = kinds_of(warning for warning in warnings if warning_mark(warning) is Mark.WARNING)
    texts = [f"{text} (and {count - 1:,} more like it)" if count > 1 else text for text, count in kinds[:4]]
    if len(kinds) > 4:
        texts.append(f"{counted(len(kinds) - 4, 'more kind')}: perbyte report")
    return [f"{Mark.WARNING}: {text}" for text in texts]


def _doubts(grids: Sequence[Grid]) -> list[str]:
    """Why nothing is claimed of some cells, each reason once with how many there are."""
    doubted = [
        entry.comparison
        for grid in grids
        for entry in grid.entries
        if entry.comparison and entry.comparison.doubt
    ]
    lines = []
    for head, known in ((UNDECIDED, False), ("the factor is uncertain", True)):
        doubts = Counter(each.doubt for each in doubted if (each.direction is not Answer.UNDECIDED) is known)
        told = [f"{doubt} ({count:,})" for doubt, count in doubts.most_common()]
        lines += [f"{head}: {', '.join(told)}"] if told else []
    return lines


def _grids(grids: Sequence[Grid], width: int) -> list[Text]:
    """Draw grids below each other within `width` characters, split where one does not fit."""
    lines: list[Text] = []
    for grid in grids:
        title = f"{grid.unit.in_words} · {plain(grid.contract, 40)} · {_what(grid)}"
        heading = prose(title, width)
        heading[0].stylize("bold", 0, len(grid.unit.in_words))
        lines += [Text()] * bool(lines) + heading
        for table in _tables(without_folded(grid), width):
            lines += [Text(), *table]
        for note in rest_texts(grid):
            lines += prose(note, width)
        if legend := legend_of(grid):
            lines += [Text(), *_wrapped(legend, width)]
    return lines


def _what(grid: Grid) -> str:
    if grid.baseline:
        return f"× cost of a call as a multiple of that in {grid.columns[0].side}: above 1 is slower"
    if grid.blind:
        return "one value each, no interval known"
    levels = {round(figure.interval.level * 100, 2) for figure in grid.figures}
    level = f"the {levels.pop():g} % interval" if len(levels) == 1 else "the interval"
    return f"median and ± of {level}"


def _tables(grid: Grid, width: int) -> list[list[Text]]:
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


def _reach(drawn: Sequence[Text]) -> int:
    return max(len(line) for line in drawn)


def _drawn(grid: Grid, gap: int, sign: str) -> list[Text]:
    """Draw a grid with `gap` characters between columns and `sign` behind an interval."""
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
    sizes = Text(("" if sign else _IN_PERCENT).ljust(stub), style="bold", no_wrap=True)
    for column in columns:
        sizes.append(" " * gap + column.head())
    sizes.rstrip()
    if sizes.plain:
        lines.append(sizes)
    rule = "─" * (stub + sum(gap + column.width for column in columns))
    lines.append(Text(rule, style="dim", no_wrap=True))
    cells = zip(*(column.cells for column in columns), strict=True)
    for label, row in labels:
        line = Text(label.ljust(stub), style="" if row else "bold", no_wrap=True)
        for cell in next(cells) if row else ():
            line.append(" " * gap).append_text(cell)
        line.rstrip()
        lines.append(line)
    return lines


def _operations_line(columns: Sequence[_Drawn], stub: int, gap: int) -> Text:
    """Each operation's name over its columns, with a rule that shows how far it reaches."""
    line = Text(" " * stub, no_wrap=True)
    for name, group in itertools.groupby(columns, key=lambda column: column.column.operation):
        span = sum(gap + column.width for column in group) - gap
        shown = plain(name, 24)
        line.append(" " * gap).append(shown, style="bold")
        line.append((" " + "─" * (span - len(shown) - 1))[: max(span - len(shown), 0)], style="dim")
    return line


def _labels(grid: Grid) -> list[tuple[str, GridRow | None]]:
    """The labels of rows; a group of several rows gets a heading of its own, a lone row carries its heading."""
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
                self.cells.append(Text(part.lead.rjust(self.width), style="bold red" if bad else "dim"))
                continue
            start = self.figure_end - rest - whole
            text = Text(" " * (start - 1) + (part.lead + part.whole).rjust(whole + 1))
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


def _wrapped(legend: Sequence[tuple[str, str]], width: int) -> list[Text]:
    lines: list[Text] = []
    for mark, meaning in legend:
        item = Text.assemble((mark, "yellow"), f"{' ' if mark else ''}{meaning}")
        if lines and lines[-1].cell_len + 3 + item.cell_len <= width:
            lines[-1].append("   ").append_text(item)
        elif item.cell_len <= width:
            lines.append(item)
        else:
            lines += prose(item.plain, width)
    return lines


def _claim(verdict: Verdict, outcome: str, width: int, label: int) -> list[Text]:
    sign = outcome.ljust(label)
    room = max(width - label - 2, 24)
    body = textwrap.wrap(plain(verdict.claim.says, 600), room, break_on_hyphens=False)
    lines = [
        Text.assemble((sign if not index else " " * label, _COLOURS[verdict.outcome]), "  ", (part, "bold"))
        for index, part in enumerate(body or [""])
    ]
    for remark in verdict.evidence:
        parts = textwrap.wrap(plain(remark, 600), room, break_on_hyphens=False)
        lines += [Text(" " * (label + 2) + part) for part in parts]
    return lines
