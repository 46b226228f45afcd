"""Who looks at its contention probe again: a process whose quiet core is unlike its siblings', a few times.

What is unlike is decided in `stats.floors`. A process is never given up for it: what it found last is taken, and
figures come from the floors of all processes together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from perbyte import stats
from perbyte.measure.sessions import CALIBRATIONS
from perbyte.model import Calibration, Policy, Process


class SecondLooks:
    """How often each process of an epoch looked again."""

    def __init__(self) -> None:
        """Nobody has."""
        self._taken: Counter[tuple[Process, int]] = Counter()

    def due(self, calibration: Calibration, others: Iterable[Calibration], policy: Policy) -> bool:
        """True where the process should look once more; it is then counted as having done so.

        `others` are the calibrations of the run so far, by which it is judged.
        """
        key = (calibration.process, calibration.epoch)
        if self._taken[key] >= CALIBRATIONS - 1 or not stats.out_of_line(calibration, others, policy):
            return False
        self._taken[key] += 1
        return True
