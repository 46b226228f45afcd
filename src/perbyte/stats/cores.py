"""Several cores: which of them are unlike the others, and what they do at the same work.

A run uses all cores of one kind, and takes what they say for the same. Where one of them is slower all the same
(another cache behind it, a limit of its own, a host that gives it less), its samples would widen every interval and
shift the cells that happened to be on it more often. Such a core is found by the cells that were measured on both.

Where several cores are at the same work, a burst of each was asked for at the same time. What counts is the time in
which all of them were at work, by the tick counter that cores share: from the latest beginning to the earliest end.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from perbyte.model import Burst, Cell, CellFigure, Estimate
from perbyte.stats.arrays import np
from perbyte.stats.clean import Grounds
from perbyte.stats.compare import NS, Comparison, compare_costs, cost_of
from perbyte.stats.estimate import midmean
from perbyte.stats.quantity import Unit, read

LOOKED_AT = 48  # cells, spread over the run: two cores differ for all of them or for none
LEAST_CLEAN = 8  # samples on a core in an epoch
LEAST_PAIRS = 12  # epochs of cells on both cores


@dataclass(frozen=True, slots=True)
class Apart:
    """A core that differs from the one most samples come from: `relative` is by how much it costs more."""

    core: int
    usual: int
    relative: float
    pairs: int


def find_apart(bursts: Mapping[Cell, Sequence[Burst]], grounds: Grounds) -> tuple[Apart, ...]:
    """Return the cores that differ from the usual one by more than the precision asked for, beyond doubt.

    Per cell and epoch the clean samples of each core have a midmean; the logarithms of their ratios have a median
    over all of these, with a standard error of 1.25 standard deviations over the root of their number. Twice that is
    allowed.
    """
    count: Counter[int] = Counter()
    for taken in bursts.values():
        for burst in taken:
            count.update(burst.core[:1])
    if len(count) < 2:
        return ()
    usual = count.most_common(1)[0][0]
    ratios: dict[int, list[float]] = defaultdict(list)
    cells = [cell for cell, taken in bursts.items() if taken]
    for cell in cells[:: max(1, len(cells) // LOOKED_AT)]:
        for core, ratio in _ratios(bursts[cell], grounds, usual):
            ratios[core].append(ratio)
    apart = []
    for core, logs in sorted(ratios.items()):
        middle = float(np.median(logs))
        error = 1.25 * float(np.std(logs, ddof=1)) / math.sqrt(len(logs)) if len(logs) > 1 else math.inf
        if len(logs) >= LEAST_PAIRS and abs(middle) - 2 * error > grounds.policy.precision:
            apart.append(Apart(core, usual, math.expm1(middle), len(logs)))
    return tuple(apart)


def without(bursts: Sequence[Burst], cores: set[int]) -> list[Burst]:
    """Return the bursts less the samples that were taken on `cores`; where nothing is left, the bursts as they are."""
    kept = [
        only(burst, [core not in cores for core in burst.core]) if cores.intersection(burst.core) else burst
        for burst in bursts
    ]
    return [burst for burst in kept if burst.ticks] or list(bursts)


def only(burst: Burst, keep: Sequence[bool]) -> Burst:
    """Return the burst with those of its samples for which `keep` is true."""

    def part(name: str) -> list[int]:
        column = getattr(burst, name)
        return [value for value, kept in zip(column, keep, strict=True) if kept] if column else column

    return burst.map(part)


def _ratios(bursts: Sequence[Burst], grounds: Grounds, usual: int) -> list[tuple[int, float]]:
    """(core, logarithm of its cost over the usual core's), once for each epoch that has enough of both."""
    ratios = []
    by_epoch: dict[int, list[Burst]] = defaultdict(list)
    for burst in bursts:
        if burst.core and not burst.piece_bytes:
            by_epoch[burst.epoch].append(burst)
    for taken in by_epoch.values():
        if not grounds.calibration(taken[0]):
            continue
        judged = grounds.judge(taken)
        clean, cores = judged.clean & (judged.values > 0), judged.table.core
        on = {int(core): judged.values[clean & (cores == core)] for core in np.unique(cores)}
        if len(on.get(usual, ())) < LEAST_CLEAN:
            continue
        middle = midmean(on[usual])
        ratios += [
            (core, math.log(midmean(own) / middle))
            for core, own in on.items()
            if core != usual and len(own) >= LEAST_CLEAN
        ]
    return ratios


def in_common(bursts: Sequence[Burst], threads: int) -> list[Burst]:
    """Return of bursts of one cell and epoch the samples that were taken while `threads` of them were under way.

    Those of one round belong together; a round that lacks one of them is left out.
    """
    rounds: dict[int, list[Burst]] = {}
    for burst in bursts:
        if burst.ticks:
            rounds.setdefault(burst.round, []).append(burst)
    shared: list[Burst] = []
    for taken in rounds.values():
        if len(taken) < threads:
            continue
        begin = max(burst.start[0] for burst in taken)
        end = min(burst.start[-1] + burst.ticks[-1] for burst in taken)
        for burst in taken:
            spans = zip(burst.start, burst.ticks, strict=True)
            within = only(burst, [begin <= start and start + ticks <= end for start, ticks in spans])
            shared += [within] if within.ticks else []
    return shared


@dataclass(frozen=True, slots=True)
class Scaling:
    """`threads` cores at the work of `figure`: calls a second of each, and of all of them.

    `efficiency` is all of them over so many times one alone, by epochs as pairs: 1 is perfect scaling. None where one
    alone was not measured.
    """

    figure: CellFigure
    each: Estimate
    all: Estimate
    efficiency: Comparison | None

    @property
    def threads(self) -> int:
        """How many cores."""
        return self.figure.cell.threads


def scaling(figures: Sequence[CellFigure]) -> tuple[Scaling, ...]:
    """Return how the cells among `figures` scale that several cores worked at, in their order."""
    known = {figure.cell: figure for figure in figures}
    scalings = []
    for figure in figures:
        each = read(figure, Unit.CALLS_PER_SECOND) if figure.cell.threads else None
        if not each:
            continue
        alone = known.get(replace(figure.cell, state=f"{figure.cell.state.partition('-')[0]}-1"))
        efficiency = None
        if alone and figure.cell.threads > 1:
            efficiency = compare_costs(cost_of(figure, NS, source=0), cost_of(alone, NS, source=0))
        ends = (end * figure.cell.threads for end in (each.value, each.low, each.high))
        scalings.append(Scaling(figure, each, Estimate(*ends), efficiency))
    return tuple(scalings)
