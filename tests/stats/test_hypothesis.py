"""The tests of the papers, held against SciPy called by hand and against formulas written out."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from perbyte.errors import UsageError
from perbyte.stats.hypothesis import (
    cliffs_delta,
    cohens_d,
    kruskal_wallis,
    mann_whitney_u,
    shapiro_wilk,
)

RANDOM = np.random.default_rng(6)
GROUPS = {
    "aes": list(10 + RANDOM.standard_normal(9)),
    "camellia": list(11 + RANDOM.standard_normal(8)),
    "des": list(np.round(14 + RANDOM.standard_normal(30), 1)),
}


def test_kruskal_wallis_is_that_of_scipy():
    outcome = kruskal_wallis(list(GROUPS.values()))
    expected = stats.kruskal(*GROUPS.values())
    assert outcome.statistic == pytest.approx(expected.statistic, abs=1e-12)
    assert outcome.p == pytest.approx(expected.pvalue, abs=1e-12)
    assert outcome.counts == (9, 8, 30)


def test_mann_whitney_is_that_of_scipy_with_bonferroni():
    for a, b in itertools.combinations(GROUPS.values(), 2):
        outcome = mann_whitney_u(a, b, pairs=3)
        expected = stats.mannwhitneyu(a, b, alternative="two-sided")
        assert outcome.statistic == pytest.approx(expected.statistic, abs=1e-12)
        assert outcome.p == pytest.approx(expected.pvalue, abs=1e-12)
        assert outcome.p_bonferroni == pytest.approx(min(1, 3 * expected.pvalue), abs=1e-12)
        assert outcome.counts == (len(a), len(b))


@pytest.mark.parametrize("few", [1, 3, 8, 9])
@pytest.mark.parametrize("ties", [False, True])
def test_mann_whitney_agrees_where_it_is_exact_and_where_not(few, ties):
    for many in (1, 4, 8, 25, 200):
        a, b = RANDOM.standard_normal(few), 0.7 + RANDOM.standard_normal(many)
        if ties:
            a, b = np.round(a), np.round(b)
        for first, second in ((a, b), (b, a)):
            expected = stats.mannwhitneyu(first, second, alternative="two-sided")
            outcome = mann_whitney_u(first, second)
            assert outcome.statistic == expected.statistic
            assert outcome.p == pytest.approx(expected.pvalue, rel=1e-9, abs=1e-300)


def test_kruskal_wallis_agrees_for_many_groups_and_with_ties():
    for count in (2, 3, 4, 7, 12):
        groups = [np.round(k / 9 + RANDOM.standard_normal(12), 1) for k in range(count)]
        expected = stats.kruskal(*groups)
        outcome = kruskal_wallis(groups)
        assert outcome.statistic == pytest.approx(expected.statistic, rel=1e-10)
        assert outcome.p == pytest.approx(expected.pvalue, rel=1e-9)


@pytest.mark.parametrize("n", [3, 4, 5, 6, 8, 11, 12, 30, 300, 4000])
def test_shapiro_wilk_is_that_of_scipy(n):
    """To five digits: SciPy's has normal quantiles of single precision, as the published program."""
    for values in (
        RANDOM.standard_normal(n),
        RANDOM.standard_normal(n) ** 2,
        np.exp(RANDOM.standard_normal(n)),
    ):
        assert shapiro_wilk(values) == pytest.approx(stats.shapiro(values).pvalue, rel=1e-4, abs=1e-30)
    assert shapiro_wilk([1.0] * n) == 0.0


def test_bonferroni_ends_at_one():
    assert mann_whitney_u([1.0, 2.0, 3.0], [1.5, 2.5, 3.5], pairs=50).p_bonferroni == 1.0


def test_cohens_d_is_its_formula():
    a, b = np.array(GROUPS["aes"]), np.array(GROUPS["des"])
    pooled = math.sqrt((8 * a.var(ddof=1) + 29 * b.var(ddof=1)) / 37)
    assert cohens_d(a, b) == pytest.approx((b.mean() - a.mean()) / pooled, abs=1e-12)
    assert cohens_d(b, a) == pytest.approx(-cohens_d(a, b), abs=1e-12)
    assert cohens_d([1.0, 1.0], [1.0, 1.0]) == 0.0
    assert cohens_d([1.0, 1.0], [2.0, 2.0]) == math.inf
    assert cohens_d([2.0, 2.0], [1.0, 1.0]) == -math.inf
    assert math.isnan(cohens_d([1.0], [2.0]))


def test_cliffs_delta_counts_pairs_and_is_the_rank_biserial_correlation():
    a, b = GROUPS["camellia"], GROUPS["des"]
    counted = sum(float(y > x) - float(y < x) for x in a for y in b) / (len(a) * len(b))
    assert cliffs_delta(a, b) == pytest.approx(counted, abs=1e-12)
    u = stats.mannwhitneyu(a, b).statistic
    assert cliffs_delta(a, b) == pytest.approx(1 - 2 * u / (len(a) * len(b)), abs=1e-12)
    assert cliffs_delta([1.0, 2.0], [3.0]) == 1.0


def test_groups_that_are_all_equal_do_not_differ():
    outcome = kruskal_wallis([[1.0, 1.0], [1.0, 1.0]])
    assert (outcome.statistic, outcome.p) == (0.0, 1.0)


@pytest.mark.parametrize("groups", [[], [[1.0, 2.0]], [[1.0], []], [[1.0], [math.nan]]])
def test_what_cannot_be_tested_is_refused(groups):
    with pytest.raises(UsageError):
        kruskal_wallis(groups)
