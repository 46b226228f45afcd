"""Several runs in one table: machines side by side, the first one being what the others are compared with.

A cell is looked for under its own address first. Where a run has none, the same algorithm, operation, size, contract
and tier of the same library counts as well (listings of old versions were timed below EVP, which is another runner),
and the row names both. For public-key operations the length of the digest does not count. Nothing is ranked here, and
a ratio without an interval is marked as such.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rich.text import Text

from perbyte.model import Cell, CellFigure, Run
from perbyte.model.cell import FULL
from perbyte.report.terminal import columns_of, prose, to_text
from perbyte.report.units import number, plain, size_label
from perbyte.report.views import failed_cells, natural
from perbyte.stats.compare import Comparison, compare, larger_floor
from perbyte.stats.quantity import Unit, data_bytes, read

_GAP = 2
_NOTHING = "–"


@dataclass(frozen=True, slots=True)
class Beside:
    """One run's part of a row: its figure, what it lacks it for, and how it compares with the first run's."""

    figure: CellFigure | None
    failed: str = ""
    comparison: Comparison | None = None


@dataclass(frozen=True, slots=True)
class SideRow:
    """A cell of any of the runs with what each run has for it."""

    cell: Cell
    entries: tuple[Beside, ...]


def set_side_by_side(runs: Sequence[Run]) -> tuple[SideRow, ...]:
    """Give a row for every cell that any of `runs` has a figure of, in a fixed order.

    Ratios are the others over the first, per call.
    """
    shelves = [_Shelf(run) for run in runs]
    placed: set[tuple[int, Cell]] = set()
    rows = []
    for index, shelf in enumerate(shelves):
        for figure in shelf.figures.values():
            if (index, figure.cell) in placed:
                continue
            found = [other.find(figure, shelf) for other in shelves]
            placed |= {(place, one.cell) for place, one in enumerate(found) if one}
            rows.append(SideRow(figure.cell, _entries(figure, found, shelves, runs)))
    return tuple(sorted(rows, key=lambda row: _order(row.cell)))


def render_side_by_side(
    rows: Sequence[SideRow],
    names: Sequence[str],
    *,
    unit: Unit | None = None,
    width: int | None = None,
    colour: bool | None = None,
) -> str:
    """Give the rows as tables of at most `width` characters, the first run repeated where they are split.

    Without `unit`: cycles per byte where every figure has cycles, else MB/s.
    """
    width = columns_of(width)
    unit = unit or _common_unit(rows)
    heads = [plain(name, 24) for name in names]
    lines = [
        Text(f"{unit.in_words}; × {heads[0]}: cost of a call as a multiple of {heads[0]}'s", style="bold")
    ]
    if not rows:
        return to_text([*lines, Text("the runs hold no figures")], colour=colour)
    labels = [_label(row.cell) for row in rows]
    columns = [_column(rows, index, head, unit) for index, head in enumerate(heads)]
    stub = max(len(label) for label in labels)
    for part in _parts([len(column[0]) for column in columns], stub, width):
        lines.append(Text())
        lines += _drawn(rows, labels, [columns[index] for index in part], stub)
    lines += [Text(), *prose(_legend(rows), width)]
    return to_text(lines, colour=colour)


def side_records(rows: Sequence[SideRow], names: Sequence[str]) -> list[dict[str, Any]]:
    """Give the rows as JSON types; what is not known is None."""
    return [
        {
            "algorithm": row.cell.algorithm,
            "operation": row.cell.operation,
            "contract": row.cell.contract,
            "cpu": row.cell.cpu,
            "size_bytes": row.cell.size_bytes,
            "figures": [_record(entry, name) for entry, name in zip(row.entries, names, strict=True)],
        }
        for row in rows
    ]


class _Shelf:
    """The figures and failures of one run, found by address or by what they mean."""

    def __init__(self, run: Run) -> None:
        self.figures = {figure.cell: figure for figure in run.cells if not figure.cell.twin}
        libraries = {one.runner: one.library for one in run.conditions.identities}
        self.failures = {
            (_loose(cell), libraries.get(cell.runner, cell.runner)): failure.kind
            for cell, failure in failed_cells(run)
        }
        self.alike: dict[tuple[object, ...], list[CellFigure]] = {}
        for figure in self.figures.values():
            self.alike.setdefault((*_loose(figure.cell), figure.library), []).append(figure)

    def find(self, wanted: CellFigure, origin: _Shelf) -> CellFigure | None:
        """The counterpart of `wanted`; one that `origin` has under its own address is that one's counterpart."""
        if self is origin or wanted.cell in self.figures:
            return self.figures.get(wanted.cell)
        others = self.alike.get((*_loose(wanted.cell), wanted.library), [])
        return next((one for one in others if one.cell not in origin.figures), None)

    def failure(self, wanted: CellFigure) -> str:
        """Why there is no figure; empty where that was never asked for."""
        return self.failures.get((_loose(wanted.cell), wanted.library), "")


