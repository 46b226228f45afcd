"""What a run reaches in the time that was told beforehand: how many of the promised epochs, and which cells.

Whatever does not fit costs epochs beyond those that an interval needs, never a cell. A cell is not reached only where
its calls alone take too long, by the shortest burst of each; the dearest go first.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from perbyte.measure.budget import ENOUGH_EPOCHS, GRACE_S, OVERDUE
from perbyte.measure.costs import Costs
from perbyte.measure.forecast import Pace
from perbyte.measure.stopping import LEAST_HALF_WIDTH
from perbyte.model import NOT_REACHED, Cell, CellFigure, Failure, Policy, Quality
from perbyte.model.cell import LOOP

MOST_EPOCHS = 1000.0  # that a figure is said to need: time does not help it


class Reach:
    """The time that is there for a run, and what its cells take of it."""

    def __init__(self, policy: Policy, told_s: float | None, costs: Costs, pace: Pace | None = None) -> None:
        """`told_s`: its budget. None: all is measured, whatever the time. `pace` is told what it took."""
        self._policy = policy
        self._pace = pace
        self._costs = costs
        self._told_s = math.inf if told_s is None else told_s
        self._most_s = max(OVERDUE * self._told_s, self._told_s + GRACE_S)

    def overdue(self, wall_s: float, epochs: int) -> bool:
        """True where one more epoch like the others is too late, and there are enough for an interval."""
        return epochs >= ENOUGH_EPOCHS and wall_s * (1 + 1 / epochs) > OVERDUE * self._told_s

    def late(self, epochs: int) -> str:
        """Say that the run ends with so many epochs."""
        late = f"one more would end after {OVERDUE:g} times the budget of {self._policy.budget_s:g} s"
        return f"{epochs} of {self._policy.epochs} epochs were made: {late}"

    def beyond(self, cells: Sequence[Cell]) -> dict[Cell, Failure]:
        """Those of `cells` that are not reached, with what would reach them. Twins go without a word."""
        own_s = self._costs.own_s
        own = {cell: ENOUGH_EPOCHS * own_s[cell] for cell in cells if cell in own_s}
        kept, epochs = within_reach(own, self._most_s), self._policy.epochs
        # as an epoch took, its checks and looks from outside included
        whole_s = epochs * max(sum(own_s.values()), self._costs.epoch_s)
        took = "its calls take about {:.1f} s in {} epochs"
        return {
            cell: self.not_reached(cell, took.format(epochs * own_s[cell], epochs), whole_s)
            for cell in own
            if cell not in kept
        }

    def outlasting(self, cells: Iterable[Cell], took_s: Mapping[Cell, float]) -> dict[Cell, Failure]:
        """Those of `cells` of which one checked call took longer than the whole run was to take.

        `took_s`: seconds that the checks of a cell took.
        """
        return {
            cell: self.not_reached(
                cell, f"one checked call took {seconds:.1f} s", (1 + 2 * self._policy.epochs) * seconds
            )
            for cell in cells
            if (seconds := took_s.get(cell, 0.0)) > self._most_s
        }

    def not_reached(self, cell: Cell, why: str, whole_s: float) -> Failure:
        """The failure of a cell for which time was wanting; with `whole_s` it would have been reached."""
        text = f"not reached within the budget of {self._policy.budget_s:g} s: {why}"
        enough = f"--budget {asked_for(whole_s)}s would do"
        return Failure(NOT_REACHED, cell.runner, f"{text} ({enough})", address=cell.address)

    def tell(self, measuring_s: float, figures: Iterable[CellFigure]) -> None:
        """Tell the pace what the run took: `measuring_s` in all, and how many epochs its figures needed.

        Half-widths shrink with the root of the number of epochs.
        """
        if self._pace is None:
            return
        epochs = {figure.cell: _needed_epochs(figure, self._policy.precision) for figure in figures}
        self._pace.note(
            starts_s={process.runner: took for process, took in self._costs.start_s.items()},
            cells_s=self._costs.mean_epochs_s(),
            rest_s=self._costs.beside_bursts_s(measuring_s),
            epochs=epochs,
            precision=self._policy.precision,
        )


def _needed_epochs(figure: CellFigure, precision: float) -> float:
    half = figure.relative_half_width
    if (
        figure.cell.state != LOOP
        or figure.cell.drawn
        or figure.quality is Quality.LONG
        or figure.interval.half_width < LEAST_HALF_WIDTH
    ):
        return 1.0
    if figure.quality is Quality.NOISY or not math.isfinite(half):
        return MOST_EPOCHS
    return min(max(figure.epochs * (half / precision) ** 2, 1.0), MOST_EPOCHS)


def within_reach(own_s: Mapping[Cell, float], most_s: float) -> set[Cell]:
    """Return the cells that are measured where `most_s` seconds are there for one's own calls, cheap ones first.

    Cells that were asked for come before the twins that ride along. One cell is always kept.
    """
    kept: set[Cell] = set()
    for cell in sorted(own_s, key=lambda cell: (cell.twin > 0, own_s[cell])):
        most_s -= own_s[cell]
        if most_s < 0 and kept:
            break
        kept.add(cell)
    return kept


def asked_for(seconds: float) -> int:
    """Seconds as one asks for them: the next larger number of two digits."""
    step: int = 10 ** max(0, math.floor(math.log10(max(seconds, 1.0))) - 1)
    return math.ceil(seconds / step) * step
