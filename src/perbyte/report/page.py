"""What the HTML file shows of a run, as plain text in rows: the template only lays it out.

Every string that comes from a run passes `plain` here; escaping is the template's business.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

from perbyte.model import CellFigure, Estimate, Quality, Run
from perbyte.model.cell import FULL
from perbyte.report.conditions import clean_share, kinds_of, library_names
from perbyte.report.contracts import meaning_of
from perbyte.report.points import Names
from perbyte.report.units import number, percent, plain, size_label
from perbyte.report.views import Entry, Mark, Place, Row, Table, failed_cells, marks_of
from perbyte.stats.quantity import TABLE_UNITS, Unit, read

# How many columns of figures fit beside each other on a sheet, with intervals and without.
_FIT, _FIT_BARE = 9, 12
_GAP = (None, "–")
_BAD = ("incorrect", "crashed", "timed-out", "garbled", "refused")
_CLASSES = {Place.FASTEST: " fast", Place.TIED: " tie", Place.NONE: ""}
_COLUMNS = (
    ("algorithm", "text"),
    ("operation", ""),
    ("size", "n"),
    ("library", ""),
    ("tier", ""),
    ("contract", ""),
    ("cycles/byte", "n"),
    ("±", "n"),
    ("cycles/call", "n"),
    ("ns/call", "n"),
    ("MB/s", "n"),
    ("clean", "n"),
    ("epochs", "n"),
    ("quality", ""),
    ("remarks", "remarks"),
)


def counts(run: Run) -> list[tuple[str, str]]:
    """The few numbers that stand first."""
    good = sum(figure.quality == Quality.GOOD for figure in run.cells)
    clean, taken = clean_share(run)
    algorithms = {figure.cell.algorithm for figure in run.cells}
    libraries = len(library_names(run))
    floor = run.noise_floor
    measured = any(figure.samples for figure in run.cells) or not run.cells
    first = [
        (f"{len(run.cells):,}", "cells measured" if measured else "cells imported"),
        (f"{len(algorithms):,}", "algorithm" if len(algorithms) == 1 else "algorithms"),
        (f"{libraries:,}", "library" if libraries == 1 else "libraries"),
    ]
    if not measured:  # another program's: nothing is known of samples and precision
        return first
    return [
        *first,
        (f"{good / len(run.cells):.0%}" if run.cells else "–", "clean and precise"),
        (f"{clean / taken:.0%}" if taken else "–", "samples clean"),
        (percent(floor.relative) if floor and floor.pairs else "–", "noise floor"),
        (f"{run.measuring_s:.0f} s", "of measuring"),
    ]


def table_view(table: Table, names: Names | None = None) -> dict[str, Any]:
    """One results table: heading cells and rows, each entry in every unit."""
    operations: dict[str, int] = {}
    for column in table.columns:
        name = plain(column.operation, 24)
        operations[name] = operations.get(name, 0) + 1
    previous = ""
    rows = []
    units = table.units()
    grouped = any(len(same) > 1 for _, same in table.groups())  # a line around every single row parts nothing
    for row in table.rows:
        rows.append({**_row(row, table, units, names or {}), "first": grouped and row.title != previous})
        previous = row.title
    return {
        "contract": plain(table.contract, 40),
        "meaning": meaning_of(table.contract),
        "crowd": crowd(len(table.columns)),
        "unit": table.unit.value,
        "told": "; one value each, no interval is known" if table.blind else "",
        "units": [{"name": unit.value, "chosen": unit is table.unit} for unit in units],
        "operations": list(operations.items()),
        "columns": [
            {"operation": plain(column.operation, 24), "size": column.size} for column in table.columns
        ],
        "rows": rows,
        "legend": _legend(table),
    }


def crowd(columns: int) -> str:
    """The class that makes a table of so many columns of figures fit a sheet of paper; empty where it fits anyway."""
    return "" if columns <= _FIT else " many" if columns <= _FIT_BARE else " crowded"


def how_read(run: Run) -> str:
    """What a figure of the tables is."""
    if all(not figure.interval.known for figure in run.cells) and run.cells:
        return "Values as the other program printed them."
    return "Median of the epochs' figures and half-width of the interval."


def _row(row: Row, table: Table, units: Sequence[Unit], names: Names) -> dict[str, Any]:
    said = names.get((row.algorithm, row.cpu))
    return {
        "title": plain(said or row.title, 60),
        "library": plain(row.runner, 40),
        "more": plain(row.title, 60) if said else "",
        "entries": [_entry(entry, table.unit, units) for entry in row.entries],
    }


def _entry(entry: Entry, unit: Unit, units: Sequence[Unit]) -> dict[str, str]:
    if entry.figure is None:
        failure = entry.failure
        kind = plain(failure.kind, 20) if failure else ""
        return {
            "every": "",
            "text": "–" if kind == "unsupported" else kind,
            "said": plain(failure.message, 200) if failure else "not asked for",
            "place": " bad" if kind in _BAD else " none",
        }
    readings = [read(entry.figure, one) for one in units]
    shown = read(entry.figure, unit)
    remarks = [mark.meaning for mark in entry.marks] + [plain(one, 120) for one in entry.figure.warnings]
    return {
        "every": "|".join(f"{_value(one)};{_exact(one)}" for one in readings),
        "text": _value(shown),
        "wide": f"±{percent(shown.relative)}" if shown and math.isfinite(shown.relative) else "",
        "marks": "".join(entry.marks),
        "said": "; ".join(remarks),
        "place": _CLASSES[entry.place],
    }


def _value(reading: Estimate | None) -> str:
    return number(reading.value, reading.half_width) if reading else "n/a"


def _exact(reading: Estimate | None) -> str:
    return f"{reading.value:.7g}" if reading else ""


def _legend(table: Table) -> list[tuple[str, str]]:
    places = {entry.place for row in table.rows for entry in row.entries}
    among = "of its algorithm in the column" if table.ranked_within == "algorithm" else "in the column"
    found = [("►", f"fastest {among}")] if Place.FASTEST in places else []
    if Place.TIED in places:
        found.append(("=", f"fastest {among}, a tie: no difference can be told"))
    kinds = {entry.failure.kind for row in table.rows for entry in row.entries if entry.failure}
    if "unsupported" in kinds:
        found.append(("–", "the library does not have it"))
    return found + [(str(mark), mark.meaning) for mark in Mark if mark in table.marks()]


def cell_columns() -> tuple[tuple[str, str], ...]:
    """Names of the columns of the list of all cells, each with its class in the style sheet."""
    return _COLUMNS


def cell_rows(run: Run) -> dict[str, Any]:
    """The list of all cells for the page's script: a row per figure and per failure that names a cell.

    A part is text, or a pair (number to sort by, text). Numbers that are not finite become null.
    """
    rows: list[list[Any]] = []
    for figure in run.cells:
        cell = figure.cell
        readings = {unit: read(figure, unit) for unit in TABLE_UNITS}
        first = readings[Unit.CYCLES_PER_BYTE] or readings[Unit.CYCLES_PER_CALL] or readings[Unit.NS_PER_CALL]
        rows.append(
            [
                *_names(cell.algorithm, cell.operation, cell.size_bytes, cell.runner, cell.cpu, cell.twin),
                plain(cell.contract, 30),
                _pair(readings[Unit.CYCLES_PER_BYTE]),
                [_finite(first.relative), percent(first.relative)] if first else [None, "–"],
                *(_pair(readings[unit]) for unit in (Unit.CYCLES_PER_CALL, Unit.NS_PER_CALL)),
                _pair(readings[Unit.MEGABYTES_PER_SECOND]),
                *_pains(figure),
                ["".join(marks_of(figure)), "; ".join(plain(one, 160) for one in figure.warnings)],
            ]
        )
    for cell, failure in failed_cells(run):
        names = _names(cell.algorithm, cell.operation, cell.size_bytes, cell.runner, cell.cpu, cell.twin)
        message = plain(failure.message, 200)
        if failure.expected or failure.got:
            message += f"; expected {plain(failure.expected, 72)}, got {plain(failure.got, 72)}"
        kind = plain(failure.kind, 20)
        rows.append([*names, plain(cell.contract, 30), *([_GAP] * 7), kind, [message, message]])
    return {"kinds": [kind for _, kind in _COLUMNS], "bad": list(_BAD), "rows": rows}


def _pains(figure: CellFigure) -> list[Any]:
    """Samples, epochs and quality; another program's figure has none that anybody knows."""
    if not figure.interval.known:
        return [_GAP, _GAP, "unknown"]
    share = figure.clean_samples / figure.samples if figure.samples else 0.0
    return [
        [share, f"{figure.clean_samples} of {figure.samples}"],
        [figure.epochs, str(figure.epochs)],
        plain(figure.quality, 20),
    ]


