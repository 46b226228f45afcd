"""The line through a cell's sizes: found when it is there, with its doubt when it is not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from perbyte.errors import UsageError
from perbyte.model import Cell, CellFigure, Interval, NoiseFloor, Quality
from perbyte.stats.cost import fit_cost

SIZES = (16, 32, 512, 1024, 8192, 10_000_000)


def figure_at(size: int, cycles: float, relative: float = 0.001, **changes) -> CellFigure:
    whole = CellFigure(
        cell=Cell("openssl", "aes-128-ctr", "encrypt", size, "message/1"),
        library="OpenSSL",
        library_version="3",
        cycles_per_call=cycles,
        ns_per_call=cycles / 2,
        interval=Interval(cycles * (1 - relative), cycles * (1 + relative)),
        samples=1,
        clean_samples=1,
        epochs=3,
        epoch_cycles=(cycles,) * 3,
        epoch_ns=(cycles / 2,) * 3,
        calls_per_sample=1,
        quality=Quality.GOOD,
        cycle_source="probe",
    )
    return replace(whole, **changes)


def test_an_exact_line_is_found_from_16_bytes_to_10_megabytes():
    cost = fit_cost([figure_at(n, 150 + 0.7 * n) for n in SIZES])
    assert cost.per_message == pytest.approx(150, rel=1e-9)
    assert cost.per_byte == pytest.approx(0.7, rel=1e-9)
    assert cost.worst_residual < 1e-9
    assert cost.at(100) == pytest.approx(220)
    assert (cost.sizes, cost.unit, cost.setup) == (SIZES, "cycles", None)


def test_the_intervals_cover_under_relative_noise():
    random = np.random.default_rng(9)
    hits = np.zeros(2)
    for _ in range(300):
        cost = fit_cost(
            [figure_at(n, (150 + 0.7 * n) * (1 + 0.002 * random.standard_normal())) for n in SIZES]
        )
        hits += (
            cost.per_message_interval.low <= 150 <= cost.per_message_interval.high,
            cost.per_byte_interval.low <= 0.7 <= cost.per_byte_interval.high,
        )
    assert (hits >= 0.90 * 300).all()


def test_no_figure_counts_as_more_exact_than_the_noise_floor_of_the_run():
    figures = [figure_at(n, 150 + 0.7 * n) for n in SIZES]
    wide, none, quiet = (
        fit_cost(figures, noise=noise) for noise in (NoiseFloor(0.01, ()), None, NoiseFloor(1e-4, ()))
    )
    halves = [cost.per_byte_interval.half_width for cost in (wide, none, quiet)]
    assert halves[0] == pytest.approx(10 * halves[1], rel=1e-6), (
        "0.1 % is what these figures say of themselves"
    )
    assert halves[2] == pytest.approx(halves[1], rel=1e-9)


def test_a_bent_line_says_so():
    figures = [figure_at(n, 150 + (0.7 if n < 10_000 else 1.1) * n) for n in SIZES]
    assert fit_cost(figures).worst_residual > 0.05


def test_setup_is_carried_along_and_nanoseconds_serve_without_cycles():
    figures = [figure_at(n, 100 + n, cycles_per_call=None) for n in SIZES]
    cost = fit_cost(figures, setup=figure_at(0, 300.0))
    assert (cost.unit, cost.setup) == ("ns", 150.0)
    assert cost.per_byte == pytest.approx(0.5)
    assert fit_cost([figure_at(n, 100.0 + n) for n in SIZES], setup=figure_at(0, 300.0)).setup == 300.0


def test_two_sizes_make_no_model_and_two_operations_no_line():
    assert fit_cost([figure_at(16, 1.0), figure_at(32, 2.0), figure_at(32, 2.1)]) is None
    assert fit_cost([]) is None
    other = figure_at(64, 3.0)
    with pytest.raises(UsageError):
        fit_cost([figure_at(16, 1.0), replace(other, cell=replace(other.cell, operation="decrypt"))])
