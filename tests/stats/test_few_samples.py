"""Epochs that hold too little never decide: a run that went wrong, and the simulation that the rule comes from."""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np
import pytest

from perbyte import places
from perbyte.model import Doubt, Quality
from perbyte.stats.clean import Grounds
from perbyte.stats.compare import SHARED_CORE, Answer, compare
from perbyte.stats.epoch import MIN_CLEAN
from perbyte.stats.figure import common_spread, judge, summarise
from perbyte.stats.run_figures import make_run_figures

sys.path.insert(0, str(places.data_dir("runners").parent / "bench"))

from few_samples import World, coverage, missed

SIZE, TRUE = 16_384, 13.4
# What a run held of one function, measured by two processes: samples of each epoch, what they read in cycles a byte.
# No probe and no flag spoke against the sparse ones. The figure that came of it was 17 +-18 %, the noise floor 21 %.
GOOD = [(n, TRUE) for n in (60, 133, 41, 30, 77, 52, 98, 64)]
SPARSE = list(zip((36, 31, 1, 1, 1, 31, 4, 1), (TRUE, TRUE, 18.4, 17.1, 16.8, TRUE, 15.9, 18.0), strict=True))


def bursts_of(simulation, cell, epochs, *, layout=0.001):
    """A cell's bursts, a call a sample; `epochs` are (samples, cycles a byte)."""
    return [
        simulation.burst(
            cost * SIZE * (1 + layout * simulation.random.uniform(-1, 1)),
            n=n,
            calls=1,
            epoch=number,
            cell=cell,
        )
        for number, (n, cost) in enumerate(epochs, 1)
    ]


@pytest.fixture
def went_wrong(simulation):
    """The run as it is made of those samples: its figures, and those of the twin."""
    cell = replace(simulation.cell, size_bytes=SIZE)
    twin = replace(cell, twin=1)
    bursts = {cell: bursts_of(simulation, cell, SPARSE), twin: bursts_of(simulation, twin, GOOD)}
    calibrations = {
        (each_cell.process, epoch): simulation.calibration(epoch, twin=each_cell.twin)
        for each_cell in (cell, twin)
        for epoch in range(1, 9)
    }
    return cell, twin, bursts, calibrations


def figure(simulation, cell, bursts, calibrations):
    return judge(summarise(cell, bursts, Grounds(calibrations, simulation.policy)), simulation.policy)


def test_the_run_that_went_wrong_gives_the_true_figure(simulation, went_wrong):
    cell, twin, bursts, calibrations = went_wrong
    made = [figure(simulation, each_cell, bursts[each_cell], calibrations) for each_cell in (cell, twin)]
    for each_figure in made:
        assert each_figure.cycles_per_byte == pytest.approx(TRUE, rel=0.002)
        assert each_figure.interval.low < TRUE * SIZE < each_figure.interval.high
        assert each_figure.relative_half_width < 0.02
    assert [figure_made.epochs for figure_made in made] == [3, 8]
    assert made[0].epoch_numbers == (1, 2, 6)
    assert {warning.kind for warning in made[0].warnings} >= {Doubt.NOISY_EPOCH}
    assert sum(warning.kind is Doubt.NOISY_EPOCH for warning in made[0].warnings) == 5
    assert "too few clean samples (4) in epoch 7" in " ".join(map(str, made[0].warnings))
    assert compare(*made).ratio.within(0.99, 1.01)
    assert compare(*made).answer is not Answer.SLOWER


def test_the_noise_floor_of_the_run_that_went_wrong_is_sane(simulation, went_wrong):
    cell, _, bursts, calibrations = went_wrong
    figures = make_run_figures(
        bursts,
        calibrations.values(),
        simulation.policy,
        plan=[cell.address],
        identities=[],
        failures=[],
        unproven=[],
    )
    assert figures.noise_floor is not None
    assert figures.noise_floor.relative < 0.005
    assert figures.cells[0].cycles_per_byte == pytest.approx(TRUE, rel=0.002)


def test_a_disturbed_epoch_does_not_choose_a_milder_rule_for_itself(simulation):
    """Calls of 450 us: in an epoch that is slowed they last more than 500, beyond which one call would do."""
    cycles = 450e-6 * simulation.ghz * 1e9
    calm = [simulation.burst(cycles, n=20, calls=1, epoch=e) for e in range(1, 6)]
    slow = [simulation.burst(1.3 * cycles, n=2, calls=1, epoch=e) for e in (6, 7)]
    this_figure = figure(simulation, simulation.cell, [*calm, *slow], simulation.calibrations(7))
    assert this_figure.epoch_numbers == (1, 2, 3, 4, 5)
    assert this_figure.cycles_per_call == pytest.approx(cycles, rel=0.002)


def test_one_epoch_that_holds_enough_speaks_alone_and_is_doubted(simulation):
    epochs = [(36, 13.4), (2, 18.0), (1, 17.0), (3, 16.0)]
    cell = replace(simulation.cell, size_bytes=SIZE)
    this_figure = figure(simulation, cell, bursts_of(simulation, cell, epochs), simulation.calibrations(4))
    assert this_figure.cycles_per_byte == pytest.approx(13.4, rel=0.005)
    assert (this_figure.quality, this_figure.epochs) == (Quality.NOISY, 1)
    assert "one epoch of 4 holds enough" in " ".join(map(str, this_figure.warnings))


def test_where_nothing_was_clean_the_interval_reaches_down_to_an_undisturbed_core(simulation):
    bursts = [
        simulation.burst(100.0, epoch=e, disturbed=np.ones(40, dtype=bool)) for e in range(1, 6)
    ]  # all of them cost 40 % more
    this_figure = figure(simulation, simulation.cell, bursts, simulation.calibrations(5))
    assert this_figure.quality is Quality.NOISY
    assert this_figure.interval.low <= this_figure.cycles_per_call / SHARED_CORE
    assert this_figure.interval.low < 100.0 < this_figure.interval.high
    assert this_figure.relative_half_width > 0.2


def test_epochs_that_hold_too_little_say_nothing_of_the_spread_that_cells_share(simulation):
    def summary(noise, disturbed):
        bursts = [
            simulation.burst(100 * (1 + noise * e), epoch=e, disturbed=np.full(40, disturbed))
            for e in range(1, 6)
        ]
        return summarise(simulation.cell, bursts, Grounds(simulation.calibrations(5), simulation.policy))

    quiet = [summary(0.001, disturbed=False) for _ in range(8)]
    assert common_spread(quiet)[False] is not None
    assert common_spread([*quiet, summary(0.1, disturbed=True)]) == common_spread(quiet)


@pytest.mark.parametrize("epochs", [5, 12])
@pytest.mark.parametrize("share", [0.0, 0.005, 0.01, 0.02])
def test_intervals_hold_from_the_least_count_on(epochs, share):
    """The rule: where probes miss some of what disturbs, as many clean samples as an epoch needs will do."""
    held, half = coverage(np.random.default_rng(epochs), World(), [MIN_CLEAN] * epochs, missed(share), 300)
    assert held >= 0.95 - 2 * (0.05 * 0.95 / 300) ** 0.5
    assert half < 0.05


@pytest.mark.parametrize(("clean", "worst"), [(1, 0.2), (2, 0.2), (5, 0.9)])
def test_intervals_do_not_hold_below_it(clean, worst):
    held, _ = coverage(np.random.default_rng(1), World(), [clean] * 12, missed(0.02), 200)
    assert held < worst
