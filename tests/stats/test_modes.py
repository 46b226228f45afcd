"""Two ways of a cell are told from one that scatters."""

from __future__ import annotations

import numpy as np
import pytest

from perbyte.model import Doubt
from perbyte.stats.figure import LEAST_BURSTS, STRIP_BINS, find_ways, strip, ways_warning


def two(seed, n=80, share=0.35, apart=0.12, noise=0.01):
    draw = np.random.default_rng(seed)
    return 8.0 * (1 + apart * (draw.random(n) < share)) * (1 + noise * draw.normal(size=n))


@pytest.mark.parametrize("seed", range(10))
def test_two_ways_are_found_with_their_costs_and_shares(seed):
    (low, often), (high, seldom) = find_ways(two(seed))
    assert low == pytest.approx(8.0, rel=0.01)
    assert high == pytest.approx(8.96, rel=0.01)
    assert seldom == pytest.approx(0.35, abs=0.17)
    assert often + seldom == pytest.approx(1)


@pytest.mark.parametrize("kind", ["normal", "heavy"])
def test_one_way_that_scatters_is_one(kind):
    draw = np.random.default_rng(5)
    count = 0
    for _ in range(2000):
        noise = draw.normal(size=60) if kind == "normal" else draw.standard_t(3, size=60)
        count += find_ways(100 + 3 * noise) is not None
    assert count <= 8, "one in 1,000 is expected"


def test_few_bursts_and_rare_ones_say_nothing():
    assert find_ways(two(1, n=LEAST_BURSTS - 1)) is None
    assert find_ways(two(1, share=0.05)) is None
    assert find_ways(two(1, apart=0.005, noise=0.0001)) is None, "less than 2 % is nobody's concern"
    assert find_ways([]) is None
    assert find_ways([0.0] * 100) is None


def test_the_warning_has_both_costs_and_shares():
    warning = ways_warning(two(3), "core cycles")
    assert warning.kind is Doubt.TWO_WAYS
    assert len(warning.numbers) == 4
    assert "two ways: " in warning.text
    assert "core cycles a call in" in warning.text
    shown = warning.text.partition("[")[2].partition("]")[0]
    assert len(shown) == STRIP_BINS
    assert "  " in shown.strip(), "two heaps with nothing between them"


def test_a_strip_shows_where_the_values_are():
    assert strip([1.0] * 30 + [2.0] * 15) == "[█" + " " * (STRIP_BINS - 2) + "▄]"
    assert len(strip([5.0] * 8)) == STRIP_BINS + 2
