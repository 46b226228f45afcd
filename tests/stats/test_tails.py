"""Tails and single bytes: what few calls have, the mean does not show."""

from __future__ import annotations

import math

import numpy as np
import pytest

from perbyte.stats.paired import dependence, difference
from perbyte.stats.spots import LEAST_SAMPLES, find_spot
from perbyte.stats.tails import compare_tails


def pair_of(count, *, share=0.0, more=0.0, seed=1, memory=1):
    """Two classes, the second of which takes `more` in a `share` of its calls. Which of a pair is first is drawn.

    The samples follow each other, each with the noise of `memory` moments.
    """
    draws = np.random.default_rng(seed)
    noise = np.convolve(draws.normal(0, 4, 2 * count), np.ones(memory) / math.sqrt(memory), "same")
    pairs, second = noise.reshape(-1, 2), draws.integers(0, 2, count)
    first = pairs[np.arange(count), 1 - second]
    return first, pairs[np.arange(count), second] + more * (draws.random(count) < share)


def tails_of(*args, **how):
    return compare_tails(*pair_of(*args, **how), np.random.default_rng(7))


def test_one_call_in_fifty_is_seen_where_the_middle_does_not_move():
    first, second = pair_of(8000, share=0.02, more=30.0)
    tails = compare_tails(first, second, np.random.default_rng(7))
    assert difference(second - first).p > 1e-3
    assert tails.p < 1e-6
    assert tails.strongest > 0.9
    assert tails.told.value > 0


def test_quantiles_have_intervals_that_hold_them():
    held = [
        apart.low <= 0 <= apart.high
        for seed in range(40)
        for apart in tails_of(3000, seed=seed, memory=8).apart
    ]
    assert np.mean(held) >= 0.88  # 95 of 100, and quantiles of a round go together


def test_no_tails_where_nothing_differs_however_the_samples_depend_on_each_other():
    p = [tails_of(2000, seed=seed, memory=20).p for seed in range(40)]
    assert min(p) > 1e-4
    assert np.mean(np.array(p) < 0.05) <= 0.15


def test_levels_need_samples_beyond_them():
    assert tails_of(20) is None
    few, many = tails_of(300), tails_of(20_000)
    assert min(few.levels) > min(many.levels) == 1 / 256
    assert few.bound >= max(abs(apart.value) for apart in few.apart)


def spot_of(times, secrets, step=1.0):
    return find_spot(times, secrets, range(100, 100 + secrets.shape[1]), step=step)


def random_bytes(count, length=4, seed=3):
    return np.random.default_rng(seed).integers(0, 256, (count, length), dtype=np.uint8)


def test_one_value_of_a_byte_is_found_and_named():
    secrets = random_bytes(20_000)
    times = np.random.default_rng(1).normal(0, 5, 20_000) + 10.0 * (secrets[:, 2] == 0x5A)
    spots = spot_of(times, secrets)
    most = spots.most
    assert (most.byte, most.kind, most.which) == (102, "value", 0x5A)
    assert str(most) == "0x5a in byte 102"
    assert most.apart.p < 1e-6
    assert most.apart.low < 10 < most.apart.high
    assert spots.bound >= most.apart.value


def test_a_bit_is_found_and_named():
    secrets = random_bytes(20_000)
    times = np.random.default_rng(1).normal(0, 5, 20_000) - 1.0 * (secrets[:, 0] >> 6 & 1)
    most = spot_of(times, secrets).most
    assert (most.byte, most.kind, most.which) == (100, "bit", 6)
    assert most.apart.p < 1e-6
    assert most.apart.value == pytest.approx(-1.0, abs=0.2)
    assert str(most) == "bit 6 in byte 100"


@pytest.mark.parametrize("rare", [0.0, 0.002])
def test_no_spot_where_times_and_bytes_have_nothing_to_do_with_each_other(rare):
    p = []
    for seed in range(20):
        draws = np.random.default_rng(seed)
        times = np.cumsum(draws.normal(0, 1, 5000)) if not rare else 44.0 * (draws.random(5000) < rare)
        p.append(spot_of(times, random_bytes(5000, seed=seed + 100)).most.apart.p)
    assert min(p) > 1e-3


def test_few_samples_and_times_without_any_difference_have_no_spot():
    assert spot_of(np.zeros(100), random_bytes(100)) is None
    assert spot_of(np.ones(LEAST_SAMPLES), random_bytes(LEAST_SAMPLES)) is None


def test_dependent_differences_widen_the_interval_and_nothing_narrows_it():
    draws = np.random.default_rng(5)
    alone = draws.normal(0, 1, 6000)
    runs = np.repeat(draws.normal(0, 1, 300), 20)
    assert dependence(alone) < 1.6
    assert 10 < dependence(runs) < 40
    assert dependence(np.tile([1.0, -1.0], 3000)) == 1.0
    wide, narrow = difference(runs), difference(alone)
    assert wide.high - wide.low > 3 * (narrow.high - narrow.low)
