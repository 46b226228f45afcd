"""A run as a neighbour: while other programs wait for a core, it leaves them their part of those that it measures on.

A burst holds one core for milliseconds, with a priority that keeps others away, and the next one follows at once. So
between two bursts it is seen whether somebody waits, and the run pauses for as long as it takes to stay within its
share. Nothing is lost by that but time: a burst begins with untimed calls, whatever the core did before.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection
from pathlib import Path

LEAST_S = 0.02  # between two questions to the system
SHARE = 0.6  # of the cores it measures on, that a run takes at the most while others wait


def programs_running() -> int:
    """How many threads of the machine run or could, this one included; 0 where the system does not say."""
    try:
        running, _, _ = Path("/proc/loadavg").read_text(encoding="ascii").split()[3].partition("/")
        return int(running)
    except (OSError, ValueError, IndexError):
        return 0


class Share:
    """What a run takes of `cores`. `loops`: how many processes of its own keep cores awake, and so run at any time."""

    def __init__(
        self,
        cores: Collection[int] = (),
        loops: int = 0,
        *,
        running: Callable[[], int] = programs_running,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
        own_s: Callable[[], float] = time.process_time,
    ) -> None:
        self._cores = len(cores)
        self._mine = loops + 1
        self._running, self._sleep, self._clock, self._own_s = running, sleep, clock, own_s
        self._since, self._own = clock(), own_s()
        self.paused_s = 0.0

    def crowded(self, working: int) -> bool:
        """True where others wait for a core while `working` runners work, or would if one more did."""
        others = self._running() - self._mine - working
        return others > (os.cpu_count() or 1) - (working + 1)

    def give_back(self, at_once: int = 1) -> None:
        """Pause where others wait, to be called while no runner works.

        Since the last call `at_once` runners took a core each, and this process what it took. Others wait where more
        threads could run than there are cores beside those of the runners.
        """
        taken_s = self._clock() - self._since
        if taken_s < LEAST_S:
            return  # it counts with what comes next
        others = self._running() - self._mine
        if self._cores and others > (os.cpu_count() or 1) - at_once:
            worked_s = at_once * taken_s + self._own_s() - self._own
            pause_s = worked_s / (SHARE * self._cores) - taken_s
            if pause_s > 0:
                self._sleep(pause_s)
                self.paused_s += pause_s
        self._since, self._own = self._clock(), self._own_s()
