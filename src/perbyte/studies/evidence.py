"""What a run, or the text itself, holds about the cells of a study, as a table that claims can ask.

Every cell that a study spells out has a row, measured or not: a claim that needs a cell nobody has must say so
instead of passing over it. Rows carry dimensions (those of the cell, the group's name, the group's tags)
and nothing is computed here but costs with their intervals.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache

from perbyte.catalogue import Selector, parse_selector
from perbyte.errors import UsageError
from perbyte.model import (
    Behaviour,
    Cell,
    CellFigure,
    Conditions,
    Estimate,
    Failure,
    Interval,
    Machine,
    Policy,
    Quality,
    Run,
    parse_address,
)
from perbyte.model.behaviour import LINE_BYTES, Counted
from perbyte.stats.compare import Cost, cost_of
from perbyte.stats.quantity import Unit
from perbyte.studies.model import GROUP, CellGroup, PublishedFigure, Selection, Study, Value, published_ns

IN_PRINT = "published"
# the source of costs that are no time: exact, so that no noise floor belongs to their ratios
COUNTED = "counted"
TIME, INSTRUCTIONS = "time", "instructions"
NOT_COUNTED = "it was not counted"
_NOT_PROVIDED = frozenset({"unsupported", "absent"})


class Absence(enum.Enum):
    """Why a row has no figure: nobody here has it, it was not measured, the variant or the text leaves it out.

    A text may also print that there is no figure, because its library did not have the algorithm.
    """

    UNPROVIDED = "not provided"
    UNMEASURED = "not measured"
    LEFT_OUT = "left out"
    NOT_PRINTED = "not printed"
    PRINTED_AS_LACKING = "printed as lacking"

    @property
    def in_print(self) -> bool:
        """True where it is the text that has no figure."""
        return self in (Absence.NOT_PRINTED, Absence.PRINTED_AS_LACKING)


@dataclass(frozen=True, slots=True)
class EvidenceRow:
    """A cell of the study with its dimensions; `figure` is None when it has none, and `reason` says why."""

    dims: Mapping[str, Value]
    label: str
    figure: CellFigure | None
    absence: Absence | None = None
    reason: str = ""
    block_bytes: int = 0
    run_id: str = ""
    behaviour: Behaviour | None = None

    def counted(self, of: str) -> tuple[float, float] | None:
        """The least and the most of `of` that a call took, both ends of what two processes say; None if not known."""
        if self.behaviour is None:
            return None
        if of == "stack":
            stack = float(self.behaviour.stack)
            return (stack, stack) if stack else None
        if (call := self.behaviour.call) is None:
            return None
        if of == INSTRUCTIONS:
            return self.behaviour.ends
        value = float(_BYTES[of](call))
        return value, value


@dataclass(frozen=True, slots=True)
class EvidenceTable:
    """All rows of a study. `in_cycles` tells the unit of costs; `floor` is the noise floor, None without one.

    `printed` is the id of the published machine whose printed figures these are; empty for measured runs.
    """

    rows: tuple[EvidenceRow, ...]
    in_cycles: bool
    floor: float | None
    runners: frozenset[str]
    printed: str = ""

    @property
    def unit(self) -> str:
        """`cycles` or `ns`."""
        return "cycles" if self.in_cycles else "ns"

    def select(self, where: Selection) -> tuple[EvidenceRow, ...]:
        """The rows whose dimensions have the values asked for."""
        wanted = {name: many(values) for name, values in where.items()}
        return tuple(
            row for row in self.rows if all(row.dims.get(name) in values for name, values in wanted.items())
        )

    def cost(self, row: EvidenceRow, per: str = "byte") -> Estimate:
        """What the row's cell costs, see `measured`, with the interval it lies in."""
        return self.measured(row, per).estimate

    def unit_of(self, of: str, per: str) -> str:
        """What a cost is counted in: `cycles per byte`, `instructions per byte`, `bytes of stack`."""
        if of == TIME:
            return f"{self.unit} per {per}"
        if of == INSTRUCTIONS:
            return f"{INSTRUCTIONS} per {per}"
        return "allocations" if of == "allocations" else f"bytes of {of.replace('-', ' ')}"

    def measured(self, row: EvidenceRow, per: str = "byte", of: str = TIME) -> Cost:
        """What the row's cell costs, in cycles (or ns) per `byte`, `block` or `call`, with its epochs.

        Of another quantity than time: what was counted; bytes are those of a call. Cells without data are counted per
        call. Raises ValueError for a row without a figure, or without a count.
        """
        figure = row.figure
        if figure is None:
            raise ValueError("a row without a figure has no cost")
        size = 0 if per == "call" or of not in (TIME, INSTRUCTIONS) else figure.cell.size_bytes
        parts = size / ((row.block_bytes or 1) if per == "block" else 1) or 1.0
        if of == TIME:
            return cost_of(figure, self.unit, per=parts, source=row.run_id)
        ends = row.counted(of)
        if ends is None:
            raise ValueError("a row that was not counted has no count")
        low, high = ends
        return Cost(Estimate((low + high) / 2, low, high).scaled(per=parts), source=COUNTED)


