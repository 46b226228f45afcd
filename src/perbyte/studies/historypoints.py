"""Figures as points of the history: one published or measured figure, in cycles per byte and in Mbit/s.

A conversion that lacks something (a clock, a time) leaves a gap and says why; a figure that is no point at all says
why as well. Nothing is corrected: the clock is that of the machine the figure comes from.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum

from perbyte.catalogue import load as load_catalogue
from perbyte.catalogue import pattern
from perbyte.model import CellFigure, Estimate, Run
from perbyte.model.cell import FULL
from perbyte.stats.compare import CYCLES, NS, cost_of
from perbyte.stats.quantity import Unit
from perbyte.studies.cells import expand
from perbyte.studies.historyfile import HistoryFile
from perbyte.studies.model import PublishedFigure, Study
from perbyte.studies.units import published_cycles_per_byte, published_ns

_OPERATIONS = ("encrypt", "digest")
_FLAGS = {
    "aes": frozenset({"aes"}),
    "sha": frozenset({"sha_ni", "sha1", "sha2"}),
    "clmul": frozenset({"pclmulqdq", "pmull"}),
}


class Means(StrEnum):
    """What the code behind a point could use."""

    SOFTWARE = "software"
    INSTRUCTIONS = "own instructions"
    VIRTUAL = "virtual machine"


@dataclass(frozen=True, slots=True)
class HistoryPoint:
    """One published or measured figure on a line.

    `id` is `STUDY/FIGURE` or the address of a cell, `source` the study or the run. Published figures have estimates
    without width; `has_interval` tells. `quality` is empty for them. `gap` says why cycles or throughput are None.
    `among` is how many implementations on this machine it is the best of.
    """

    line: str
    year: int
    measured: bool
    means: Means
    id: str
    source: str
    machine: str
    program: str
    algorithm: str
    cpu: str
    runner: str
    size_bytes: int
    cycles_per_byte: Estimate | None
    megabits_per_second: Estimate | None
    clock_hz: float | None
    printed: str = ""
    quality: str = ""
    gap: str = ""
    has_interval: bool = False
    among: int = 1

    @property
    def cost(self) -> float:
        """What points of one machine are ordered by: time per byte, or cycles where there is no time."""
        if self.megabits_per_second is not None:
            return 1 / self.megabits_per_second.value
        return self.cycles_per_byte.value if self.cycles_per_byte else math.inf


def published_point(study: Study, figure: PublishedFigure, file: HistoryFile) -> HistoryPoint | str:
    """Give a published figure as a point, or the reason why it is none."""
    if not figure.available or not figure.value:
        return "the source prints that there is no figure"
    if figure.unit == Unit.RATIO:
        return "a ratio is no speed"
    if figure.operation not in _OPERATIONS:
        return "only hashing and encrypting stand here, not decrypting, MACs and signatures"
    if not figure.cell:
        return "no library of today stands for it"
    cell = expand(figure.cell)[0]
    line = file.line_of(cell.algorithm)
    if line is None:
        return "its algorithm has no line"
    machine = study.machine(figure.machine)
    clock = machine.clock_hz if machine else None
    cycles = published_cycles_per_byte(figure, clock)
    ns = published_ns(figure)
    gaps = [] if cycles else ["no cycles: the clock is not published"]
    if ns is None:
        gaps.append("no throughput: cycles are published, the clock is not")
        if clock and cycles:
            ns, gaps = cycles * figure.size_bytes / clock * 1e9, []
    rate = figure.size_bytes * 8e3 / ns if ns else None
    return HistoryPoint(
        line=line.id,
        year=study.year,
        measured=False,
        means=_means(
            cell.algorithm,
            cell.cpu,
            cell.runner,
            file,
            file.features.get((study.name, figure.machine), frozenset()),
        ),
        id=f"{study.name}/{figure.id}",
        source=study.name,
        machine=machine.name if machine else figure.machine,
        program=figure.library,
        algorithm=cell.algorithm,
        cpu=cell.cpu,
        runner=cell.runner,
        size_bytes=figure.size_bytes,
        cycles_per_byte=Estimate(cycles, cycles, cycles) if cycles else None,
        megabits_per_second=Estimate(rate, rate, rate) if rate else None,
        clock_hz=clock,
        printed=f"{figure.printed} {figure.unit}",
        gap="; ".join(gaps),
    )


def measured_points(run: Run, file: HistoryFile) -> Iterator[HistoryPoint]:
    """Give the figures of a run that belong on a line, those of the longest message of each implementation.

    The run must have a year (`year_of`).
    """
    longest: dict[tuple[str, ...], CellFigure] = {}
    for figure in run.cells:
        cell = figure.cell
        usable = cell.operation in _OPERATIONS and cell.size_bytes and not cell.twin
        if not usable or not file.line_of(cell.algorithm) or not 0 < figure.ns_per_call < math.inf:
            continue
        key = (cell.runner, cell.algorithm, cell.contract, cell.cpu)
        if key not in longest or longest[key].cell.size_bytes < cell.size_bytes:
            longest[key] = figure
    for figure in longest.values():
        yield _measured_point(run, figure, file)


def best_points(points: Iterable[HistoryPoint]) -> list[HistoryPoint]:
    """Give, of each line, year, machine and means the fastest implementation, each at its longest message."""
    longest: dict[tuple[object, ...], HistoryPoint] = {}
    for point in points:
        where = (point.line, point.year, point.measured, point.machine, point.means)
        key = (*where, point.source, point.program, point.runner, point.algorithm, point.cpu)
        if key not in longest or _better(point, longest[key]):
            longest[key] = point
    best: dict[tuple[object, ...], list[HistoryPoint]] = {}
    for point in longest.values():
        where = (point.line, point.year, point.measured, point.machine, point.means)
        best.setdefault(where, []).append(point)
    return [replace(min(found, key=lambda one: one.cost), among=len(found)) for found in best.values()]


def _better(point: HistoryPoint, other: HistoryPoint) -> bool:
    return (point.size_bytes, -point.cost) > (other.size_bytes, -other.cost)


def year_of(run: Run) -> int | None:
    """The year a run was started in; None where it does not say (imported listings)."""
    text = run.conditions.started_at[:4]
    known = len(text) == 4 and text.isascii() and text.isdigit() and "1970" <= text <= "2199"
    return int(text) if known else None


def _measured_point(run: Run, figure: CellFigure, file: HistoryFile) -> HistoryPoint:
    cell, machine = figure.cell, run.conditions.machine
    line = file.line_of(cell.algorithm)
    assert line is not None  # _measured asked before
    features = frozenset(name for name, flags in _FLAGS.items() if flags & {*machine.cpu_flags})
    cycles = figure.cycles_per_call
    if cycles is not None and not 0 < cycles < math.inf:
        cycles = None
    by = cell.size_bytes
    known = figure.interval.known and math.isfinite(figure.interval.high) and figure.interval.low > 0
    costs = [cost_of(figure, unit, per=by).estimate for unit in (CYCLES, NS)]
    in_cycles, in_ns = costs if known else [Estimate(*(cost.value,) * 3) for cost in costs]
    return HistoryPoint(
        line=line.id,
        year=year_of(run) or 0,
        measured=True,
        means=_means(cell.algorithm, cell.cpu, cell.runner, file, features),
        id=cell.address,
        source=run.conditions.run_id,
        machine=machine.cpu_model,
        program=f"{figure.library} {figure.library_version}".strip(),
        algorithm=cell.algorithm,
        cpu=cell.cpu,
        runner=cell.runner,
        size_bytes=by,
        cycles_per_byte=in_cycles if cycles else None,
        megabits_per_second=Estimate(8e3 / in_ns.value, 8e3 / in_ns.high, 8e3 / in_ns.low),
        clock_hz=cycles / figure.ns_per_call * 1e9 if cycles else None,
        quality=figure.quality.value,
        gap="" if cycles else "no cycles: no source that can be trusted",
        has_interval=known,
    )


def _means(algorithm: str, cpu: str, runner: str, file: HistoryFile, features: frozenset[str]) -> Means:
    if _is_virtual(runner, file):
        return Means.VIRTUAL
    helping = load_catalogue().algorithms[algorithm].accelerated_by
    return Means.INSTRUCTIONS if cpu == FULL and features & {*helping} else Means.SOFTWARE


def _is_virtual(runner: str, file: HistoryFile) -> bool:
    return any(pattern.matches(runner, glob) for glob in file.virtual)
