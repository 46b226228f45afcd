"""The location of samples: midmean and median, with the half-width that goes with each.

The estimator of an epoch is the midmean (the mean of the middle half). A median of quantised readings jumps
from step to step, off by half a step at worst; the midmean is off by a quarter at worst, by less as soon as
readings spread over three steps, and resists a quarter of outliers on each side, more than clean samples
have. The median stays available; over epochs, which are few, it is what is used. Calls that last so long that
probes cannot vouch for them get the lower quartile, at both levels: what disturbs them unseen only adds.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from statistics import NormalDist

from perbyte.stats.arrays import np
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


_DRAWS = 400
_WIDEST = 1e3  # an interval without an end is drawn from as if it ended here, times or over the value


def ranks(values: Sequence[float] | Floats) -> Floats:
    """Return the ranks of values, from 1; equal values share their mean rank."""
    _, inverse, counts = np.unique(np.asarray(values), return_inverse=True, return_counts=True)
    middles: Floats = (np.cumsum(counts) - (counts - 1) / 2.0)[inverse]
    return middles


def rank_correlation(a: Sequence[float] | Floats, b: Sequence[float] | Floats) -> float:
    """Return Spearman's correlation (1904): Pearson's on mean ranks; 0 where one side has a single rank."""
    if len(a) < 2:
        return 0.0
    first, second = ranks(a), ranks(b)
    first, second = first - first.mean(), second - second.mean()
    scale = math.sqrt(float(first @ first) * float(second @ second))
    return float(first @ second) / scale if scale else 0.0


def rank_correlation_range(
    a: Sequence[float], b: Sequence[tuple[float, float, float]]
) -> tuple[float, float]:
    """Return the least and greatest correlation of `a` with values drawn from the intervals (value, low, high).

    400 draws, each value uniform in its interval; seeded, so the answer is the same every time.
    """
    generator = np.random.default_rng(1904)
    low = np.array([max(low, value / _WIDEST) for value, low, _ in b])
    high = np.array([min(high, value * _WIDEST) for value, _, high in b])
    correlations = [rank_correlation(a, generator.uniform(low, high)) for _ in range(_DRAWS)]
    return min(correlations), max(correlations)


# Quantiles without SciPy, which takes half a second to load: measuring asks for intervals all the time. Only whole
# degrees of freedom are offered, because then the distribution function is a finite sum.
_MANY = 400  # degrees of freedom from which on the expansion around the normal is exact to 1e-10


def normal_quantile(probability: float) -> float:
    """Return the standard normal quantile; `probability` in (0, 1)."""
    return NormalDist().inv_cdf(probability)


@lru_cache(maxsize=4096)
def t_quantile(level: float, df: int) -> float:
    """Return t such that Student's t with `df` degrees of freedom lies in [-t, t] with probability `level`.

    Infinite for `df` below 1. Finite sums: Abramowitz and Stegun 26.7.3 and 26.7.4; for many degrees of
    freedom the expansion 26.7.5.
    """
    if df < 1:
        return math.inf
    if not 0 < level < 1:
        raise ValueError(f"a level lies between 0 and 1, not {level}")
    if df >= _MANY:
        return _expanded(normal_quantile(0.5 + level / 2), df)
    low, high = 0.0, 1.0
    while two_sided_t(high, df) < level:
        low, high = high, high * 2
    for _ in range(200):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (middle, high) if two_sided_t(middle, df) < level else (low, middle)
    return (low + high) / 2


def two_sided_t(t: float, df: int) -> float:
    """Return the probability that Student's t with `df` degrees of freedom lies in [-t, t]."""
    theta = math.atan(t / math.sqrt(df))
    sine, cosine = math.sin(theta), math.cos(theta)
    if df % 2 == 0:
        term = total = 1.0
        for k in range(1, df // 2):
            term *= (2 * k - 1) / (2 * k) * cosine**2
            total += term
        return sine * total
    if df == 1:
        return 2 * theta / math.pi
    term = total = cosine
    for k in range(1, (df - 1) // 2):
        term *= 2 * k / (2 * k + 1) * cosine**2
        total += term
    return 2 / math.pi * (theta + sine * total)


def _expanded(z: float, df: int) -> float:
    g1 = (z**3 + z) / 4
    g2 = (5 * z**5 + 16 * z**3 + 3 * z) / 96
    g3 = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
    return z + g1 / df + g2 / df**2 + g3 / df**3


_NORMAL_MAD = 1.4826  # standard deviations in the median absolute deviation of normal values
_MAD_WORTH = 0.37  # of the degrees of freedom of a standard deviation (Rousseeuw and Croux 1993, table 2)
_MEDIAN_VARIANCE = math.pi / 2  # that of the median of normal values over that of their mean


def beyond_scatter(value: float, others: Sequence[float], wrong: float, *, own_variance: float = 0.0) -> bool:
    """True where `value` lies farther from the median of `others` than one more of them does but in `wrong` of cases.

    A prediction interval of one further value, from median and median absolute deviation, so that some odd ones among
    the others do not hide another: Student's t with as many degrees of freedom as the deviation is worth. It holds for
    values that are about normal; heavier tails among the others widen it. `own_variance` is what else is known to
    scatter the value. Nothing is told from fewer than two others.
    """
    if len(others) < 2:
        return False
    middle = float(np.median(others))
    spread = _NORMAL_MAD * float(np.median(np.abs(np.asarray(others) - middle)))
    freedom = max(1, round(_MAD_WORTH * (len(others) - 1)))
    deviation = math.sqrt(spread**2 * (1 + _MEDIAN_VARIANCE / len(others)) + own_variance)
    return abs(value - middle) > t_quantile(1 - wrong, freedom) * deviation


def binomial_bound(events: int, trials: int, level: float = 0.95) -> float:
    """The upper confidence bound on a probability after `events` in `trials`; 1 without any (Clopper, Pearson 1934)."""
    if events >= trials:
        return 1.0
    choices = [
        math.lgamma(trials + 1) - math.lgamma(k + 1) - math.lgamma(trials - k + 1) for k in range(events + 1)
    ]

    def at_most_events(p: float) -> float:
        yes, no = math.log(p), math.log1p(-p)
        return math.fsum(math.exp(choice + k * yes + (trials - k) * no) for k, choice in enumerate(choices))

    low, high = 0.0, 1.0
    while low < (middle := (low + high) / 2) < high:
        low, high = (middle, high) if at_most_events(middle) > 1 - level else (low, middle)
    return high
