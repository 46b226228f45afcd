"""The one table behind `show`, `compare`, the pages and the charts: rows x columns of one contract in one unit.

A run is laid out with rows algorithm x library and columns operation x size; several runs, or two selections of one
run, with a row per cell and a column per side, the first one being what the others are compared with. What is never
done here: two contracts in one table, a ranking across them, a figure without its doubts, or a cell that silently
disappears. The second process of an A/A pair is no row: it stands in the noise floor. Nothing is formatted for a
medium; `text` and `pages` draw the same grids.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeVar

from perbyte.catalogue import load
from perbyte.catalogue.checking import OPERATIONS
from perbyte.model import Cell, CellFigure, Failure, NoiseFloor, Run
from perbyte.model.cell import FULL, LOOP, STATES
from perbyte.model.text import natural, plain
from perbyte.report.marks import Mark, marks_of
from perbyte.report.wording import size_label
from perbyte.stats.across import Across, floor_across
from perbyte.stats.compare import Comparison, compare
from perbyte.stats.quantity import TABLE_UNITS, Unit, data_bytes, read
from perbyte.stats.standing import Lead, stand

_OF_DATA = ("encrypt", "decrypt", "seal", "open", "digest", "mac")  # no data is a size too
_OPERATIONS = ("setup", *dict.fromkeys(operation for kind in OPERATIONS.values() for operation in kind))
T = TypeVar("T")
Key = tuple[str, str, str, str]  # algorithm, tier, state, runner
_PUBLIC = ("signature", "kem", "key-agreement")
_ALONE = ("password-hash", "handshake")


@dataclass(frozen=True, slots=True)
class Column:
    """One operation at one size, or one side of a comparison."""

    operation: str = ""
    size_bytes: int = 0
    side: str = ""

    @property
    def size(self) -> str:
        """The size as the heading has it; empty for operations without data."""
        return size_label(self.size_bytes) if self.size_bytes or self.operation in _OF_DATA else ""


@dataclass(frozen=True, slots=True)
class Entry:
    """What stands in one place of a grid: a figure, a failure, or neither (not asked for).

    `comparison` is that with the figure of the first column, in grids that have a baseline.
    """

    figure: CellFigure | None = None
    failure: Failure | None = None
    lead: Lead = Lead.NONE
    marks: tuple[Mark, ...] = ()
    comparison: Comparison | None = None


@dataclass(frozen=True, slots=True)
class GridRow:
    """A row under its group's heading. `cell` is one that it stands for."""

    heading: str
    label: str
    cell: Cell
    entries: tuple[Entry, ...]


