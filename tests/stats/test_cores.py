"""Cores that differ are noticed and kept apart; cores that do not are not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from perbyte.model import Cell, Doubt
from perbyte.stats.clean import Grounds
from perbyte.stats.cores import find_apart, without
from perbyte.stats.run_figures import make_run_figures

CELLS = [Cell("openssl", f"cipher-{n}", "encrypt", 64, "message/1") for n in range(6)]
EPOCHS = range(1, 6)


def measured(simulation, factor, share=0.4):
    """Six cells, five epochs, four bursts each; a burst is on core 1 in `share` of all cases, which costs `factor`."""
    bursts = {cell: [] for cell in CELLS}
    for number, cell in enumerate(CELLS):
        for epoch in EPOCHS:
            layout = 1 + 0.002 * simulation.random.standard_normal()
            for turn in range(1, 9):
                core = int(simulation.random.random() < share)
                cost = (100 + 30 * number) * layout * (factor if core else 1.0)
                burst = simulation.burst(cost, epoch=epoch, round=turn, n=24, cell=cell)
                bursts[cell].append(replace(burst, core=[core] * 24))
    return bursts


def calibrations(simulation):
    return {(CELLS[0].process, e): simulation.calibration(e) for e in EPOCHS}


def found(simulation, bursts):
    return find_apart(bursts, Grounds(calibrations(simulation), simulation.policy))


@pytest.mark.parametrize("factor", [1.02, 0.97, 1.006])
def test_a_core_that_differs_is_found(simulation, factor):
    [apart] = found(simulation, measured(simulation, factor))
    assert (apart.core, apart.usual) == (1, 0)
    assert apart.relative == pytest.approx(factor - 1, abs=0.001)


@pytest.mark.parametrize("factor", [1.0, 1.001])
def test_cores_that_agree_within_the_precision_are_one(simulation, factor):
    assert found(simulation, measured(simulation, factor)) == ()


def test_a_few_pairs_prove_nothing(simulation):
    bursts = {CELLS[0]: measured(simulation, 1.05)[CELLS[0]][:16]}
    assert found(simulation, bursts) == ()


def test_one_core_or_none_that_is_known_is_no_question(simulation):
    bursts = measured(simulation, 1.5, share=0.0)
    assert found(simulation, bursts) == ()
    unknown = {cell: [replace(b, core=[]) for b in taken] for cell, taken in bursts.items()}
    assert found(simulation, unknown) == ()


def test_its_samples_are_left_out_and_every_row_says_so(simulation):
    bursts = measured(simulation, 1.03)
    made = make_run_figures(
        bursts,
        calibrations(simulation).values(),
        simulation.policy,
        plan=[cell.address for cell in CELLS],
        identities=(),
        failures=(),
        unproven=(),
    )
    for number, figure in enumerate(made.cells):
        assert figure.cycles_per_call == pytest.approx(100 + 30 * number, rel=0.004)
        [warning] = [warning for warning in figure.warnings if warning.kind is Doubt.CORES]
        assert warning.numbers == (1, 0, pytest.approx(0.03, abs=0.002))
        assert "core 1 costs +3 % beside core 0" in str(warning)


def test_a_cell_that_was_on_that_core_only_keeps_its_samples(simulation):
    burst = replace(simulation.burst(100.0, n=5), core=[1, 1, 0, 1, 0])
    [left] = without([burst], {1})
    assert left.core == [0, 0]
    assert left.ticks == [burst.ticks[2], burst.ticks[4]]
    assert len(left.contention_after) == len(left.flags) == 2
    assert np.array_equal(left.cycles, [])
    alone = [replace(burst, core=[1] * 5)]
    assert without(alone, {1}) == alone
