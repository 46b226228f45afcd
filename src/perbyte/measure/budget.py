"""What a run has spent of its budget, what its next epoch will cost at the least, and where its time went.

Starting the processes of the promised epochs is free up to a quarter of the budget, since it says nothing about how
dear calls are. What is beyond that, and the starts of further epochs, count: a run ends within `OVERDUE` times its
budget. How long it takes is told beforehand (`measure.forecast`).

An epoch that was begun is carried to its first look, confirmed and stored, whatever the time: its figures would be
worth little otherwise. So beyond the least number of epochs one is begun only with those cells for which
that fits into what is left, going by what the last epoch took. By cost alone: no figure is looked at here.
"""

from __future__ import annotations

import contextlib
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from perbyte.measure.costs import Costs
from perbyte.model import Cell, Process

GRACE_S = 3.0  # what a plan may take beyond its budget in any case
ENOUGH_EPOCHS = 3  # of each cell: an interval needs them
OVERDUE = 1.25  # times the budget, by the clock: beyond it no more epochs than enough


class Budget:
    """The budget of one run. All times are wall clock seconds; what things cost is in `costs`."""

    def __init__(self, budget_s: float, before_s: float = 0.0, costs: Costs | None = None) -> None:
        """`before_s` was spent by an interrupted part of the run."""
        self.budget_s = budget_s
        self.costs = costs or Costs()
        self._before_s = before_s
        self._began = time.monotonic()
        self._outside_s = 0.0
        self._left_at: float | None = None

    @property
    def elapsed_s(self) -> float:
        """Seconds of measuring so far, those of an interrupted part included and those that are free left out."""
        now = time.monotonic()  # once: within `outside` it stands still
        outside_s = self._outside_s + (0.0 if self._left_at is None else now - self._left_at)
        return self._before_s + now - self._began - min(outside_s, (OVERDUE - 1) * self.budget_s)

    @property
    def part_s(self) -> float:
        """Seconds of this part of the run by the clock on the wall, all included."""
        return time.monotonic() - self._began

    @contextlib.contextmanager
    def outside(self) -> Iterator[None]:
        """Let what happens within cost nothing of the budget, up to a quarter of it in all."""
        self._left_at = time.monotonic()
        try:
            yield
        finally:
            self._outside_s += time.monotonic() - self._left_at
            self._left_at = None

    @property
    def left_s(self) -> float:
        """Seconds left of the budget, never below 0."""
        return max(0.0, self.budget_s - self.elapsed_s)

    def share_s(self, cells: Iterable[Cell], epochs: int, free: int = 1) -> float:
        """Return the seconds of rounds that one of `epochs` equal epochs may take.

        The first has started; the starts of the first `free` of them cost nothing as far as that goes.
        """
        costs, starts_s = self.costs, self.costs.starts_s(cells)
        free_s = min((free - 1) * starts_s, max((OVERDUE - 1) * self.budget_s - self._outside_s, 0.0))
        reserved = costs.closing_s + epochs * costs.ending_s + (epochs - 1) * starts_s - free_s
        return max(0.0, self.left_s - reserved) / epochs

    def completed(self, missing: Mapping[Cell, int], cost_s: Callable[[Cell], float]) -> set[Cell]:
        """Return the cells that can have all the epochs that each lacks in what is left, the nearest first.

        `cost_s`: what the bursts of a cell take in an epoch.
        """
        left = self.left_s - self.costs.closing_s
        cost, started, reached = 0.0, set[Process](), set[Cell]()
        for cell in sorted(missing, key=lambda cell: (missing[cell], cost_s(cell))):
            cost += missing[cell] * cost_s(cell)
            started.add(cell.process)
            starts = sum(self.costs.starts_of(started).values())
            if cost + missing[cell] * (self.costs.ending_s + starts) > left:
                break
            reached.add(cell)
        return reached

    def affordable(self, cells: Sequence[Cell]) -> list[Cell]:
        """Return those of `cells`, in their order, of which another epoch fits into what is left; cheap first."""
        costs = self.costs
        left = self.budget_s - self.elapsed_s - costs.closing_s - costs.ending_s
        started: set[Process] = set()
        chosen: set[Cell] = set()
        for cell in sorted(cells, key=lambda cell: costs.first_look_s.get(cell, 0.0)):
            cost = costs.first_look_s.get(cell, 0.0)
            cost += 0.0 if cell.process in started else costs.starts_s([cell])
            if cost < left:
                left -= cost
                started.add(cell.process)
                chosen.add(cell)
        return [cell for cell in cells if cell in chosen]


# in the order in which a run passes them; `other` is what is left of the whole
PARTS = (
    "starting",
    "checking",
    "samples",
    "probes",
    "warm-up",
    "waiting",
    "asking",
    "audit",
    "confirming",
    "statistics",
    "storing",
    "other",
)


class Timing:
    """Seconds of a run by part.

    Of a burst `samples` are the timed calls alone, `probes` what stands around them, `warm-up` the untimed calls,
    `waiting` the looks for a quiet core, and `asking` what messages and forks took besides.
    """

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)
        self._inside: list[float] = []

    @contextlib.contextmanager
    def of(self, part: str) -> Iterator[None]:
        """Count what happens within for `part`, parts inside it left out."""
        began = time.monotonic()
        self._inside.append(0.0)
        try:
            yield
        finally:
            took = time.monotonic() - began
            self.seconds[part] += took - self._inside.pop()
            if self._inside:
                self._inside[-1] += took

    def add_burst(
        self, took_s: float, *, samples_s: float, whole_s: float, warm_s: float, wait_s: float
    ) -> None:
        """Count a burst that took `took_s` from the question to the answer; the rest is what the runner says."""
        whole_s = min(max(whole_s, samples_s + warm_s + wait_s), took_s)
        parts = {
            "samples": samples_s,
            "warm-up": warm_s,
            "waiting": wait_s,
            "probes": whole_s - samples_s - warm_s - wait_s,
            "asking": took_s - whole_s,
        }
        for part, seconds in parts.items():
            self.seconds[part] += max(seconds, 0.0)
        if self._inside:
            self._inside[-1] += took_s

    def shares(self, whole_s: float) -> dict[str, float]:
        """Return the parts in seconds, in their order; what is left of `whole_s` is `other`."""
        known = {part: self.seconds.get(part, 0.0) for part in PARTS}
        known["other"] += max(0.0, whole_s - sum(known.values()))
        return known
