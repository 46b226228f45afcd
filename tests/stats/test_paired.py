"""Paired tests on made-up pairs whose difference is known."""

from __future__ import annotations

import math

import numpy as np
import pytest

from perbyte.stats.paired import difference, holm, sign_p, signed_rank
from perbyte.stats.pairs import compare_pairs


def drawn(count, *, shift=0.0, spread=0.0, step=0.0, seed=1):
    """Pairs on a drifting base with seldom, long disturbances; the second class costs `shift` more."""
    draws = np.random.default_rng(seed)
    base = 200 + np.cumsum(draws.normal(0, 0.5, count))
    p_values = []
    for more, width in ((0.0, 0.0), (shift, spread)):
        late = (draws.random(count) < 0.02) * draws.exponential(800, count)
        value = base + more + draws.normal(0, 4, count) + width * draws.choice([-1.0, 1.0], count) + late
        p_values.append(np.floor((value + step * draws.random(count)) / step) * step if step else value)
    return p_values[0], p_values[1], np.arange(count) // 500


@pytest.mark.parametrize("step", [0.0, 1.0, 26.0])
@pytest.mark.parametrize("shift", [-3.0, 0.0, 5.0])
def test_the_interval_holds_the_true_shift(step, shift):
    held = 0
    for seed in range(20):
        first, second, moment = drawn(1500, shift=shift, step=step, seed=seed)
        pairs = compare_pairs(first, second, moment, step=step, seed=seed)
        held += pairs.shift.low <= shift <= pairs.shift.high
    assert held >= 16  # fewer than one in a million times where 95 of 100 hold


def test_a_shift_is_found_and_is_no_spread():
    pairs = compare_pairs(*drawn(4000, shift=2.0), step=0.0, seed=1)
    assert pairs.shift.p < 1e-6
    assert pairs.p_sign < 1e-6
    assert pairs.spread.p > 1e-3
    assert pairs.pairs == 4000


def test_a_spread_is_found_where_the_middle_is_the_same():
    pairs = compare_pairs(*drawn(4000, spread=6.0), step=0.0, seed=1)
    assert pairs.spread.p < 1e-6
    assert pairs.spread.low > 0
    assert pairs.shift.low < 0 < pairs.shift.high


@pytest.mark.slow
def test_signs_are_fair_coins_where_nothing_differs():
    p = [
        p_value
        for seed in range(200)
        for pairs in [compare_pairs(*drawn(300, step=26.0, seed=seed), step=26.0, seed=seed)]
        for p_value in (pairs.shift.p, pairs.spread.p)
    ]
    assert 0.02 <= np.mean(np.array(p) < 0.05) <= 0.09


def test_swapping_the_classes_turns_the_sign():
    first, second, _ = drawn(800, shift=2.0)
    there, back = difference(second - first), difference(first - second)
    assert there.value == pytest.approx(-back.value, abs=0.01)
    assert there.low == pytest.approx(-back.high, abs=0.01)
    assert there.bound == pytest.approx(back.bound, abs=0.01)


def test_the_signed_rank_statistic_of_a_small_example():
    # ranks 1, 2, 3, 4 with signs + - + +: (1 - 2 + 3 + 4) / sqrt(1 + 4 + 9 + 16)
    assert signed_rank(np.array([1.0, -2.0, 3.0, 4.0])) == pytest.approx(6 / math.sqrt(30))
    assert signed_rank(np.zeros(5)) == 0.0


def test_the_sign_test_is_exact():
    assert sign_p(np.array([1.0] * 9 + [-1.0])) == pytest.approx(2 * 11 / 2**10)
    assert sign_p(np.array([1.0, -1.0, 0.0])) == 1.0
    assert sign_p(np.array([1.0] * 3000 + [-1.0] * 1000)) < 1e-100


def test_holm_corrects_for_what_was_asked_together():
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.5, 0.9]) == [1.0, 1.0]


def test_equal_pairs_have_no_difference():
    values = np.full(100, 7.0)
    pairs = compare_pairs(values, values, np.zeros(100), step=0.0, seed=1)
    assert (pairs.shift.value, pairs.shift.low, pairs.shift.high) == (0.0, 0.0, 0.0)
    assert pairs.shift.p == 1.0


def test_no_pairs_are_refused():
    with pytest.raises(ValueError, match="pairs"):
        compare_pairs(np.empty(0), np.empty(0), [], step=0.0, seed=1)
