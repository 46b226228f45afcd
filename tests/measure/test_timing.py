"""Seconds by part add up to the whole."""

from __future__ import annotations

import pytest

from perbyte.measure import budget as module
from perbyte.measure.budget import PARTS, Timing


@pytest.fixture
def clock(monkeypatch):
    class Clock:
        now = 0.0

    monkeypatch.setattr(module.time, "monotonic", lambda: Clock.now)
    return Clock


def test_a_part_inside_another_counts_once(clock):
    timing = Timing()
    with timing.of("audit"):
        clock.now += 2
        with timing.of("statistics"):
            clock.now += 3
        clock.now += 1
    assert timing.shares(10.0)["audit"] == 3
    assert timing.shares(10.0)["statistics"] == 3
    assert timing.shares(10.0)["other"] == 4
    assert sum(timing.shares(10.0).values()) == 10


def test_a_burst_is_split_by_what_the_runner_says(clock):
    timing = Timing()
    timing.add_burst(1.0, samples_s=0.4, whole_s=0.8, warm_s=0.2, wait_s=0.1)
    shares = timing.shares(1.0)
    assert shares["samples"] == pytest.approx(0.4)
    assert shares["probes"] == pytest.approx(0.1)
    assert shares["asking"] == pytest.approx(0.2)
    assert shares["other"] == pytest.approx(0)
    assert tuple(shares) == PARTS


def test_a_runner_that_says_nothing_or_too_much_makes_no_part_negative(clock):
    timing = Timing()
    timing.add_burst(1.0, samples_s=0.5, whole_s=0.0, warm_s=0.0, wait_s=0.0)
    timing.add_burst(1.0, samples_s=0.5, whole_s=9.0, warm_s=0.1, wait_s=0.1)
    assert all(seconds >= 0 for seconds in timing.shares(2.0).values())
    assert timing.shares(2.0)["asking"] == pytest.approx(0.5)


def test_bursts_within_a_part_are_not_that_part(clock):
    timing = Timing()
    with timing.of("audit"):
        clock.now += 2
        timing.add_burst(1.5, samples_s=1.0, whole_s=1.5, warm_s=0.0, wait_s=0.0)
    assert timing.shares(2.0)["audit"] == pytest.approx(0.5)
