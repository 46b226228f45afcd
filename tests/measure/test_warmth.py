"""Whether a short warm-up is enough is measured."""

from __future__ import annotations

import random

import pytest

from perbyte.measure.ways import ENOUGH, FULL_ROUND, LEAST, Warmth
from perbyte.model import Policy

POLICY = Policy(warm_us=2000.0, warm_least_us=200.0)


def epoch(cells, *, slower, noise=0.002, seed=1):
    draw = random.Random(seed)
    made = []
    for cell in range(cells):
        cost = 100.0 + cell
        made.append(
            {
                number: cost * (1 if number == FULL_ROUND else slower) * (1 + draw.gauss(0, noise))
                for number in (1, 2, 3, 4)
            }
        )
    return made


def test_one_burst_of_each_cell_is_warmed_fully_until_enough_were_compared():
    warmth = Warmth(POLICY)
    assert warmth.least_us(FULL_ROUND) == 0
    assert warmth.least_us(1) == 200
    assert not warmth.note(epoch(ENOUGH, slower=1.0))
    assert warmth.least_us(FULL_ROUND) == 200


def test_a_core_on_which_loops_warm_up_slowly_gets_long_warm_ups():
    warmth = Warmth(POLICY)
    assert warmth.note(epoch(60, slower=1.1))
    assert warmth.least_us(1) == warmth.least_us(3) == 0
    assert not warmth.note(epoch(60, slower=1.1)), "it is said once"


@pytest.mark.parametrize("seed", range(20))
def test_noise_alone_lengthens_nothing(seed):
    """At the level of the interval one run in a thousand would; of twenty none."""
    warmth = Warmth(POLICY)
    assert not warmth.note(epoch(100, slower=1.0, noise=0.02, seed=seed))


def test_a_few_comparisons_decide_nothing():
    warmth = Warmth(POLICY)
    assert not warmth.note(epoch(LEAST - 1, slower=1.5))
    assert warmth.note(epoch(1, slower=1.5))


def test_cells_without_a_clean_burst_say_nothing():
    warmth = Warmth(POLICY)
    assert not warmth.note([{1: 5.0}, {FULL_ROUND: 5.0}, {}, {1: 5.0, FULL_ROUND: float("nan")}] * 100)
    assert warmth.least_us(FULL_ROUND) == 0


def test_a_policy_of_full_warm_ups_is_kept():
    warmth = Warmth(Policy(warm_us=2000.0, warm_least_us=0.0))
    assert not warmth.note(epoch(100, slower=1.5))
    assert warmth.least_us(1) == 0