@dataclass(frozen=True)
class Grid:
    """All cells of one contract in one unit.

    `baseline`: the first column is what the others are compared with. Else the fastest are marked, within the
    rows of a heading (`ranked_within` is `algorithm`) or, of algorithms that are alike, within a column (`column`).
    """

    contract: str
    unit: Unit
    columns: tuple[Column, ...]
    rows: tuple[GridRow, ...]
    ranked_within: str = ""
    baseline: bool = False

    def groups(self) -> tuple[tuple[str, tuple[GridRow, ...]], ...]:
        """Rows of the same heading together, in order."""
        headings: dict[str, list[GridRow]] = {}
        for row in self.rows:
            headings.setdefault(row.heading, []).append(row)
        return tuple((heading, tuple(rows)) for heading, rows in headings.items())

    @cached_property
    def entries(self) -> tuple[Entry, ...]:
        """All entries, row by row."""
        return tuple(entry for row in self.rows for entry in row.entries)

    @cached_property
    def figures(self) -> tuple[CellFigure, ...]:
        """All figures, row by row."""
        return tuple(entry.figure for entry in self.entries if entry.figure)

    def units(self) -> tuple[Unit, ...]:
        """The units that any of its figures can be given in."""
        units = tuple(unit for unit in TABLE_UNITS if any(read(figure, unit) for figure in self.figures))
        return units or (self.unit,)

    @property
    def blind(self) -> bool:
        """True where no figure has an interval that anybody knows: all are another program's."""
        return bool(self.figures) and not any(figure.interval.known for figure in self.figures)

    def only(self, columns: Iterable[Column]) -> Grid:
        """Give the same grid with some of its columns, the baseline among them; empty rows are left out."""
        wanted = {*columns, *self.columns[: int(self.baseline)]}
        kept = sorted(index for column in wanted for index in self._places.get(column, ()))
        rows = (replace(row, entries=tuple(row.entries[index] for index in kept)) for row in self.rows)
        return replace(
            self,
            columns=tuple(self.columns[index] for index in kept),
            rows=tuple(row for row in rows if any(entry.figure or entry.failure for entry in row.entries)),
        )

    @cached_property
    def _places(self) -> dict[Column, list[int]]:
        """Where each column stands: a grid may have thousands."""
        places: dict[Column, list[int]] = {}
        for index, column in enumerate(self.columns):
            places.setdefault(column, []).append(index)
        return places

    def marks(self) -> tuple[Mark, ...]:
        """The marks that occur in it, in the order of `Mark`."""
        used = {mark for entry in self.entries for mark in entry.marks}
        return tuple(mark for mark in Mark if mark in used)

    @cached_property
    def everywhere(self) -> tuple[Mark, ...]:
        """The marks that every one of its figures carries, of several: said once, they tell as much."""
        carried = [{*entry.marks} for entry in self.entries if entry.figure]
        common = set.intersection(*carried) if len(carried) > 1 else set()
        return tuple(mark for mark in Mark if mark in common)

    def told_at(self, entry: Entry) -> str:
        """The marks that stand at a figure: those that not every figure carries."""
        return "".join(mark for mark in entry.marks if mark not in self.everywhere)


def run_grids(run: Run, unit: Unit | None = None) -> tuple[Grid, ...]:
    """Lay out every cell of `run`, figures and failures, one grid per contract.

    Without `unit`, each grid takes the first of cycles/byte, cycles/call, MB/s that any of its cells has, else calls/s
    (a key schedule: ns/call); a unit none of its cells has gives way in the same manner (a signature has no bytes of
    data). A cell that gave a wrong answer is shown as such, whatever else is known of it.
    """
    failures = {cell: failure for cell, failure in run.failed_cells() if not cell.twin}
    wrong = {cell for cell, failure in failures.items() if failure.kind == "incorrect"}
    shown = (figure for figure in run.cells if not figure.cell.twin and figure.cell not in wrong)
    figures = {figure.cell: figure for figure in shown}
    by_contract: dict[str, set[Cell]] = {}
    for cell in (*figures, *failures):
        by_contract.setdefault(cell.contract, set()).add(cell)
    return tuple(
        _run_grid(contract, cells, figures, failures, run, unit)
        for contract, cells in sorted(by_contract.items(), key=lambda item: natural(item[0]))
    )


def compare_runs(
    runs: Sequence[Run], names: Sequence[str], unit: Unit | None = None, across: Across | None = None
) -> tuple[Grid, ...]:
    """Give a grid per contract with a column per run and a row for every cell that any of `runs` has a figure of.

    A cell is looked for under its own address first. Where a run has none, the same algorithm, operation, size,
    contract and tier of the same library counts as well (listings of old versions were timed below EVP, which is
    another runner). For public-key operations the length of the digest does not count. `across` is what earlier runs
    say of the differences between runs (None: nothing).
    """
    indices = [_Index(run) for run in runs]
    floors = [floor_across((runs[0].noise_floor, run.noise_floor), across) for run in runs]
    precision = max((run.conditions.policy.precision for run in runs), default=0.0)
    placed: set[tuple[int, Cell]] = set()
    rows: list[list[Entry]] = []
    for position, index in enumerate(indices):
        for figure in index.figures.values():
            if (position, figure.cell) in placed:
                continue
            partners = [other.find(figure, index) for other in indices]
            placed |= {(place, partner.cell) for place, partner in enumerate(partners) if partner}
            lacking = [
                None if partner else other.failure(figure)
                for partner, other in zip(partners, indices, strict=True)
            ]
            rows.append(_compared(partners, lacking, floors, precision, same_run=False))
    return _comparison_grids(rows, names, unit)