def _loose(cell: Cell) -> tuple[object, ...]:
    return (cell.algorithm, cell.operation, data_bytes(cell), cell.contract, cell.cpu)


def _entries(
    wanted: CellFigure, found: Sequence[CellFigure | None], shelves: Sequence[_Shelf], runs: Sequence[Run]
) -> tuple[Beside, ...]:
    first = found[0]
    entries = []
    for index, figure in enumerate(found):
        if figure is None:
            entries.append(Beside(None, shelves[index].failure(wanted)))
            continue
        noise = larger_floor((runs[0].noise_floor, runs[index].noise_floor))
        compared = compare(first, figure, noise, same_run=False) if first and index else None
        entries.append(Beside(figure, "", compared))
    return tuple(entries)


def _order(cell: Cell) -> tuple[object, ...]:
    names = (natural(cell.contract), natural(cell.algorithm), cell.cpu, cell.runner)
    return (*names, cell.operation, cell.size_bytes)


def _common_unit(rows: Sequence[SideRow]) -> Unit:
    figures = [entry.figure for row in rows for entry in row.entries if entry.figure]
    whole = all(figure.cycles_per_call is not None for figure in figures)
    return Unit.CYCLES_PER_BYTE if whole else Unit.MEGABYTES_PER_SECOND


def _label(cell: Cell) -> str:
    """What tells a row from the others of its group: `  encrypt 1 KiB`."""
    size = f" {size_label(data_bytes(cell))}" if data_bytes(cell) else ""
    return f"  {plain(cell.operation, 24)}{size}"


def _groups(rows: Sequence[SideRow]) -> dict[int, str]:
    """Headings by the number of the row they stand above: algorithm, tier, and the runners of all the group's rows."""
    runners: dict[tuple[str, ...], dict[str, None]] = {}
    first: dict[tuple[str, ...], int] = {}
    for number_of_row, row in enumerate(rows):
        cell = row.cell
        key = (cell.contract, cell.algorithm, cell.cpu, cell.runner)
        first.setdefault(key, number_of_row)
        names = (entry.figure.cell.runner for entry in row.entries if entry.figure)
        runners.setdefault(key, {}).update(dict.fromkeys(names))
    return {
        place: plain(f"{key[1]}{'' if key[2] == FULL else f' ({key[2]})'}, {' | '.join(runners[key])}", 90)
        for key, place in first.items()
    }


def _column(rows: Sequence[SideRow], index: int, head: str, unit: Unit) -> list[str]:
    """A run's column, all of one width: its name, then value and ratio of each row."""
    cells = [_said(row.entries[index], row.cell, unit) for row in rows]
    whole = max(len(value) for value, _ in cells)
    rest = max(len(ratio) for _, ratio in cells)
    gap = 1 if rest else 0
    body = [value.rjust(whole) + " " * gap + ratio.ljust(rest) for value, ratio in cells]
    width = max(len(head), *(len(text) for text in body))
    return [head.rjust(width), *(text.rjust(width) for text in body)]


