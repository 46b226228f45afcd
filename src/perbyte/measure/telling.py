"""Where a run stands, for whoever watches it; and the sink is told what time is spent, so that a kill loses little."""

from __future__ import annotations

import math
import statistics
import time

from perbyte.measure.budget import Budget
from perbyte.measure.cores import noise_note
from perbyte.measure.history import Ledger, Moment, Watcher
from perbyte.measure.plan import Plan
from perbyte.measure.rounds import EpochUnderWay
from perbyte.measure.stopping import Stopping
from perbyte.model import Cell

NOISY_SHARE = 0.15  # of clean samples, below which a run says what would help
NOTE_EVERY_S = 1.0  # what a kill may make a resumed run forget of the time that was spent


class Telling:
    """Tells the watcher of one run.

    `epoch_s` are the seconds that the last epoch took, `over_at` is when it ended by the monotonic clock.
    """

    def __init__(
        self,
        plan: Plan,
        watcher: Watcher,
        ledger: Ledger,
        budget: Budget,
        stopping: Stopping,
        after_s: float = 0.0,
    ) -> None:
        """`after_s`: seconds that the command will take after the last epoch."""
        self._plan = plan
        self._watcher = watcher
        self._ledger = ledger
        self._budget = budget
        self._stopping = stopping
        self._after_s = after_s
        self.epoch_s = self._epoch_began = 0.0
        self.over_at = math.nan
        self._noted_s = 0.0
        self._clean_share = 0.0
        self._clean_shares: list[float] = []
        self._done = ((-1, -1), 0)
        self._middles: dict[Cell, dict[int, float]] = {}

    def note(self, text: str) -> None:
        """Something a person should know."""
        self._watcher.note(text)

    def begin_epoch(self) -> None:
        """An epoch begins now."""
        self._epoch_began = time.monotonic()

    def end_epoch(self) -> None:
        """It has ended now."""
        self.over_at = time.monotonic()
        self.epoch_s = self.over_at - self._epoch_began

    def burst(self, stage: str, cell: Cell, pending: int, clean: float, epoch: EpochUnderWay) -> None:
        """Tell where the run stands after a burst of `cell`, and what that costs so far."""
        if medians := epoch.tallies[cell].medians:
            self._middles.setdefault(cell, {})[epoch.number] = statistics.median(medians)
        in_cycles = epoch.sessions.calibrations[cell.process].cycle_source != "none"
        figure = self._so_far(cell, "cycles" if in_cycles else "ns")
        self.moment(stage, cell.address, epoch.number, pending, clean, figure)

    def _so_far(self, cell: Cell, unit: str) -> str:
        """The mean of the middles of a cell's epochs, in words; '' before a clean sample.

        Only for whoever waits: no figure of a run is computed so.
        """
        if cell.twin or cell not in self._middles:
            return ""
        cost = statistics.fmean(self._middles[cell].values())
        a_byte = f", {cost / cell.size_bytes:.3g} a byte" if cell.size_bytes > 1 else ""
        a_call = f"{cost:,.0f}" if cost >= 1000 else f"{cost:.4g}"
        return f"{cell.address}: {a_call} {unit} a call{a_byte} so far"

    def moment(
        self,
        stage: str,
        what: str,
        epoch: int,
        pending: int,
        clean: float | None = None,
        figure: str = "",
    ) -> None:
        """Tell where the run stands; `clean` is the share of clean samples in this epoch so far."""
        if clean is not None:
            self._clean_share = clean
        if self._budget.elapsed_s >= self._noted_s + NOTE_EVERY_S:
            self.note_time()
        finished, lost = self._stopping.finished, self._ledger.lost
        known = (len(finished), len(lost))
        if self._done[0] != known:  # asked for at each burst
            self._done = (known, sum(cell in finished or cell in lost for cell in self._plan.cells))
        until_s = self._stopping.until_precise_s
        self._watcher.moment(
            Moment(
                stage=stage,
                what=what,
                epoch=epoch,
                done=self._done[1],
                total=len(self._plan.cells),
                pending=pending,
                clean_share=self._clean_share,
                elapsed_s=self._budget.elapsed_s,
                left_s=self._budget.left_s,
                expected_s=None if until_s is None else min(until_s, self._budget.left_s),
                after_s=self._after_s,
                figure=figure,
            )
        )

    def note_time(self) -> None:
        """Tell the sink what the run has taken so far."""
        self._noted_s = self._budget.elapsed_s
        self._ledger.sink.spent(self._noted_s)

    def note_clean(self, cores: tuple[int, ...]) -> None:
        """Say after two epochs what would help, where few samples of theirs were clean."""
        self._clean_shares.append(self._clean_share)
        if len(self._clean_shares) == 2 and statistics.mean(self._clean_shares) < NOISY_SHARE:
            self._watcher.note(noise_note(statistics.mean(self._clean_shares), cores))
