"""Verdicts on leaks: what is said, and what is not."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from perbyte.model.leak import ByteSpot, ByteSpots, Difference, PairFigures, Tails
from perbyte.stats.leak import ALPHA, COLD_CYCLES, PAIRS_ABOVE, judge_row, pairs_wanted, usual_target
from perbyte.stats.pairs import Drawn, Pairs, pair_figures, pair_samples

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


def told(shift=NOTHING, tail=NOTHING, spot=NOTHING, bound=2.0):
    """Figures of pairs with tails and a spot."""
    tails = Tails(tail.p, 0.9, (0.1, 0.9), (NOTHING, tail))
    return replace(
        figures(shift=shift), tails=tails, spots=ByteSpots(ByteSpot(3, "value", 90, spot), bound, 1000)
    )


@pytest.mark.parametrize(
    ("parts", "verdict"),
    [
        ({}, "none"),
        ({"shift": Difference(15.0, 14.0, 16.0, 1e-12)}, "leaks"),
        ({"tail": Difference(15.0, 14.0, 16.0, 1e-12)}, "leaks"),
        ({"spot": Difference(15.0, 14.0, 16.0, 1e-12), "bound": 16.5}, "leaks"),
        ({"shift": Difference(3.0, 2.5, 3.5, 1e-30)}, "none"),
        ({"shift": Difference(4.0, 2.0, 6.0, 1e-30)}, "unknown"),
        ({"bound": 7.0}, "unknown"),
        ({"spot": Difference(8.0, 6.5, 9.5, 1e-9), "bound": 10.0}, "unknown"),
    ],
)
def test_a_limit_is_for_all_that_a_secret_costs(parts, verdict):
    [judged] = judge_row([(told(**parts), figures())], [10.0], above=5.0)
    assert judged.verdict == verdict
    assert judged.target == 5.0
    assert (judged.more_s > 0) == (verdict == "unknown")


def test_what_lies_at_the_limit_is_not_known_for_good():
    [judged] = judge_row([(told(shift=Difference(5.1, 4.9, 5.3, 1e-30)), figures())], [10.0], above=5.0)
    assert (judged.verdict, judged.more_s) == ("unknown", 0.0)


def test_tails_and_spots_are_aspects_of_a_row_and_spots_none_of_the_null():
    [by_tail] = judge_row([(told(tail=SURE), told())], [1.0])
    [by_spot] = judge_row([(told(spot=SURE), told(spot=SURE))], [1.0])
    [harness] = judge_row([(told(), told(tail=SURE))], [1.0])
    assert [by_tail.verdict, by_spot.verdict, harness.verdict] == ["leaks", "leaks", "harness"]


def test_secrets_that_are_known_ask_for_pairs_that_show_one_value():
    draws = np.random.default_rng(1)
    first, second = 300 + draws.normal(0, 1, (2, 400))
    plain = Pairs(first, second, np.ones(400, dtype=bool), 0.0)
    known = replace(plain, drawn=Drawn(1, 16))
    bare, asked, limited = (
        pairs_wanted([pairs], 10.0, cycles=True, above=above)
        for pairs, above in ((plain, None), (known, None), (plain, 5.0))
    )
    assert bare <= asked <= limited == PAIRS_ABOVE


def test_emptied_caches_have_a_target_of_their_own():
    assert usual_target(100.0, cycles=True, cold=True) == COLD_CYCLES
    wide = replace(NOTHING, low=-3.0, high=3.0)
    judged = [judge_row([(figures(shift=wide), figures())], [1.0], cold=cold)[0] for cold in (False, True)]
    assert [each.verdict for each in judged] == ["unknown", "none"]
