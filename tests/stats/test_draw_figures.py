"""Figures of calls that vary at random: quantiles with honest intervals, no call left out, no narrow mean."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from perbyte.errors import UsageError
from perbyte.model import Cell, Doubt, Flag, Policy, Quality
from perbyte.stats.clean import Grounds
from perbyte.stats.compare import compare
from perbyte.stats.draws import ENOUGH_CALLS, SHARES, figure_of_draws, quantile, quantiles
from perbyte.stats.estimate import median_interval
from perbyte.stats.run_figures import make_run_figures

CELL = Cell("openssl", "rsa-2048", "keygen", 32, "draw/1")
MEAN = 2e8


def exponential(simulation, n=ENOUGH_CALLS, epochs=4, scale=1.0, cell=CELL, **how):
    """Bursts of single calls whose costs are exponential, in several epochs."""
    counts = [n // epochs + (k < n % epochs) for k in range(epochs)]
    return [
        simulation.burst(
            scale * MEAN * simulation.random.exponential(size=count),
            n=count,
            epoch=k + 1,
            calls=1,
            noise=0.0,
            cell=cell,
            **how,
        )
        for k, count in enumerate(counts)
    ]


def judged(simulation, bursts, **changes):
    grounds = Grounds(simulation.calibrations(4, **changes), simulation.policy)
    return figure_of_draws(bursts[0].cell, bursts, grounds)


def test_quantiles_are_those_of_all_calls(simulation):
    bursts = exponential(simulation)
    figure = judged(simulation, bursts)
    cycles = np.array([tick for burst in bursts for tick in burst.ticks]) * simulation.ghz / 2.6
    assert [quantile_given.share for quantile_given in figure.quantiles] == list(SHARES)
    for each_quantile in figure.quantiles:
        assert each_quantile.estimate.value == pytest.approx(
            np.quantile(cycles, each_quantile.share, method="median_unbiased"), rel=1e-3
        )
        assert (
            0
            < each_quantile.estimate.low
            < each_quantile.estimate.value
            < each_quantile.estimate.high
            < math.inf
        )
    assert figure.cycles_per_call == figure.quantiles[2].estimate.value, "the figure is the median"
    assert (figure.samples, figure.epochs, figure.epoch_cycles) == (ENOUGH_CALLS, 4, ())
    assert figure.quality is Quality.GOOD
    assert figure.relative_half_width > 0.05, "as wide as random variation makes it"


@pytest.mark.parametrize("share", SHARES)
def test_intervals_of_quantiles_hold(share):
    draw = np.random.default_rng(7)
    true = -math.log(1 - share)
    held = sum(
        each_quantile.low <= true <= each_quantile.high
        for each_quantile in (quantile(draw.exponential(size=ENOUGH_CALLS), share, 0.95) for _ in range(600))
    )
    assert held >= 0.925 * 600


def test_the_interval_of_the_median_is_the_known_one():
    values = np.random.default_rng(3).exponential(size=57)
    this_quantile = quantile(values, 0.5, 0.95)
    assert (this_quantile.low, this_quantile.high) == median_interval(values, 0.95)


def test_an_end_that_too_few_calls_cannot_tell_is_left_open():
    values = np.arange(1.0, ENOUGH_CALLS)
    assert quantile(values, 0.99, 0.95).high == math.inf
    assert quantile(np.arange(1.0, ENOUGH_CALLS + 1), 0.99, 0.95).high == ENOUGH_CALLS
    assert quantile(np.arange(1.0, 21.0), 0.1, 0.95).low == 0.0
    assert [each_quantile.share for each_quantile in quantiles(np.arange(9.0), 0.95)] == [0.25, 0.5, 0.75], (
        "one call beyond, at least"
    )
    with pytest.raises(ValueError, match="no quantile"):
        quantile(np.array([]), 0.5, 0.95)


def test_no_call_is_left_out_because_it_was_interrupted(simulation):
    [burst, *_] = exponential(simulation, n=40, epochs=1)
    longest = int(np.argmax(burst.ticks))
    flagged = replace(burst, flags=[int(Flag.SWITCHED) * (k == longest) for k in range(40)])
    assert judged(simulation, [flagged]).quantiles == judged(simulation, [burst]).quantiles
    failed = replace(burst, flags=[int(Flag.FAILED_CALL) * (k == longest) for k in range(40)])
    assert judged(simulation, [failed]).quantiles != judged(simulation, [burst]).quantiles


def test_too_few_and_disturbed_calls_are_told(simulation):
    few = judged(simulation, exponential(simulation, n=20))
    assert few.quality is Quality.IMPRECISE
    assert {warning.kind for warning in few.warnings} == {Doubt.DRAWN, Doubt.IMPRECISE}
    shared = judged(simulation, exponential(simulation, n=400, disturbed=np.ones(100, dtype=bool)))
    assert shared.quality is Quality.NOISY
    assert shared.interval.low <= shared.per_call / 2
    with pytest.raises(UsageError, match="no usable sample"):
        figure_of_draws(CELL, [], Grounds({}, Policy()))


def test_without_cycles_the_quantiles_are_times(simulation):
    figure = judged(simulation, exponential(simulation), cycle_source="none")
    assert figure.cycles_per_call is None
    assert figure.quantiles[2].estimate.value == pytest.approx(figure.ns_per_call)


def test_a_difference_is_claimed_of_medians_only_beyond_chance(simulation):
    first = judged(simulation, exponential(simulation))
    again = judged(simulation, exponential(simulation))
    twice = judged(simulation, exponential(simulation, scale=2.0))
    assert not compare(first, again).claimed
    assert compare(first, twice).claimed
    assert compare(first, twice).ratio.low < 2 < compare(first, twice).ratio.high


def test_a_run_gives_them_beside_others_and_they_decide_nothing_else(simulation):
    loops = [simulation.burst(200.0, epoch=k, round=r) for k in (1, 2, 3) for r in (1, 2, 3, 4, 5, 6)]
    bursts = {simulation.cell: loops, CELL: exponential(simulation, n=90, epochs=3)}
    made = make_run_figures(
        bursts,
        simulation.calibrations(3).values(),
        replace(simulation.policy, audit=False),
        plan=[simulation.cell.address, CELL.address],
        identities=(),
        failures=(),
        unproven=(),
    )
    loop, drawn = made.cells
    alone = make_run_figures(
        {simulation.cell: loops},
        simulation.calibrations(3).values(),
        replace(simulation.policy, audit=False),
        plan=[simulation.cell.address],
        identities=(),
        failures=(),
        unproven=(),
    )
    assert drawn.quantiles
    assert (loop,) == alone.cells
