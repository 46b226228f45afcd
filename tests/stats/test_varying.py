"""Signatures whose cost depends on their message: a mean over many, with an interval that holds."""

from __future__ import annotations

import numpy as np
import pytest

from perbyte.stats.varying import SampleMean, combined, spared_weights

MEAN = 10.0 / 0.25 + 3


def drawn(draw: np.random.Generator, count: int) -> np.ndarray:
    """Calls that reject: a fixed part, and attempts of which one in four succeeds."""
    return draw.geometric(0.25, count) * 10.0 + 3


def part(values: np.ndarray, weights: np.ndarray) -> SampleMean:
    mean = float(np.average(values, weights=weights))
    scatter = float(np.average((values - mean) ** 2, weights=weights))
    return SampleMean(mean, scatter, float(weights.sum() ** 2 / (weights**2).sum()))


def test_calls_that_nothing_interrupted_are_weighed_for_those_that_were_not_spared():
    draw = np.random.default_rng(1)
    means, plain = [], []
    for _ in range(200):
        values = drawn(draw, 2000)
        spared = draw.random(2000) < np.exp(-0.005 * values)
        means.append(np.average(values[spared], weights=spared_weights(values, spared)))
        plain.append(values[spared].mean())
    assert np.mean(plain) < 0.92 * MEAN
    assert np.mean(means) == pytest.approx(MEAN, rel=0.01)


def test_the_interval_holds():
    draw = np.random.default_rng(2)
    held = 0
    for _ in range(300):
        parts = [part(drawn(draw, 300), np.ones(300)) for _ in range(5)]
        mean = combined(parts, 0.95)
        held += mean.low <= MEAN <= mean.high
    assert held >= 0.91 * 300


def test_keys_that_differ_widen_the_interval():
    alike = combined([SampleMean(100.0, 400.0, 100.0)] * 4, 0.95)
    apart = combined([SampleMean(value, 400.0, 100.0) for value in (80.0, 120.0, 80.0, 120.0)], 0.95)
    assert apart.half_width > 5 * alike.half_width


def test_all_samples_count_as_one_where_all_are_spared():
    ticks = np.arange(1.0, 9.0)
    assert spared_weights(ticks, np.ones(8)).tolist() == [1.0] * 8
    assert not len(spared_weights(ticks, np.zeros(8)))


def test_no_samples_have_no_mean():
    with pytest.raises(ValueError, match="no mean"):
        combined([], 0.95)