_BYTES: Mapping[str, Callable[[Counted], float]] = {
    "heap": lambda call: call.heap_bytes,
    "heap-peak": lambda call: call.heap_peak,
    "allocations": lambda call: call.heap_calls,
    "code": lambda call: LINE_BYTES * call.code_lines,
}


def many(values: Value | tuple[Value, ...]) -> tuple[Value, ...]:
    """One value or several as several."""
    return values if isinstance(values, tuple) else (values,)


@lru_cache(maxsize=4096)
def cells_of(selector: str) -> tuple[Selector, ...]:
    """Take a full selector of a study apart, one per cell; globs stay. Raises UsageError when it names no cells."""
    parsed = parse_selector(selector)
    parsed.algorithms()
    return parsed.expand()


def gather(study: Study, runs: Sequence[Run]) -> EvidenceTable:
    """Lay out what `runs` hold about the cells of `study`; where two hold the same cell, the first one counts.

    The noise floor is the largest of the runs'. Raises UsageError without a run.
    """
    if not runs:
        raise UsageError("there is no run to judge", hint=f"perbyte study run {study.name}")
    available = _Available.of(study, runs)
    rows = tuple(row for group in study.groups for row in _rows(group, available))
    floors = [run.noise_floor.relative for run in runs if run.noise_floor]
    return EvidenceTable(
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
    figures: dict[Cell, tuple[CellFigure, Run]] = {}
    for run in runs:
        for figure in run.cells:
            figures.setdefault(figure.cell, (figure, run))
    return figures


@dataclass(frozen=True, slots=True)
class _Available:
    """The runs' cells and failures, and what absence means in them."""

    figures: Mapping[Cell, tuple[CellFigure, Run]]
    failures: tuple[Failure, ...]
    of_study: bool
    complete: bool
    in_print: bool
    left_out: frozenset[Selector]
    lacking: tuple[Selector, ...]

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
            lacking=_printed_as_lacking(study, runs),
        )

    def absence(self, wanted: Selector, asked: str) -> tuple[Absence, str]:
        """Why there is no figure of `wanted`, which the study's selector `asked` means among others."""
        # what tells of one cell first
        for failure in sorted(self.failures, key=lambda failure: not failure.address):
            if self._one(failure, wanted) or self._whole(failure, wanted, asked):
                kind = Absence.UNPROVIDED if failure.kind in _NOT_PROVIDED else Absence.UNMEASURED
                return kind, f"{failure.kind}: {failure.message}" if failure.message else failure.kind
        if any(selector.matches(wanted.cell) for selector in self.lacking):
            return Absence.PRINTED_AS_LACKING, "the study prints that its library had none"
        if self.in_print:
            return Absence.NOT_PRINTED, "the study prints no figure for it"
        if wanted in self.left_out:
            return Absence.LEFT_OUT, "the quick variant leaves it out"
        if not self.complete:
            return Absence.UNMEASURED, "the run was not completed"
        if not self.of_study:
            return Absence.UNMEASURED, "the run did not ask for it"
        return Absence.UNPROVIDED, "no library in this run provides it"

    def struck(self, wanted: Selector) -> dict[Cell, str]:
        """The cells that a glob means and that were to be measured but have no figure, each with the reason."""
        reasons: dict[Cell, str] = {}
        for failure in self.failures:
            if failure.kind in _NOT_PROVIDED or not failure.address or wanted.literal:
                continue
            with suppress(ValueError):
                cell = parse_address(failure.address)
                if cell not in self.figures and wanted.matches(cell):
                    reasons.setdefault(cell, f"{failure.kind}: {failure.message}".removesuffix(": "))
        return reasons

    def _one(self, failure: Failure, wanted: Selector) -> bool:
        if failure.address == wanted.text or wanted.literal:
            return failure.address == wanted.text
        try:
            return wanted.matches(parse_address(failure.address))
        except ValueError:
            return False

    def _whole(self, failure: Failure, wanted: Selector, asked: str) -> bool:
        if failure.address or failure.runner != wanted.runner:
            return False
        if failure.kind == "unsupported" and failure.message.endswith("'"):  # it quotes the selector
            return failure.message.endswith(f"'{asked}'")
        return not any((cell.runner, cell.cpu) == (wanted.runner, wanted.cell.cpu) for cell in self.figures)


