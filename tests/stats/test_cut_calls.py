"""Figures of calls that were cut: the line through two lengths, checked by whole calls."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from perbyte.model import Cell, Doubt, Quality
from perbyte.stats.clean import Grounds
from perbyte.stats.figure import judge, summarise

BYTES = 10_000_000
PER_BYTE, RESTART = 12.5, 300.0
TRUE = PER_BYTE * BYTES + RESTART
LENGTHS = (3072, 12288)
CELL = Cell("openssl", "aes-128-ecb", "encrypt", BYTES, "stream/1", "soft")


def pieces(simulation, length, *, epoch, round=1, disturbed=None, n=40):
    cost = PER_BYTE * length + RESTART
    burst = simulation.burst(cost, n=n, epoch=epoch, round=round, calls=1, cell=CELL, disturbed=disturbed)
    return replace(burst, piece_bytes=length)


def whole(simulation, *, epoch, factor=1.0, n=3, disturbed=None):
    return simulation.burst(factor * TRUE, n=n, epoch=epoch, round=1, calls=1, cell=CELL, disturbed=disturbed)


def figure_of(simulation, bursts):
    calibrations = {(CELL.process, e): replace(simulation.calibration(e), cpu="soft") for e in range(9)}
    return judge(summarise(CELL, bursts, Grounds(calibrations, simulation.policy)), simulation.policy)


def cut(simulation, epochs=range(1, 6), lengths=LENGTHS, **more):
    return [pieces(simulation, length, epoch=e, **more) for e in epochs for length in lengths]


def pieces_warning(cut_figure):
    [warning] = [warning for warning in cut_figure.warnings if warning.kind is Doubt.PIECES]
    return warning


def test_the_line_through_two_lengths_gives_the_cost_of_the_call(simulation):
    this_figure = figure_of(simulation, cut(simulation))
    assert this_figure.cycles_per_call == pytest.approx(TRUE, rel=5e-4)
    assert this_figure.interval.low <= TRUE <= this_figure.interval.high
    assert this_figure.quality is Quality.GOOD
    assert (this_figure.calls_per_sample, this_figure.epochs, this_figure.samples) == (1, 5, 400)
    assert pieces_warning(this_figure).numbers[1:] == LENGTHS
    assert "no whole call was alone" in str(pieces_warning(this_figure))


def test_what_a_piece_costs_to_begin_is_not_multiplied(simulation):
    """One length alone would say 0.8 % too much."""
    alone = (PER_BYTE * LENGTHS[0] + RESTART) / LENGTHS[0] * BYTES
    assert alone / TRUE > 1.007
    assert figure_of(simulation, cut(simulation)).cycles_per_call < 1.001 * TRUE


def test_clean_whole_calls_are_the_check_and_not_the_figure(simulation):
    bursts = cut(simulation) + [whole(simulation, epoch=e, factor=1.02) for e in (1, 2)]
    this_figure = figure_of(simulation, bursts)
    assert this_figure.cycles_per_call == pytest.approx(TRUE, rel=5e-4)
    assert pieces_warning(this_figure).numbers[3] == 6
    assert pieces_warning(this_figure).numbers[4] == pytest.approx(0.02, abs=0.005)
    assert "6 whole calls read +" in str(pieces_warning(this_figure))


def test_whole_calls_beside_a_neighbour_check_nothing(simulation):
    bursts = [*cut(simulation), whole(simulation, epoch=1, disturbed=np.array([True, True, True]))]
    assert "no whole call was alone" in str(pieces_warning(figure_of(simulation, bursts)))


def test_a_piece_that_told_how_long_a_call_would_be_is_no_end_of_the_line(simulation):
    first = pieces(simulation, 4096, epoch=1, n=3)
    this_figure = figure_of(
        simulation, [replace(first, ticks=[5 * t for t in first.ticks]), *cut(simulation)]
    )
    assert this_figure.cycles_per_call == pytest.approx(TRUE, rel=5e-4)


def test_an_epoch_of_whole_calls_alone_is_left_out(simulation):
    this_figure = figure_of(simulation, [*cut(simulation), whole(simulation, epoch=6, factor=1.3)])
    assert this_figure.epochs == 5
    assert any("epoch 6, which is left out" in str(warning) for warning in this_figure.warnings)


def test_without_a_second_length_whole_calls_stand_in(simulation):
    bursts = cut(simulation, lengths=LENGTHS[:1]) + [whole(simulation, epoch=e, n=8) for e in range(1, 6)]
    this_figure = figure_of(simulation, bursts)
    assert this_figure.cycles_per_call == pytest.approx(TRUE, rel=2e-3)
    assert this_figure.quality is Quality.LONG


def test_pieces_beside_a_neighbour_are_noisy(simulation):
    shared = np.ones(40, dtype=bool)
    this_figure = figure_of(simulation, cut(simulation, disturbed=shared))
    assert this_figure.quality is Quality.NOISY
