"""What is known of a run, from this part or from one that was interrupted, its end, and what a watcher is told of it.

Bursts, failures and calibrations go to the sink at once, and into what is known. Nothing here starts a process or makes
a figure.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Protocol, Self

from perbyte.errors import RunnerGarbled
from perbyte.measure.plan import Plan
from perbyte.measure.sessions import CALIBRATIONS, alike
from perbyte.model import (
    Audit,
    Burst,
    Calibration,
    Cell,
    CellFigure,
    Failure,
    NoiseFloor,
    Policy,
    Process,
    Row,
    RunnerIdentity,
    Sink,
    StoredRun,
    UnprovenTier,
)
from perbyte.stats.clean import out_of_line


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
    clean samples in this epoch so far, 0 to 1. `figure` is what the cell that was measured last costs so far.
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
    figure: str = ""

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
            f"{self.stage}, {min(self.pending, self.total - self.done)} to go",  # twins are in no count
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


class Ledger:
    """The sink and the history of one run. `lost` are the cells that have no figure any more."""

    def __init__(self, plan: Plan, sink: Sink, history: RunHistory) -> None:
        self._plan = plan
        self.sink = sink
        self.history = history
        failed = {failure.address for failure in history.failures}
        self.lost = {cell for cell in plan.everything if cell.address in failed}

    def alive(self) -> list[Cell]:
        """The cells that are not lost, twins of lost ones left out."""
        return self._plan.of_use(self.left(self._plan.everything))

    def left(self, cells: Iterable[Cell]) -> list[Cell]:
        """Those of `cells` that are not lost."""
        return [cell for cell in cells if cell not in self.lost]

    def keep(self, burst: Burst) -> None:
        """Keep a burst."""
        self.sink.measured(burst)
        self.history.bursts[burst.cell].append(burst)

    def fail(self, failure: Failure) -> None:
        """Keep a failure; of a cell only the first."""
        if failure.address:
            lost = [cell for cell in self._plan.everything if cell.address == failure.address]
            if any(cell in self.lost for cell in lost):
                return
            self.lost.update(lost)
        self.history.failures.append(failure)
        self.sink.failed(failure)

    def reached(self, cells: Iterable[Cell], beyond: Mapping[Cell, Failure]) -> list[Cell]:
        """Those of `cells` that are left without those `beyond` reach; of twins, nobody's wish, nothing is said."""
        self.lost.update(cell for cell in beyond if cell.twin)
        for failure in (failure for cell, failure in beyond.items() if not cell.twin):
            self.fail(failure)
        return self.left(cells)

    def note_unproven(self, tier: UnprovenTier) -> None:
        """Keep a row whose tier is not proved."""
        self.history.unproven[tier.row] = tier
        self.sink.unproven(tier)


class Admission:
    """Decides whether a process may be used, by who it is and by what it found out about its clock."""

    def __init__(self, policy: Policy, ledger: Ledger, watcher: Watcher) -> None:
        self._policy = policy
        self._ledger = ledger
        self._watcher = watcher
        self._identified: dict[tuple[str, str], RunnerIdentity] = {}
        self._second_looks: Counter[tuple[Process, int]] = Counter()

    def admit(self, identity: RunnerIdentity, calibration: Calibration) -> bool:
        """Note who a process is and what it found out about its clock; False when it cannot be used.

        A process that replaces another in mid-epoch goes on with the same cells in the same layout, so its samples and
        those before belong to one figure, for which one calibration must do: it has to be like the other's. The later
        one counts then. Before the first sample it takes the other's place. One with an odd floor looks again.
        Raises RunnerGarbled for one that is another program than it was.
        """
        history, sink = self._ledger.history, self._ledger.sink
        before = self._identified.setdefault((identity.runner, identity.cpu), identity)
        if before != identity:
            raise RunnerGarbled(
                f"runner '{identity.runner}' is not what it was when the run began: "
                f"{before.library} {before.library_version} then, {identity.library} {identity.library_version} now"
            )
        key = (calibration.process, calibration.epoch)
        known = history.calibrations.get(key)
        if known and history.measured(*key) and not alike(known, calibration, self._policy):
            self._watcher.note(
                f"{calibration.runner} (tier {calibration.cpu}) broke off; its replacement has another clock"
            )
            return False
        others = history.calibrations.values()
        # a process is never given up for an odd floor: what it found last is taken, a few looks on
        if self._second_looks[key] < CALIBRATIONS - 1 and out_of_line(calibration, others, self._policy):
            self._second_looks[key] += 1
            return False
        if history.identity(identity.runner, identity.cpu) != identity:
            sink.identified(identity)
            history.identities += (identity,)
        history.calibrations[key] = calibration
        sink.calibrated(calibration)
        return True