def _said(entry: Beside, cell: Cell, unit: Unit) -> tuple[str, str]:
    """The value, and the ratio with its doubt: `=` no difference can be told, `?` no interval is known."""
    if entry.figure is None:
        return entry.failed or _NOTHING, ""
    keyed = not data_bytes(cell)
    if keyed:
        unit = Unit.CYCLES_PER_CALL if unit is Unit.CYCLES_PER_BYTE else Unit.NS_PER_CALL
    reading = read(entry.figure, unit)
    value = number(reading.value, reading.half_width) if reading else "n/a"
    if keyed and reading:
        value += " cycles" if unit is Unit.CYCLES_PER_CALL else " ns"
    one = entry.comparison
    if one is None or not math.isfinite(one.ratio.value):
        return value, ""
    known = math.isfinite(one.ratio.half_width)
    doubt = "?" if not known else "=" if one.tie else ""
    return value, f"×{number(one.ratio.value, one.ratio.half_width if known else 0.0)}{doubt}"


def _parts(widths: Sequence[int], stub: int, width: int) -> list[list[int]]:
    """Which columns stand together: as many as fit, the first one in each part."""
    parts, used = [[0]], stub + _GAP + widths[0]
    for index in range(1, len(widths)):
        if used + _GAP + widths[index] > width and len(parts[-1]) > 1:
            parts.append([0])
            used = stub + _GAP + widths[0]
        parts[-1].append(index)
        used += _GAP + widths[index]
    return parts


def _drawn(
    rows: Sequence[SideRow], labels: Sequence[str], columns: Sequence[Sequence[str]], stub: int
) -> list[Text]:
    gap = " " * _GAP
    head = Text(" " * stub + gap + gap.join(column[0] for column in columns), style="bold", no_wrap=True)
    lines = [head]
    groups = _groups(rows)
    contract = ""
    for number_of_row, (row, label) in enumerate(zip(rows, labels, strict=True)):
        if row.cell.contract != contract:
            contract = row.cell.contract
            lines.append(Text(f"── {plain(contract, 40)}", style="dim"))
        if number_of_row in groups:
            lines.append(Text(groups[number_of_row], style="bold"))
        text = label.ljust(stub) + gap + gap.join(column[number_of_row + 1] for column in columns)
        lines.append(Text(text.rstrip(), no_wrap=True))
    return lines


def _legend(rows: Sequence[SideRow]) -> str:
    known = [entry.comparison for row in rows for entry in row.entries if entry.comparison]
    parts = ["above ×1 is slower"]
    if any(one.tie and math.isfinite(one.ratio.half_width) for one in known):
        parts.append("= no difference can be told")
    if any(not math.isfinite(one.ratio.half_width) for one in known):
        parts.append("? a figure without an interval: what is beyond noise is not known")
    if any(entry.failed for row in rows for entry in row.entries):
        parts.append("words: why a run has no figure")
    return "; ".join([*parts, f"{_NOTHING} not in that run"])


def _record(entry: Beside, name: str) -> dict[str, Any]:
    figure, one = entry.figure, entry.comparison
    return {
        "run": name,
        "address": figure.cell.address if figure else None,
        "failed": entry.failed or None,
        "cycles_per_call": _finite(figure.cycles_per_call) if figure else None,
        "ns_per_call": _finite(figure.ns_per_call) if figure else None,
        "megabytes_per_second": _finite(figure.megabytes_per_second) if figure else None,
        "ratio": _finite(one.ratio.value) if one else None,
        "interval_low": _finite(one.ratio.low) if one else None,
        "interval_high": _finite(one.ratio.high) if one else None,
        "tie": one.tie if one else None,
        "reason": one.reason if one else None,
    }


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None
