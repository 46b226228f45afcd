"""Grids as tables of a page that a reader sorts, filters and turns into other units.

Each entry holds its text in every unit; the page's script only chooses. A ratio is always that of costs, in cycles for
units of cycles and in time for the others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from perbyte.model import CellFigure, Estimate, Interval, NoiseFloor
from perbyte.model.text import plain
from perbyte.report.document import Block, Heading, Terms, Text, Widget
from perbyte.report.facts import meaning_of
from perbyte.report.grid import Entry, Grid, GridRow
from perbyte.report.legends import legend_of
from perbyte.report.many import rows_in_order
from perbyte.report.marks import ANSWER_SIGNS, CLASSES, SIGNS
from perbyte.report.runview import RunView
from perbyte.report.wording import ratio_text, value_text, width_text
from perbyte.stats.compare import Answer, compare
from perbyte.stats.quantity import Unit, data_bytes, read

# How many columns of figures fit beside each other on a sheet, with intervals and without.
_FIT, _FIT_BARE = 9, 12
_FIT_COMPARED = 5
BAD = ("incorrect", "crashed", "timed-out", "garbled", "refused", "audit", "disputed", "not-reached")
_OF_DATA = (Unit.CYCLES_PER_BYTE, Unit.MEGABYTES_PER_SECOND, Unit.NS_PER_CALL, Unit.CYCLES_PER_CALL)
_OF_CALLS = (Unit.CYCLES_PER_CALL, Unit.CALLS_PER_SECOND, Unit.NS_PER_CALL)  # of signatures and key schedules


def run_pivot(grid: Grid, view: RunView) -> list[Block]:
    """The table of a run: rows algorithm x library, columns operation x size."""
    units = grid.units()
    rows = []
    for row, is_folded in rows_in_order(grid):
        named = view.names.get((row.cell.algorithm, row.cell.cpu))
        entries = [_entry(grid, entry, units) for entry in row.entries]
        more = plain(row.heading, 60) if named else ""
        title, label = plain(named or row.heading, 60), plain(row.label, 40)
        rows.append(_pivot_row(title, label, entries, more, is_folded=is_folded))
    heads = [
        (column.size or plain(column.operation, 24), f"{plain(column.operation, 24)} {column.size}")
        for column in grid.columns
    ]
    spans = Counter(plain(column.operation, 24) for column in grid.columns)
    if all(not column.size for column in grid.columns):
        spans.clear()  # of calls without data: the heads say the same
    told = "; one value each, no interval is known" if grid.blind else ""
    return _pivot_blocks(grid, units, rows, ("algorithm", "library"), heads, list(spans.items()), told)


def comparison_pivot(grid: Grid, floors: Sequence[NoiseFloor | None]) -> list[Block]:
    """The table of several runs: a column per run, with the ratio to the first. `floors` are those of each pair."""
    units = _OF_DATA if any(data_bytes(row.cell) for row in grid.rows) else _OF_CALLS
    first = grid.columns[0].side
    rows = []
    for row in grid.rows:
        entries = [
            entry
            for index in range(len(grid.columns))
            for entry in _compared_entries(grid, row, index, units, floors[index])
        ]
        title, _, runners = row.heading.rpartition(", ")
        rows.append(_pivot_row(plain(title, 60), f"{runners}: {row.label}", entries))
    heads = [(first, first)]
    for column in grid.columns[1:]:
        heads += [(column.side, column.side), (f"× {first}", f"ratio of {column.side} to {first}")]
    return _pivot_blocks(grid, units, rows, ("algorithm", "cell"), heads, [], "")


def _pivot_row(
    title: str, label: str, entries: list[dict[str, str]], more: str = "", *, is_folded: bool = False
) -> dict[str, Any]:
    return {"title": title, "label": label, "entries": entries, "more": more, "folded": is_folded}


def _pivot_blocks(
    grid: Grid,
    units: Sequence[Unit],
    rows: list[dict[str, Any]],
    names: tuple[str, str],
    heads: Sequence[tuple[str, str]],
    spans: Sequence[tuple[str, int]],
    told: str,
) -> list[Block]:
    titles = [row["title"] for row in rows]
    grouped = len(set(titles)) < len(titles)  # a line around every single row parts nothing
    for previous, row in zip(["", *titles], rows, strict=False):
        row["first"] = grouped and row["title"] != previous
    fit = _FIT_COMPARED if grid.baseline else _FIT
    density = "" if len(heads) <= fit else " many" if len(heads) <= _FIT_BARE else " crowded"
    meaning = meaning_of(grid.contract)
    data = {
        "label": f"Results of {plain(grid.contract, 40)}",
        "density": density,
        "unit": grid.unit.value,
        "units": [{"name": unit.value, "chosen": unit is grid.unit} for unit in units],
        "told": told,
        "names": names,
        "heads": heads,
        "spans": spans,
        "rows": rows,
        "folded": sum(row["folded"] for row in rows),
    }
    return [
        Heading(plain(grid.contract, 40)),
        *([Text(meaning)] if meaning else []),
        Widget("pivot", data),
        Terms("legend", legend_of(grid)),
    ]


def _entry(grid: Grid, entry: Entry, units: Sequence[Unit]) -> dict[str, str]:
    if entry.figure is None:
        failure = entry.failure
        kind = plain(failure.kind, 20) if failure else ""
        shown = "–" if kind == "unsupported" else kind
        reason = plain(failure.message, 200) if failure else "not requested"
        return _gap(shown, reason, " bad" if kind in BAD else " none")
    doubts = [mark.meaning for mark in entry.marks]
    doubts += [plain(warning, 120) for warning in entry.figure.warnings]
    figure = _figure(entry.figure, grid.unit, units, "; ".join(doubts))
    return figure | {"marks": grid.told_at(entry), "place": f" {CLASSES[SIGNS[entry.lead]]}".rstrip()}


def _figure(figure: CellFigure, shown_in: Unit, units: Sequence[Unit], tip: str) -> dict[str, str]:
    readings = [read(figure, unit) for unit in units]
    values = [(value_text(reading), f"{reading.value:.7g}" if reading else "") for reading in readings]
    reading = read(figure, shown_in)
    return _told(values, value_text(reading), _wide(reading), tip)


def _told(values: Sequence[tuple[str, str]], shown: str, wide: str, tip: str) -> dict[str, str]:
    """What stands in a place: its text now, and with its exact value in every unit."""
    every = "|".join(f"{text};{exact}" for text, exact in values)
    return {"every": every, "text": shown, "wide": wide, "marks": "", "said": tip, "place": ""}


def _compared_entries(
    grid: Grid, row: GridRow, index: int, units: Sequence[Unit], floor: NoiseFloor | None
) -> list[dict[str, str]]:
    """The value of one side and, for all but the first, its ratio: each in every one of `units`."""
    entry, first, unit = row.entries[index], row.entries[0].figure, grid.unit
    if entry.figure is None:
        kind = plain(entry.failure.kind, 20) if entry.failure else ""
        gap = _gap(kind or "–", kind or "not in this run", " none")
        return [gap, {**gap, "text": "–"}] if index else [gap]
    figure = entry.figure
    library = f"{plain(figure.library, 40)} {plain(figure.library_version, 80)}".strip()
    tip = "; ".join([library, figure.quality, *(plain(warning, 120) for warning in figure.warnings)])
    shown = _figure(figure, unit, units, tip) | {"marks": grid.told_at(entry)}
    if not index:
        return [shown]
    if first is None or entry.comparison is None:
        return [shown, _gap("–", "not in the first run", " none")]
    comparison = entry.comparison
    ratios = [_ratio(first, entry, each, floor) for each in units]
    chosen = ratios[units.index(unit)][0]
    ratio = _told(ratios, chosen, _wide(comparison.ratio), plain(comparison.reason, 300))
    place = {Answer.FASTER: " fast", Answer.SLOWER: " slow"}.get(comparison.direction, "")
    return [shown, ratio | {"place": place}]


def _gap(shown: str, tip: str, place: str) -> dict[str, str]:
    return {"every": "", "text": shown, "said": tip, "place": place}


def _ratio(first: CellFigure, entry: Entry, unit: Unit, floor: NoiseFloor | None) -> tuple[str, str]:
    """The ratio of costs that belongs to `unit`, with what can be told: `=` a tie, `?` not known."""
    comparison, figure = entry.comparison, entry.figure
    assert comparison is not None
    assert figure is not None
    if unit.in_cycles and comparison.unit != "cycles":
        return "n/a", ""
    if not unit.in_cycles and comparison.unit == "cycles":
        margin = comparison.margin
        comparison = replace(compare(_timed(first), _timed(figure), floor, same_run=False), margin=margin)
    if not comparison.ratio.value > 0:
        return "n/a", ""
    doubt = f" {ANSWER_SIGNS[comparison.direction]}" if comparison.direction in ANSWER_SIGNS else ""
    return f"×{ratio_text(comparison.ratio)}{doubt}", f"{comparison.ratio.value:.7g}"


def _timed(figure: CellFigure) -> CellFigure:
    """The same figure counted in nanoseconds, its interval of the same relative width."""
    if not figure.per_call:
        return figure
    scale = figure.ns_per_call / figure.per_call
    interval = figure.interval
    in_time = Interval(interval.low * scale, interval.high * scale, interval.level, interval.dominated_by)
    return replace(figure, cycles_per_call=None, epoch_cycles=(), interval=in_time, cycle_source="none")


def _wide(estimate: Estimate | None) -> str:
    return width_text(estimate) if estimate and estimate.known else ""
