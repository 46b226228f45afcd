"""What a run holds about the cells of a study, as a table that claims can ask.

Every cell that a study spells out has a row, measured or not: a claim that needs a cell nobody has must say so
instead of passing over it. Rows carry dimensions (those of the cell, the group's name, the group's tags)
and nothing is computed here but costs with their intervals.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from perbyte.catalogue import Selector, parse_selector
from perbyte.errors import UsageError
from perbyte.model import Cell, CellFigure, Estimate, Failure, Run, parse_address
from perbyte.stats.compare import Cost, cost_of
from perbyte.studies.model import GROUP, CellGroup, Selection, Study, Value

IN_PRINT = "published"
_NOT_PROVIDED = frozenset({"unsupported", "absent"})


class Absence(enum.Enum):
    """Why a row has no figure: no library here provides it, it was not measured, or the variant leaves it out."""

    UNPROVIDED = "not provided"
    UNMEASURED = "not measured"
    LEFT_OUT = "left out"
    NOT_PRINTED = "not printed"


@dataclass(frozen=True, slots=True)
class Row:
    """A cell of the study with its dimensions; `figure` is None when it has none, and `reason` says why."""

    dims: Mapping[str, Value]
    label: str
    figure: CellFigure | None
    absence: Absence | None = None
    reason: str = ""
    block_bytes: int = 0
    run_id: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """All rows of a study. `in_cycles` tells the unit of costs; `floor` is the noise floor, None without one.

    `printed` is the id of the published machine whose printed figures these are; empty for measured runs.
    """

    rows: tuple[Row, ...]
    in_cycles: bool
    floor: float | None
    runners: frozenset[str]
    printed: str = ""

    @property
    def unit(self) -> str:
        """`cycles` or `ns`."""
        return "cycles" if self.in_cycles else "ns"

    def select(self, where: Selection) -> tuple[Row, ...]:
        """The rows whose dimensions have the values asked for."""
        wanted = {name: many(values) for name, values in where.items()}
        return tuple(
            row for row in self.rows if all(row.dims.get(name) in values for name, values in wanted.items())
        )

    def cost(self, row: Row, per: str = "byte") -> Estimate:
        """What the row's cell costs, see `measured`, with the interval it lies in."""
        return self.measured(row, per).estimate

    def measured(self, row: Row, per: str = "byte") -> Cost:
        """What the row's cell costs, in cycles (or ns) per `byte`, `block` or `call`, with its epochs.

        Cells without data are counted per call. Raises ValueError for a row without a figure.
        """
        figure = row.figure
        if figure is None:
            raise ValueError("a row without a figure has no cost")
        count = 1.0
        if per != "call" and figure.cell.size_bytes:
            count = figure.cell.size_bytes / ((row.block_bytes or 1) if per == "block" else 1)
        return cost_of(figure, self.unit, per=count, source=row.run_id)


def many(values: Value | tuple[Value, ...]) -> tuple[Value, ...]:
    """One value or several as several."""
    return values if isinstance(values, tuple) else (values,)


@lru_cache(maxsize=4096)
def cells_of(selector: str) -> tuple[Selector, ...]:
    """Take a full selector of a study apart, one per cell; globs stay. Raises UsageError when it names no cells."""
    parsed = parse_selector(selector)
    parsed.algorithms()
    return parsed.expand()


def gather(study: Study, runs: Sequence[Run]) -> Table:
    """Lay out what `runs` hold about the cells of `study`; where two hold the same cell, the first one counts.

    The noise floor is the largest of the runs'. Raises UsageError without a run.
    """
    if not runs:
        raise UsageError("there is no run to judge", hint=f"perbyte study run {study.name}")
    available = _Available.of(study, runs)
    rows = tuple(row for group in study.groups for row in _rows(group, available))
    floors = [run.noise_floor.relative for run in runs if run.noise_floor]
    return Table(
        rows=rows,
        in_cycles=all(row.figure.cycles_per_call is not None for row in rows if row.figure),
        floor=max(floors) if floors else None,
        runners=frozenset(cell.runner for cell in available.figures),
        printed=_printed_machine(study, runs),
    )


def _printed_machine(study: Study, runs: Sequence[Run]) -> str:
    names = {run.conditions.machine.cpu_model for run in runs if run.conditions.origin == IN_PRINT}
    return next((machine.id for machine in study.machines if machine.name in names), "")


