"""What runners that gave no answer have cost a run. One that has cost too much is not started again.

Each such silence costs its cell and seconds in which nobody else is measured. So a runner that is stopped at each
question costs no more than a share of the budget, whatever the number of its cells and of epochs.
"""

from __future__ import annotations

from collections import defaultdict

from perbyte.errors import RunnerTimedOut
from perbyte.model import Process
from perbyte.runners.session import Session

MOST_SILENCES, MOST_SHARE = 2, 0.4  # of a process in a run, and of the budget that they may take


class Stalls:
    """Seconds that were waited for answers that did not come, by process."""

    def __init__(self, budget_s: float) -> None:
        """`budget_s`: what the run may take."""
        self._budget_s = budget_s
        self._waited_s: dict[Process, list[float]] = defaultdict(list)

    def note(self, process: Process, session: Session) -> None:
        """Take in how a session ended."""
        if isinstance(session.process.fault, RunnerTimedOut):
            self._waited_s[process].append(session.process.waited_s)

    def require_patience(self, process: Process) -> None:
        """Raise RunnerTimedOut where a process has been silent too often or for too long."""
        waited_s = self._waited_s.get(process, [])
        if len(waited_s) >= MOST_SILENCES or sum(waited_s) > MOST_SHARE * self._budget_s:
            times = "once" if len(waited_s) == 1 else f"{len(waited_s)} times"
            raise RunnerTimedOut(
                f"runner '{process.runner}' gave no answer {times}, for {sum(waited_s):.1f} s in all, "
                "and is not asked again in this run"
            )
