"""Arrays and model values in, values out: clean samples, figures, intervals, comparisons.

Nothing here reads, writes, prints or starts anything, and nothing here deletes a sample. SciPy is loaded by
`perbyte.stats.hypothesis` alone, so that measuring never waits for it.
"""

from perbyte.stats.clean import clean_mask, contention_floor, contention_floors, cycles_per_call, ns_per_call
from perbyte.stats.estimate import epoch_value, median, median_interval, midmean
from perbyte.stats.figure import MIN_CLEAN, figure

__all__ = [
    "MIN_CLEAN",
    "clean_mask",
    "contention_floor",
    "contention_floors",
    "cycles_per_call",
    "epoch_value",
    "figure",
    "median",
    "median_interval",
    "midmean",
    "ns_per_call",
]
