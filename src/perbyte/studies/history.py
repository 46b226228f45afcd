"""History: the published figures of all studies and today's measured ones on common lines through the years.

Every figure of a hash or of encryption is converted to cycles per byte and to Mbit/s as far as its source allows:
cycles need the clock of the machine, throughput needs a time. What cannot be converted keeps a gap with its
reason, and what belongs to no line is listed. Of each machine the best of what it has stands for it, told apart by
what the code could use: software alone, the processor's own instructions for the algorithm, or a virtual machine.
Figures are those of the longest messages, and no clock is corrected for another.

`history.toml` says which algorithms make a line, and ties each explanation to two points: a published figure
(`STUDY/FIGURE`) or today's best of a line (`today/LINE`), so that no sentence stands without the numbers it is about.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated, NamedTuple

from msgspec import Meta, Struct, field

from perbyte import places
from perbyte.catalogue import load as load_catalogue
from perbyte.catalogue import pattern
from perbyte.datafile import Problem, Text, no_duplicates, one_of, read_toml
from perbyte.errors import DataFileError
from perbyte.model import CellFigure, Estimate, Run
from perbyte.model.algorithm import CPU_FLAGS
from perbyte.model.cell import FULL
from perbyte.stats.compare import CYCLES, NS, cost_of, quotient
from perbyte.stats.quantity import Unit
from perbyte.studies.evidence import IN_PRINT, cells_of
from perbyte.studies.load import studies as load_studies
from perbyte.studies.model import PublishedFigure, Study, Texts, published_cycles_per_byte, published_ns

HISTORY_FILE = "history.toml"
TODAY = "today"
_END = re.compile(
    r"(?P<study>[^/+\s]+)/(?P<name>[^/+\s]+)(\+cpu=(?P<cpu>[a-z]+))?(\+runner=(?P<runner>[^/+\s]+))?"
)
_OPERATIONS = ("encrypt", "digest")


class HistoryLine(Struct, frozen=True, forbid_unknown_fields=True):
    """Algorithms whose costs per byte belong on one line through the years.

    `kind` is `hash`, `stream cipher` or `block cipher`. `common` lines are those that several studies share; lines
    with a `family` (AES, SHA, ChaCha) make the timeline; `note` says what is taken for the same although it is not
    quite.
    """

    id: Text
    name: Text
    kind: Text
    algorithms: Texts
    common: bool = False
    family: str = ""
    note: str = ""

    def __post_init__(self) -> None:
        for algorithm in self.algorithms:
            one_of(algorithm, load_catalogue().algorithms, "algorithm", "algorithms")


class End(NamedTuple):
    """The published figure `name` of `study`, or today's best of the line `name`.

    `cpu` and `runner` (a glob) narrow today's down; without them it is the fastest outside a virtual machine.
    """

    study: str
    name: str
    cpu: str
    runner: str


class HistoryStep(Struct, frozen=True, forbid_unknown_fields=True):
    """From one point to another. `needs`: CPU features of which today's machine must have one for it to be shown."""

    from_: Text = field(name="from")
    to: Text
    needs: tuple[Text, ...] = ()

    def __post_init__(self) -> None:
        self.ends()

    def ends(self) -> tuple[End, End]:
        """Both ends taken apart. Raises Problem for a text that is no point."""
        return _end(self.from_, "from"), _end(self.to, "to")


class Explanation(Struct, frozen=True, forbid_unknown_fields=True):
    """What makes costs jump, in words, and the steps that show it."""

    id: Text
    title: Text
    text: Text
    steps: Annotated[tuple[HistoryStep, ...], Meta(min_length=1)]


class Features(Struct, frozen=True, forbid_unknown_fields=True):
    """The CPU features of a published machine that matter here: `aes`, `sha`, `clmul`."""

    study: Text
    machine: Text
    has: Texts


class HistoryFile(Struct, frozen=True, forbid_unknown_fields=True):
    """What `history.toml` says. `virtual` are globs of the runners whose code runs in a virtual machine."""

    lines: tuple[HistoryLine, ...]
    machines: tuple[Features, ...] = ()
    virtual: tuple[Text, ...] = ()
    explanations: tuple[Explanation, ...] = ()

    def __post_init__(self) -> None:
        no_duplicates([line.id for line in self.lines], "[[lines]]")
        no_duplicates([name for line in self.lines for name in line.algorithms], "algorithm")
        steps = (step for explanation in self.explanations for step in explanation.steps)
        for end in (end for step in steps for end in step.ends()):
            if end.study == TODAY:
                one_of(end.name, [line.id for line in self.lines], "line", "explanations")

    def line_of(self, algorithm: str) -> HistoryLine | None:
        """The line that an algorithm of the catalogue belongs to, or None."""
        return next((line for line in self.lines if algorithm in line.algorithms), None)

    def means(self, algorithm: str, cpu: str, runner: str, features: frozenset[str]) -> Means:
        """What code could use, on a CPU with these features."""
        if any(pattern.matches(runner, glob) for glob in self.virtual):
            return Means.VIRTUAL
        helped = features & {*load_catalogue().algorithms[algorithm].accelerated_by}
        return Means.INSTRUCTIONS if cpu == FULL and helped else Means.SOFTWARE


