"""What a run has spent of its budget, and what its next epoch will cost at the least.

How long a plan takes at the least is told before anything is measured (`foresee`), from counts and sizes alone: meant
to be right within a factor of two on a quiet machine. What the first epoch really took replaces it.

An epoch that was begun is carried to its first look, confirmed and stored, whatever the time: its figures would be
worth little otherwise. So beyond the least number of epochs one is begun only with those cells for which
that fits into what is left, going by what the last epoch took. By cost alone: no figure is looked at here.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from perbyte.measure.plan import Plan
from perbyte.measure.states import expected_s
from perbyte.model import Cell, Policy, Process
from perbyte.model.cell import LOOP
from perbyte.runners import RunnerSpec

# Seconds, as measured with compiled runners on a machine of 2022; the virtual machine of Java takes longer to come up.
START_S = 0.06
START_JAVA_S = 1.5
WARM_JAVA_S = 0.75  # until a case is compiled and steady, 1.5 s at the most; anew in each epoch
BURST_S = 0.002
CHECK_S = 0.002
BYTE_S = 4e-9  # material, call, digest and comparison of one byte, of a fast algorithm
OVERRUN = 2.0  # times the budget: what takes longer is not begun, or is cut
GRACE_S = 3.0  # what a plan may take in any case


class Budget:
    """The budget of one run. All times are wall clock seconds.

    What is noted replaces what was noted before, because the machine's load of the last epoch tells most about the
    next. Nothing is known before the first epoch; then all is taken to cost nothing.
    """

    def __init__(self, budget_s: float, before_s: float = 0.0) -> None:
        """`before_s` was spent by an interrupted part of the run."""
        self.budget_s = budget_s
        self._before_s = before_s
        self._began = time.monotonic()
        self._starts: dict[Process, float] = {}
        self._first_looks: dict[Cell, float] = {}
        self._rest_s = 0.0
        self._closing_s = 0.0

    @property
    def elapsed_s(self) -> float:
        """Seconds of measuring so far, those of an interrupted part included."""
        return self._before_s + time.monotonic() - self._began

    @property
    def part_s(self) -> float:
        """The same without those of an interrupted part."""
        return time.monotonic() - self._began

    @property
    def left_s(self) -> float:
        """Seconds left of the budget, never below 0."""
        return max(0.0, self.budget_s - self.elapsed_s)

    def note_start(self, process: Process, took_s: float) -> None:
        """Note what starting a process took."""
        self._starts[process] = took_s

    def note_first_look(self, cell: Cell, took_s: float) -> None:
        """Note what a cell's bursts up to the first look took."""
        self._first_looks[cell] = took_s

    def note_rest(self, took_s: float) -> None:
        """Note what an epoch took besides starts, validation and rounds: confirming, ending processes, storing."""
        self._rest_s = took_s

    def note_closing(self, took_s: float) -> None:
        """Note what making the figures of all cells took; the end of the run needs it once more."""
        self._closing_s = took_s

    def share_s(self, cells: Iterable[Cell], epochs: int) -> float:
        """Return the seconds of rounds that one of `epochs` equal epochs may take, the first being started."""
        starts = sum(self._starts.get(process, 0.0) for process in {cell.process for cell in cells})
        reserved = self._closing_s + epochs * self._rest_s + (epochs - 1) * starts
        return max(0.0, self.left_s - reserved) / epochs

    def affordable(self, cells: Sequence[Cell], epochs: int = 1, whole_s: float | None = None) -> list[Cell]:
        """Return those of `cells`, in their order, of which `epochs` fit into what is left; cheap ones first.

        `whole_s` takes the place of the budget.
        """
        budget_s = self.budget_s if whole_s is None else whole_s
        left = (budget_s - self.elapsed_s - self._closing_s) / epochs - self._rest_s
        if left <= 0:
            return []
        started: set[Process] = set()
        chosen: set[Cell] = set()
        for cell in sorted(cells, key=lambda cell: self._first_looks.get(cell, 0.0)):
            cost = self._first_looks.get(cell, 0.0)
            cost += 0.0 if cell.process in started else self._starts.get(cell.process, 0.0)
            if cost <= left:
                left -= cost
                started.add(cell.process)
                chosen.add(cell)
        return [cell for cell in cells if cell in chosen]


@dataclass(frozen=True, slots=True)
class Forecast:
    """`least_s`: seconds that the promised epochs take. `alone` are cells of which one epoch outlasts the budget."""

    least_s: float
    budget_s: float
    alone: tuple[tuple[Cell, float], ...] = ()

    @property
    def fits(self) -> bool:
        """False where the promised epochs would take more than `OVERRUN` times the budget, or one cell outlasts it."""
        return self.least_s <= max(OVERRUN * self.budget_s, GRACE_S) and not self.alone

    def __str__(self) -> str:
        """The span in words: `at least about 12 s, at most 60 s`."""
        least = max(1, round(self.least_s))
        if self.least_s > self.budget_s:
            return f"about {least:,} s, more than the budget of {self.budget_s:g} s"
        return f"at least about {least:,} s, and up to {self.budget_s:g} s where cells are not precise sooner"


def foresee(plan: Plan, policy: Policy, specs: Mapping[str, RunnerSpec]) -> Forecast:
    """Return the forecast of `plan` under `policy`; `specs` are the runners by name."""
    processes = {cell.process for cell in plan.everything}
    java = {name for name, spec in specs.items() if spec.language == "java"}
    starts = sum(START_JAVA_S if runner in java else START_S for runner, _, _ in processes)
    per_cell = {
        cell: _epoch_s(cell, policy) + WARM_JAVA_S * (cell.runner in java) for cell in plan.everything
    }
    checks = sum(CHECK_S + BYTE_S * cell.size_bytes for cell in plan.everything)
    least = policy.epochs * (starts + sum(per_cell.values())) + checks
    alone = tuple(
        (cell, took)
        for cell in plan.cells
        if (took := per_cell[cell] + BYTE_S * cell.size_bytes) > max(policy.budget_s, GRACE_S)
    )
    return Forecast(least, policy.budget_s, alone)


def _epoch_s(cell: Cell, policy: Policy) -> float:
    """Seconds of one epoch of `cell` up to the first look; long data get one burst."""
    if cell.state != LOOP:
        return expected_s(cell)
    return max(policy.looks[0] * BURST_S, BYTE_S * cell.size_bytes)
