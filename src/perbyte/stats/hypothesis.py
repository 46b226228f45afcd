"""The tests that papers on such data use, by SciPy, and the effect sizes that say more.

A p-value of many dependent samples says how many samples were taken. So every result carries how many values
there were, and they should be epoch figures, which are independent of each other. Nothing here decides which
library is faster: `perbyte.stats.compare` does.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from perbyte.errors import UsageError
from perbyte.stats.samples import Floats


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
    from scipy import stats

    arrays = [_values(group) for group in groups]
    if len(arrays) < 2:
        raise UsageError("Kruskal-Wallis needs two or more groups", hint="choose more cells")
    counts = tuple(len(array) for array in arrays)
    if len(np.unique(np.concatenate(arrays))) == 1:
        return KruskalWallis(0.0, 1.0, counts)
    found = stats.kruskal(*arrays)
    return KruskalWallis(float(found.statistic), float(found.pvalue), counts)


def mann_whitney_u(a: Sequence[float], b: Sequence[float], *, pairs: int = 1) -> MannWhitney:
    """Test two groups, two-sided (Mann and Whitney 1947); U is that of `a`, `pairs` corrects p (Bonferroni).

    Exact for small groups without ties, else the normal approximation with both corrections, as SciPy does.
    Raises UsageError for an empty group.
    """
    from scipy import stats

    first, second = _values(a), _values(b)
    found = stats.mannwhitneyu(first, second, alternative="two-sided", method="auto")
    p = float(found.pvalue)
    return MannWhitney(float(found.statistic), p, min(1.0, p * pairs), (len(first), len(second)))


def shapiro_wilk(values: Sequence[float]) -> float:
    """Return the p-value of normality (Shapiro and Wilk 1965); 0 where all values are equal, NaN for fewer than 3."""
    from scipy import stats

    array = _values(values)
    if len(array) < 3:
        return math.nan
    return float(stats.shapiro(array[:5000]).pvalue) if len(np.unique(array)) > 1 else 0.0


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


def _values(group: Sequence[float]) -> Floats:
    values = np.asarray(group, dtype=np.float64)
    if not len(values) or not np.isfinite(values).all():
        raise UsageError("a group has no values, or some that are not numbers", hint="leave it out")
    return values