def compare_pairs(
    pairs: Iterable[tuple[CellFigure, CellFigure]],
    names: Sequence[str],
    noise: NoiseFloor | None,
    unit: Unit | None = None,
    precision: float = 0.0,
) -> tuple[Grid, ...]:
    """Give a grid per contract of pairs of figures of one run, which were measured in the same epochs.

    `precision` is what that run asked for.
    """
    rows = [_compared(pair, (None, None), (noise, noise), precision, same_run=True) for pair in pairs]
    return _comparison_grids(rows, names, unit)


def in_common(grids: Iterable[Grid]) -> tuple[tuple[Grid, ...], list[int]]:
    """The rows that both of two runs have, and how many figures of each are left out."""
    alone, kept = [0, 0], []
    for grid in grids:
        rows = tuple(row for row in grid.rows if all(entry.figure for entry in row.entries))
        for index in (0, 1):
            alone[index] += sum(bool(row.entries[index].figure) for row in grid.rows) - len(rows)
        if rows:
            kept.append(replace(grid, rows=rows))
    return tuple(kept), alone


def title_of(cell: Cell, tiered: Collection[str] = ()) -> str:
    """Algorithm, tier and state, `aes-128-ecb (soft)`: what is compared with each other.

    The tier `full` is named for those algorithms that stand in other tiers beside it, which are `tiered`.
    """
    settings = [cell.cpu] if cell.cpu != FULL or cell.algorithm in tiered else []
    settings += [cell.state] if cell.state != LOOP else []
    return f"{cell.algorithm} ({', '.join(settings)})" if settings else cell.algorithm


def in_tiers(cells: Iterable[Cell]) -> frozenset[str]:
    """The algorithms that stand in several tiers, each of whose rows names its own."""
    tiers: dict[str, set[str]] = {}
    for cell in cells:
        tiers.setdefault(cell.algorithm, set()).add(cell.cpu)
    return frozenset(name for name, cpus in tiers.items() if len(cpus) > 1)


def _run_grid(
    contract: str,
    cells: set[Cell],
    figures: dict[Cell, CellFigure],
    failures: dict[Cell, Failure],
    run: Run,
    wanted: Unit | None,
) -> Grid:
    by_place = _placed(cells)
    columns = tuple(sorted({column for _, column in by_place}, key=_column_order))
    cell_of = {key: cell for (key, _), cell in by_place.items()}
    ordered = dict(sorted(cell_of.items(), key=lambda item: _row_order(item[1])))
    tiered = in_tiers(cells)
    titles = {key: title_of(cell, tiered) for key, cell in ordered.items()}
    within = "algorithm" if len({*titles.values()}) < len(titles) else "column"
    rivals: dict[object, list[Key]] = {}
    for key in ordered:
        alike = titles[key] if within == "algorithm" else (*_kin(key[0]), key[2])
        rivals.setdefault(alike, []).append(key)

    leads: dict[Cell, Lead] = {}
    for column in columns:
        for rows in rivals.values():
            asked = (by_place.get((key, column)) for key in rows)
            known = [figures[cell] for cell in asked if cell in figures]
            standings = stand(known, run.noise_floor, precision=run.conditions.policy.precision)
            leads.update({figure.cell: lead for figure, lead in standings})

    def entry(cell: Cell) -> Entry:
        figure, failure = figures.get(cell), failures.get(cell)
        marks = marks_of(figure) if figure else ()
        if figure and failure:
            marks = (*marks, Mark.FAILED)
        return Entry(figure, failure, leads.get(cell, Lead.NONE), marks)

    def row(key: Key, cell: Cell) -> GridRow:
        cells_of_row = (by_place.get((key, column)) for column in columns)
        entries = tuple(entry(cell) if cell else Entry() for cell in cells_of_row)
        return GridRow(titles[key], cell.runner, cell, entries)

    return Grid(
        contract=contract,
        unit=_unit([figures[cell] for cell in cells if cell in figures], wanted),
        columns=columns,
        rows=tuple(row(key, cell) for key, cell in ordered.items()),
        ranked_within=within,
    )


