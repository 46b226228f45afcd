"""How long a run goes on until its cells are precise: by simulation of its further epochs.

Which cell will be the last, and after how many epochs, is a matter of chance: of fifty cells that lack five epochs
each by their variances so far, some will need ten. So the number of epochs that the slowest cell lacks says
too little.
Here further epochs are drawn: for each cell a true variance, from what its epochs show of it (scaled inverse chi
square), then the values of the epochs to come; a cell ends at the first look at which its half-width reaches the goal.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from perbyte.model import Process
from perbyte.stats.arrays import np
from perbyte.stats.estimate import normal_quantile
from perbyte.stats.interval import UNEXPLAINED
from perbyte.stats.samples import Floats

DRAWS = 64  # simulated ends, of which the median is told
MOST_FURTHER = 400  # epochs that are simulated; what takes longer is told as the rest of the budget


@dataclass(frozen=True, slots=True)
class Unfinished:
    """A cell that is not precise yet.

    `excess`: its half-width over that which is asked for; inf where more epochs do not help. `seen`: the relative
    variance of its `epochs`, `further` that of the epochs to come, as far as `freedom` degrees of freedom tell.
    `common` and `common_freedom`: what all cells have in common, as it enters the interval. `cost_s`: seconds of an
    epoch of it, beyond the start of its process.
    """

    process: Process
    epochs: int
    excess: float
    cost_s: float
    seen: float = 0.0
    further: float = 0.0
    freedom: float = math.inf
    common: float = 0.0
    common_freedom: float = 0.0


def until_precise_s(
    cells: Sequence[Unfinished],
    starts_s: Mapping[Process, float],
    rest_s: float,
    most_s: float,
    at_look: Callable[[int], bool],
    level: float = 0.95,
    seed: int = 0,
) -> float:
    """Return the median of the simulated seconds until all `cells` are precise, at most `most_s`.

    `starts_s`: of a process in an epoch; `rest_s`: of an epoch whatever its cells; `at_look`: whether a cell may end
    after so many epochs. The same arguments give the same answer.
    """
    if not cells:
        return 0.0
    if any(not math.isfinite(cell.excess) for cell in cells):
        return most_s
    draw = np.random.default_rng(seed)
    epochs = np.array([cell.epochs for cell in cells])[:, None]
    cost_s = np.array([cell.cost_s for cell in cells])
    processes = sorted({cell.process for cell in cells})
    start_s = np.array([starts_s.get(process, 0.0) for process in processes])
    of_process = np.array([[cell.process == process for cell in cells] for process in processes])
    sums = np.array([(cell.epochs - 1) * cell.seen for cell in cells])[:, None]
    common = np.array([(cell.common, cell.common_freedom) for cell in cells])[:, :, None]
    true, before = _true_variances(cells, draw), _widths(sums, epochs, common, level)
    excess = np.array([cell.excess for cell in cells])[:, None]
    due, spent_s = np.ones((len(cells), DRAWS), dtype=bool), np.zeros(DRAWS)
    for further in range(1, MOST_FURTHER + 1):
        started = (of_process @ due.astype(float)) > 0
        spent_s += np.where(due.any(axis=0), rest_s + cost_s @ due + start_s @ started, 0.0)
        sums = sums + true * draw.standard_normal(true.shape) ** 2
        now = _widths(sums, epochs + further, common, level)
        reached = (
            excess
            * np.divide(now, before, out=np.sqrt(epochs / (epochs + further)) + 0 * now, where=before > 0)
            <= 1
        )
        looks = np.array([at_look(cell.epochs + further) for cell in cells])[:, None]
        due &= ~(reached & looks)
        if not due.any() or np.median(spent_s) >= most_s:
            break
    else:
        return most_s
    return min(float(np.median(spent_s)), most_s)


def _widths(sums: Floats, epochs: Floats, common: Floats, level: float) -> Floats:
    """Half-widths, but for a factor, by sums of squares of `epochs`: as `stats.interval` makes them of forks."""
    own = np.maximum(epochs - 1.0, 1.0)  # a cell of one epoch has no variance, and needs none here
    moderated = sums / own <= UNEXPLAINED * common[:, 0]
    freedom = own + np.where(moderated, common[:, 1], 0.0)
    variances = (sums + np.where(moderated, common[:, 0] * common[:, 1], 0.0)) / freedom
    # Student's quantile over the normal one, to the first term of its expansion (Abramowitz and Stegun 26.7.5)
    factor = 1 + (normal_quantile(0.5 + level / 2) ** 2 + 1) / (4 * freedom)
    widths: Floats = np.sqrt(variances / epochs) * factor
    return widths


def _true_variances(cells: Sequence[Unfinished], draw: np.random.Generator) -> Floats:
    variances = np.empty((len(cells), DRAWS))
    for row, cell in zip(variances, cells, strict=True):
        known = math.isfinite(cell.freedom)
        row[:] = cell.further * (cell.freedom / draw.chisquare(cell.freedom, DRAWS) if known else 1.0)
    return variances
