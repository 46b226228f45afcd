"""Intervals cover what they claim to, and their ingredients agree with SciPy and with integration."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import integrate, stats

from perbyte.measure.stopping import is_look
from perbyte.stats.clean import Grounds
from perbyte.stats.estimate import (
    binomial_bound,
    median,
    median_interval,
    midmean,
    midmean_half_width,
    normal_quantile,
    t_quantile,
    two_sided_t,
)
from perbyte.stats.figure import judge, summarise
from perbyte.stats.interval import (
    _QUARTILE_DEPTH,
    QUARTILE_FROM,
    between_half_width,
    combined_interval,
    layout_spread,
    median_spread,
    quartile_interval,
    within_half_width,
)


@pytest.mark.parametrize("epochs", [3, 4, 9, 12])
@pytest.mark.parametrize(
    ("between", "within"), [(0.003, 0.0005), (0.0005, 0.004), (0.0, 0.002)], ids=["epochs", "both", "samples"]
)
def test_95_per_cent_intervals_cover(make_simulation, epochs, between, within):
    """Hierarchical noise through the whole figure: the truth lies inside in 90 to 100 of 100 cases."""
    simulation = make_simulation(seed=epochs * 1000 + int(between * 1e5))
    calibrations, hits, trials = simulation.calibrations(epochs), 0, 200
    for _ in range(trials):
        bursts = [
            simulation.burst(
                100.0 * (1 + between * simulation.random.standard_normal()), epoch=e, noise=within
            )
            for e in range(1, epochs + 1)
        ]
        summary = summarise(simulation.cell, bursts, Grounds(calibrations, simulation.policy))
        this_figure = judge(summary, simulation.policy)
        hits += this_figure.interval.low <= 100.0 <= this_figure.interval.high
    assert 0.90 <= hits / trials <= 1.0


def test_the_interval_is_not_wider_than_it_must_be(make_simulation):
    """With spread between epochs only, its mean width is that of Student's t on the median of layouts."""
    random = np.random.default_rng(11)
    halves = [
        combined_interval(0.0, list(random.standard_normal(5)), [0.01] * 5, 0.95).half_width
        for _ in range(2000)
    ]
    mean_sd = math.sqrt(2 / 4) * math.gamma(2.5) / math.gamma(2)
    expected = stats.t.ppf(0.975, 4) * mean_sd / math.sqrt(5) * layout_spread(5)
    assert np.mean(halves) == pytest.approx(expected, rel=0.03)


def test_the_quartile_of_few_values_goes_as_deep_as_simulated():
    """The table of depths, simulated again for normal and uniform values: 2.5 of 100 truths lie deeper."""
    random = np.random.default_rng(5)
    for n in range(QUARTILE_FROM, QUARTILE_FROM + len(_QUARTILE_DEPTH)):
        needed = []
        for values, truth in (
            (random.standard_normal((60_000, n)), stats.norm.ppf(0.25)),
            (random.random((60_000, n)), 0.25),
        ):
            gap = np.quantile(values, 0.25, axis=1) - truth
            needed.append(np.quantile(gap / (np.median(values, axis=1) - values.min(axis=1)), 0.975))
        assert _QUARTILE_DEPTH[n - QUARTILE_FROM] == pytest.approx(max(needed), rel=0.06)


@pytest.mark.parametrize("epochs", [5, 6, 7, 9, 12, 13, 16, 24])
@pytest.mark.parametrize("disturbed", [0.0, 0.15, 0.4])
def test_quartile_intervals_cover_what_disturbances_leave_alone(epochs, disturbed):
    random = np.random.default_rng(epochs)

    def draw(n):
        return (
            100 + random.standard_normal(n) * 0.1 + (random.random(n) < disturbed) * random.exponential(3, n)
        )

    truth = np.quantile(draw(400_000), 0.25)
    intervals = [quartile_interval(list(draw(epochs)), 0.95) for _ in range(800)]
    assert np.mean([interval.low <= truth <= interval.high for interval in intervals]) >= 0.935
    widths = [interval.half_width for interval in intervals]
    assert np.median(widths) < (0.3 if disturbed < 0.2 else 1.2)  # one disturbance may be as large as 10


