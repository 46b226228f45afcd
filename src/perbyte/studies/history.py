"""Then and now: the published figures of all studies and today's measured ones on common lines through the years.

Every figure of a hash or of encryption is converted to cycles per byte and to Mbit/s as far as its source allows:
cycles need the clock of the machine, throughput needs a time. What cannot be converted keeps a gap with its
reason, and what belongs to no line is listed. Of each machine the best of what it has stands for it, told apart by
what the code could use: software alone, the processor's own instructions for the algorithm, or a virtual machine.
Figures are those of the longest messages, and no clock is corrected for another.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from perbyte.catalogue import pattern
from perbyte.errors import DataRoomError
from perbyte.model import Estimate, Run
from perbyte.stats.compare import quotient
from perbyte.studies.evidence import IN_PRINT
from perbyte.studies.historyfile import TODAY, End, Explanation, HistoryFile, Line, Step, read_history
from perbyte.studies.historypoints import (
    HistoryPoint,
    Means,
    best_points,
    measured_points,
    published_point,
    year_of,
)
from perbyte.studies.load import studies as load_studies
from perbyte.studies.model import Study

__all__ = ["Explained", "History", "HistoryPoint", "Jump", "LeftOut", "Line", "Means", "jump", "then_and_now"]


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

    lines: tuple[Line, ...]
    points: tuple[HistoryPoint, ...]
    explained: tuple[Explained, ...]
    left_out: tuple[LeftOut, ...]
    converted: int
    studies: tuple[Study, ...]
    runs: tuple[Run, ...]

    def of(self, line: Line) -> tuple[HistoryPoint, ...]:
        """The points of one line, oldest first."""
        return tuple(point for point in self.points if point.line == line.id)


def then_and_now(
    runs: Sequence[Run] = (), *, studies: Sequence[Study] | None = None, room: Path | None = None
) -> History:
    """Set all studies (Perbyte's own by default) and the figures of `runs` side by side.

    Raises DataRoomError when a study or the history's file breaks the rules, or names a figure that is not there.
    """
    known = load_studies(room) if studies is None else tuple(studies)
    file = read_history(room)
    published, outside = _published(known, file)
    measured: list[HistoryPoint] = []
    for run in runs:
        if run.conditions.origin == IN_PRINT:
            continue
        if year_of(run) is None:
            why = "the year of these figures is not known"
            outside.append(LeftOut(run.conditions.run_id, why, (), len(run.cells)))
            continue
        measured += measured_points(run, file)
    points = best_points([*published.values(), *measured])
    order = {line.id: number for number, line in enumerate(file.lines)}
    points.sort(key=lambda one: (order[one.line], one.year, one.measured, one.cost))
    present = {point.line for point in points}
    return History(
        lines=tuple(line for line in file.lines if line.id in present),
        points=tuple(points),
        explained=tuple(_explain(one, published, measured, runs, file) for one in file.explanations),
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
            found = published_point(study, figure, file)
            if isinstance(found, HistoryPoint):
                points[found.id] = found
            else:
                outside.setdefault((study.name, found), []).append(figure.algorithm)
    left = [
        LeftOut(study, why, tuple(dict.fromkeys(names)), len(names))
        for (study, why), names in outside.items()
    ]
    return points, left


def _explain(
    explanation: Explanation,
    published: Mapping[str, HistoryPoint],
    measured: Sequence[HistoryPoint],
    runs: Sequence[Run],
    file: HistoryFile,
) -> Explained:
    jumps, missing = [], []
    for step in explanation.steps:
        ends = [_find(end, explanation, published, measured, file) for end in (step.before, step.after)]
        before, after = ends
        lack = _lack(step, runs, file)
        if lack:
            missing.append(lack)
        elif isinstance(before, str) or isinstance(after, str):
            missing += [end for end in ends if isinstance(end, str)]
        else:
            jumps.append(jump(before, after))
    return Explained(explanation, tuple(jumps), tuple(dict.fromkeys(missing)))


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


def _find(
    end: End,
    explanation: Explanation,
    published: Mapping[str, HistoryPoint],
    measured: Sequence[HistoryPoint],
    file: HistoryFile,
) -> HistoryPoint | str:
    """The point that `end` means, or what is missing."""
    if end.study != TODAY:
        found = published.get(f"{end.study}/{end.name}")
        if found is None:
            raise DataRoomError(
                f"the explanation '{explanation.id}' names '{end.study}/{end.name}', which is no point",
                way_out="name a published figure of a line: STUDY/ID, with the id of published.csv",
            )
        return found
    fitting = [
        point
        for point in measured
        if point.line == end.name
        and end.cpu in ("", point.cpu)
        and (pattern.matches(point.runner, end.runner) if end.runner else point.means is not Means.VIRTUAL)
    ]
    name = next(line.name for line in file.lines if line.id == end.name)
    which = "".join((f" in {end.runner}" if end.runner else "", f" (tier {end.cpu})" if end.cpu else ""))
    best = best_points(fitting)
    return min(best, key=lambda one: one.cost) if best else f"{name}{which} is in none of these runs"


def _lack(step: Step, runs: Sequence[Run], file: HistoryFile) -> str:
    if not step.needs or not runs:
        return ""
    flags = {flag for run in runs for flag in run.conditions.machine.cpu_flags}
    return "" if flags & {*step.needs} else f"today's machine has no {' or '.join(step.needs)}"
