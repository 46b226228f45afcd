"""The tests that papers on such data use, and the effect sizes that say more.

A p-value of many dependent samples says how many samples were taken. So every result carries how many values
there were, and they should be epoch figures, which are independent of each other. Nothing here decides which
library is faster: `perbyte.stats.compare` does.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from perbyte.errors import UsageError
from perbyte.stats.arrays import np
from perbyte.stats.estimate import normal_quantile, ranks
from perbyte.stats.samples import Floats

EXACT_UP_TO = 8  # values in the smaller group
# algorithm AS R94 (Royston 1995): powers from 0
MOST_NORMAL, ROYSTON_SMALL = 5000, 11
OUTERMOST = (0.0, 0.221157, -0.147981, -2.07119, 4.434685, -2.706056)
SECOND = (0.0, 0.042981, -0.293762, -1.752461, 5.682633, -3.582633)
SMALL_BOUND = (-2.273, 0.459)
SMALL_MEAN, SMALL_SPREAD = (0.544, -0.39978, 0.025054, -0.0006714), (1.3822, -0.77857, 0.062767, -0.0020322)
LARGE_MEAN, LARGE_SPREAD = (-1.5861, -0.31082, -0.083751, 0.0038915), (-0.4803, -0.082676, 0.0030302)


@dataclass(frozen=True, slots=True)
class KruskalWallis:
    """Whether all groups have one distribution. `counts` are the values per group."""

    statistic: float
    p: float
    counts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class MannWhitney:
    """Whether two groups have one distribution. `p_bonferroni` is p times the number of pairs, at most 1."""

    statistic: float
    p: float
    p_bonferroni: float
    counts: tuple[int, int]


def kruskal_wallis(groups: Sequence[Sequence[float]]) -> KruskalWallis:
    """Test two or more groups (Kruskal and Wallis 1952, corrected for ties). H is 0 when all values are equal.

    Raises UsageError for fewer than two groups or an empty one.
    """
    arrays = [_values(group) for group in groups]
    if len(arrays) < 2:
        raise UsageError("Kruskal-Wallis needs two or more groups", hint="choose more cells")
    counts = tuple(len(array) for array in arrays)
    together = np.concatenate(arrays)
    n, tied = len(together), _tied(together)
    if tied == n**3 - n:
        return KruskalWallis(0.0, 1.0, counts)
    parts = np.split(ranks(together), np.cumsum(counts)[:-1])
    sums = sum(float(part.sum()) ** 2 / len(part) for part in parts)
    h = (12 / (n * (n + 1)) * sums - 3 * (n + 1)) / (1 - tied / (n**3 - n))
    return KruskalWallis(h, chi_square_above(h, len(arrays) - 1), counts)


def mann_whitney_u(a: Sequence[float], b: Sequence[float], *, pairs: int = 1) -> MannWhitney:
    """Test two groups, two-sided (Mann and Whitney 1947); U is that of `a`, `pairs` corrects p (Bonferroni).

    Exact where one group has up to 8 values and none is tied, else the normal approximation with both corrections.
    Raises UsageError for an empty group.
    """
    first, second = _values(a), _values(b)
    together = np.concatenate([first, second])
    n1, n2, tied = len(first), len(second), _tied(together)
    u = float(ranks(together)[:n1].sum()) - n1 * (n1 + 1) / 2
    greater = max(u, n1 * n2 - u)
    if min(n1, n2) <= EXACT_UP_TO and not tied:
        ways = _ways(min(n1, n2), max(n1, n2))
        p = min(1.0, 2 * sum(ways[round(greater) :]) / sum(ways))
    else:
        n = n1 + n2
        spread = math.sqrt(n1 * n2 / 12 * (n + 1 - tied / (n * (n - 1))))
        p = min(1.0, math.erfc((greater - n1 * n2 / 2 - 0.5) / (spread * math.sqrt(2)))) if spread else 1.0
    return MannWhitney(u, p, min(1.0, p * pairs), (n1, n2))


def shapiro_wilk(values: Sequence[float]) -> float:
    """Return the p-value of normality (Shapiro and Wilk 1965); 0 where all values are equal, NaN for fewer than 3.

    Coefficients and distribution of W are Royston's approximations (1995, algorithm AS R94), which hold for up to
    5,000 values: the first so many are taken.
    """
    ordered = np.sort(_values(values)[:MOST_NORMAL])
    n = len(ordered)
    if n < 3:
        return math.nan
    squares = float(((ordered - ordered.mean()) ** 2).sum())
    if not squares:
        return 0.0
    weights = _royston_weights(n)
    apart = ordered[::-1][: n // 2] - ordered[: n // 2]
    w = min(1.0, float(weights @ apart) ** 2 / squares)
    if n == 3:
        return max(0.0, 6 / math.pi * (math.asin(math.sqrt(w)) - math.asin(math.sqrt(0.75))))
    if w == 1:
        return 1.0
    y = math.log1p(-w)
    if n <= ROYSTON_SMALL:
        bound = _polynomial(SMALL_BOUND, n)
        if y >= bound:
            return 0.0
        y, middle, spread = -math.log(bound - y), _polynomial(SMALL_MEAN, n), _polynomial(SMALL_SPREAD, n)
    else:
        middle, spread = _polynomial(LARGE_MEAN, math.log(n)), _polynomial(LARGE_SPREAD, math.log(n))
    return math.erfc((y - middle) / math.exp(spread) / math.sqrt(2)) / 2


def cohens_d(a: Sequence[float], b: Sequence[float]) -> float:
    """Return (mean of b - mean of a) / pooled standard deviation (Cohen 1988, 2.5.2).

    The pooled variance weighs both by n-1. 0 where the means are equal; infinite, with its sign, where they
    differ and nothing scatters; NaN where fewer than three values leave no freedom.
    """
    first, second = _values(a), _values(b)
    difference = float(second.mean() - first.mean())
    freedom = len(first) + len(second) - 2
    if freedom < 1:
        return math.nan
    squares = float(((first - first.mean()) ** 2).sum() + ((second - second.mean()) ** 2).sum())
    if difference == 0:
        return 0.0
    return difference / math.sqrt(squares / freedom) if squares else math.copysign(math.inf, difference)


def cliffs_delta(a: Sequence[float], b: Sequence[float]) -> float:
    """Return P(b > a) - P(b < a) over all pairs of values, in [-1, 1] (Cliff 1993).

    It is the rank-biserial correlation of the Mann-Whitney test: 1 - 2 U_a / (n_a n_b).
    """
    first, second = np.sort(_values(a)), _values(b)
    below = np.searchsorted(first, second, side="left").sum()
    above = (len(first) - np.searchsorted(first, second, side="right")).sum()
    return float(below - above) / (len(first) * len(second))


def chi_square_above(x: float, df: int) -> float:
    """Return the probability that chi-square with `df` degrees of freedom exceeds `x`.

    Finite sums: Abramowitz and Stegun 26.4.4 and 26.4.5.
    """
    if x <= 0:
        return 1.0
    half, odd = x / 2, df % 2
    total = math.erfc(math.sqrt(half)) if odd else 0.0
    power = odd / 2
    term = math.exp(-half) * half**power / math.gamma(power + 1)
    while power < df / 2:
        total += term
        power += 1
        term *= half / power
    return total


def _tied(values: Floats) -> int:
    """The sum of t^3 - t over groups of t equal values."""
    _, counts = np.unique(values, return_counts=True)
    tied = counts[counts > 1]
    return sum(t**3 - t for t in tied.tolist())


def _ways(few: int, many: int) -> list[int]:
    """In how many orders of two groups U is 0, 1, ...: the coefficients of a Gaussian binomial."""
    ways = [1] + [0] * (few * many)
    for i in range(1, few + 1):
        for k in range(len(ways) - 1, many + i - 1, -1):
            ways[k] -= ways[k - many - i]
        for k in range(i, len(ways)):
            ways[k] += ways[k - i]
    return ways


def _royston_weights(n: int) -> Floats:
    """The weights of the differences between opposite order statistics, the outermost first."""
    if n == 3:
        return np.array([math.sqrt(0.5)])
    expected = np.array([-normal_quantile((i - 0.375) / (n + 0.25)) for i in range(1, n // 2 + 1)])
    squares = 2 * float((expected**2).sum())
    outermost = (OUTERMOST, SECOND) if n > 5 else (OUTERMOST,)
    outer = [_polynomial(coefficients, 1 / math.sqrt(n)) for coefficients in outermost]
    weights = expected / math.sqrt(squares)
    weights[: len(outer)] += outer
    own = 2 * float((expected[: len(outer)] ** 2).sum())
    taken = 2 * float((weights[: len(outer)] ** 2).sum())
    weights[len(outer) :] = expected[len(outer) :] / math.sqrt((squares - own) / (1 - taken))
    return weights


def _polynomial(coefficients: Sequence[float], x: float) -> float:
    return float(sum(coefficient * x**power for power, coefficient in enumerate(coefficients)))


def _values(group: Sequence[float]) -> Floats:
    values = np.asarray(group, dtype=np.float64)
    if not len(values) or not np.isfinite(values).all():
        raise UsageError("a group has no values, or some that are not numbers", hint="leave it out")
    return values
