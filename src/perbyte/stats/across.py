"""By how much do runs of the same code on one machine differ? A prior, which earlier runs overrule.

A/A pairs of one run are measured in turn and do not see what the machine did to all of it: pages, caches, the hour. So
two runs differ by more than their intervals say. How much more is a property of the machine; nobody knows it before
several runs of the same plan have been made there. Their figures are compared cell by cell; what the cells have in
common within a run counts, because runs are the units and not cells.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from perbyte.model import Cell, CellFigure, NoiseFloor, Quality
from perbyte.stats.arrays import np
from perbyte.stats.estimate import normal_quantile, t_quantile

ACROSS_RUNS = 0.01  # what runs of the same code differ by at the most in 95 of 100 cells, where nobody knows
PRIOR_RUNS = 4  # degrees of freedom that this is worth: as many runs more and half of the answer is theirs
LEVEL = 0.95
_NORMAL = normal_quantile(0.5 + LEVEL / 2)
_USABLE = (Quality.GOOD, Quality.IMPRECISE, Quality.LONG)


@dataclass(frozen=True, slots=True)
class Across:
    """Below `relative` no difference between two runs is claimed; so many `earlier` runs have a part in it."""

    relative: float = ACROSS_RUNS
    earlier: int = 0


def between_runs(runs: Sequence[Mapping[Cell, CellFigure]]) -> Across:
    """What earlier runs of one plan and the same code say of two further ones; the prior where they are fewer than two.

    The variance of a cell's logarithm between runs beyond what its intervals explain, its mean over cells, with the
    prior moderating it as in Smyth (2004): two runs differ by more than Student's t times the square root of twice that
    in 5 of 100 cells, where it is normal. Runs are the units: all cells together are worth one degree of freedom less
    than there are runs.
    """
    usable = [
        {cell: figure for cell, figure in run.items() if figure.quality in _USABLE and figure.ns_per_call > 0}
        for run in runs
    ]
    variances = []
    for cell in dict.fromkeys(cell for run in usable for cell in run):
        figures = [run[cell] for run in usable if cell in run]
        if len(figures) == len(runs) > 1:
            own = float(np.mean([(figure.relative_half_width / _NORMAL) ** 2 for figure in figures]))
            whole = float(np.var([math.log(figure.ns_per_call) for figure in figures], ddof=1))
            variances.append(max(0.0, whole - own))
    if not variances:
        return Across()
    freedom = len(runs) - 1
    prior = (math.log1p(ACROSS_RUNS) / (t_quantile(LEVEL, PRIOR_RUNS) * math.sqrt(2))) ** 2
    variance = (PRIOR_RUNS * prior + freedom * float(np.mean(variances))) / (PRIOR_RUNS + freedom)
    return Across(math.expm1(t_quantile(LEVEL, PRIOR_RUNS + freedom) * math.sqrt(2 * variance)), len(runs))


def floor_across(floors: Iterable[NoiseFloor | None], across: Across | None = None) -> NoiseFloor | None:
    """Return the noise floor that a comparison across runs has to respect; None where no run has one.

    The largest of the runs', and `across` at the least (None: the prior): A/A pairs of one run are measured in turn,
    and do not see what the machine did to all of it.
    """
    across = across or Across()
    largest = max((floor for floor in floors if floor), key=lambda floor: floor.relative, default=None)
    if largest is None:
        return None
    others = None if largest.others is None else max(largest.others, across.relative)
    if across.relative < largest.relative:
        return replace(largest, others=others)
    return replace(largest, relative=across.relative, others=others, earlier=across.earlier)
