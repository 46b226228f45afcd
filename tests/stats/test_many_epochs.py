"""Ratios from many epochs: held to SciPy, and not misled by a few that are spoilt."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from scipy.stats import wilcoxon

from perbyte import stats
from perbyte.model import Cell, CellFigure, Interval, NoiseFloor, Quality
from perbyte.stats.many_epochs import compare_many


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
        epoch_ns=tuple(one / 3 for one in epochs),
        calls_per_sample=1,
        quality=Quality.GOOD,
        cycle_source="probe",
    )


def test_the_interval_is_where_wilcoxons_test_changes_its_mind():
    drawn = np.random.default_rng(3)
    a = list(100 * np.exp(drawn.normal(0, 0.003, 30)))
    b = list(101 * np.exp(drawn.normal(0, 0.003, 30)))
    ratio = compare_many(figure(a), figure(b), level=0.95).ratio
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
    robust, usual = compare_many(figure(a), figure(b)), stats.compare(figure(a), figure(b))
    assert not usual.claimed
    assert robust.ratio.within(1.005, 1.015)


def test_it_is_never_narrower_than_the_noise_floor():
    epochs = [100.0 + i / 1000 for i in range(12)]
    found = compare_many(figure(epochs), figure([1.004 * one for one in epochs]), NoiseFloor(0.01, ()))
    assert not found.claimed
    assert found.dominated_by == "noise floor"


def test_few_epochs_are_compared_as_everywhere():
    a, b = figure([100.0, 101, 100, 99, 100]), figure([110.0, 111, 110, 109, 110])
    assert compare_many(a, b) == stats.compare(a, b)


def test_a_difference_is_found_as_rarely_as_promised_where_there_is_none():
    drawn = np.random.default_rng(5)
    wrong = sum(
        compare_many(*(figure(list(np.exp(drawn.normal(4, 0.01, 20)))) for _ in "ab"), level=0.95).claimed
        for _ in range(400)
    )
    assert 5 <= wrong <= 36  # 20 expected


def test_nanoseconds_where_cycles_differ_in_kind():
    a = figure([100.0 + i for i in range(10)])
    b = dataclasses.replace(a, cycle_source="none", cycles_per_call=None, epoch_cycles=())
    assert compare_many(a, b).unit == "ns"