def mark_legend(run: Run) -> list[tuple[str, str]]:
    """The marks that the list of all cells has on paper, where its remarks have no room."""
    used = {mark for figure in run.cells for mark in marks_of(figure)}
    return [(str(mark), mark.meaning) for mark in Mark if mark in used]


def _names(algorithm: str, operation: str, size: int, runner: str, cpu: str, twin: int) -> list[Any]:
    return [
        plain(algorithm, 60),
        plain(operation, 24),
        [size, size_label(size)],
        plain(runner, 40) + (f" (twin {twin})" if twin else ""),
        "" if cpu == FULL else plain(cpu, 20),
    ]


def _pair(reading: Estimate | None) -> list[Any]:
    return [_finite(reading.value), _value(reading)] if reading else [None, "–"]


def _finite(value: float) -> float | None:
    return float(f"{value:.7g}") if math.isfinite(value) else None


def qualities(run: Run) -> list[tuple[str, str, str]]:
    """Quality, its meaning, and how many cells have it."""
    found = Counter(figure.quality for figure in run.cells if figure.interval.known)
    return [(str(name), name.meaning, f"{found[name]:,}") for name in Quality if found[name]]


def warning_counts(run: Run) -> list[tuple[str, int]]:
    """Each kind of warning once, as its first example, the most frequent first."""
    return kinds_of(one for figure in run.cells for one in figure.warnings)
