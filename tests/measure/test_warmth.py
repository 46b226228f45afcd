"""Whether a short warm-up is enough is measured."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from perbyte.measure.ways import BEYOND, ENOUGH, FULL_ROUND, LEAST, SCATTERED, SETTLING_US, Warm, Warmth
from perbyte.model import Cell, Policy

POLICY = Policy(warm_us=2000.0, warm_least_us=200.0)
FULLY, BRIEFLY, LONGEST = Warm(2000.0, 0.0), Warm(2000.0, 200.0), Warm(SETTLING_US, 0.0)
CELL = Cell("fake", "aes-128-ctr", "encrypt", 16, "stream/1")


def named(number):
    return replace(CELL, size_bytes=16 + number)


def epoch(cells, *, slower, noise=0.002, seed=1, first=0):
    draw = random.Random(seed)
    made = {}
    for cell in range(first, first + cells):
        cost = 100.0 + cell
        made[named(cell)] = {
            number: cost * (1 if number == FULL_ROUND else slower) * (1 + draw.gauss(0, noise))
            for number in (1, 2, 3, 4)
        }
    return made


def test_one_burst_of_each_cell_is_warmed_fully_until_enough_were_compared():
    warmth = Warmth(POLICY)
    assert warmth.of(CELL, FULL_ROUND) == FULLY
    assert warmth.of(CELL, 1) == BRIEFLY
    assert not warmth.note(epoch(ENOUGH, slower=1.0))
    assert warmth.of(CELL, FULL_ROUND) == warmth.of(CELL) == BRIEFLY


def test_a_core_on_which_loops_warm_up_slowly_gets_long_warm_ups():
    warmth = Warmth(POLICY)
    assert warmth.note(epoch(60, slower=1.1))
    assert warmth.of(named(70), 1) == warmth.of(named(70), 3) == FULLY
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
    seen = [{1: 5.0}, {FULL_ROUND: 5.0}, {}, {1: 5.0, FULL_ROUND: float("nan")}] * 100
    assert not warmth.note({named(number): by_round for number, by_round in enumerate(seen)})
    assert warmth.of(CELL, FULL_ROUND) == FULLY
    assert not warmth.scattered


def test_a_policy_of_full_warm_ups_is_kept():
    warmth = Warmth(Policy(warm_us=2000.0, warm_least_us=0.0))
    assert not warmth.note(epoch(100, slower=1.5, noise=0.1))
    assert warmth.of(CELL, 1) == FULLY


def test_a_cell_whose_bursts_stay_in_one_of_several_states_is_warmed_longest_from_then_on():
    warmth = Warmth(POLICY)
    states = {1: 23.0, 2: 28.0, 3: 33.0, 4: 23.2}
    warmth.note(epoch(100, slower=1.0) | {named(200): states})
    assert warmth.scattered == {named(200)}
    assert warmth.of(named(200), 1) == warmth.of(named(200)) == LONGEST
    assert warmth.of(named(1), 1) == BRIEFLY
    for seed in range(5):
        warmth.note(epoch(100, slower=1.0, seed=seed) | {named(200): dict.fromkeys(states, 23.0)})
    assert named(200) in warmth.scattered, "its bursts agree because they are warmed for longer"


def test_a_single_cell_is_judged_by_itself():
    warmth = Warmth(POLICY)
    warmth.note({CELL: {1: 23.0, 2: 28.0, 3: 33.0}})
    assert warmth.of(CELL) == LONGEST


def test_where_all_cells_scatter_none_is_warmed_for_longer():
    """As beside a neighbour, who disturbs bursts whatever the warm-up."""
    warmth = Warmth(POLICY)
    for seed in range(3):
        warmth.note(epoch(100, slower=1.0, noise=3 * SCATTERED, seed=seed))
    assert len(warmth.scattered) <= 2
    warmth.note(epoch(1, slower=1.0, noise=3 * SCATTERED * BEYOND * 3, first=300))
    assert named(300) in warmth.scattered
