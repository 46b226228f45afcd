"""Whole runs beside recorded neighbours, on a virtual clock: true figures, clean samples, intervals that hold."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from perbyte import places
from perbyte.model import Policy

sys.path.insert(0, str(places.data_dir("runners").parent / "bench"))

from policies import neighbours, script, truth
from virtual import measure_virtually

TRACES = Path(__file__).parent / "traces"
ASK = "*/{aes-128-cbc,aes-128-ctr,aes-256-cbc}/*@256,1KiB,4KiB+contract=*"


def run(name, *, cores=(0, 1), probe="reorder-buffer", **changes):
    policy = Policy(**{"budget_s": 1e6, "max_epochs": 5, "looks": (4,), **changes})
    return measure_virtually(script(neighbours(TRACES)[name], probe, seed=3), policy, ask=ASK, cores=cores)


@pytest.fixture(scope="module")
def runs():
    return {name: run(name) for name in neighbours(TRACES)}


def test_there_are_traces_of_several_kinds_of_neighbour():
    assert {len(traces) for traces in neighbours(TRACES).values()} == {2}
    assert len(neighbours(TRACES)) >= 3
    assert all(path.stat().st_size < 40_000 for path in TRACES.iterdir())


def test_figures_are_true_beside_every_neighbour(runs):
    """Within a third of a per cent, but for the worst layout of a hundred processes; most far less."""
    for name, made in runs.items():
        errors = sorted(abs(f.per_call / truth(f.cell) - 1) for f in made.outcome.cells)
        assert len(errors) == 9, name
        assert errors[-1] < 0.0035, name
        assert errors[4] < 0.0012, name
        clean = sum(f.clean_samples for f in made.outcome.cells) / sum(f.samples for f in made.outcome.cells)
        assert clean > 0.8, name


def test_intervals_hold_what_is_true(runs):
    held = [
        figure.interval.low <= truth(figure.cell) <= figure.interval.high
        for made in runs.values()
        for figure in made.outcome.cells
    ]
    assert sum(held) >= 0.9 * len(held)


def test_a_run_on_the_virtual_clock_repeats_exactly(runs):
    again = run("zen4-b")
    assert [f.epoch_cycles for f in again.outcome.cells] == [
        f.epoch_cycles for f in runs["zen4-b"].outcome.cells
    ]
    assert again.seconds == runs["zen4-b"].seconds


def test_two_cores_are_used_and_cost_less_waiting_than_the_busy_one(runs):
    two, other = runs["zen4-a"], run("zen4-a", cores=(1,))
    used = {core for bursts in two.history.bursts.values() for burst in bursts for core in burst.core}
    assert used == {0, 1}
    assert two.seconds < other.seconds


def test_a_cell_is_not_done_before_it_has_the_least_number_of_epochs(runs):
    for made in runs.values():
        assert all(figure.epochs >= 5 or figure.warnings for figure in made.outcome.cells)
