"""Spearman's rank correlation, and how far it can move when values are uncertain."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from perbyte.stats.samples import Floats

_DRAWS = 400
_WIDEST = 1e3  # an interval without an end is drawn from as if it ended here, times or over the value


def ranks(values: Sequence[float] | Floats) -> Floats:
    """Return the ranks of values, from 1; equal values share their mean rank."""
    _, inverse, counts = np.unique(np.asarray(values), return_inverse=True, return_counts=True)
    found: Floats = (np.cumsum(counts) - (counts - 1) / 2.0)[inverse]
    return found


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
    found = [rank_correlation(a, generator.uniform(low, high)) for _ in range(_DRAWS)]
    return min(found), max(found)
