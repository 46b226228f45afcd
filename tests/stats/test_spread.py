"""What all cells together say about the spread of epochs, and what that does for intervals that stop early."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import special, stats

from perbyte.stats.interval import (
    LEAST_CELLS,
    MOST_FREEDOM,
    UNEXPLAINED,
    Spread,
    combined_interval,
    digamma,
    find_spread,
    layout_spread,
    median_spread,
    spread_half_width,
    trigamma,
)


def test_the_gamma_functions_are_those_of_scipy():
    for x in (0.05, 0.5, 1.0, 1.5, 3.7, 12.0, 200.0):
        assert digamma(x) == pytest.approx(special.digamma(x), rel=1e-9, abs=1e-9)
        assert trigamma(x) == pytest.approx(special.polygamma(1, x), rel=1e-9)


@pytest.mark.parametrize("freedom", [3.0, 8.0])
@pytest.mark.parametrize("epochs", [3, 5])
def test_the_common_spread_is_found_again(freedom, epochs):
    """Variances drawn from the distribution that is assumed: s0^2 d0 / chi^2(d0)."""
    random = np.random.default_rng(int(freedom) + epochs)
    variances = 1e-6 * freedom / random.chisquare(freedom, 4000)
    cells = [50 * (1 + math.sqrt(v) * random.standard_normal(epochs)) for v in variances]
    spread = find_spread(cells)
    assert spread is not None
    assert spread.variance == pytest.approx(1e-6, rel=0.1)
    assert spread.freedom == pytest.approx(freedom, rel=0.4)


def test_cells_that_are_all_alike_are_worth_many_degrees_of_freedom():
    random = np.random.default_rng(2)
    spread = find_spread([100 + 0.1 * random.standard_normal(5) for _ in range(300)])
    assert spread is not None
    assert spread.freedom > 40
    assert spread.variance == pytest.approx(1e-6, rel=0.15)
    alike = find_spread([[1.0, 1.001, 1.002]] * LEAST_CELLS)
    assert alike is not None
    assert alike.freedom == MOST_FREEDOM


def test_few_cells_and_cells_of_one_epoch_have_nothing_in_common():
    assert find_spread([[1.0, 1.1, 1.2]] * (LEAST_CELLS - 1)) is None
    assert find_spread([[1.0]] * 50) is None
    assert find_spread([[7.0, 7.0, 7.0]] * 50) is None, "steps of a counter are no spread"
    assert find_spread([]) is None


def test_a_cell_is_drawn_towards_the_others_unless_they_do_not_explain_it():
    common = Spread(1e-6, 6.0)
    variance, freedom = common.moderate(1e-8, 2)
    assert (variance, freedom) == (pytest.approx((6e-6 + 2e-8) / 8), 8)
    assert common.moderate(1.01 * UNEXPLAINED * 1e-6, 2) == (1.01 * UNEXPLAINED * 1e-6, 2)
    alike = [100.0, 100.001, 100.002]
    alone, together = (spread_half_width(alike, 0.95, shared) for shared in (None, common))
    expected = stats.t.ppf(0.975, 8) * math.sqrt((6e-6 + 2e-10) / 8 / 3) * 100
    assert alone < 0.01 < together == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize("n", [2, 3, 4, 5, 6, 8, 9, 13])
def test_the_spread_of_a_median_of_layouts_is_the_worse_of_normal_and_uniform(n):
    values = np.random.default_rng(n).uniform(-1, 1, (200_000, n))
    uniform = math.sqrt(3 * n) * np.median(values, axis=1).std()
    assert layout_spread(n) == pytest.approx(max(uniform, median_spread(n)), rel=0.01)


def stopped(random, kind, *, least, step, moderated, runs):
    """Whether the interval held, by the number of epochs at which 24 cells of a run ended."""
    held: dict[int, list[bool]] = {}
    for _ in range(runs):
        spreads = np.exp(random.uniform(math.log(5e-4), math.log(2.5e-3), 24))
        draw = random.uniform(-math.sqrt(3), math.sqrt(3), (24, 24)) if kind == "uniform" else None
        draw = random.standard_normal((24, 24)) if draw is None else draw
        values = 1 + spreads[:, None] * draw
        ends, active = np.full(24, least), set(range(24))
        while active:
            common = find_spread([v[:n] for v, n in zip(values, ends, strict=True)]) if moderated else None
            for cell in list(active):
                some = values[cell, : ends[cell]]
                interval = combined_interval(
                    float(np.median(some)), list(some), [4e-4] * len(some), 0.95, common
                )
                if interval.half_width <= 0.0025 or ends[cell] >= 23:
                    active.discard(cell)
                    held.setdefault(int(ends[cell]), []).append(interval.low <= 1 <= interval.high)
                else:
                    ends[cell] += step
    return held


@pytest.mark.parametrize("kind", ["normal", "uniform"])
def test_intervals_hold_at_every_look_when_cells_stop_at_precision(kind):
    """Five epochs, then two between looks: at least 93 of 100 at each look that many cells end at."""
    held = stopped(np.random.default_rng(3), kind, least=5, step=2, moderated=True, runs=60)
    assert sum(map(len, held.values())) == 60 * 24
    for epochs, some in held.items():
        if len(some) >= 60:
            error = math.sqrt(0.93 * 0.07 / len(some))
            assert np.mean(some) >= 0.93 - 2 * error, f"those that ended with {epochs} epochs"
    assert np.mean([held_value for some in held.values() for held_value in some]) >= 0.945


def test_without_the_others_three_epochs_agree_by_chance_too_often():
    """Why it is so: what an interval of the cell alone does at the first look of three."""
    alone = stopped(np.random.default_rng(4), "uniform", least=3, step=3, moderated=False, runs=60)
    together = stopped(np.random.default_rng(4), "uniform", least=5, step=2, moderated=True, runs=60)
    assert np.mean(alone[3]) < 0.92 < np.mean(together[5])
