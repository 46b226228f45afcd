"""The time that `perbyte try` promises: an answer ten seconds after it was typed, twenty beside a working neighbour.

It is kept by measuring fewer libraries and fewer epochs, never by a looser rule: an interval is as wide as it is.
Whoever gives a budget has promised himself something else.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from perbyte.measure.budget import OVERDUE

WALL_S = 10.0
BESIDE_S = 20.0
QUIET_SHARE = 0.5  # of the first look's samples that were clean: fewer, and a neighbour is at work
END_S = 1.6  # what an epoch takes longer than foreseen, figures, table and the interpreter's end
_EVERY_S = 0.3  # that files are looked at
LEAST_S = 1.0  # of measuring, however late it is
CALL_S = 2.0  # that a checked call may take, unless `--patience` says otherwise
CELL_S, PAIR_S = 2.0, 4.0  # of measuring for a benchmark, and for one beside its kept program
MOST_S = 60.0  # for all benchmarks


def command_began(stat: Path = Path("/proc/self/stat")) -> float:
    """When this process was started, by the monotonic clock: the interpreter has taken some tenths of a second.

    Now, where the kernel does not say it (proc(5): field 22, in ticks since the machine was started).
    """
    now = time.monotonic()
    try:
        ticks = int(stat.read_text(encoding="ascii").rpartition(")")[2].split()[19])
        age = time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError, AttributeError):
        return now
    return now - age if age > 0 else now


@dataclass(slots=True)
class Clock:
    """When the command began, and by when it answers. `budget_s`: measuring time that was asked for, None without.

    `waited_s`: seconds for which others held the cores, which nobody promised to make up for.
    """

    budget_s: float | None = None
    promised_s: float = WALL_S
    began: float = field(default_factory=time.monotonic)
    waited_s: float = 0.0

    @property
    def elapsed_s(self) -> float:
        """Seconds since the command began."""
        return time.monotonic() - self.began

    @property
    def left_s(self) -> float:
        """Seconds left for starting processes and measuring."""
        return max(LEAST_S, self.promised_s + self.waited_s - self.elapsed_s - END_S)

    def note_clean(self, share: float) -> None:
        """Take over which share of the first look's samples was clean: beside a neighbour everything takes longer."""
        if share < QUIET_SHARE:
            self.promised_s = BESIDE_S

    def measuring_s(self, starts_s: float) -> float:
        """Seconds of measuring where starting processes takes `starts_s` besides."""
        return self.budget_s or round(max(LEAST_S, self.left_s - starts_s, self.left_s / OVERDUE), 1)


def wait_for_change(files: Sequence[Path]) -> None:
    """Return when a file's content is another one. An editor may replace a file, so it may be gone for a moment."""

    def look() -> list[bytes]:
        return [file.read_bytes() if file.is_file() else b"" for file in files]

    seen = look()
    while True:
        time.sleep(_EVERY_S)
        if (now := look()) != seen and all(now):
            return