def _printed_as_lacking(study: Study, runs: Sequence[Run]) -> tuple[Selector, ...]:
    machine = _printed_machine(study, runs)
    return tuple(
        selector
        for figure in study.published
        if figure.machine == machine and not figure.available and figure.cell
        for selector in cells_of(figure.cell)
    )


def _left_out(study: Study, figures: Iterable[Cell]) -> frozenset[Selector]:
    full, quick = (
        {asked for selector in study.selectors(quick=variant) for asked in cells_of(selector)}
        for variant in (False, True)
    )
    only_full = full - quick
    if any(wanted.matches(cell) for wanted in only_full for cell in figures):
        return frozenset()
    return frozenset(only_full)


def _rows(group: CellGroup, available: _Available) -> Iterable[EvidenceRow]:
    for asked, wanted in ((text, cell) for text in group.selectors for cell in cells_of(text)):
        if wanted.literal:
            matching = [available.figures[wanted.cell]] if wanted.cell in available.figures else []
        else:
            matching = [both for cell, both in available.figures.items() if wanted.matches(cell)]
        for figure, run in matching:
            yield EvidenceRow(
                dimensions(group, figure.cell),
                group.label,
                figure,
                block_bytes=group.block_bytes,
                run_id=run.conditions.run_id,
                behaviour=next((counted for counted in run.behaviours if counted.cell == figure.cell), None),
            )
        struck = available.struck(wanted)
        for cell, reason in struck.items():
            dims = dimensions(group, cell)
            yield EvidenceRow(dims, group.label, None, Absence.UNMEASURED, reason, group.block_bytes)
        if not matching and not struck:
            dims = dimensions(group, wanted.cell)
            yield EvidenceRow(dims, group.label, None, *available.absence(wanted, asked), group.block_bytes)


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


def published_run(study: Study, machine: str = "") -> Run:
    """Lay out the figures printed for one machine as a run; `conditions.origin` says where it comes from.

    A glob for the runner becomes the runner `published`. Cycles are those printed; where the study printed times,
    the figures are in nanoseconds. Raises UsageError when the study has no such machine.
    """
    known = [machine.id for machine in study.machines]
    if machine and machine not in known:
        raise UsageError(f"{study.name} has no machine '{machine}'", hint=f"there are: {', '.join(known)}")
    wanted = machine or (known[0] if known else "")
    cells: dict[Cell, CellFigure] = {}
    for published in study.published:
        if published.machine == wanted and published.available and len(published.sides) == 1:
            for figure in _printed_figures(published):
                cells.setdefault(figure.cell, figure)
    return Run(path=None, conditions=_conditions(study, wanted), cells=tuple(cells.values()))


def _printed_figures(published: PublishedFigure) -> Iterator[CellFigure]:
    for selector in cells_of(published.cell.replace("*/", f"{IN_PRINT}/", 1)):  # {a,*}/ is a's, in print
        cell = selector.cell
        value = published.value or 0.0
        cycles = None
        if published.unit == Unit.CYCLES_PER_BYTE:
            cycles = value * cell.size_bytes
        elif published.unit == Unit.CYCLES_PER_CALL:
            cycles = value * (cell.size_bytes / published.size_bytes if published.size_bytes else 1.0)
        ns = published_ns(published)
        if ns is not None and published.size_bytes:
            ns *= cell.size_bytes / published.size_bytes
        cost = ns if cycles is None else cycles
        if not selector.literal or cost is None:
            continue
        yield CellFigure(
            cell=cell,
            library=published.library or "as printed",
            library_version="",
            cycles_per_call=cycles,
            ns_per_call=cost,
            interval=Interval(cost, cost),
            samples=0,
            clean_samples=0,
            epochs=1,
            epoch_cycles=() if cycles is None else (cycles,),
            epoch_ns=(cost,),
            calls_per_sample=1,
            quality=Quality.GOOD,
            cycle_source="none" if cycles is None else IN_PRINT,
        )


def _conditions(study: Study, machine: str) -> Conditions:
    known = study.machine(machine)
    profile = Machine(cpu_model=known.name, clock_hz_nominal=known.clock_hz or 0.0) if known else Machine()
    return Conditions(
        run_id=f"{study.name}, as published",
        perbyte_version="",
        catalogue_version="",
        protocol_version=0,
        started_at=str(study.year),
        command=(),
        machine=profile,
        policy=Policy(),
        plan=(),
        study=study.name,
        origin=IN_PRINT,
    )
