"""Several cores at once: aggregate, per thread, and efficiency with its interval."""

from __future__ import annotations

import pytest

from perbyte.model import Together
from perbyte.stats.compare import Answer
from perbyte.stats.scaling import scaling

ALONE = Together(1, tuple((100.0 + 0.1 * (turn % 3),) for turn in range(8)), 1.0)


def test_perfect_scaling_is_one():
    both = Together(2, tuple((row[0], row[0]) for row in ALONE.ns_per_call), 0.9)
    one, two = scaling([ALONE, both])
    assert one.efficiency is None
    assert two.efficiency.ratio.value == pytest.approx(1.0)
    assert two.efficiency.answer is Answer.TIED
    assert two.all.value == pytest.approx(2 * one.all.value)
    assert two.each.value == pytest.approx(one.all.value)
    assert two.all.low < two.all.value < two.all.high
    assert two.clean == 0.9


def test_threads_that_share_a_core_do_half_each():
    both = Together(2, tuple((2 * row[0], 2 * row[0]) for row in ALONE.ns_per_call), 0.0)
    _, two = scaling([ALONE, both])
    assert two.efficiency.ratio.value == pytest.approx(0.5)
    assert two.efficiency.ratio.high < 1


def test_rounds_that_are_missing_claim_nothing():
    assert scaling([Together(1, ((100.0,),), 1.0)]) == ()
    uneven = Together(2, ((), (100.0, 100.0), (), (101.0, 101.0)), 1.0)
    assert scaling([ALONE, uneven])[1].efficiency.ratio.value == pytest.approx(1.0, rel=0.01), (
        "rounds are pairs"
    )
    once = Together(2, ((100.0, 100.0), ()), 1.0)
    assert [one.threads for one in scaling([ALONE, once])] == [1]
    assert scaling([uneven])[0].efficiency is None, "without one thread there is nothing to compare with"
