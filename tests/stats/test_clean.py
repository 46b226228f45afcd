"""Clean samples are found by their probes, and a sample's cost comes out in true cycles."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from perbyte.model import Flag
from perbyte.stats.clean import (
    Quiet,
    clean_mask,
    contention_floor,
    cycles_per_call,
    find_quiet,
    judge_samples,
    ns_per_call,
    own_quiet,
    steady_clock,
)
from perbyte.stats.estimate import midmean
from perbyte.stats.samples import tabulate


def test_a_quiet_burst_is_clean_in_spite_of_the_tick_steps(simulation):
    burst = simulation.burst(100.0, n=400)
    assert len(set(burst.clock_before)) > 1
    assert clean_mask(burst, simulation.calibration(), simulation.policy).mean() > 0.98


def test_disturbed_samples_are_found_and_only_they(simulation):
    disturbed = simulation.random.random(400) < 0.4
    mask = clean_mask(
        simulation.burst(100.0, n=400, disturbed=disturbed), simulation.calibration(), simulation.policy
    )
    assert not mask[disturbed].any()
    assert mask[~disturbed].mean() > 0.98


def test_a_sample_is_never_judged_by_its_own_time(simulation):
    burst = simulation.burst(100.0)
    slow = replace(burst, ticks=[t * (1 + k) for k, t in enumerate(burst.ticks)])
    assert np.array_equal(
        clean_mask(burst, simulation.calibration(), simulation.policy),
        clean_mask(slow, simulation.calibration(), simulation.policy),
    )


def test_each_flag_condemns(simulation):
    burst = simulation.burst(100.0, n=6)
    burst.flags[:5] = [int(flag) for flag in Flag if flag]
    assert clean_mask(burst, simulation.calibration(), simulation.policy).tolist()[:5] == [False] * 5


def test_one_step_of_the_clock_is_forgiven_and_two_are_not(simulation):
    burst = simulation.burst(100.0, n=3)
    burst.clock_before[:] = [4264, 4264, 4264]
    burst.clock_after[:] = [4264, 4290, 4316]
    burst.contention_before[:] = burst.contention_after[:] = [1820] * 3
    assert clean_mask(burst, simulation.calibration(), simulation.policy).tolist() == [True, True, False]


def test_without_steps_the_tolerance_alone_decides(simulation):
    burst = simulation.burst(100.0, n=3)
    burst.clock_before[:] = [4000] * 3
    burst.clock_after[:] = [4000, 4020, 4022]
    burst.contention_before[:] = burst.contention_after[:] = [1700] * 3
    assert clean_mask(burst, simulation.calibration(tick_quantum=1), simulation.policy).tolist() == [
        True,
        True,
        False,
    ]


def test_the_contention_floor_can_be_given(simulation):
    burst = simulation.burst(100.0)
    calibration = simulation.calibration()
    half = calibration.contention_floor / 2
    assert not clean_mask(burst, calibration, simulation.policy, Quiet(half, 1.01 * half)).any()


def test_cycles_do_not_depend_on_the_core_clock(make_simulation):
    for ghz in (2.1, 3.65, 5.2):
        simulation = make_simulation(ghz=ghz)
        cycles = cycles_per_call(tabulate([simulation.burst(123.4, n=400)]), simulation.calibration())
        assert midmean(cycles) == pytest.approx(123.4, rel=5e-4)


def test_nanoseconds_follow_the_core_clock(make_simulation):
    simulation = make_simulation(ghz=2.0)
    assert midmean(
        ns_per_call(tabulate([simulation.burst(100.0, n=400)]), simulation.calibration())
    ) == pytest.approx(50.0, rel=5e-4)


def test_the_cost_of_an_empty_sample_is_subtracted(make_simulation):
    simulation = make_simulation(quantum=1)
    cycles = cycles_per_call(tabulate([simulation.burst(0.0, n=400, calls=1)]), simulation.calibration())
    assert midmean(cycles) == pytest.approx(0.0, abs=1.0)


def test_pmu_cycles_are_preferred(simulation):
    burst = replace(simulation.burst(100.0, n=3, calls=10), cycles=[1000, 2000, 3000])
    call = cycles_per_call(tabulate([burst]), simulation.calibration(cycle_source="pmu", fixed_ticks=0.0))
    assert call.tolist() == [100.0, 200.0, 300.0]


def test_without_a_cycle_source_there_are_no_cycles(simulation):
    assert np.isnan(
        cycles_per_call(tabulate([simulation.burst(100.0)]), simulation.calibration(cycle_source="none"))
    ).all()


def test_a_runner_without_probes_is_judged_by_flags_alone(simulation):
    burst = simulation.burst(100.0, n=3)
    silent = replace(
        burst, clock_before=[0] * 3, clock_after=[0] * 3, contention_before=[0] * 3, contention_after=[0] * 3
    )
    silent.flags[1] = int(Flag.SWITCHED)
    calibration = simulation.calibration(cycle_source="none", probe_cycles=0)
    assert clean_mask(silent, calibration, simulation.policy).tolist() == [True, False, True]


def test_an_empty_burst_gives_empty_answers(simulation):
    burst = simulation.burst(100.0, n=0)
    assert len(clean_mask(burst, simulation.calibration(), simulation.policy)) == 0
    assert len(cycles_per_call(tabulate([burst]), simulation.calibration())) == 0


def test_a_still_clock_is_freed_of_its_steps(simulation):
    table = tabulate([simulation.burst(100.0, n=200)])
    true = 6000 / simulation.ghz * simulation.tick_hz / 1e9
    own = table.clock.mean(axis=0)
    steadied = steady_clock(table, simulation.calibration())
    assert np.abs(steadied - true).mean() < np.abs(own - true).mean() / 3


@pytest.mark.parametrize(
    ("tick_hz", "quantum", "ghz", "probe_cycles"),
    [
        (25e6, 1, 3.0, 24_000),  # a step of 40 ns: Ampere Altra
        (24e6, 1, 3.2, 27_000),
        (54e6, 1, 1.8, 12_000),
        (1e9, 42, 3.4, 28_600),  # 1 GHz made from 24 MHz
        (4e6, 1, 1.5, 75_000),  # rdtime of a small RISC-V machine
    ],
)
def test_a_coarse_counter_says_the_same(make_simulation, tick_hz, quantum, ghz, probe_cycles):
    """Clock probe and sample are as long as the SDK makes them there: 200 and 300 steps at the least."""
    clock = {"tick_hz": tick_hz, "quantum": quantum, "ghz": ghz, "probe_cycles": probe_cycles}
    simulation = make_simulation(**clock, fixed_ticks=1e-7 * tick_hz)
    disturbed = simulation.random.random(4000) < 0.3
    sample_s = max(12e-6, 300 * quantum / tick_hz)
    burst = simulation.burst(100.0, n=4000, calls=round(ghz * 1e7 * sample_s), disturbed=disturbed)
    calibration = simulation.calibration()
    mask = clean_mask(burst, calibration, simulation.policy)
    assert mask[~disturbed].mean() > 0.98
    assert not mask[disturbed].any()
    judged = judge_samples([burst], calibration, simulation.policy)
    assert midmean(judged.values[judged.clean]) == pytest.approx(100.0, rel=0.002)
    table = tabulate([burst])
    true = probe_cycles / ghz * tick_hz / 1e9
    assert np.abs(steady_clock(table, calibration) / true - 1).mean() < 0.0006


def test_a_moving_clock_is_followed(make_simulation):
    """A core that speeds up by 1 % within the burst: the cost in cycles stays put."""
    slow, fast = make_simulation(seed=3, ghz=3.60), make_simulation(seed=4, ghz=3.636)
    first, second = slow.burst(100.0, n=100), fast.burst(100.0, n=100)
    names = (
        "ticks",
        "clock_before",
        "clock_after",
        "contention_before",
        "contention_after",
        "flags",
        "start",
    )
    joined = replace(first, **{name: getattr(first, name) + getattr(second, name) for name in names})
    cycles = cycles_per_call(tabulate([joined]), slow.calibration())
    assert abs(midmean(cycles[:100]) / midmean(cycles[100:]) - 1) < 0.004
    assert midmean(cycles) == pytest.approx(100.0, rel=0.001)


def test_the_floor_is_learnt_from_the_quiet_samples(simulation):
    bursts = [
        simulation.burst(100.0, round=r, disturbed=simulation.random.random(40) < 0.9) for r in range(20)
    ]
    wrong = simulation.calibrations(1, contention_floor=5000.0)
    assert contention_floor(wrong, bursts) == pytest.approx(2557.0, rel=0.005)


def test_a_floor_that_no_sample_saw_is_believed_when_two_processes_found_it(simulation):
    bursts = [simulation.burst(100.0, round=r, disturbed=np.ones(40, dtype=bool)) for r in range(5)]
    assert contention_floor(simulation.calibrations(3), bursts) == pytest.approx(2557.0)
    alone = simulation.calibrations(1)
    assert contention_floor(alone, bursts) == pytest.approx(2 * 2557.0, rel=0.01)


def test_single_low_readings_do_not_make_the_floor(simulation):
    bursts = [simulation.burst(100.0, round=r) for r in range(10)]
    bursts[0].contention_before[0] = 500
    assert contention_floor(simulation.calibrations(1), bursts) == pytest.approx(2557.0, rel=0.005)


def test_floors_are_kept_apart_by_process(simulation):
    bursts = [simulation.burst(100.0), simulation.burst(100.0, epoch=2)]
    quiet = find_quiet(simulation.calibrations(2), bursts, simulation.policy)
    assert list(quiet) == [simulation.cell.process]
    assert quiet[simulation.cell.process].floor == pytest.approx(2557.0, rel=0.005)
    assert quiet[simulation.cell.process].limit == pytest.approx(1.01 * 2557.0, rel=0.005)


MODES = {"contention_probe": "reorder-buffer", "contention_length": 141}


def test_the_two_modes_of_the_reorder_buffer_are_told_apart(simulation):
    """The limit lies between the modes, so that no reading of either comes near it."""
    calibration = simulation.calibration(**MODES, contention_floor=800.0, contention_shared=1600.0)
    quiet = own_quiet(calibration, simulation.policy)
    assert quiet.floor == 800.0
    assert 900 < quiet.limit < 1100
    burst = simulation.burst(100.0, n=4)
    to_ticks = simulation.tick_hz / simulation.ghz / 1e9
    burst.contention_before[:] = [round(c * to_ticks) for c in (800, 820, 1250, 800)]
    burst.contention_after[:] = [round(c * to_ticks) for c in (800, 860, 800, 1600)]
    assert clean_mask(burst, calibration, simulation.policy).tolist() == [True, True, False, False]


def test_processes_that_were_never_alone_are_judged_by_the_others(simulation):
    contention = {"contention_floor": 800.0, "contention_shared": 1600.0}
    never = {"contention_floor": 0.0, "contention_shared": 0.0}
    odd = {"contention_floor": 1430.0, "contention_shared": 1970.0}  # learnt beside a neighbour
    calibrations = {
        (simulation.cell.process, epoch): simulation.calibration(epoch, **MODES, **modes)
        for epoch, modes in enumerate((contention, never, contention, odd, contention))
    }
    assert own_quiet(calibrations[simulation.cell.process, 1], simulation.policy) == Quiet(0.0, 0.0)
    quiet = find_quiet(calibrations, [], simulation.policy)[simulation.cell.process]
    assert quiet == own_quiet(calibrations[simulation.cell.process, 0], simulation.policy)


def test_before_the_first_sample_a_noisy_process_takes_the_floor_of_the_others(simulation):
    calibrations = simulation.calibrations(4)
    noisy = (("noisy", "full", 0), 1)
    calibrations[noisy] = simulation.calibration(1, runner="noisy", contention_floor=9000.0)
    assert find_quiet(calibrations, [], simulation.policy)[noisy[0]].floor == 2557.0


def test_no_samples_and_no_calibrations_give_no_floor():
    assert contention_floor({}, []) == 0.0
