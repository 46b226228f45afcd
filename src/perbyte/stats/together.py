"""Several cores at the same work: which samples count, and how far all of them do more than one.

A burst of each core was asked for at the same time. What counts is the time in which all of them were at work, by the
tick counter that cores share: from the latest beginning to the earliest end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from perbyte.model import Burst, CellFigure, Estimate
from perbyte.stats.compare import NS, Comparison, compare_costs, cost_of
from perbyte.stats.cores import only
from perbyte.stats.quantity import Unit, read


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
        within = (
            only(
                burst,
                [
                    begin <= start and start + ticks <= end
                    for start, ticks in zip(burst.start, burst.ticks, strict=True)
                ],
            )
            for burst in taken
        )
        shared += [burst for burst in within if burst.ticks]
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
        if not figure.cell.threads:
            continue
        if not (each := read(figure, Unit.CALLS_PER_SECOND)):
            continue
        alone = known.get(replace(figure.cell, state="threads-1"))
        efficiency = None
        if alone and figure.cell.threads > 1:
            efficiency = compare_costs(cost_of(figure, NS, source=0), cost_of(alone, NS, source=0))
        ends = (end * figure.cell.threads for end in (each.value, each.low, each.high))
        scalings.append(Scaling(figure, each, Estimate(*ends), efficiency))
    return tuple(scalings)
