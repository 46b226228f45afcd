"""A process that takes something else for a quiet core than its siblings is found, and hardly ever another one."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from perbyte.model import Calibration, Cell, Doubt, Policy
from perbyte.stats.clean import LEAST_SIBLINGS, contention_floor, find_quiet, out_of_line
from perbyte.stats.estimate import beyond_scatter
from perbyte.stats.run_figures import LEAST_ROWS, make_run_figures, unlike_shares

POLICY = Policy()
ONE = Calibration("r0", "full", 0, 0, "probe", "", 2.5e9, 26, 12000.0, 11_500.0, 52.0, {})
# What fifteen processes of a run found on a machine; of one of them all other samples were called disturbed.
HONEST = [11_480 + 3 * k for k in range(14)]
LOW = 11_330.0


def siblings(floors, **more) -> list[Calibration]:
    return [replace(ONE, runner=f"r{k}", contention_floor=float(f), **more) for k, f in enumerate(floors, 1)]


def test_a_floor_that_is_too_low_is_found():
    assert out_of_line(replace(ONE, contention_floor=LOW), siblings(HONEST), POLICY)
    assert not out_of_line(replace(ONE, contention_floor=11_522.0), siblings(HONEST), POLICY)


def test_a_floor_that_was_learnt_beside_a_neighbour_is_found():
    assert out_of_line(replace(ONE, contention_floor=14_000.0), siblings(HONEST), POLICY)


def test_what_does_not_matter_is_let_be():
    exact = siblings([11_500.0] * 14)
    assert not out_of_line(replace(ONE, contention_floor=11_420.0), exact, POLICY), "within its own limit"
    assert out_of_line(replace(ONE, contention_floor=11_380.0), exact, POLICY)


def test_only_siblings_judge():
    low = replace(ONE, contention_floor=LOW)
    assert not out_of_line(low, siblings(HONEST[: LEAST_SIBLINGS - 1]), POLICY)
    unlike = siblings(HONEST, contention_probe="reorder-buffer", contention_length=141)
    assert not out_of_line(low, unlike, POLICY)
    assert not out_of_line(low, siblings([0.0] * 14), POLICY), "who was never alone found nothing"
    assert not out_of_line(replace(low, contention_floor=0.0), siblings(HONEST), POLICY)
    earlier = [replace(low, contention_floor=float(floor)) for floor in HONEST]
    assert not out_of_line(low, earlier, POLICY), "its own earlier looks"
    before = [replace(calibration, epoch=k) for k, calibration in enumerate(earlier, 1)]
    assert out_of_line(low, before, POLICY), "the epochs before it"


def test_the_modes_of_the_reorder_buffer_probe_are_judged_too():
    modes = {"contention_probe": "reorder-buffer", "contention_length": 141}
    alike = [
        replace(sibling, contention_shared=1600.0 + k)
        for k, sibling in enumerate(siblings([800.0 + k for k in range(10)], **modes))
    ]
    calibration = replace(ONE, **modes, contention_floor=804.0, contention_shared=1605.0)
    assert not out_of_line(calibration, alike, POLICY)
    assert out_of_line(replace(calibration, contention_floor=1430.0, contention_shared=1970.0), alike, POLICY)
    assert out_of_line(replace(calibration, contention_floor=400.0, contention_shared=800.0), alike, POLICY)
    assert not out_of_line(replace(calibration, contention_length=70), alike, POLICY), "another probe"


@pytest.mark.parametrize("others", [4, 5, 8, 15, 60])
@pytest.mark.parametrize("wrong", [0.01, 0.001])
def test_one_more_of_the_same_is_beyond_their_scatter_as_seldom_as_said(others, wrong):
    random = np.random.default_rng(others)
    drawn = random.standard_normal((8000, others + 1))
    mean = np.mean([beyond_scatter(floors_drawn[0], list(floors_drawn[1:]), wrong) for floors_drawn in drawn])
    assert mean <= wrong + 3 * math.sqrt(wrong / 8000)


def test_some_odd_ones_among_the_others_do_not_hide_another():
    random = np.random.default_rng(2)
    others = [*random.standard_normal(20), *(random.standard_normal(5) + 50)]
    assert beyond_scatter(-15.0, others, 0.01)
    assert not beyond_scatter(1.0, [5.0], 0.01)
    assert not beyond_scatter(2.0, [1.0] * 10, 0.01, own_variance=1.0)
    assert beyond_scatter(2.0, [1.0] * 10, 0.01)


def test_floors_of_siblings_ask_hardly_anybody_in_vain():
    random = np.random.default_rng(5)
    asked = 0
    for _ in range(300):
        floors = 11_500 * (1 + 0.008 * random.standard_normal(16))  # as far apart as may matter
        calibration = replace(ONE, contention_floor=float(floors[0]))
        asked += out_of_line(calibration, siblings(floors[1:]), POLICY)
    assert asked <= 0.01 * 300 + 3


def readings(simulation, process_floor, *, low_share=0.0, n=40, rounds=30, disturbed=0.0, runner="openssl"):
    """Bursts whose probe reads `process_floor`, and 1.5 % less in `low_share` of readings."""
    to_ticks = simulation.tick_hz / simulation.ghz / 1e9
    cell = replace(simulation.cell, runner=runner)
    results = []
    for number in range(rounds):
        burst = simulation.burst(100.0, round=number, n=n, cell=cell)
        values = np.full(n, process_floor) * np.where(simulation.random.random(n) < low_share, 0.985, 1.0)
        values *= np.where(
            simulation.random.random(n) < disturbed, 1 + simulation.random.uniform(0, 1, n), 1.0
        )
        ticks = [round(float(value) * to_ticks) for value in values]
        results.append(replace(burst, contention_before=ticks, contention_after=ticks))
    return results


def test_a_few_low_readings_and_one_odd_calibration_do_not_drag_the_floor_down(make_simulation):
    simulation = make_simulation(quantum=1)
    bursts = readings(simulation, 11_500.0, low_share=0.02)
    floors = [LOW, *HONEST[:4]]
    calibrations = {
        (simulation.cell.process, k): simulation.calibration(k, contention_floor=float(floor))
        for k, floor in enumerate(floors, 1)
    }
    assert contention_floor(calibrations, bursts) == pytest.approx(11_500, rel=0.002)


def test_the_floor_is_found_below_what_neighbours_add(make_simulation):
    """Most readings are disturbed, by amounts that scatter; the quiet ones stand close together."""
    simulation = make_simulation(quantum=1)
    bursts = readings(simulation, 11_500.0, disturbed=0.85)
    assert contention_floor(simulation.calibrations(1), bursts) == pytest.approx(11_500, rel=0.005)


def test_a_process_whose_floor_is_unlike_all_others_takes_theirs(make_simulation):
    simulation = make_simulation(quantum=1)
    runners = [f"r{k}" for k in range(8)]
    bursts, calibrations = [], {}
    for k, runner in enumerate(runners):
        floor = LOW if k == 3 else HONEST[k]
        bursts += readings(simulation, floor, rounds=5, runner=runner)
        calibration = simulation.calibration(1, runner=runner, contention_floor=float(floor))
        calibrations[calibration.process, 1] = calibration
    quiets = {process.runner: quiet for process, quiet in find_quiet(calibrations, bursts, POLICY).items()}
    assert quiets["r3"].floor == pytest.approx(11_490, rel=0.002)
    assert quiets["r0"].floor == pytest.approx(11_480, rel=0.001), "the others keep their own"


def cells(count: int, runner: str = "") -> list[Cell]:
    return [Cell(runner or f"r{k}", "aes-128-ctr", "encrypt", 16 + k, "message/1") for k in range(count)]


def test_a_row_with_hardly_a_clean_sample_among_rows_that_have_many_says_so():
    counts = {cell: (1_700 + 20 * k, 2_703) for k, cell in enumerate(cells(14))}
    odd = Cell("aws-lc", "x25519", "agree", 32, "message/1")
    shares = unlike_shares({**counts, odd: (27, 2_703)})
    assert set(shares) == {odd}
    assert shares[odd].kind is Doubt.CLEAN_SHARE
    assert "1 % of its samples were clean (27 of 2,703)" in shares[odd].text
    assert shares[odd].numbers[0] == pytest.approx(27 / 2703)


def test_a_process_that_is_wrong_about_all_of_its_rows_is_held_against_the_others():
    counts = {cell: (800 + 5 * k, 1000) for k, cell in enumerate(cells(LEAST_ROWS))}
    wrong = cells(6, "odd")
    shares = unlike_shares({**counts, **dict.fromkeys(wrong, (20, 1000))})
    assert set(shares) == set(wrong)


def test_a_run_that_is_disturbed_as_a_whole_says_nothing_and_neither_do_few_rows():
    low = {cell: (20 + k, 1000) for k, cell in enumerate(cells(12))}
    assert unlike_shares(low) == {}
    few = dict.fromkeys(cells(LEAST_ROWS), (900, 1000))
    assert unlike_shares({**few, Cell("odd", "a", "encrypt", 1, "message/1"): (5, 1000)})
    assert unlike_shares(dict(list(few.items())[:3])) == {}
    assert unlike_shares({**few, Cell("none", "a", "encrypt", 1, "message/1"): (0, 0)}) == {}


def test_shares_that_only_chance_and_the_hour_set_apart_are_called_unlike_in_one_run_of_a_hundred():
    random = np.random.default_rng(9)
    false = 0
    for _ in range(300):
        share = 1 / (1 + np.exp(-random.normal(random.normal(0.5, 1), 0.7, 16)))
        counts = {cell: (int(random.binomial(600, p)), 600) for cell, p in zip(cells(16), share, strict=True)}
        false += bool(unlike_shares(counts))
    assert false <= 0.01 * 300 + 4


def test_the_figures_of_a_run_carry_the_warning_and_the_others_none(simulation):
    made, calibrations = {}, []
    for k in range(10):
        cell = replace(simulation.cell, runner=f"r{k}")
        share = 0.96 if k == 4 else 0.3
        made[cell] = [
            simulation.burst(
                100.0, epoch=epoch, n=400, cell=cell, disturbed=simulation.random.random(400) < share
            )
            for epoch in range(1, 6)
        ]
        calibrations += [simulation.calibration(epoch, runner=cell.runner) for epoch in range(1, 6)]
    figures = make_run_figures(
        made,
        calibrations,
        replace(simulation.policy, audit=False),
        plan=[cell.address for cell in made],
        identities=[],
        failures=[],
        unproven=[],
    )
    odd = [
        each_cell.cell.runner
        for each_cell in figures.cells
        if Doubt.CLEAN_SHARE in {each.kind for each in each_cell.warnings}
    ]
    assert odd == ["r4"]
    assert len(figures.cells) == 10
