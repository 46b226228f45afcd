"""A cell's figure: true, with an interval that covers, and with every doubt named."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from perbyte.errors import UsageError
from perbyte.model import Doubt, Flag, Quality
from perbyte.stats.clean import Grounds, Quiet
from perbyte.stats.figure import judge, summarise


def figure_of(simulation, bursts, *, calibrations=None, **policy):
    policy = replace(simulation.policy, **policy)
    grounds = Grounds(calibrations or simulation.calibrations(9), policy)
    return judge(summarise(bursts[0].cell, bursts, grounds), policy)


def quiet_bursts(simulation, cycles=100.0, epochs=3, **options):
    return [
        simulation.burst(cycles, epoch=e, round=r, **options)
        for e in range(1, epochs + 1)
        for r in range(1, 4)
    ]


def test_a_quiet_cell_is_good_and_true(simulation):
    this_figure = figure_of(simulation, quiet_bursts(simulation))
    assert this_figure.quality is Quality.GOOD
    assert this_figure.warnings == ()
    assert this_figure.cycles_per_call == pytest.approx(100.0, rel=1e-3)
    assert this_figure.ns_per_call == pytest.approx(100.0 / 3.65, rel=1e-3)
    assert this_figure.interval.low <= this_figure.cycles_per_call <= this_figure.interval.high
    assert 0 < this_figure.relative_half_width < 0.0025
    assert (
        this_figure.samples,
        this_figure.epochs,
        len(this_figure.epoch_cycles),
        len(this_figure.epoch_ns),
    ) == (360, 3, 3, 3)
    assert this_figure.clean_samples > 350
    assert (this_figure.cycle_source, this_figure.calls_per_sample) == ("probe", 300)


def test_disturbed_samples_do_not_move_the_figure(simulation):
    bursts = quiet_bursts(simulation)
    noisy = [
        simulation.burst(100.0, epoch=b.epoch, round=b.round, disturbed=simulation.random.random(40) < 0.6)
        for b in bursts
    ]
    this_figure = figure_of(simulation, noisy)
    assert this_figure.quality is Quality.GOOD
    assert this_figure.cycles_per_call == pytest.approx(100.0, rel=1e-3)
    assert this_figure.clean_samples < 200


def test_a_cell_that_was_never_quiet_is_called_noisy(simulation):
    this_figure = figure_of(simulation, quiet_bursts(simulation, disturbed=np.ones(40, dtype=bool)))
    assert this_figure.quality is Quality.NOISY
    assert this_figure.clean_samples == 0
    assert "0 of 360 samples were clean" in this_figure.warnings[0].text


def test_one_loud_epoch_of_three_is_left_out_and_said(simulation):
    bursts = [b for b in quiet_bursts(simulation) if b.epoch != 2]
    bursts.append(simulation.burst(100.0, epoch=2, disturbed=np.ones(40, dtype=bool)))
    this_figure = figure_of(simulation, bursts, precision=0.01)
    assert this_figure.epochs == 2
    assert this_figure.quality is Quality.GOOD
    assert "epoch 2" in this_figure.warnings[0].text
    assert this_figure.cycles_per_call == pytest.approx(100.0, rel=1e-3)


def test_spread_between_processes_dominates_and_is_imprecise(simulation):
    bursts = [simulation.burst(c, epoch=e) for e, c in enumerate((100.0, 101.0, 102.0), 1)]
    this_figure = figure_of(simulation, bursts)
    assert this_figure.quality is Quality.IMPRECISE
    assert this_figure.interval.dominated_by == "epochs"
    assert this_figure.cycles_per_call == pytest.approx(101.0, rel=1e-3)
    assert this_figure.interval.high > 102.0
    assert "requested" in this_figure.warnings[0].text


def test_samples_dominate_when_processes_agree(simulation):
    bursts = [simulation.burst(100.0, epoch=1, n=12, noise=0.02)]
    bursts += [replace(bursts[0], epoch=e) for e in (2, 3)]
    assert figure_of(simulation, bursts).interval.dominated_by == "samples"


def test_one_epoch_says_what_it_does_not_know(simulation):
    this_figure = figure_of(simulation, [simulation.burst(100.0)])
    assert this_figure.epochs == 1
    assert this_figure.interval.dominated_by == "samples"
    assert any("one epoch only" in warning.text for warning in this_figure.warnings)


def test_a_single_sample_has_no_finite_interval(simulation):
    this_figure = figure_of(simulation, [simulation.burst(1e6, n=1, calls=1)])
    assert this_figure.interval.low == 0.0
    assert math.isinf(this_figure.interval.high)
    assert this_figure.quality is Quality.NOISY


def test_long_calls_are_labelled(simulation):
    this_figure = figure_of(
        simulation, [simulation.burst(2e6, n=2, calls=1, epoch=e, round=r) for e in (1, 2, 3) for r in (1, 2)]
    )
    assert this_figure.quality is Quality.LONG
    assert this_figure.cycles_per_call == pytest.approx(2e6, rel=0.005)
    assert any("one call lasts 548 µs" in warning.text for warning in this_figure.warnings)


def test_what_disturbs_a_call_unseen_does_not_raise_its_figure(simulation):
    """Calls of 27 ms, a third of them 30 % longer, and no probe noticed."""
    costs = [1.3e8 if epoch % 3 == 0 else 1e8 for epoch in range(1, 10)]
    bursts = [simulation.burst(c, n=1, calls=1, epoch=e) for e, c in enumerate(costs, 1)]
    this_figure = figure_of(simulation, bursts)
    assert this_figure.cycles_per_call == pytest.approx(1e8, rel=0.003)
    assert this_figure.ns_per_call == pytest.approx(1e8 / 3.65, rel=0.003)
    assert this_figure.relative_half_width < 0.005
    assert any("lower quartile" in warning.text for warning in this_figure.warnings)


def test_calls_that_probes_can_watch_keep_the_median(simulation):
    bursts = [simulation.burst(c, n=20, calls=1, epoch=e) for e, c in enumerate((3e5, 3.1e5, 3.2e5), 1)]
    this_figure = figure_of(simulation, bursts)  # 82 us: long, but not ten samples long
    assert this_figure.quality is Quality.LONG
    assert this_figure.cycles_per_call == pytest.approx(3.1e5, rel=0.003)
    assert not any("lower quartile" in warning.text for warning in this_figure.warnings)


def test_a_disturbed_clock_probe_does_not_spoil_a_call_that_was_not(simulation):
    """One call in each epoch; after it the probe reads five times too long."""
    calm = [simulation.burst(1e8, n=1, calls=1, epoch=e) for e in range(1, 6)]
    bursts = [replace(b, clock_after=[5 * b.clock_after[0]]) for b in calm]
    assert figure_of(simulation, bursts).cycles_per_call == pytest.approx(1e8, rel=0.003)


def test_a_trend_is_unsettled(simulation):
    falling = 100.0 * (1 + 0.05 * np.exp(-np.arange(40) / 15))
    this_figure = figure_of(simulation, [simulation.burst(falling, epoch=e) for e in (1, 2, 3)])
    assert this_figure.quality is Quality.UNSETTLED
    assert any(
        "still moved" in warning.text and "epoch 1" in warning.text for warning in this_figure.warnings
    )


def test_a_tiny_trend_is_not_worth_a_word(simulation):
    falling = 100.0 * (1 + 0.002 * np.linspace(1, 0, 40))
    assert (
        figure_of(simulation, [simulation.burst(falling, epoch=e) for e in (1, 2, 3)]).quality is Quality.GOOD
    )


def test_the_worst_doubt_is_the_quality_and_all_are_named(simulation):
    rising = 3e5 * (1 + 0.05 * np.linspace(0, 1, 40))
    this_figure = figure_of(
        simulation, [simulation.burst(rising * s, epoch=e, calls=1) for e, s in ((1, 1), (2, 1.1), (3, 1.2))]
    )
    assert this_figure.quality is Quality.UNSETTLED
    assert len(this_figure.warnings) == 3


def test_failed_calls_never_count(simulation):
    bursts = quiet_bursts(simulation)
    for burst in bursts:
        burst.ticks[:20] = [t // 10 for t in burst.ticks[:20]]
        burst.flags[:20] = [int(Flag.FAILED_CALL)] * 20
    this_figure = figure_of(simulation, bursts)
    assert this_figure.cycles_per_call == pytest.approx(100.0, rel=1e-3)
    assert any("180 samples hold calls" in warning.text for warning in this_figure.warnings)
    all_failed = [replace(b, flags=[int(Flag.FAILED_CALL)] * len(b)) for b in bursts]
    with pytest.raises(UsageError, match="no usable sample"):
        figure_of(simulation, all_failed)


def test_without_cycles_the_interval_is_in_nanoseconds(simulation):
    calibrations = simulation.calibrations(3, cycle_source="none", reason="the chains do not read 3 : 1 : 1")
    this_figure = figure_of(simulation, quiet_bursts(simulation), calibrations=calibrations)
    assert this_figure.cycles_per_call is None
    assert this_figure.epoch_cycles == ()
    assert this_figure.cycle_source == "none"
    assert this_figure.interval.low <= this_figure.ns_per_call <= this_figure.interval.high
    assert any("3 : 1 : 1" in warning.text for warning in this_figure.warnings)


def test_one_epoch_without_a_cycle_source_is_left_out(simulation):
    calibrations = simulation.calibrations(3)
    calibrations[(simulation.cell.process, 2)] = simulation.calibration(2, cycle_source="none", reason="why")
    this_figure = figure_of(simulation, quiet_bursts(simulation), calibrations=calibrations, precision=0.01)
    assert this_figure.cycles_per_call == pytest.approx(100.0, rel=1e-3)
    assert this_figure.epochs == 2
    assert [(warning.kind, warning.text, warning.numbers) for warning in this_figure.warnings] == [
        (Doubt.EPOCH_WITHOUT_CYCLES, "no cycles in epoch 2, which is left out", (2,))
    ]


def test_two_epochs_of_three_without_a_cycle_source_take_the_cycles_from_all(simulation):
    calibrations = simulation.calibrations(3, cycle_source="none", reason="why")
    calibrations[(simulation.cell.process, 2)] = simulation.calibration(2)
    this_figure = figure_of(simulation, quiet_bursts(simulation), calibrations=calibrations)
    assert this_figure.cycles_per_call is None
    assert this_figure.interval.low < 100.0 / 3.65 < this_figure.interval.high


def test_without_cycles_loud_epochs_are_left_out_all_the_same(simulation):
    bursts = [b for b in quiet_bursts(simulation) if b.epoch != 2]
    bursts.append(simulation.burst(100.0, epoch=2, disturbed=np.ones(40, dtype=bool)))
    calibrations = simulation.calibrations(3, cycle_source="none", reason="why")
    this_figure = figure_of(simulation, bursts, calibrations=calibrations, precision=0.01)
    assert this_figure.epochs == 2
    assert this_figure.quality is Quality.GOOD


def test_an_epoch_without_calibration_is_left_out(simulation):
    this_figure = figure_of(simulation, quiet_bursts(simulation), calibrations=simulation.calibrations(2))
    assert this_figure.epochs == 2
    assert any("epoch 3 has no calibration" in warning.text for warning in this_figure.warnings)


def test_the_given_floor_is_used_for_its_process(simulation):
    quiet = {simulation.cell.process: Quiet(1000.0, 1010.0)}
    grounds = Grounds(simulation.calibrations(), simulation.policy, quiet)
    summary = summarise(simulation.cell, quiet_bursts(simulation), grounds)
    assert judge(summary, simulation.policy).clean_samples == 0


def test_constant_readings_still_have_a_width(make_simulation):
    """Where every reading is the same step, the step itself bounds what is known."""
    simulation = make_simulation()
    burst = simulation.burst(100.0)
    same = replace(
        burst,
        ticks=[21450] * 40,
        clock_before=[4290] * 40,
        clock_after=[4290] * 40,
        contention_before=[1820] * 40,
        contention_after=[1820] * 40,
    )
    assert figure_of(simulation, [same]).interval.half_width > 0


def test_order_of_bursts_does_not_matter(simulation):
    bursts = quiet_bursts(simulation)
    assert figure_of(simulation, bursts) == figure_of(simulation, bursts[::-1])
