"""What a single call costs, from calls that were timed one by one: the median with its interval."""

from __future__ import annotations

import numpy as np

from perbyte.model import Estimate, Once
from perbyte.stats.estimate import median, median_interval

LEAST_CLEAN = 10


def once_estimate(measured: Once, *, cycles: bool, level: float = 0.95) -> tuple[Estimate, bool] | None:
    """The median of clean calls (of all where fewer than ten are clean), and whether they were clean.

    In core cycles or in nanoseconds; None where there are none. The interval is that of order statistics.
    """
    values = np.array(measured.cycles if cycles else measured.ns)
    if not len(values):
        return None
    clean = np.array(measured.clean)
    enough = int(clean.sum()) >= LEAST_CLEAN
    kept = values[clean] if enough else values
    low, high = median_interval(kept, level)
    return Estimate(median(kept), low, high), enough
