"""Lays a run out: rows algorithm x library, columns operation x size, each contract apart.

What is never done here: two contracts in one table, a ranking across them, a figure without its doubts, or a
cell that silently disappears. The second process of an A/A pair is no row: it stands in the noise floor.
Nothing is formatted for a medium; `terminal` and `html` draw the same tables.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from perbyte.model import (
    Cell,
    CellFigure,
    Doubt,
    Failure,
    NoiseFloor,
    Quality,
    Run,
    Warning,
    parse_address,
)
from perbyte.model.cell import FULL
from perbyte.report.units import size_label
from perbyte.stats.compare import fastest
from perbyte.stats.quantity import TABLE_UNITS, Unit, data_bytes, read


class Place(enum.Enum):
    """Where a cell stands among the cells it is compared with."""

    NONE = "none"
    FASTEST = "fastest"
    TIED = "tied"  # as fast as the fastest, as far as this run can tell


class Mark(enum.StrEnum):
    """Why a cell is to be read with care; the value is what a table prints."""

    IMPRECISE = "~"
    LONG = "L"
    NOISY = "!"
    UNSETTLED = "?"
    NO_CYCLES = "n"
    FAILED = "x"
    WARNING = "w"

    @property
    def meaning(self) -> str:
        """The legend's text."""
        return _MEANINGS[self]


_MEANINGS = {
    Mark.IMPRECISE: "interval wider than asked for",
    Mark.LONG: "one call outlasts a sample",
    Mark.NOISY: "too few clean samples",
    Mark.UNSETTLED: "still showed a trend",
    Mark.NO_CYCLES: "no cycle source, time only",
    Mark.FAILED: "failed later in the run",
    Mark.WARNING: "has a warning",
}
_OF_QUALITY = {
    Quality.IMPRECISE: Mark.IMPRECISE,
    Quality.LONG: Mark.LONG,
    Quality.NOISY: Mark.NOISY,
    Quality.UNSETTLED: Mark.UNSETTLED,
}
_OF_DOUBT = {Doubt(quality.value): mark for quality, mark in _OF_QUALITY.items()}
_OF_DOUBT[Doubt.NO_INTERVAL] = Mark.IMPRECISE


@dataclass(frozen=True, slots=True, order=True)
class Column:
    """One operation at one size."""

    operation: str
    size_bytes: int

    @property
    def size(self) -> str:
        """The size as the heading has it; empty for operations without data."""
        return size_label(self.size_bytes) if self.size_bytes else ""


@dataclass(frozen=True, slots=True)
class Entry:
    """What stands in one place of a table: a figure, a failure, or neither (not asked for)."""

    figure: CellFigure | None = None
    failure: Failure | None = None
    place: Place = Place.NONE
    marks: tuple[Mark, ...] = ()


@dataclass(frozen=True, slots=True)
class Row:
    """One implementation: an algorithm in a library on a CPU tier, with one entry per column."""

    algorithm: str
    runner: str
    cpu: str
    entries: tuple[Entry, ...]

    @property
    def title(self) -> str:
        """Algorithm and tier: the name of the group of rows that are compared with each other."""
        return self.algorithm if self.cpu == FULL else f"{self.algorithm} ({self.cpu})"