def test_one_disturbed_epoch_of_six_does_not_widen_the_quartile_interval():
    calm = [100.0, 100.1, 99.9, 100.05, 99.95, 100.2]
    assert quartile_interval([*calm[:5], 140.0], 0.95) == quartile_interval(calm, 0.95)
    assert quartile_interval([*calm[:4], 140.0, 150.0], 0.95).high == 140.0


def test_the_quartile_interval_of_hardly_any_epochs_is_students():
    values = [100.0, 100.2, 100.4]
    interval = quartile_interval(values, 0.95)
    assert interval.half_width == pytest.approx(between_half_width(values, 0.95))
    assert (interval.low + interval.high) / 2 == pytest.approx(100.1)
    assert math.isinf(quartile_interval([100.0], 0.95).high)


@pytest.mark.parametrize("df", [1, 2, 3, 8, 29, 30, 399, 400, 5000])
@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.999])
def test_t_quantiles_are_those_of_scipy(df, level):
    assert t_quantile(level, df) == pytest.approx(stats.t.ppf(0.5 + level / 2, df), rel=1e-9)


def test_the_t_distribution_is_that_of_scipy():
    for df in (1, 2, 5, 6, 77):
        assert two_sided_t(1.3, df) == pytest.approx(2 * stats.t.cdf(1.3, df) - 1, abs=1e-12)
    assert normal_quantile(0.975) == pytest.approx(stats.norm.ppf(0.975), abs=1e-12)
    assert math.isinf(t_quantile(0.95, 0))
    with pytest.raises(ValueError, match="level"):
        t_quantile(1.0, 3)


@pytest.mark.parametrize("n", [3, 5, 7, 9])
def test_the_spread_of_a_median_is_what_integration_gives(n):
    k = (n - 1) // 2
    density = lambda x: (  # noqa: E731
        math.factorial(n)
        / math.factorial(k) ** 2
        * (stats.norm.cdf(x) * stats.norm.sf(x)) ** k
        * stats.norm.pdf(x)
    )
    variance = integrate.quad(lambda x: x * x * density(x), -12, 12)[0]
    assert median_spread(n) == pytest.approx(math.sqrt(n * variance), abs=2e-5)
    assert median_spread(1000) == pytest.approx(math.sqrt(math.pi / 2))


@pytest.mark.parametrize("n", [4, 6, 8])
def test_the_spread_of_an_even_median_is_what_simulation_gives(n):
    values = np.random.default_rng(1).standard_normal((400_000, n))
    assert median_spread(n) == pytest.approx(math.sqrt(n) * np.median(values, axis=1).std(), rel=5e-3)


def test_the_midmean_is_the_mean_of_the_middle_half():
    assert midmean(np.array([1.0, 2, 3, 4, 5, 6, 7, 800])) == pytest.approx((3 + 4 + 5 + 6) / 4)
    assert midmean(np.array([1.0, 3.0, 800.0])) == pytest.approx((0.25 * 1 + 3 + 0.25 * 800) / 1.5)
    assert midmean(np.array([7.0])) == 7.0
    assert midmean(np.array([7.0, 9.0])) == 8.0
    assert math.isnan(midmean(np.empty(0)))


def test_the_midmean_resolves_what_a_median_of_steps_cannot():
    """Readings in steps of 26 around truths anywhere between two of them."""
    random = np.random.default_rng(3)
    errors = np.zeros(2)
    for truth in 1000 + 26 * random.random(500):
        readings = np.floor((truth + 26 * random.random(60)) / 26) * 26
        errors += (midmean(readings) - truth) ** 2, (median(readings) - truth) ** 2
    assert errors[0] < errors[1] / 3