def without_software(items: Iterable[T], tier_of: Callable[[T], tuple[Hashable, str]]) -> list[T]:
    """Leave out the software tiers of what is there on the full one; `tier_of`: what an item is of, and its tier."""
    tiers = [(item, *tier_of(item)) for item in items]
    quick = {of for _, of, cpu in tiers if cpu == FULL}
    return [item for item, of, cpu in tiers if cpu == FULL or of not in quick]


def kin_of(cell: Cell) -> tuple[object, ...]:
    """What the algorithm of `cell` may be ranked with: equal values are of one kind, block ciphers of one mode too."""
    known = load().algorithms.get(cell.algorithm)
    return (*_kin(cell.algorithm), known.mode if known and known.kind == "block-cipher" else "")


def _kin(algorithm: str) -> tuple[object, ...]:
    """Algorithms of one kind, and with keys (without a key: outputs) of one length.

    With public keys, equal lengths mean equal strength only within a family (RSA-3072 and P-256 are about as strong).
    What a password hash costs is a parameter of it, and a handshake is by its own key exchange and certificate: they
    have no rival.
    """
    known = load().algorithms.get(algorithm)
    if known and known.kind in _PUBLIC:
        return (known.family, known.key_bytes, known.public_bytes)
    if known and known.kind not in _ALONE:
        return (known.kind, known.key_bytes or known.tag_bytes)
    return (algorithm,)


def _unit(figures: Sequence[CellFigure], wanted: Unit | None) -> Unit:
    keyed = all(figure.cell.operation == "setup" for figure in figures)
    last = Unit.NS_PER_CALL if keyed else Unit.CALLS_PER_SECOND
    order = (Unit.CYCLES_PER_BYTE, Unit.CYCLES_PER_CALL, Unit.MEGABYTES_PER_SECOND, last)
    for unit in order if wanted is None else (wanted, *order):
        if any(read(figure, unit) for figure in figures):
            return unit
    return wanted or Unit.CYCLES_PER_BYTE


def _placed(cells: Iterable[Cell]) -> dict[tuple[Key, Column], Cell]:
    """Each cell's row and column. The length of a digest makes a column of its own only where a row has two of them."""
    cells_at: dict[tuple[Key, Column], list[Cell]] = {}
    for cell in cells:
        key = (cell.algorithm, cell.cpu, cell.state, cell.runner)
        cells_at.setdefault((key, Column(cell.operation, data_bytes(cell))), []).append(cell)
    if all(len(same) == 1 for same in cells_at.values()):
        return {place: same[0] for place, same in cells_at.items()}
    return {
        (key, Column(cell.operation, cell.size_bytes)): cell
        for (key, _), same in cells_at.items()
        for cell in same
    }


def _column_order(column: Column) -> tuple[int, object, int]:
    return operation_order(column.operation), natural(column.operation), column.size_bytes


def operation_order(operation: str) -> int:
    """Where an operation stands among the columns: as the catalogue has them, others behind."""
    return _OPERATIONS.index(operation) if operation in _OPERATIONS else len(_OPERATIONS)


def _row_order(cell: Cell) -> tuple[object, ...]:
    tier, state = (cell.cpu != FULL, natural(cell.cpu)), (cell.state not in STATES, natural(cell.state))
    return natural(cell.algorithm), tier, (cell.state != LOOP, state), natural(cell.runner)


class _Index:
    """The figures and failures of one run, found by address or by what they mean."""

    def __init__(self, run: Run) -> None:
        self.figures = {figure.cell: figure for figure in run.cells if not figure.cell.twin}
        libraries = {identity.runner: identity.library for identity in run.conditions.identities}
        self.failures = {
            (_meaning(cell), libraries.get(cell.runner, cell.runner)): failure
            for cell, failure in run.failed_cells()
        }
        self.alike: dict[tuple[object, ...], list[CellFigure]] = {}
        for figure in self.figures.values():
            self.alike.setdefault((*_meaning(figure.cell), figure.library), []).append(figure)

    def find(self, wanted: CellFigure, origin: _Index) -> CellFigure | None:
        """The counterpart of `wanted`; one that `origin` has under its own address is that one's counterpart."""
        if self is origin or wanted.cell in self.figures:
            return self.figures.get(wanted.cell)
        others = self.alike.get((*_meaning(wanted.cell), wanted.library), [])
        return next((other for other in others if other.cell not in origin.figures), None)

    def failure(self, wanted: CellFigure) -> Failure | None:
        """Why there is no figure; None where that was never asked for."""
        return self.failures.get((_meaning(wanted.cell), wanted.library))