def read_history(directory: Path | None = None) -> HistoryFile:
    """Read the history file in the data directory `studies` (Perbyte's own by default).

    Raises DataFileError with file, key and hint.
    """
    return read_toml((directory or places.data_dir("studies")) / HISTORY_FILE, HistoryFile)


def _end(text: str, key: str) -> End:
    match = _END.fullmatch(text)
    if not match or (match["study"] != TODAY and (match["cpu"] or match["runner"])):
        hint = "STUDY/FIGURE or today/LINE; today's may add +cpu=soft, then +runner=GLOB"
        raise Problem(f"'{text}' is not a point", key=key, hint=hint)
    return End(match["study"], match["name"], match["cpu"] or "", match["runner"] or "")


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


@dataclass(frozen=True, slots=True)
class Jump:
    """A step of an explanation with its numbers, each the gain from `before` to `after` (above 1: better).

    `faster` is that of throughput, `clock` that of the clock, `work` that of cycles per byte; faster = clock x work.
    None where one of the two points does not have it.
    """

    before: HistoryPoint
    after: HistoryPoint
    faster: Estimate | None
    clock: float | None
    work: Estimate | None


@dataclass(frozen=True, slots=True)
class Explained:
    """An explanation with the jumps that these points show, and what is missing for the others."""

    explanation: Explanation
    jumps: tuple[Jump, ...]
    missing: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Figures of one source that stand on no line, and why: how many, and the algorithms as their source calls them."""

    source: str
    why: str
    names: tuple[str, ...]
    count: int


@dataclass(frozen=True, slots=True)
class History:
    """All lines that have points, in the file's order; `points` by line, then by year.

    `converted` counts the published figures that stand on a line, of which `points` are the best of each machine.
    """

    lines: tuple[HistoryLine, ...]
    points: tuple[HistoryPoint, ...]
    explained: tuple[Explained, ...]
    left_out: tuple[LeftOut, ...]
    converted: int
    studies: tuple[Study, ...]
    runs: tuple[Run, ...]

    def of(self, line: HistoryLine) -> tuple[HistoryPoint, ...]:
        """The points of one line, oldest first."""
        return tuple(point for point in self.points if point.line == line.id)


def load_history(
    runs: Sequence[Run] = (), *, studies: Sequence[Study] | None = None, directory: Path | None = None
) -> History:
    """Set all studies (Perbyte's own by default) and the figures of `runs` side by side.

    Raises DataFileError when a study or the history's file breaks the rules, or names a figure that is not there.
    """
    known = load_studies(directory) if studies is None else tuple(studies)
    file = read_history(directory)
    published, outside = _published(known, file)
    points = _Points(file, published, [], runs)
    for run in runs:
        if run.conditions.origin == IN_PRINT:
            continue
        if year_of(run) is None:
            why = "the year of these figures is not known"
            outside.append(LeftOut(run.conditions.run_id, why, (), len(run.cells)))
            continue
        points.measured.extend(measured_points(run, file))
    best = best_points([*published.values(), *points.measured])
    order = {line.id: number for number, line in enumerate(file.lines)}
    best.sort(key=lambda point: (order[point.line], point.year, point.measured, point.cost))
    present = {point.line for point in best}
    return History(
        lines=tuple(line for line in file.lines if line.id in present),
        points=tuple(best),
        explained=tuple(map(points.explain, file.explanations)),
        left_out=tuple(outside),
        converted=len(published),
        studies=known,
        runs=tuple(runs),
    )


def _published(known: Iterable[Study], file: HistoryFile) -> tuple[dict[str, HistoryPoint], list[LeftOut]]:
    """Every published figure that can stand on a line, by its id, and the others with the reason."""
    points: dict[str, HistoryPoint] = {}
    outside: dict[tuple[str, str], list[str]] = {}
    for study in known:
        for figure in study.published:
            point = published_point(study, figure, file)
            if isinstance(point, HistoryPoint):
                points[point.id] = point
            else:
                outside.setdefault((study.name, point), []).append(figure.algorithm)
    left = [
        LeftOut(study, why, tuple(dict.fromkeys(names)), len(names))
        for (study, why), names in outside.items()
    ]
    return points, left


@dataclass(frozen=True, slots=True)
class _Points:
    """All points of a history: the published ones by their id, those measured in `runs`."""

    file: HistoryFile
    published: Mapping[str, HistoryPoint]
    measured: list[HistoryPoint]
    runs: Sequence[Run]

    def explain(self, explanation: Explanation) -> Explained:
        """What these points show of an explanation. Raises DataFileError for a figure that is not there."""
        jumps, missing = [], []
        for step in explanation.steps:
            before, after = ends = [self.at(end, explanation) for end in step.ends()]
            if lack := self.lack(step):
                missing.append(lack)
            elif isinstance(before, str) or isinstance(after, str):
                missing += [end for end in ends if isinstance(end, str)]
            else:
                jumps.append(jump(before, after))
        return Explained(explanation, tuple(jumps), tuple(dict.fromkeys(missing)))

    def at(self, end: End, explanation: Explanation) -> HistoryPoint | str:
        """The point that `end` means, or what is missing."""
        if end.study != TODAY:
            point = self.published.get(f"{end.study}/{end.name}")
            if point is None:
                raise DataFileError(
                    f"the explanation '{explanation.id}' names '{end.study}/{end.name}', which is not a point",
                    hint="name a published figure of a line: STUDY/ID, with the id of published.csv",
                )
            return point
        fitting = [
            point
            for point in self.measured
            if point.line == end.name
            and end.cpu in ("", point.cpu)
            and (
                pattern.matches(point.runner, end.runner) if end.runner else point.means is not Means.VIRTUAL
            )
        ]
        if fitting:
            return min(best_points(fitting), key=lambda point: point.cost)
        name = next(line.name for line in self.file.lines if line.id == end.name)
        which = (f" in {end.runner}" if end.runner else "") + (f" (tier {end.cpu})" if end.cpu else "")
        return f"{name}{which} is in none of these runs"

    def lack(self, step: HistoryStep) -> str:
        """Which CPU features today's machines lack; empty where the step can be shown."""
        flags = {flag for run in self.runs for flag in run.conditions.machine.cpu_flags}
        fits = not step.needs or not self.runs or flags & {*step.needs}
        return "" if fits else f"today's machine has no {' or '.join(step.needs)}"


def jump(before: HistoryPoint, after: HistoryPoint) -> Jump:
    """What was gained between two points: in throughput, in clock, and in cycles per byte."""
    faster = clock = work = None
    if before.megabits_per_second and after.megabits_per_second:
        faster = quotient(after.megabits_per_second, before.megabits_per_second)
    if before.cycles_per_byte and after.cycles_per_byte:
        work = quotient(before.cycles_per_byte, after.cycles_per_byte)
    if before.clock_hz and after.clock_hz:
        clock = after.clock_hz / before.clock_hz
    return Jump(before, after, faster, clock, work)


def published_point(study: Study, figure: PublishedFigure, file: HistoryFile) -> HistoryPoint | str:
    """Give a published figure as a point, or the reason why it is none."""
    if not figure.available or not figure.value:
        return "the source prints that there is no figure"
    if figure.unit == Unit.RATIO:
        return "a ratio is not a speed"
    if figure.operation not in _OPERATIONS:
        return "only hashing and encrypting are shown here, not decrypting, MACs and signatures"
    if not figure.cell:
        return "no library of today corresponds to it"
    cell = cells_of(figure.cell)[0].cell
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
    own = (study.name, figure.machine)
    of_machine = (machine.has for machine in file.machines if (machine.study, machine.machine) == own)
    features = frozenset(feature for has in of_machine for feature in has)
    return HistoryPoint(
        line=line.id,
        year=study.year,
        measured=False,
        means=file.means(cell.algorithm, cell.cpu, cell.runner, features),
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
        usable = cell.operation in _OPERATIONS and cell.size_bytes and cell.usual
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
        rivals = (point.line, point.year, point.measured, point.machine, point.means)
        key = (rivals, point.source, point.program, point.runner, point.algorithm, point.cpu)
        other = longest.setdefault(key, point)
        if (point.size_bytes, -point.cost) > (other.size_bytes, -other.cost):
            longest[key] = point
    best: dict[object, list[HistoryPoint]] = {}
    for (same, *_), point in longest.items():
        best.setdefault(same, []).append(point)
    return [replace(min(points, key=lambda point: point.cost), among=len(points)) for points in best.values()]


def year_of(run: Run) -> int | None:
    """The year a run was started in; None where it does not say (imported listings)."""
    text = run.conditions.started_at[:4]
    known = len(text) == 4 and text.isascii() and text.isdigit() and "1970" <= text <= "2199"
    return int(text) if known else None


def _measured_point(run: Run, figure: CellFigure, file: HistoryFile) -> HistoryPoint:
    cell, machine = figure.cell, run.conditions.machine
    line = file.line_of(cell.algorithm)
    assert line is not None  # _measured asked before
    features = frozenset(name for name, flags in CPU_FLAGS.items() if flags & {*machine.cpu_flags})
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
        means=file.means(cell.algorithm, cell.cpu, cell.runner, features),
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
