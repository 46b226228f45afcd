"""The time that `perbyte try` promises: an answer ten seconds after it was typed, twenty beside a working neighbour.

It is kept by measuring fewer libraries and fewer epochs, never by a looser rule: an interval is as wide as it is.
Whoever gives a budget has promised himself something else.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field

WALL_S = 10.0
BESIDE_S = 20.0
QUIET_SHARE = 0.5  # of the first look's samples that were clean: fewer, and a neighbour is at work
END_S = 1.6  # what an epoch takes longer than foreseen, figures, table and the interpreter's end
LEAST_S = 1.0  # of measuring, however late it is


@dataclass(slots=True)
class Clock:
    """When the command began, and by when it answers. `budget_s`: measuring time that was asked for, None without."""

    budget_s: float | None = None
    promised_s: float = WALL_S
    began: float = field(default_factory=time.monotonic)

    @property
    def elapsed_s(self) -> float:
        """Seconds since the command began."""
        return time.monotonic() - self.began

    @property
    def left_s(self) -> float:
        """Seconds left for starting processes and measuring."""
        return max(LEAST_S, self.promised_s - self.elapsed_s - END_S)

    def note_clean(self, share: float) -> None:
        """Take over which share of the first look's samples was clean: beside a neighbour everything takes longer."""
        if share < QUIET_SHARE:
            self.promised_s = BESIDE_S

    def measuring_s(self, starts_s: float) -> float:
        """Seconds of measuring where starting processes takes `starts_s` besides."""
        return self.budget_s or round(max(LEAST_S, self.left_s - starts_s), 1)
