"""How far a ratio of costs reaches from its value, from the epochs of both: on a logarithmic scale, down and up.

Few epochs: Student's t on the ratios of pairs, Welch's interval where there are no pairs. Many: the ranks of the same
ratios (Hodges and Lehmann's shift). One epoch beside a busy neighbour would widen an interval by Student's t tenfold;
ranks only notice that it is the farthest.
"""

from __future__ import annotations

import math

from perbyte.stats.arrays import np
from perbyte.stats.estimate import normal_quantile, t_quantile
from perbyte.stats.interval import ORDERED_FROM, median_spread
from perbyte.stats.samples import Floats

Reach = tuple[float, float]
"""Down and up from a value, both 0 or more."""


def reach_of_pairs(logs: Floats, value: float, level: float) -> Reach:
    """How far the ratio whose logarithm is `value` reaches, from the logarithms of the ratios of two pairs or more.

    From `ORDERED_FROM` pairs on the interval of Wilcoxon's signed ranks (Hollander, Wolfe, Chicken, Nonparametric
    Statistical Methods, 2014, 3.3, normal approximation), if so many can show `level` at all.
    """
    n = len(logs)
    if n < ORDERED_FROM or 2.0**-n > (1 - level) / 2:
        half = t_quantile(level, n - 1) * float(logs.std(ddof=1)) / math.sqrt(n) * median_spread(n)
        return half, half
    first, second = np.triu_indices(n)
    walsh = np.sort((logs[first] + logs[second]) / 2)
    mean, spread = n * (n + 1) / 4, math.sqrt(n * (n + 1) * (2 * n + 1) / 24)
    return _around(value, walsh, mean - normal_quantile(0.5 + level / 2) * spread)


def reach_of_two(a: Floats, b: Floats, value: float, level: float) -> Reach:
    """The same from the logarithms of two costs' epochs, two or more of each, that are no pairs.

    Welch (1947), degrees of freedom rounded down, for medians of epochs; from `ORDERED_FROM` epochs of each on the
    interval of the rank sum (the same book, 4.3).
    """
    m, n = len(a), len(b)
    if min(m, n) >= ORDERED_FROM:  # 2 / (18 over 9) is below any level that is asked for
        shifts = np.sort(np.subtract.outer(b, a).ravel())
        mean, spread = m * n / 2, math.sqrt(m * n * (m + n + 1) / 12)
        return _around(value, shifts, mean - normal_quantile(0.5 + level / 2) * spread)
    part_a = float(a.var(ddof=1)) / m * median_spread(m) ** 2
    part_b = float(b.var(ddof=1)) / n * median_spread(n) ** 2
    whole = part_a + part_b
    if not whole:
        return 0.0, 0.0
    df = whole**2 / (part_a**2 / (m - 1) + part_b**2 / (n - 1))
    half = t_quantile(level, max(1, int(df))) * math.sqrt(whole)
    return half, half


def _around(value: float, ordered: Floats, rank: float) -> Reach:
    """From `value` to the ordered ones of this rank (from 1) from either end."""
    index = max(int(rank), 1) - 1
    return max(0.0, value - float(ordered[index])), max(0.0, float(ordered[len(ordered) - 1 - index]) - value)
