"""Cells that truly have two ways: their bursts settle in one of two costs, and a mean hides that.

A burst in a fork draws the state of the processor's predictors anew (ADR 28). Where the middles of many bursts form two
groups with a gap between them, both costs and how often each came are said beside the figure. Nothing else changes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from perbyte.model import Doubt, Warning
from perbyte.stats.arrays import np
from perbyte.stats.samples import Floats

LEAST_BURSTS = 40  # that show two groups
LEAST_SHARE = 0.15  # of the bursts in the smaller group: rarer ones may be disturbances
# Ashman's D (Ashman, Bird and Zepf 1994): distance of the groups over their mean standard deviation, here by quantiles.
# Of 40 and more bursts of one kind it exceeds 5 in one case of 1,000 where they are normal or have heavy tails
# (Student's t on 3 degrees of freedom), in one of 200 where they are skewed or uniform (simulated, 20,000 each); two
# groups six standard deviations apart reach it in 19 of 20 cases.
LEAST_DISTANCE = 5.0
STRIP_BINS = 24
LEAST_APART = 0.02  # of the cost, between the two: less is nobody's concern


def find_ways(bursts: Sequence[float] | Floats) -> tuple[tuple[float, float], tuple[float, float]] | None:
    """Return (cost, share) of both groups of bursts, the cheaper one first; None where there are no two.

    `bursts` are the middles of the bursts of a cell. The split is where the sum of squares within the parts is least
    (one-dimensional 2-means, by trying all).
    """
    ordered = np.sort(np.asarray(bursts, dtype=float))
    n = len(ordered)
    least = max(int(np.ceil(LEAST_SHARE * n)), 2)
    if n < LEAST_BURSTS or ordered[0] <= 0:
        return None
    sums, squares = np.cumsum(ordered), np.cumsum(ordered**2)
    low = np.arange(least, n - least + 1)
    high = n - low
    within = squares[-1] - sums[low - 1] ** 2 / low - (sums[-1] - sums[low - 1]) ** 2 / high
    split = int(low[int(np.argmin(within))])
    first, second = float(np.median(ordered[:split])), float(np.median(ordered[split:]))
    spread = math.hypot(_spread(ordered[:split]), _spread(ordered[split:])) / math.sqrt(2)
    if second - first < max(LEAST_APART * first, LEAST_DISTANCE * spread):
        return None
    return (first, split / n), (second, 1 - split / n)


def _spread(ordered: Floats) -> float:
    """The standard deviation by quantiles: half of what lies between the 16th and the 84th percentile."""
    low, high = np.quantile(ordered, (0.16, 0.84))
    return float(high - low) / 2


def ways_warning(bursts: Sequence[float] | Floats, unit: str) -> Warning | None:
    """Say that a cell has two ways, with both costs in `unit` and their shares; None where it has not."""
    ways = find_ways(bursts)
    if not ways:
        return None
    (low, often), (high, seldom) = ways
    text = (
        f"two ways: {low:.4g} {unit} a call in {often:.0%} of the bursts and {high:.4g} in {seldom:.0%} "
        f"{strip(bursts)}; the figure is the middle of both"
    )
    return Warning(Doubt.TWO_WAYS, text, (low, often, high, seldom))


def strip(values: Sequence[float] | Floats) -> str:
    """The values on a line, as a histogram of `STRIP_BINS` characters between their 2nd and 98th percentiles.

    A space stands for no value, `▁` to `█` for up to the most frequent eighths.
    """
    low, high = np.quantile(np.asarray(values, dtype=float), (0.02, 0.98))
    counts, _ = np.histogram(np.clip(values, low, high), STRIP_BINS, (low, high) if high > low else None)
    return "[" + "".join(" ▁▂▃▄▅▆▇█"[math.ceil(8 * count / counts.max())] for count in counts) + "]"
