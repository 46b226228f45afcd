"""Which cells get another epoch: those with too few, and, at declared looks, those that are not precise yet.

On precision, never on what a figure is; and of those only what the rest of the budget is enough for.

How long a run goes on is told by simulation. Which cell will be the last, and after how many epochs, is a matter of
chance: of fifty cells that lack five epochs each by their variances so far, some will need ten. So further epochs are
drawn: for each cell a true variance, from what its epochs show of it (scaled inverse chi square), then the values of
the epochs to come; a cell ends at the first look at which its half-width reaches the goal.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from perbyte.errors import PerbyteError
from perbyte.measure.budget import OVERDUE, Budget
from perbyte.measure.costs import Costs
from perbyte.measure.draws import calls_of
from perbyte.measure.history import RunHistory
from perbyte.measure.nesting import COMMON_WEIGHT, Nesting
from perbyte.measure.states import precise_enough
from perbyte.model import Cell, CellFigure, Failure, Policy, Process, Quality
from perbyte.model.cell import LOOP
from perbyte.model.text import counted
from perbyte.stats.arrays import np
from perbyte.stats.clean import Grounds
from perbyte.stats.draws import ENOUGH_CALLS
from perbyte.stats.estimate import normal_quantile
from perbyte.stats.figure import JudgedEpochs, Spreads, Summary, common_spread, judge, summarise
from perbyte.stats.interval import UNEXPLAINED, relative_variance
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
        usual = np.sqrt(epochs / (epochs + further)) + 0 * now
        reached = excess * np.divide(now, before, out=usual, where=before > 0) <= 1
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


EPOCH_STEP = 2  # epochs added between two declared looks (ADR 17)
# epochs from which on looks are an eighth of the epochs apart: each look costs time, and some cover
SPARSE_FROM = 24
SELDOM = 4  # of so many epochs cells take part in one that will not be precise within the budget, while others will
# relative half-width at which a cell of very long calls is done, so that it cannot use up the budget
LONG_PRECISION = 0.01
LEAST_HALF_WIDTH = 0.05  # cycles: no call is told closer than that


class Stopping:
    """What the cells of a run still need. `finished` are those that need no more epochs in this run,
    `out_of_reach` those that will not be precise within the budget, while others will.
    """

    def __init__(
        self,
        policy: Policy,
        history: RunHistory,
        fail: Callable[[Failure], None],
        nesting: Nesting,
        costs: Costs,
    ) -> None:
        """`fail` is told of cells whose samples are of no use."""
        self._nesting = nesting
        self._costs = costs
        self._policy = policy
        self._history = history
        self._fail = fail
        self._known: dict[Cell, tuple[int, Summary]] = {}
        self._judged: dict[Cell, JudgedEpochs] = {}
        self.finished: set[Cell] = set()
        self.budget_ended = False
        self.out_of_reach: set[Cell] = set()
        self._ends_at: float | None = None

    def young(self, alive: Sequence[Cell]) -> list[Cell]:
        """Return the cells with fewer epochs than are promised."""
        return [cell for cell in alive if self._history.epochs_of(cell) < self._policy.epochs]

    def due(self, alive: Sequence[Cell], budget: Budget) -> list[Cell]:
        """Return the cells of the next epoch, once all have the promised ones.

        Between two looks all, at a look those that are not precise; of these what fits into the budget.
        """
        began = time.monotonic()
        due: list[Cell] = []
        self.finished = set()
        known = self._summaries(alive)  # of finished cells too: they tell how far epochs lie apart
        spreads = common_spread(known.values())
        figures = {cell: judge(summary, self._policy, spreads) for cell, summary in known.items()}
        for cell in alive:
            done = self._history.epochs_of(cell)
            most = done >= self._policy.max_epochs
            if cell.drawn and cell.state == LOOP:
                lacks = not most and calls_of(self._history.bursts.get(cell, ())) < ENOUGH_CALLS
            elif not (most or self._at_look(done)):
                lacks = True  # between two looks
            else:
                lacks = not most and cell in known and not self._precise(known[cell], figures[cell])
            if lacks:
                due.append(cell)
            else:
                self.finished.add(cell)
        missing = {cell: self._missing(known[cell], figures[cell]) for cell in due if cell in known}
        missing |= {cell: self._missing_draws(cell) for cell in due if cell.drawn}
        reached = budget.completed(missing, self._nesting.cost_s)
        self.out_of_reach = set(missing) - reached if reached else set()
        self._costs.closing_s = time.monotonic() - began
        wanted = [c for c in due if c not in self.out_of_reach or self._history.epochs % SELDOM == 0]
        affordable = budget.affordable(wanted)
        self.budget_ended = len(affordable) < len(wanted)
        unfinished = [self._unfinished(cell, missing, known, figures, spreads) for cell in due]
        until_s = until_precise_s(
            unfinished,
            self._costs.starts_of(cell.process for cell in due),
            self._costs.closing_s,
            budget.left_s,
            self._at_look,
            self._policy.level,
        )
        self._ends_at = time.monotonic() + until_s
        return affordable

    @property
    def until_precise_s(self) -> float | None:
        """Seconds until the cells are precise or the budget is spent, as the last look told; None before the first."""
        return None if self._ends_at is None else max(self._ends_at - time.monotonic(), 0.0)

    def _unfinished(
        self,
        cell: Cell,
        missing: Mapping[Cell, int],
        known: Mapping[Cell, Summary],
        figures: Mapping[Cell, CellFigure],
        spreads: Spreads,
    ) -> Unfinished:
        cost_s = self._nesting.cost_s(cell) + self._costs.rest_s
        if cell not in known or known[cell].very_long or cell.state != LOOP:
            done = max(self._history.epochs_of(cell), 1)
            excess = math.sqrt(1 + missing.get(cell, 1) / done)  # with so many more epochs it is 1
            return Unfinished(cell.process, done, excess, cost_s)
        figure, seen = figures[cell], relative_variance(known[cell].values)
        spread = spreads[known[cell].forked]
        relative, half = figure.relative_half_width, figure.interval.half_width
        excess = min(relative / self._policy.precision, half / LEAST_HALF_WIDTH)
        return Unfinished(
            cell.process,
            figure.epochs,
            math.inf if figure.quality is Quality.NOISY else excess,
            cost_s,
            seen,
            self._nesting.variance(cell) or seen,
            figure.epochs - 1 + COMMON_WEIGHT,
            *((spread.variance, spread.freedom) if spread else ()),
        )

    def _at_look(self, done: int) -> bool:
        return is_look(done, self._policy.epochs)

    def _missing_draws(self, cell: Cell) -> int:
        calls = calls_of(self._history.bursts.get(cell, ()))
        wanted = math.ceil(self._history.epochs_of(cell) * (ENOUGH_CALLS / max(calls, 1) - 1))
        return max(1, min(wanted, self._policy.max_epochs))

    def _missing(self, summary: Summary, figure: CellFigure) -> int:
        goal = LONG_PRECISION if summary.very_long else self._policy.precision
        if not 0 < figure.relative_half_width < math.inf:
            return self._policy.max_epochs
        wanted = math.ceil(figure.epochs * (figure.relative_half_width / goal) ** 2)
        missing = self._nesting.missing(summary.cell, goal)
        missing = max(wanted - figure.epochs, 1) if missing is None else missing
        return min(missing, self._policy.max_epochs)

    def _precise(self, summary: Summary, figure: CellFigure) -> bool:
        """True when a cell needs no more epochs. Those that were left out do not count among the least number."""
        if figure.epochs < self._policy.epochs:
            return False
        if figure.interval.half_width < LEAST_HALF_WIDTH:
            return True
        if summary.very_long:
            return figure.relative_half_width <= LONG_PRECISION
        if summary.cell.state != LOOP:
            return precise_enough(figure, self._policy)
        return figure.relative_half_width <= self._policy.precision and figure.quality is not Quality.NOISY

    def _summaries(self, alive: Sequence[Cell]) -> dict[Cell, Summary]:
        known: dict[Cell, Summary] = {}
        grounds = Grounds(self._history.calibrations, self._policy)
        for cell in alive:
            if cell.drawn:
                continue  # as many calls as are wanted, whatever they cost
            bursts, before = self._history.bursts.get(cell, []), self._known.get(cell)
            if before and before[0] == len(bursts):
                known[cell] = before[1]  # a finished cell has no more to say than at the last look
            elif bursts:
                try:
                    known[cell] = summarise(cell, bursts, grounds, self._judged.setdefault(cell, {}))
                except PerbyteError as error:
                    self._fail(Failure("refused", cell.runner, str(error), address=cell.address))
                else:
                    self._known[cell] = (len(bursts), known[cell])
        return known


def imprecise_note(figures: Sequence[CellFigure], policy: Policy, ended_s: float | None) -> str:
    """Say how many figures are less precise than was asked for, and why no more was done; empty where none is.

    `ended_s`: seconds of measuring, where the budget ended it.
    Cells whose calls vary at random are left out: that variation sets the width of their intervals.
    """
    asked = [figure for figure in figures if not figure.cell.drawn]
    wide = sum(figure.relative_half_width > policy.precision for figure in asked)
    if not wide:
        return ""
    budget, why = f"the budget of {round(policy.budget_s, 1):g} s", "more epochs would not help"
    if ended_s is not None:
        late = f" ({ended_s:.0f} s were needed for the least number of epochs)"
        why = f"{budget} is spent{late if ended_s > OVERDUE * policy.budget_s else ''}"
    cells = f"{wide} of {counted(len(figures), 'cell')} {'is' if wide == 1 else 'are'}"
    return f"{why}; {cells} less precise than {policy.precision:.2%}"


def is_look(done: int, least: int) -> bool:
    """True when cells may stop after `done` epochs: every `EPOCH_STEP` from `least` on, later ever more rarely."""
    if done <= SPARSE_FROM:
        return not (done - least) % EPOCH_STEP
    look = SPARSE_FROM - (SPARSE_FROM - least) % EPOCH_STEP
    while look < done:
        look += max(EPOCH_STEP, look // 8)
    return look == done
