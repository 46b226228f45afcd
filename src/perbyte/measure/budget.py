"""What a run has spent of its budget, and what its next epoch will cost at the least.

An epoch that was begun is carried to its first look, confirmed and stored, whatever the time: its figures would be
worth little otherwise. So beyond the least number of epochs one is begun only with those cells for which
that fits into what is left, going by what the last epoch took. By cost alone: no figure is looked at here.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence

from perbyte.model import Cell, Process


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

    def affordable(self, cells: Sequence[Cell]) -> list[Cell]:
        """Return those of `cells`, in their order, whose epoch fits into what is left; cheap ones first."""
        left = self.left_s - self._rest_s - self._closing_s
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