@dataclass(frozen=True, slots=True)
class Table:
    """All cells of one contract in one unit. `ranked_within` is `algorithm` or `column`."""

    contract: str
    unit: Unit
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    ranked_within: str

    def groups(self) -> tuple[tuple[str, tuple[Row, ...]], ...]:
        """Rows of the same algorithm and tier together, in order."""
        found: dict[str, list[Row]] = {}
        for row in self.rows:
            found.setdefault(row.title, []).append(row)
        return tuple((title, tuple(rows)) for title, rows in found.items())

    def units(self) -> tuple[Unit, ...]:
        """The units that any of its figures can be given in."""
        figures = [entry.figure for row in self.rows for entry in row.entries if entry.figure]
        return tuple(unit for unit in TABLE_UNITS if any(read(one, unit) for one in figures)) or (self.unit,)

    @property
    def blind(self) -> bool:
        """True where no figure has an interval that anybody knows: all are another program's."""
        figures = [entry.figure for row in self.rows for entry in row.entries if entry.figure]
        return bool(figures) and not any(one.interval.known for one in figures)

    def only(self, columns: Iterable[Column]) -> Table:
        """Give the same table with some of its columns; rows that are empty there are left out."""
        wanted = set(columns)
        kept = [index for index, column in enumerate(self.columns) if column in wanted]
        rows = (replace(row, entries=tuple(row.entries[index] for index in kept)) for row in self.rows)
        return replace(
            self,
            columns=tuple(self.columns[index] for index in kept),
            rows=tuple(row for row in rows if any(one.figure or one.failure for one in row.entries)),
        )

    def marks(self) -> tuple[Mark, ...]:
        """The marks that occur in it, in the order of `Mark`."""
        used = {mark for row in self.rows for entry in row.entries for mark in entry.marks}
        return tuple(mark for mark in Mark if mark in used)


def tables(run: Run, unit: Unit | None = None) -> tuple[Table, ...]:
    """Lay out every cell of `run`, figures and failures, one table per contract.

    Without `unit`, each table takes the first of cycles/byte, cycles/call, MB/s that any of its cells has, else calls/s
    (a key schedule: ns/call); a unit none of its cells has gives way in the same manner (a signature has no bytes of
    data). A cell that gave a wrong answer is shown as such, whatever else is known of it.
    """
    failures = {cell: failure for cell, failure in failed_cells(run) if not cell.twin}
    wrong = {cell for cell, failure in failures.items() if failure.kind == "incorrect"}
    figures = {one.cell: one for one in run.cells if not one.cell.twin and one.cell not in wrong}
    by_contract: dict[str, set[Cell]] = {}
    for cell in (*figures, *failures):
        by_contract.setdefault(cell.contract, set()).add(cell)
    return tuple(
        _table(contract, cells, figures, failures, run.noise_floor, unit)
        for contract, cells in sorted(by_contract.items(), key=lambda item: natural(item[0]))
    )


def failed_cells(run: Run) -> tuple[tuple[Cell, Failure], ...]:
    """Pair every failure that names a cell with that cell."""
    found = []
    for failure in run.failures:
        try:
            found.append((parse_address(failure.address), failure))
        except ValueError:
            continue
    return tuple(found)


def failures_by_cause(run: Run) -> tuple[tuple[Failure, int], ...]:
    """Give each cause (kind, runner, message) once, with how many cells it cost (0: the whole runner)."""
    found: dict[tuple[str, str, str], tuple[Failure, int]] = {}
    for failure in run.failures:
        key = (failure.runner, failure.kind, failure.message)
        first, count = found.get(key, (failure, 0))
        found[key] = (first, count + bool(failure.address))
    return tuple(found[key] for key in sorted(found))


def marks_of(figure: CellFigure) -> tuple[Mark, ...]:
    """Every reason to read `figure` with care."""
    if (
        not figure.interval.known
    ):  # one value of another program: there is nothing more to doubt, the table says so
        return ()
    marks = {_OF_QUALITY[figure.quality]} if figure.quality in _OF_QUALITY else set()
    if figure.cycles_per_call is None:
        marks.add(Mark.NO_CYCLES)
    marks |= {warning_mark(warning) for warning in figure.warnings}
    return tuple(mark for mark in Mark if mark in marks)


def warning_mark(warning: Warning) -> Mark:
    """The mark of a warning: that of the quality it led to, else the one of warnings."""
    return _OF_DOUBT.get(warning.kind, Mark.WARNING)


def natural(text: str) -> tuple[tuple[int, int, str], ...]:
    """Sort key by which `aes-128` comes before `aes-1024` and `16` before `512`."""
    parts = re.findall(r"[0-9]{1,18}|[^0-9]+", text)
    return tuple((0, int(part), "") if part[0] in "0123456789" else (1, 0, part) for part in parts)


