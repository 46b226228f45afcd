"""For how long calls must go untimed before a burst: measured in the run, not assumed.

Most cores find the rhythm of a loop within tens of microseconds. On some (Zen 3) loops of short calls run up to half
slower for two milliseconds after other work, in steps, and what agrees with itself may be such a step. So in the first
epochs one burst of each cell is warmed for as long as the policy allows, and held against the cell's other bursts,
which were warmed briefly. Where the two differ, all bursts are warmed for that long from then on.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from perbyte.model import Policy
from perbyte.stats.arrays import np
from perbyte.stats.estimate import median, median_interval

FULL_ROUND = 2  # of an epoch; in the first one everything else is cold as well
ENOUGH = 200  # comparisons: their median is known within a tenth of their spread
LEAST = 20
LEVEL = 0.999  # of the interval of that median: one run in a thousand warms for longer without need


class Warmth:
    """Decides how briefly a burst may be warmed."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._ratios: list[float] = []
        self.slow = False

    @property
    def compares(self) -> bool:
        """True while one burst of each cell is warmed fully, to be compared."""
        return not self.slow and bool(self._policy.warm_least_us) and len(self._ratios) < ENOUGH

    def least_us(self, round_number: int) -> float:
        """Return `warm_least_us` of a burst; 0 asks for the whole of `warm_us`."""
        compared = round_number == FULL_ROUND and self.compares
        return 0.0 if self.slow or compared else self._policy.warm_least_us

    def note(self, medians_by_round: Iterable[dict[int, float]]) -> bool:
        """Take over an epoch: for each cell the middle of each burst. Return True when bursts need longer from now on.

        The fully warmed burst is held against the median of the cell's others.
        """
        if not self.compares:
            return False
        for by_round in medians_by_round:
            full = by_round.get(FULL_ROUND, math.nan)
            others = [value for number, value in by_round.items() if number != FULL_ROUND and value > 0]
            if full > 0 and others:
                self._ratios.append(math.log(median(np.array(others)) / full))
        if len(self._ratios) < LEAST:
            return False
        low, high = median_interval(np.array(self._ratios), LEVEL)
        self.slow = low > self._policy.precision or high < -self._policy.precision
        return self.slow
