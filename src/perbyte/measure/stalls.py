"""What runners that gave no answer have cost a run. One that has cost too much is not started again.

Each such silence costs its cell and seconds in which nobody else is measured. So a runner that is stopped at each
question costs no more than a share of the budget, whatever the number of its cells and of epochs.
"""

from __future__ import annotations

from collections import Counter, defaultdict

from perbyte.errors import RunnerTimedOut
from perbyte.model import Process
from perbyte.runners.session import LEAST_ASLEEP_S, Session

MOST_SILENCES, MOST_SHARE = 2, 0.4  # of a process in a run, and of the budget that they may take


class Stalls:
    """What was waited for answers that did not come, or that came after a sleep, by process, of a run's budget."""

    def __init__(self, budget_s: float) -> None:
        self._most_s = max(LEAST_ASLEEP_S, MOST_SHARE * budget_s)  # a host may be slow to start a process
        self._waited_s: dict[Process, float] = defaultdict(float)
        self._silences: Counter[Process] = Counter()

    def note(self, process: Process, session: Session) -> None:
        """Take in how a session ended."""
        silent = isinstance(session.process.fault, RunnerTimedOut)
        self._silences[process] += silent
        self._waited_s[process] += session.process.waited_s if silent else session.process.asleep_s

    def require_patience(self, process: Process) -> None:
        """Raise RunnerTimedOut where a process has been silent too often, or has kept others waiting for too long."""
        waited_s, times = self._waited_s[process], self._silences[process]
        if times >= MOST_SILENCES or waited_s > self._most_s:
            what = f"gave no answer ({times} of its processes)" if times else "slept before its answers"
            raise RunnerTimedOut(
                f"runner '{process.runner}' {what}, for {waited_s:.1f} s in all, and is not asked again in this run"
            )
