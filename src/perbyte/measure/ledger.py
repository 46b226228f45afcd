"""What a run keeps: bursts, failures and calibrations go to the sink at once, and into what is known of the run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from perbyte.errors import RunnerGarbled
from perbyte.measure.history import RunHistory, Watcher
from perbyte.measure.plan import Plan
from perbyte.measure.sessions import CALIBRATIONS, alike
from perbyte.model import (
    Burst,
    Calibration,
    Cell,
    Failure,
    Policy,
    Process,
    RunnerIdentity,
    Sink,
    UnprovenTier,
)
from perbyte.stats.clean import out_of_line


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

    def leave(self, cell: Cell, failure: Failure) -> None:
        """Lose a cell that is not reached. Nobody asked for a twin, so nothing is said of it."""
        if cell.twin:
            self.lost.add(cell)
        else:
            self.fail(failure)

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
