"""What decides the cost of a place is named where it is known, and nothing is named without a reason."""

from __future__ import annotations

import numpy as np
import pytest
from made_places import CELL, COSTS, made_places

from perbyte.model import Estimate
from perbyte.model.placement import MemoryPlace
from perbyte.stats.placement import (
    ERROR,
    LEAST_ERROR,
    error_of,
    judge_placement,
    share_change,
    share_of,
)


def named(places):
    return tuple(each.factor for each in judge_placement(CELL, places).deciders)


@pytest.mark.slow
@pytest.mark.parametrize("what", COSTS)
def test_what_decides_is_named_in_nineteen_of_twenty(what):
    cost, factors = COSTS[what]
    answers = [named(made_places(seed, cost)) for seed in range(20)]
    assert sum(each[:1] == factors for each in answers) >= 19
    assert sum(each == factors for each in answers) >= 18, "and little else"


NULLS = {
    "normal noise": {},
    "much noise": {"noise": 0.05},
    "heavy tails": {"heavy": 0.1},
    "processes that differ": {"processes": 0.03},
}


def reasons_of(how, seeds):
    """How often something is named; that processes differ is true where they do."""
    true = {"process"} if "processes" in how else set()
    return sum(bool(set(named(made_places(seed, **how))) - true) for seed in seeds)


@pytest.mark.parametrize("kind", NULLS)
def test_nothing_is_named_without_a_reason(kind):
    assert reasons_of(NULLS[kind], range(100, 120)) <= 1


@pytest.mark.slow
@pytest.mark.parametrize("kind", NULLS)
def test_of_two_hundred_no_more_than_one_in_twenty_is_named_without_a_reason(kind):
    assert reasons_of(NULLS[kind], range(1000, 1200)) <= 0.05 * 200


def test_the_window_the_share_and_the_cost_are_those_that_were_made():
    cost, _ = COSTS["a band of the stack"]
    placement = judge_placement(CELL, made_places(4, cost))
    [decider] = placement.deciders
    assert (decider.factor, decider.period) == ("stack", 4096)
    assert 640 <= decider.begin <= 768, "lines 11 to 15, as far as places fell into them"
    assert 896 <= decider.end <= 1088
    assert placement.heaps
    assert placement.verdict == "decided"
    assert placement.slow.low <= 5 / 64 <= placement.slow.high
    assert placement.slower.low <= 0.14 <= placement.slower.high
    assert decider.slow >= 0.7 * placement.slow.value * len(placement.usual)


def test_the_fast_part_of_a_line_is_told_as_its_slow_rest():
    [decider] = judge_placement(CELL, made_places(4, COSTS["straddled lines"][0])).deciders
    assert (decider.period, decider.begin, decider.end) == (64, 16, 64)


@pytest.mark.parametrize("processes", [0.0, 0.02])
def test_intervals_of_the_share_hold(processes):
    """Of 95 % intervals at least 92 % of 120: slow places by the stack alone, and by processes, which go together."""
    held = 0
    for seed in range(120):
        rng = np.random.default_rng(seed)
        group = np.repeat(np.arange(24), 10)
        chance = 0.1 if not processes else rng.beta(0.5, 4.5, 24)[group]
        hits = rng.random(240) < chance
        share = share_of(hits, group)
        held += share.low <= 0.1 <= share.high
    assert held >= 0.92 * 120


def test_costs_that_scatter_and_do_not_come_again_are_no_slow_places():
    placement = judge_placement(CELL, made_places(1, noise=0.03, heavy=0.05))
    assert placement.verdict == "nothing"
    assert placement.slow is None


def test_places_that_differ_for_no_known_reason_are_said_to():
    hidden = np.random.default_rng(5)
    places = [
        MemoryPlace(each.process, tuple(cost * factor for cost in each.costs), False, each.stack, each.state,
              each.input, each.output, each.library, each.caller)
        for each in made_places(5)
        if not each.near
        for factor in [1 + 0.1 * (hidden.random() < 0.2)]
    ]  # fmt: skip
    placement = judge_placement(CELL, places)
    assert placement.verdict == "undecided"
    assert placement.heaps
    assert placement.slow.low <= 0.2 <= placement.slow.high
    assert placement.near is None


def test_one_place_a_process_still_tells_a_spread():
    cost, _ = COSTS["a bit of the library's place"]
    placement = judge_placement(CELL, made_places(2, cost, draws=1))
    assert [each.factor for each in placement.deciders] in (["library"], ["process"])


def test_too_few_places_tell_nothing():
    places = made_places(1)[:16]
    placement = judge_placement(CELL, places)
    assert placement.verdict == "unknown"
    assert placement.unknown == "16 places of 2 processes are too few: 12 of 8 tell"
    assert judge_placement(CELL, []).unknown


def test_the_same_places_get_the_same_answer():
    places = made_places(6, COSTS["4 KiB aliasing"][0])
    assert judge_placement(CELL, places) == judge_placement(CELL, places)


def test_many_cells_share_the_error():
    assert error_of(1) == ERROR
    assert error_of(10) == ERROR / 10
    assert error_of(1000) == LEAST_ERROR


def test_a_change_of_shares_is_known_beyond_both_intervals():
    before, after = Estimate(0.08, 0.05, 0.13), Estimate(0.3, 0.24, 0.37)
    change = share_change(before, after)
    assert 0 < change.low < 0.22 < change.high
    same = share_change(before, before)
    assert same.low < 0 < same.high
