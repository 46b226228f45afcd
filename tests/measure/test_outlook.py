"""When will a run be done? Told by simulated epochs, and held against runs of the same rule."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

from perbyte.measure.nesting import COMMON_WEIGHT
from perbyte.measure.stopping import Unfinished, until_precise_s
from perbyte.stats.estimate import midmean
from perbyte.stats.interval import find_spread, forked_interval, relative_variance

PROCESS, OTHER = ("alpha", "full", 0), ("beta", "full", 0)
SURE = Unfinished(PROCESS, 5, math.sqrt(9 / 5), 0.25)  # precise after four more epochs, whatever happens
GOAL = 0.0025


def every(_done):
    return True


def told(cells, *, starts_s=None, rest_s=0.0, most_s=1000.0, at_look=every):
    return until_precise_s(cells, starts_s or {}, rest_s, most_s, at_look)


def test_nothing_is_left_where_no_cell_is():
    assert told([]) == 0.0


def test_a_sure_cell_takes_its_epochs():
    assert told([SURE]) == pytest.approx(4 * 0.25)
    assert told([SURE], rest_s=0.5) == pytest.approx(4 * 0.75)
    assert told([SURE], starts_s={PROCESS: 1.0, OTHER: 9.0}) == pytest.approx(4 * 1.25), (
        "its own process alone"
    )


def test_a_cell_of_one_epoch_is_no_division_by_zero():
    with np.errstate(all="raise"):
        assert told([dataclasses.replace(SURE, epochs=1, excess=math.sqrt(4))]) == pytest.approx(3 * 0.25)


def test_it_ends_at_a_look():
    assert told([SURE], at_look=lambda done: done % 6 == 0) == pytest.approx(7 * 0.25), (
        "twelve is a look, nine is none"
    )


def test_a_cell_that_ends_costs_no_more():
    short = dataclasses.replace(SURE, process=OTHER, excess=math.sqrt(6 / 5), cost_s=1.0)
    assert told([SURE, short], starts_s={PROCESS: 0.0, OTHER: 2.0}) == pytest.approx(4 * 0.25 + 1.0 + 2.0)


def test_it_is_never_more_than_what_is_left():
    assert told([SURE], most_s=0.7) == 0.7
    hopeless = dataclasses.replace(SURE, excess=math.inf)
    assert told([SURE, hopeless], most_s=12.0) == 12.0, "more epochs do not help"
    endless = dataclasses.replace(SURE, excess=1e6)
    assert told([endless], most_s=1e9) == 1e9


def uncertain(values, common):
    """What is known of a cell of forks; a cell costs nothing, an epoch a second."""
    centre, freedom = midmean(np.array(values)), len(values) - 1 + COMMON_WEIGHT
    half = forked_interval(centre, values, [0.0] * len(values), 0.95, common).half_width
    seen = relative_variance(values)
    further = (len(values) * seen + COMMON_WEIGHT * common.variance) / (len(values) + COMMON_WEIGHT)
    excess, shared = half / centre / GOAL, (common.variance, common.freedom)
    return Unfinished(PROCESS, len(values), excess, 0.0, seen, further, freedom, *shared)


def made(draw, sigmas):
    """Further epochs as told after five, and those that the last cell then needs; a cell for each of `sigmas`."""
    epochs = [draw.normal(1.0, sigma, 5).tolist() for sigma in sigmas]
    common = find_spread(epochs)
    states = [uncertain(values, common) for values in epochs]
    forecast = told([state for state in states if state.excess > 1], rest_s=1.0)
    for place, values in enumerate(epochs):
        while states[place].excess > 1:
            values.append(draw.normal(1.0, sigmas[place]))
            states[place] = uncertain(values, common)
    return forecast, max(map(len, epochs)) - 5


def test_the_last_of_many_cells_is_told():
    draw, runs = np.random.default_rng(3), []
    for _ in range(16):
        sigmas = GOAL * np.sqrt(12 / draw.chisquare(8, 24) * 8) / 1.96  # precise after some twelve epochs
        runs.append(made(draw, sigmas))
    forecasts, true = np.median(np.array(runs), axis=0)
    assert forecasts == pytest.approx(true, rel=0.3)
    assert true > 1.3 * 12, "far more than a cell needs on average"
