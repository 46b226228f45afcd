"""The tests that papers on such data use, by SciPy, and the effect sizes that say more.

A p-value of many dependent samples says how many samples were taken. So every result carries what its values
were (epoch figures or samples) and how many there were. Give epoch figures; samples are for showing what
happens otherwise. Nothing here decides which library is faster: `perbyte.stats.compare` does.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from perbyte.errors import UsageError
from perbyte.model import Interval
from perbyte.stats.estimate import median
from perbyte.stats.interval import median_spread
from perbyte.stats.quantile import t_quantile
from perbyte.stats.samples import Floats


class Unit(enum.StrEnum):
    """What the values of a test are. Epoch figures are independent of each other, samples are not."""

    EPOCHS = "epoch figures"
    SAMPLES = "samples"


@dataclass(frozen=True, slots=True)
class KruskalWallis:
    """Whether all groups have one distribution. `counts` are the values per group."""

    statistic: float
    p: float
    unit: Unit
    counts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class MannWhitney:
    """Whether two groups have one distribution. `p_bonferroni` is p times the number of pairs, at most 1."""

    statistic: float
    p: float
    p_bonferroni: float
    unit: Unit
    counts: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Pair:
    """Two groups of values compared in every way offered here; `a` and `b` are their names.

    `ratio` is median of b over median of a, `interval` is on it.
    """

    a: str
    b: str
    test: MannWhitney
    cohens_d: float
    cliffs_delta: float
    ratio: float
    interval: Interval


def kruskal_wallis(groups: Sequence[Sequence[float]], unit: Unit = Unit.EPOCHS) -> KruskalWallis:
    """Test two or more groups (Kruskal and Wallis 1952, corrected for ties). H is 0 when all values are equal.

    Raises UsageError for fewer than two groups or an empty one.
    """
    from scipy import stats

    arrays = [_values(group) for group in groups]
    if len(arrays) < 2:
        raise UsageError("Kruskal-Wallis needs two or more groups", way_out="choose more cells")
    counts = tuple(len(array) for array in arrays)
    if len(np.unique(np.concatenate(arrays))) == 1:
        return KruskalWallis(0.0, 1.0, unit, counts)
    found = stats.kruskal(*arrays)
    return KruskalWallis(float(found.statistic), float(found.pvalue), unit, counts)


def mann_whitney_u(
    a: Sequence[float], b: Sequence[float], *, pairs: int = 1, unit: Unit = Unit.EPOCHS
) -> MannWhitney:
    """Test two groups, two-sided (Mann and Whitney 1947); U is that of `a`, `pairs` corrects p (Bonferroni).

    Exact for small groups without ties, else the normal approximation with both corrections, as SciPy does.
    Raises UsageError for an empty group.
    """
    from scipy import stats

    first, second = _values(a), _values(b)
    found = stats.mannwhitneyu(first, second, alternative="two-sided", method="auto")
    p = float(found.pvalue)
    return MannWhitney(float(found.statistic), p, min(1.0, p * pairs), unit, (len(first), len(second)))


def pairwise(
    groups: Mapping[str, Sequence[float]], unit: Unit = Unit.EPOCHS, level: float = 0.95
) -> tuple[Pair, ...]:
    """Compare each group with each later one; p is corrected for the number of pairs."""
    names = list(groups)
    count = len(names) * (len(names) - 1) // 2
    return tuple(_pair(a, b, groups, count, unit, level) for k, a in enumerate(names) for b in names[k + 1 :])


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


def ratio_with_interval(
    a: Sequence[float], b: Sequence[float], level: float = 0.95
) -> tuple[float, Interval]:
    """Return median of b over median of a, with Welch's interval on the logarithms.

    Values must be positive (UsageError). The interval is [0, infinity] where a group has fewer than two.
    """
    first, second = _values(a), _values(b)
    if min(first.min(), second.min()) <= 0:
        raise UsageError("a ratio needs positive costs", way_out="compare the differences instead")
    ratio = median(second) / median(first)
    if min(len(first), len(second)) < 2:
        return ratio, Interval(0.0, math.inf, level)
    parts = [
        float(np.log(values).var(ddof=1)) / len(values) * median_spread(len(values)) ** 2
        for values in (first, second)
    ]
    spread = sum(parts)
    if not spread:
        return ratio, Interval(ratio, ratio, level)
    df = spread**2 / (parts[0] ** 2 / (len(first) - 1) + parts[1] ** 2 / (len(second) - 1))
    half = t_quantile(level, max(1, int(df))) * math.sqrt(spread)
    return ratio, Interval(ratio * math.exp(-half), ratio * math.exp(half), level)


def _pair(
    a: str, b: str, groups: Mapping[str, Sequence[float]], count: int, unit: Unit, level: float
) -> Pair:
    ratio, interval = ratio_with_interval(groups[a], groups[b], level)
    return Pair(
        a=a,
        b=b,
        test=mann_whitney_u(groups[a], groups[b], pairs=count, unit=unit),
        cohens_d=cohens_d(groups[a], groups[b]),
        cliffs_delta=cliffs_delta(groups[a], groups[b]),
        ratio=ratio,
        interval=interval,
    )


def _values(group: Sequence[float]) -> Floats:
    values = np.asarray(group, dtype=np.float64)
    if not len(values) or not np.isfinite(values).all():
        raise UsageError("a group has no values, or some that are not numbers", way_out="leave it out")
    return values