def _meaning(cell: Cell) -> tuple[object, ...]:
    return (cell.algorithm, cell.operation, data_bytes(cell), cell.contract, cell.cpu, cell.state)


def _compared(
    partners: Sequence[CellFigure | None],
    lacking: Sequence[Failure | None],
    floors: Sequence[NoiseFloor | None],
    precision: float,
    *,
    same_run: bool,
) -> list[Entry]:
    first = partners[0]
    return [
        Entry(
            figure,
            failure,
            marks=marks_of(figure) if figure else (),
            comparison=compare(first, figure, floor, same_run=same_run, precision=precision)
            if first and figure and index
            else None,
        )
        for index, (figure, failure, floor) in enumerate(zip(partners, lacking, floors, strict=True))
    ]


def _comparison_grids(
    rows: Iterable[Sequence[Entry]], names: Sequence[str], unit: Unit | None
) -> tuple[Grid, ...]:
    by_contract: dict[str, list[tuple[Cell, Sequence[Entry]]]] = {}
    for entries in rows:
        cell = next(entry.figure.cell for entry in entries if entry.figure)
        by_contract.setdefault(cell.contract, []).append((cell, entries))
    return tuple(
        _comparison_grid(contract, group, names, unit)
        for contract, group in sorted(by_contract.items(), key=lambda item: natural(item[0]))
    )


def _comparison_grid(
    contract: str, pairs: Sequence[tuple[Cell, Sequence[Entry]]], names: Sequence[str], unit: Unit | None
) -> Grid:
    figures = [entry.figure for _, entries in pairs for entry in entries if entry.figure]
    whole = all(figure.cycles_per_call is not None for figure in figures)
    data = any(data_bytes(figure.cell) for figure in figures)
    # cycles only where every figure has some, so that a column can be read from top to bottom
    if unit is None and not whole:
        unit = Unit.MEGABYTES_PER_SECOND if data else Unit.CALLS_PER_SECOND
    pairs = sorted(
        pairs,
        key=lambda row: (_row_order(row[0]), _column_order(Column(row[0].operation, row[0].size_bytes))),
    )
    tiered = in_tiers(cell for cell, _ in pairs)
    # the runners that any row of a group names stand in its heading
    runners: dict[tuple[str, str], dict[str, None]] = {}
    for cell, entries in pairs:
        members = (entry.figure.cell.runner for entry in entries if entry.figure)
        runners.setdefault((_joined(entries, "algorithm"), cell.runner), {}).update(dict.fromkeys(members))
    laid_out = []
    for cell, entries in pairs:
        heading = algorithm = _joined(entries, "algorithm")
        if cell.algorithm in tiered or _values(entries, "cpu") != [FULL]:
            heading += f" ({_joined(entries, 'cpu')})"
        if _values(entries, "state") != [LOOP]:
            heading += f" ({_joined(entries, 'state')})"
        heading += f", {' | '.join(runners[algorithm, cell.runner])}"
        label = _joined(entries, "operation")
        if size := data_bytes(cell):
            label += f" {size_label(size)}"
        laid_out.append(GridRow(plain(heading, 90), plain(label, 40), cell, tuple(entries)))
    return Grid(
        contract=contract,
        unit=_unit(figures, unit),
        columns=tuple(Column(side=plain(name, 24)) for name in names),
        rows=tuple(laid_out),
        baseline=True,
    )


def _values(entries: Sequence[Entry], field: str) -> list[str]:
    return list(dict.fromkeys(str(getattr(entry.figure.cell, field)) for entry in entries if entry.figure))


def _joined(entries: Sequence[Entry], field: str) -> str:
    return " | ".join(_values(entries, field))