def figures_of(runs: Iterable[Run]) -> dict[Cell, tuple[CellFigure, Run]]:
    """All figures of several runs by their cell, each with its run; the first run that has a cell counts."""
    found: dict[Cell, tuple[CellFigure, Run]] = {}
    for run in runs:
        for figure in run.cells:
            found.setdefault(figure.cell, (figure, run))
    return found


@dataclass(frozen=True, slots=True)
class _Available:
    """The runs' cells and failures, and what absence means in them."""

    figures: Mapping[Cell, tuple[CellFigure, Run]]
    failures: tuple[Failure, ...]
    of_study: bool
    complete: bool
    in_print: bool
    left_out: frozenset[Selector]

    @classmethod
    def of(cls, study: Study, runs: Sequence[Run]) -> _Available:
        figures = figures_of(runs)
        return cls(
            figures=figures,
            failures=tuple(failure for run in runs for failure in run.failures),
            of_study=any(run.conditions.study == study.name for run in runs),
            complete=all(run.complete for run in runs),
            in_print=all(run.conditions.origin == IN_PRINT for run in runs),
            left_out=_left_out(study, figures),
        )

    def absence(self, wanted: Selector, asked: str) -> tuple[Absence, str]:
        """Why there is no figure of `wanted`, which the study's selector `asked` means among others."""
        for failure in sorted(self.failures, key=lambda one: not one.address):  # what tells of one cell first
            if self._one(failure, wanted) or self._whole(failure, wanted, asked):
                kind = Absence.UNPROVIDED if failure.kind in _NOT_PROVIDED else Absence.UNMEASURED
                return kind, f"{failure.kind}: {failure.message}" if failure.message else failure.kind
        if self.in_print:
            return Absence.NOT_PRINTED, "the study prints no figure for it"
        if wanted in self.left_out:
            return Absence.LEFT_OUT, "the quick variant leaves it out"
        if not self.complete:
            return Absence.UNMEASURED, "the run was not completed"
        if not self.of_study:
            return Absence.UNMEASURED, "the run did not ask for it"
        return Absence.UNPROVIDED, "no library in this run provides it"

    def _one(self, failure: Failure, wanted: Selector) -> bool:
        if failure.address == wanted.text or wanted.literal:
            return failure.address == wanted.text
        try:
            return wanted.matches(parse_address(failure.address))
        except ValueError:
            return False

    def _whole(self, failure: Failure, wanted: Selector, asked: str) -> bool:
        """True when nobody has what was `asked`, or a runner failed as a whole, unless it measured on that tier."""
        if failure.address or failure.runner != wanted.runner:
            return False
        if failure.kind == "unsupported" and failure.message.endswith("'"):  # it quotes the selector
            return failure.message.endswith(f"'{asked}'")
        return not any((cell.runner, cell.cpu) == (wanted.runner, wanted.cell.cpu) for cell in self.figures)


def _left_out(study: Study, figures: Iterable[Cell]) -> frozenset[Selector]:
    """The cells that the quick variant leaves out, if these figures look like those of a quick run."""
    full, quick = (
        {one for selector in study.selectors(quick=variant) for one in cells_of(selector)}
        for variant in (False, True)
    )
    only_full = full - quick
    if any(one.matches(cell) for one in only_full for cell in figures):
        return frozenset()
    return frozenset(only_full)


def _rows(group: CellGroup, available: _Available) -> Iterable[Row]:
    for asked, wanted in ((selector, one) for selector in group.selectors for one in cells_of(selector)):
        if wanted.literal:
            found = [available.figures[wanted.cell]] if wanted.cell in available.figures else []
        else:
            found = [both for cell, both in available.figures.items() if wanted.matches(cell)]
        for figure, run in found:
            yield Row(
                dimensions(group, figure.cell),
                group.label,
                figure,
                block_bytes=group.block_bytes,
                run_id=run.conditions.run_id,
            )
        if not found:
            absence, reason = available.absence(wanted, asked)
            yield Row(dimensions(group, wanted.cell), group.label, None, absence, reason, group.block_bytes)


def dimensions(group: CellGroup, cell: Cell) -> dict[str, Value]:
    """The dimensions of a cell within a group: the cell's own, the group's name and its tags."""
    return {
        "runner": cell.runner,
        "algorithm": cell.algorithm,
        "operation": cell.operation,
        "size_bytes": cell.size_bytes,
        "contract": cell.contract,
        "cpu": cell.cpu,
        GROUP: group.name,
        **group.tags,
    }
