"""What the parts of a run took: one table, by which budget, reach, plan of bursts and pace go.

What is noted replaces what was noted before, because the machine's load of the last epoch tells most about the next.
Nothing is known before the first epoch; then all is taken to cost nothing. By the clock on the wall, in seconds; no
figure is looked at here.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from perbyte.measure.tally import Tally
from perbyte.model import Cell, Process


@dataclass(slots=True)
class Costs:
    """Seconds. `start_s`: what each process took to come up; `shortest_s`: the shortest burst of a cell.

    `first_look_s`: what a cell's bursts up to the first look took. `own_s`: the same by the shortest burst, so that a
    slow moment of the host has no part in it. Both of calls in states of their own and of random calls: all of them.

    `burst_s`, `sample_s`: what a burst of a cell takes beyond its samples, and a sample.

    `epoch_s`: the last epoch; `beside_s`: one cell's part of what it took besides bursts, `rest_s` without the starts
    of its processes. `ending_s`: of an epoch from its last round on: confirming, ending processes. `closing_s`: making
    the figures of all cells, which the end of the run needs once more.
    """

    start_s: dict[Process, float] = field(default_factory=dict)
    shortest_s: dict[Cell, float] = field(default_factory=dict)
    first_look_s: dict[Cell, float] = field(default_factory=dict)
    own_s: dict[Cell, float] = field(default_factory=dict)
    burst_s: dict[Cell, float] = field(default_factory=dict)
    sample_s: dict[Cell, float] = field(default_factory=dict)
    epoch_s: float = 0.0
    beside_s: float = 0.0
    rest_s: float = 0.0
    ending_s: float = 0.0
    closing_s: float = 0.0
    _spent_s: dict[Cell, float] = field(default_factory=lambda: defaultdict(float))
    _epochs: Counter[Cell] = field(default_factory=Counter)

    def note(
        self,
        tallies: Mapping[Cell, Tally],
        *,
        first_look: int,
        epoch_s: float,
        ending_s: float = 0.0,
        starts_s: float = 0.0,
    ) -> None:
        """Take over an epoch that took `epoch_s`, `starts_s` of it to start processes.

        `first_look`: the rounds up to the first look.
        """
        beside_s = epoch_s - sum(tally.spent_s for tally in tallies.values())
        self.epoch_s, self.ending_s = epoch_s, ending_s
        self.beside_s = max(beside_s, 0.0) / max(len(tallies), 1)
        self.rest_s = max(beside_s - starts_s, 0.0) / max(len(tallies), 1)
        for cell, tally in tallies.items():
            self.first_look_s[cell] = tally.early * tally.spent_s / max(1, tally.bursts)
            if tally.bursts:
                self.shortest_s[cell] = tally.shortest_s
                self.own_s[cell] = min(tally.bursts, first_look) * tally.shortest_s
                self.sample_s[cell] = tally.sampling_s / max(tally.samples, 1)
                self.burst_s[cell] = max(tally.spent_s - tally.sampling_s, 0.0) / tally.bursts
                self._spent_s[cell] += tally.spent_s
                self._epochs[cell] += 1

    def note_states(self, took_s: Mapping[Cell, float]) -> None:
        """Take over what calls in states of their own, and random calls, took in an epoch."""
        self.first_look_s |= took_s
        self.own_s |= took_s

    def starts_of(self, processes: Iterable[Process]) -> dict[Process, float]:
        """What each of `processes` took to come up, the last time; 0 where that is not known."""
        return {process: self.start_s.get(process, 0.0) for process in processes}

    def starts_s(self, cells: Iterable[Cell]) -> float:
        """What starting the processes of `cells` took, the last time."""
        return sum(self.starts_of(cell.process for cell in cells).values())

    def shortest(self, cell: Cell) -> float:
        """The shortest burst of a cell; inf where that is not known."""
        return self.shortest_s.get(cell, math.inf)

    def mean_epochs_s(self) -> dict[Cell, float]:
        """What the bursts of each cell took in an epoch, in the mean of all epochs."""
        return {cell: self._spent_s[cell] / count for cell, count in self._epochs.items()}

    def beside_bursts_s(self, measuring_s: float) -> float:
        """Of a run that took `measuring_s`: what an epoch of a cell took besides its bursts, in the mean."""
        rest_s = max(0.0, measuring_s - sum(self._spent_s.values()))
        return rest_s / max(1, sum(self._epochs.values()))