def test_the_half_width_of_the_midmean_covers():
    random = np.random.default_rng(4)
    hits = 0
    for _ in range(2000):
        values = random.standard_normal(40)
        hits += abs(midmean(values)) <= midmean_half_width(values, 0.95)
    assert 0.93 <= hits / 2000 <= 0.98
    assert math.isinf(midmean_half_width(np.array([1.0, 2.0]), 0.95))


def test_the_median_interval_has_the_ranks_of_the_binomial():
    values = np.arange(1, 101, dtype=float)
    low, high = median_interval(values, 0.95)
    assert (low, high) == (40.0, 61.0)
    covered = stats.binom.cdf(high - 2, 100, 0.5) - stats.binom.cdf(low - 1, 100, 0.5)
    assert covered >= 0.95
    narrower = stats.binom.cdf(high - 3, 100, 0.5) - stats.binom.cdf(low, 100, 0.5)
    assert narrower < 0.95
    assert median_interval(np.array([3.0, 1.0]), 0.95) == (1.0, 3.0)
    assert all(math.isnan(bound) for bound in median_interval(np.empty(0), 0.95))
    low, high = median_interval(np.arange(1, 5001, dtype=float), 0.95)
    covered = stats.binom.cdf(high - 1, 5000, 0.5) - stats.binom.cdf(low - 1, 5000, 0.5)
    assert 0.95 <= covered <= 0.955


def test_intervals_hold_where_many_looks_come_late():
    """Epochs of 1.2 % stop at 0.25 % after some 150 of them; chosen for their narrowness, they hold less often."""
    looks = [done for done in range(5, 400) if is_look(done, 5)]
    random, late = np.random.default_rng(3), []
    for _ in range(200):
        values = 1 + 0.012 * random.standard_normal(400)
        for done in looks:
            interval = combined_interval(median(values[:done]), list(values[:done]), [0.0] * done, 0.95)
            if interval.half_width <= 0.0025:
                break
        if done > 24:
            late.append(interval.low <= 1 <= interval.high)
    assert len(late) > 150
    assert np.mean(late) >= 0.86, "0.93 expected, standard error 0.02"


def test_unknown_widths_are_infinite_or_left_to_the_epochs():
    assert math.isinf(between_half_width([1.0], 0.95))
    assert math.isinf(within_half_width([math.inf]))
    assert within_half_width([math.inf, math.inf]) == 0.0
    assert within_half_width([math.inf, 2.0]) == pytest.approx(2.0 / math.sqrt(2))
    assert combined_interval(1.0, [1.0], [math.inf], 0.95).high == math.inf


@pytest.mark.parametrize("epochs", [9, 12])
def test_one_expensive_layout_among_many_does_not_widen_the_interval(epochs):
    """One epoch in ten at +5 %, the others within 0.1 %: covers the typical cost, and stays narrow."""
    random = np.random.default_rng(epochs)
    hits, widths = 0, []
    for _ in range(1000):
        values = 1 + 0.001 * random.standard_normal(epochs) + 0.05 * (random.random(epochs) < 0.1)
        interval = combined_interval(float(np.median(values)), list(values), [0.0] * epochs, 0.95)
        truth = stats.norm.ppf(0.5 / 0.9) * 0.001 + 1  # the median of the mixture
        hits += interval.low <= truth <= interval.high
        widths.append(interval.half_width)
    assert hits >= 930
    assert np.median(widths) < 0.0015


@pytest.mark.parametrize(("events", "trials"), [(0, 1), (0, 40), (1, 7), (3, 500), (39, 40), (200, 3000)])
def test_the_bound_on_a_probability_is_that_of_the_beta_distribution(events, trials):
    for level in (0.5, 0.95, 0.999):
        expected = stats.beta.ppf(level, events + 1, trials - events)
        assert binomial_bound(events, trials, level) == pytest.approx(expected, rel=1e-9)
    assert binomial_bound(trials, trials) == 1.0
