"""What is known of a run, from this part or from one that was interrupted, its end, and what a watcher is told of it.

Data that grows while the run goes on; nothing here starts a process or makes a figure.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol, Self

from perbyte.model import (
    Audit,
    Burst,
    Calibration,
    Cell,
    CellFigure,
    Failure,
    NoiseFloor,
    Process,
    Row,
    RunnerIdentity,
    StoredRun,
    UnprovenTier,
)


@dataclass(slots=True)
class RunHistory:
    """What is known so far: from an interrupted run that goes on, or from this one.

    Cells that stand in `failures` are lost and stay so; `identities` are those the run began with, and
    `measuring_s` is what it had spent by then. Of two calibrations of one process and epoch (it was replaced)
    the later one counts, here as in the store.
    """

    calibrations: dict[tuple[Process, int], Calibration] = field(default_factory=dict)
    bursts: dict[Cell, list[Burst]] = field(default_factory=lambda: defaultdict(list))
    failures: list[Failure] = field(default_factory=list)
    unproven: dict[Row, UnprovenTier] = field(default_factory=dict)
    audits: dict[Cell, list[Audit]] = field(default_factory=lambda: defaultdict(list))
    identities: tuple[RunnerIdentity, ...] = ()
    epochs: int = 0
    measuring_s: float = 0.0

    @classmethod
    def of(cls, stored: StoredRun) -> Self:
        """What a run knows that goes on."""
        history = cls(
            failures=list(stored.failures),
            unproven={tier.row: tier for tier in stored.unproven},
            identities=stored.conditions.identities,
            measuring_s=stored.measuring_s,
        )
        for audit in stored.audits:
            history.audits[audit.cell].append(audit)
        for calibration in stored.calibrations:
            history.calibrations[calibration.process, calibration.epoch] = calibration
        for burst in stored.bursts:
            history.bursts[burst.cell].append(burst)
            history.epochs = max(history.epochs, burst.epoch + 1)
        return history

    def epochs_of(self, cell: Cell) -> int:
        """In how many epochs the cell was measured."""
        return len({burst.epoch for burst in self.bursts.get(cell, ())})

    def measured(self, process: Process, epoch: int) -> bool:
        """True when there are samples of the process in the epoch."""
        return any(
            bursts and bursts[-1].epoch == epoch
            for cell, bursts in self.bursts.items()
            if cell.process == process
        )

    def identity(self, runner: str, cpu: str) -> RunnerIdentity | None:
        """Who answers for a runner in a CPU tier; None when nobody has yet."""
        named = {(identity.runner, identity.cpu): identity for identity in self.identities}
        return named.get((runner, cpu))


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """What came of a run. `complete` is False after an interruption; `timing`: seconds by part (`measure.budget`).

    `over_at`: when its last epoch ended, by the monotonic clock.
    """

    cells: tuple[CellFigure, ...]
    failures: tuple[Failure, ...]
    noise_floor: NoiseFloor | None
    complete: bool
    measuring_s: float
    timing: Mapping[str, float] = field(default_factory=dict)
    over_at: float = math.nan


@dataclass(frozen=True, slots=True)
class Moment:
    """Where the run stands. `stage` is a few words; `left_s` is what is left of the budget and falls to 0.

    `expected_s`: until the cells are precise or the budget is spent, by the precision that was reached at the last
    look; None before the first. `after_s`: what the command will take after that, as far as earlier ones tell.

    `done` of `total` counts cells of the plan that need no more samples in this run, being precise or lost;
    `pending` those that the epoch under way still works on, A/A twins included. `clean_share` is the share of
    clean samples in this epoch so far, 0 to 1.
    """

    stage: str
    what: str
    epoch: int
    done: int
    total: int
    pending: int
    clean_share: float
    elapsed_s: float
    left_s: float
    expected_s: float | None = None
    after_s: float = 0.0

    def __str__(self) -> str:
        """The same in a line; what a narrow terminal cuts off matters least."""
        rest = (
            "beyond the budget, for the least number of epochs"
            if not self.left_s
            else f"at most {self.left_s + self.after_s:.0f} s left"
            if self.expected_s is None
            else f"about {self.expected_s + self.after_s:.0f} s left"
        )
        parts = [
            f"{self.elapsed_s:.0f} s, {rest}",
            f"{self.done} of {self.total} cells done",
            f"{self.stage}, {self.pending} to go",
            f"{self.clean_share:.0%} clean" if self.clean_share else "",
            self.what,
        ]
        return " · ".join(filter(None, parts))


class Watcher(Protocol):
    """Receives moments and notes; must return quickly."""

    def moment(self, moment: Moment) -> None:
        """Something moved on."""

    def note(self, text: str) -> None:
        """Something a person should know, that is no error."""


class NullProgress:
    """The watcher that looks away."""

    def moment(self, moment: Moment) -> None:
        """Do nothing."""

    def note(self, text: str) -> None:
        """Do nothing."""
