from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from perbyte.stats.estimate import rank_correlation, rank_correlation_range


def test_rank_correlation_is_that_of_scipy():
    random = np.random.default_rng(3)
    for values in (random.standard_normal(50), random.integers(0, 4, 50).astype(float)):
        for other in (np.arange(50), random.integers(0, 9, 50)):
            expected = stats.spearmanr(other, values).statistic
            assert rank_correlation(values, other) == pytest.approx(expected, abs=1e-12)
    assert rank_correlation(np.ones(5), np.arange(5)) == 0.0
    assert rank_correlation([1.0], [2.0]) == 0.0


def test_the_range_is_that_of_the_orders_that_intervals_allow():
    exact = [(value, value, value) for value in (1.0, 2.0, 3.0)]
    assert rank_correlation_range([1, 2, 3], exact) == pytest.approx((1.0, 1.0))
    overlapping = [(1.0, 0.5, 2.5), (2.0, 0.5, 2.5), (3.0, 2.9, 3.1)]
    assert rank_correlation_range([1, 2, 3], overlapping) == pytest.approx((0.5, 1.0))
    endless = [(1.0, 0.0, float("inf"))] * 3
    assert rank_correlation_range([1, 2, 3], endless) == pytest.approx((-1.0, 1.0))
