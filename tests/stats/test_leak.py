"""Verdicts on leaks: what is said, and what is not."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from perbyte.model.leak import Difference, PairFigures
from perbyte.stats.leak import ALPHA, judge_row, pairs_wanted, usual_target
from perbyte.stats.pairs import Pairs, pair_figures, pair_samples

NOTHING = Difference(0.0, -0.3, 0.3, 0.8)
SURE = Difference(15.0, 14.0, 16.0, 1e-12)


def figures(shift=NOTHING, spread=NOTHING, call=500.0):
    return PairFigures(5000, call, shift, spread, 0.5)


def test_samples_become_pairs_by_their_order(simulation):
    burst = simulation.burst(np.array([100.0, 200.0, 200.0, 100.0]), n=4, calls=1, noise=0.0)
    pairs = pair_samples(burst, "0110", simulation.calibration(), simulation.policy)
    assert pairs.first == pytest.approx([100, 100], abs=40)
    assert pairs.second == pytest.approx([200, 200], abs=40)
    assert pairs.clean.all()


def test_a_pair_is_clean_where_both_of_it_are(simulation):
    disturbed = np.array([False, False, True, False])
    burst = simulation.burst(100.0, n=4, calls=1, disturbed=disturbed)
    pairs = pair_samples(burst, "0101", simulation.calibration(), simulation.policy)
    assert list(pairs.clean) == [True, False]
    assert pairs.step == pytest.approx(26 / simulation.tick_hz * simulation.ghz * 1e9, rel=0.01)


def test_few_pairs_say_nothing():
    few = Pairs(np.ones(40), np.ones(40), np.ones(40, dtype=bool), 1.0)
    assert pair_figures([few], 1) is None
    [judged] = judge_row([(None, None)], [1.0])
    assert (judged.verdict, judged.more_s) == ("unknown", 0.0)


def test_what_is_within_the_target_is_no_leak_above_it():
    [judged] = judge_row([(figures(), figures())], [10.0])
    assert judged.verdict == "none"
    assert judged.target == 1.0


def test_what_is_wider_is_not_known_and_says_how_long_it_takes():
    wide = Difference(1.0, -10.0, 12.0, 0.7)
    [judged] = judge_row([(figures(shift=wide), figures())], [10.0])
    assert judged.verdict == "unknown"
    assert judged.more_s == pytest.approx(10 * (12**2 - 1))


def test_a_leak_is_one_of_the_middle_or_of_the_spread():
    row = judge_row([(figures(shift=SURE), figures()), (figures(spread=SURE), figures())], [1.0, 1.0])
    assert [leak.verdict for leak in row] == ["leaks", "leaks"]


def test_a_null_that_differs_puts_the_harness_at_fault():
    [judged] = judge_row([(figures(shift=SURE), figures(shift=SURE))], [1.0])
    assert judged.verdict == "harness"


def test_what_is_asked_together_is_corrected_together():
    near = replace(SURE, p=ALPHA / 3)
    alone = judge_row([(figures(shift=near), figures())], [1.0])
    among = judge_row([(figures(shift=near), figures())] + [(figures(), figures())] * 3, [1.0] * 4)
    assert alone[0].verdict == "leaks"
    assert among[0].verdict != "leaks"


def test_the_target_follows_the_call():
    assert usual_target(100.0, cycles=True) == 1.0
    assert usual_target(1e6, cycles=True) == pytest.approx(100.0)
    assert usual_target(1e6, cycles=False) == pytest.approx(100.0)


def test_pairs_are_wanted_by_their_scatter_and_not_by_their_sign():
    draws = np.random.default_rng(1)

    def burst(sign):
        first, apart = 300 + draws.normal(0, 3, 400), draws.normal(0, 10, 400)
        return Pairs(first, first + sign * np.abs(apart), np.ones(400, dtype=bool), 0.0)

    up, down = (pairs_wanted([burst(sign)], None, cycles=True) for sign in (1, -1))
    assert up == pytest.approx(down, rel=0.3)
    assert pairs_wanted([burst(1)], 0.1, cycles=True) == pytest.approx(100 * up, rel=0.5)
    assert (
        pairs_wanted([Pairs(np.ones(3), np.ones(3), np.ones(3, dtype=bool), 1.0)], None, cycles=True)
        == math.inf
    )
