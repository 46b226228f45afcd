"""The location of samples: midmean and median, with the half-width that goes with each.

The estimator of an epoch is the midmean (the mean of the middle half). A median of quantised readings jumps
from step to step, off by half a step at worst; the midmean is off by a quarter at worst, by less as soon as
readings spread over three steps, and resists a quarter of outliers on each side, more than clean samples
have. The median stays available; over epochs, which are few, it is what is used. Calls that last so long that
probes cannot vouch for them get the lower quartile, at both levels: what disturbs them unseen only adds.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from perbyte.stats.quantile import normal_quantile, t_quantile
from perbyte.stats.samples import Floats


def midmean(values: Floats) -> float:
    """Return the interquartile mean; observations on the quarter's border count in part. NaN when empty."""
    n = len(values)
    if n == 0:
        return math.nan
    ordered = np.sort(values)
    cut = n / 4
    whole = int(cut)
    part = cut - whole
    total = float(ordered[whole : n - whole].sum()) - part * float(ordered[whole] + ordered[n - whole - 1])
    return total / (n - 2 * cut)


def median(values: Floats) -> float:
    """Return the median; NaN when empty."""
    n = len(values)
    if n == 0:
        return math.nan
    ordered = np.sort(values)
    return float(ordered[n // 2]) if n % 2 else float(ordered[n // 2 - 1] + ordered[n // 2]) / 2


def epoch_value(values: Floats) -> float:
    """Return the figure of an epoch from its samples: their midmean (the reason stands above)."""
    return midmean(values)


def midmean_half_width(values: Floats, level: float) -> float:
    """Return the half-width of the confidence interval of the midmean; infinite below 3 values.

    Winsorised standard deviation over (1 - 2 x 0.25) sqrt(n), with Student's t on the values that were kept
    (Tukey and McLaughlin 1963).
    """
    n = len(values)
    if n < 3:
        return math.inf
    ordered = np.sort(values)
    cut = n // 4
    ordered[:cut] = ordered[cut]
    ordered[n - cut :] = ordered[n - cut - 1]
    apart = ordered - ordered.sum() / n
    spread = math.sqrt(float(apart @ apart) / (n - 1))
    kept = n - 2 * cut
    return t_quantile(level, kept - 1) * spread / (kept / n * math.sqrt(n))


def median_interval(values: Floats, level: float) -> tuple[float, float]:
    """Return the order-statistics interval of the median, without any assumption on the distribution.

    The ranks come from the binomial distribution (e.g. Le Boudec 2010, theorem 2.1). For few values the
    level cannot be reached; then the extremes are given. NaN when empty.
    """
    n = len(values)
    if n == 0:
        return (math.nan, math.nan)
    ordered = np.sort(values)
    low = _low_rank(n, level)
    return (float(ordered[low]), float(ordered[n - 1 - low]))


def lower_quartile(values: Floats) -> float:
    """Return the lower quartile, interpolated between order statistics (Hyndman and Fan 1996, type 7).

    As long as most values are undisturbed it is one of them, whatever the others are. NaN when empty.
    """
    return float(np.quantile(values, 0.25)) if len(values) else math.nan


@lru_cache(maxsize=4096)
def _low_rank(n: int, level: float) -> int:
    """The largest index j (from 0) for which [x_j, x_(n-1-j)] covers the median with at least `level`."""
    if n > 1000:
        return max(0, int(n / 2 - normal_quantile(0.5 + level / 2) * math.sqrt(n) / 2 - 1))
    outside = (1 - level) / 2
    below = 0.0
    for j in range(n // 2 + 1):
        below += math.comb(n, j) / 2**n
        if below > outside:
            return max(0, j - 1)
    return max(0, n // 2)
