"""Ratios from many epochs: held to SciPy, and not misled by a few that are spoilt."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from scipy.stats import t, wilcoxon

from perbyte.model import Cell, CellFigure, Interval, NoiseFloor, Quality
from perbyte.stats.compare import compare
from perbyte.stats.interval import ORDERED_FROM, median_spread, reach_of_pairs, reach_of_two


def figure(epochs: list[float], runner: str = "a") -> CellFigure:
    value = float(np.median(epochs))
    return CellFigure(
        cell=Cell(runner, "sha-256", "digest", 64, "oneshot/1"),
        library="",
        library_version="",
        cycles_per_call=value,
        ns_per_call=value / 3,
        interval=Interval(value * 0.99, value * 1.01),
        samples=10,
        clean_samples=10,
        epochs=len(epochs),
        epoch_cycles=tuple(epochs),
        epoch_ns=tuple(epoch / 3 for epoch in epochs),
        calls_per_sample=1,
        quality=Quality.GOOD,
        cycle_source="probe",
    )


def test_the_interval_is_where_wilcoxons_test_changes_its_mind():
    drawn = np.random.default_rng(3)
    a = list(100 * np.exp(drawn.normal(0, 0.003, 30)))
    b = list(101 * np.exp(drawn.normal(0, 0.003, 30)))
    ratio = compare(figure(a), figure(b), level=0.95).ratio
    differences = np.log(b) - np.log(a)
    for end, inside in ((ratio.low, 1), (ratio.high, -1)):
        for step, rejected in ((inside, False), (-inside, True)):
            shifted = differences - math.log(end) - step * 4e-4
            p = wilcoxon(shifted, correction=False, method="approx").pvalue
            assert (p < 0.05) == rejected


@pytest.mark.parametrize("count", [30, 29])
def test_a_few_spoilt_epochs_change_little(count: int):
    drawn = np.random.default_rng(4)
    a = list(100 * np.exp(drawn.normal(0, 0.002, 30)))
    b = list(101 * np.exp(drawn.normal(0, 0.002, count)))
    b[3] *= 1.5
    b[9] *= 0.7
    assert compare(figure(a), figure(b)).ratio.within(1.004, 1.016)
    spread = np.std(np.log(b)) / math.sqrt(count)
    assert math.exp(math.log(1.01) - 2 * spread) < 1, "by Student's t nothing could be said"


def test_it_is_never_narrower_than_the_noise_floor():
    epochs = [100.0 + i / 1000 for i in range(12)]
    comparison = compare(figure(epochs), figure([1.004 * epoch for epoch in epochs]), NoiseFloor(0.01, ()))
    assert not comparison.claimed
    assert comparison.dominated_by == "noise floor"


@pytest.mark.parametrize("count", [2, 5, ORDERED_FROM - 1])
def test_few_epochs_are_compared_by_students_t(count: int):
    logs = np.random.default_rng(6).normal(0, 0.01, count)
    usual = t.ppf(0.975, count - 1) * logs.std(ddof=1) / math.sqrt(count) * median_spread(count)
    assert reach_of_pairs(logs, 0.0, 0.95) == pytest.approx((usual, usual), rel=1e-3)


def test_ranks_are_used_only_where_they_can_show_the_level():
    """The extremes of nine ratios hold the shift in 0.996 of all cases, which is less than 0.998."""
    logs = np.random.default_rng(7).normal(0, 0.01, 9)
    down, up = reach_of_pairs(logs, float(np.median(logs)), 0.998)
    assert down == up > float(np.ptp(logs)) / 2
    more = np.append(logs, 0.5)
    assert max(reach_of_pairs(more, 0.0, 0.998)) == pytest.approx(0.5)


def test_pairs_and_two_samples_say_the_same_in_both_directions():
    drawn = np.random.default_rng(8)
    a, b = drawn.normal(0, 0.01, 20), drawn.normal(0.02, 0.01, 25)
    assert reach_of_two(a, b, 0.02, 0.95) == pytest.approx(reach_of_two(b, a, -0.02, 0.95)[::-1])
    assert reach_of_pairs(a, 0.0, 0.95) == pytest.approx(reach_of_pairs(-a, 0.0, 0.95)[::-1])


def test_a_difference_is_found_as_rarely_as_promised_where_there_is_none():
    drawn = np.random.default_rng(5)
    wrong = sum(
        compare(*(figure(list(np.exp(drawn.normal(4, 0.01, 20)))) for _ in "ab"), level=0.95).claimed
        for _ in range(400)
    )
    assert 5 <= wrong <= 36  # 20 expected


def test_nanoseconds_where_cycles_differ_in_kind():
    a = figure([100.0 + i for i in range(10)])
    b = dataclasses.replace(a, cycle_source="none", cycles_per_call=None, epoch_cycles=())
    assert compare(a, b).unit == "ns"