def _table(
    contract: str,
    cells: set[Cell],
    figures: dict[Cell, CellFigure],
    failures: dict[Cell, Failure],
    floor: NoiseFloor | None,
    wanted: Unit | None,
) -> Table:
    places_of = _placed(cells)
    columns = tuple(sorted({column for _, column in places_of}, key=_column_order))
    keys = sorted({key for key, _ in places_of}, key=_row_order)
    groups: dict[tuple[str, str], list[tuple[str, str, str]]] = {}
    for key in keys:
        groups.setdefault(key[:2], []).append(key)
    within = "algorithm" if any(len(rows) > 1 for rows in groups.values()) else "column"
    rivals = list(groups.values()) if within == "algorithm" else [keys]

    places: dict[Cell, Place] = {}
    for column in columns:
        for rows in rivals:
            asked = (places_of.get((key, column)) for key in rows)
            places.update(_places([figures[cell] for cell in asked if cell in figures], floor))

    def entry(cell: Cell | None) -> Entry:
        if cell is None:
            return Entry()
        figure, failure = figures.get(cell), failures.get(cell)
        marks = marks_of(figure) if figure else ()
        if figure and failure:
            marks = (*marks, Mark.FAILED)
        return Entry(figure, failure, places.get(cell, Place.NONE), marks)

    return Table(
        contract=contract,
        unit=_unit([figures[cell] for cell in cells if cell in figures], wanted),
        columns=columns,
        rows=tuple(
            Row(*_named(key), tuple(entry(places_of.get((key, column))) for column in columns))
            for key in keys
        ),
        ranked_within=within,
    )


def _places(rivals: list[CellFigure], floor: NoiseFloor | None) -> dict[Cell, Place]:
    first = fastest(rivals, floor)
    place = Place.FASTEST if len(first) == 1 else Place.TIED
    return {figure.cell: place for figure in first}


def _unit(figures: list[CellFigure], wanted: Unit | None) -> Unit:
    keyed = all(figure.cell.operation == "setup" for figure in figures)
    last = Unit.NS_PER_CALL if keyed else Unit.CALLS_PER_SECOND
    order = (Unit.CYCLES_PER_BYTE, Unit.CYCLES_PER_CALL, Unit.MEGABYTES_PER_SECOND, last)
    for unit in order if wanted is None else (wanted, *order):
        if any(read(figure, unit) for figure in figures):
            return unit
    return wanted or Unit.CYCLES_PER_BYTE


def _placed(cells: Iterable[Cell]) -> dict[tuple[tuple[str, str, str], Column], Cell]:
    """Each cell's row and column. The length of a digest makes a column of its own only where a row has two of them."""
    found: dict[tuple[tuple[str, str, str], Column], list[Cell]] = {}
    for cell in cells:
        key = (cell.algorithm, cell.cpu, cell.runner)
        found.setdefault((key, Column(cell.operation, data_bytes(cell))), []).append(cell)
    if all(len(same) == 1 for same in found.values()):
        return {place: same[0] for place, same in found.items()}
    return {
        (key, Column(cell.operation, cell.size_bytes)): cell
        for (key, _), same in found.items()
        for cell in same
    }


def _named(key: tuple[str, str, str]) -> tuple[str, str, str]:
    algorithm, cpu, runner = key
    return algorithm, runner, cpu


_OPERATIONS = ("setup", "encrypt", "decrypt", "seal", "open", "digest", "sign", "verify")


def _column_order(column: Column) -> tuple[int, object, int]:
    known = _OPERATIONS.index(column.operation) if column.operation in _OPERATIONS else len(_OPERATIONS)
    return known, natural(column.operation), column.size_bytes


def _row_order(key: tuple[str, str, str]) -> tuple[object, bool, object, object]:
    algorithm, cpu, runner = key
    return natural(algorithm), cpu != FULL, natural(cpu), natural(runner)
