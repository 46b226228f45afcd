"""Trends of a size that matters are seen; noise, outliers and tiny trends are not."""

from __future__ import annotations

import numpy as np
import pytest

from perbyte.stats.epoch import autocorrelation, inflation, trend


def test_a_warming_process_is_seen():
    random = np.random.default_rng(1)
    values = 100 * (1 + 0.03 * np.exp(-np.arange(120) / 40)) + 0.1 * random.standard_normal(120)
    this_trend = trend(values)
    assert this_trend is not None
    assert this_trend.change == pytest.approx(-0.018, abs=0.004)
    assert this_trend.correlation < -0.8


def test_noise_is_no_trend():
    random = np.random.default_rng(2)
    alarms = sum(trend(100 * (1 + 0.02 * random.standard_normal(60))) is not None for _ in range(1000))
    assert alarms <= 3


def test_outliers_at_the_end_are_no_trend():
    values = np.full(60, 100.0)
    values[-4:] = 200.0
    assert trend(values) is None


def test_tiny_and_short_trends_are_no_trend():
    assert trend(100 * (1 + 0.003 * np.linspace(0, 1, 200))) is None
    assert trend(np.array([1.0, 2.0, 3.0])) is None


def test_bursts_that_switch_between_two_states_are_no_trend():
    """Seen on Zen 4: whole bursts at 31.5 or at 32.5 cycles, the slower ones early by chance."""
    random = np.random.default_rng(5)
    for states in (
        [32.5] * 2 + [31.5] * 6,
        [36.5, 32.5] + [31.5] * 6,
        [40.7] * 6 + [43.7] * 2,
        [3.25, 3.15, 3.15],
    ):
        values = np.repeat(states, 6) * (1 + 0.0005 * random.standard_normal(6 * len(states)))
        assert trend(values, np.repeat(np.arange(len(states)), 6)) is None
    alarms = 0
    for _ in range(500):
        values = np.repeat(random.choice([31.5, 32.5], 12), 6)
        alarms += trend(values, np.repeat(np.arange(12), 6)) is not None
    assert alarms <= 3


def test_bursts_that_get_faster_one_after_the_other_are_a_trend():
    random = np.random.default_rng(6)
    burst = np.repeat(np.arange(8), 6)
    values = 100 * (1 + 0.03 * np.exp(-burst / 3)) * (1 + 0.001 * random.standard_normal(48))
    this_trend = trend(values, burst)
    assert this_trend is not None
    assert this_trend.change < -0.01


def test_what_happens_within_few_bursts_is_seen():
    random = np.random.default_rng(7)
    within = 1 + 0.03 * np.exp(-np.arange(20) / 6)
    values = np.concatenate([level * within for level in (100.0, 103.0, 99.0)])
    values *= 1 + 0.001 * random.standard_normal(60)
    assert trend(values, np.repeat(np.arange(3), 20)).change < -0.01


def test_autocorrelation_widens_and_never_narrows():
    random = np.random.default_rng(4)
    noise = random.standard_normal(4000)
    walk = np.empty(4000)
    walk[0] = noise[0]
    for k in range(1, 4000):
        walk[k] = 0.6 * walk[k - 1] + noise[k]
    assert autocorrelation(walk) == pytest.approx(0.6, abs=0.05)
    assert inflation(walk) == pytest.approx(2.0, abs=0.2)
    assert inflation(noise) == pytest.approx(1.0, abs=0.05)
    assert inflation(np.array([1.0, -1.0] * 50)) == 1.0
    assert inflation(np.ones(9)) == 1.0
