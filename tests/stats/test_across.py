"""By how much runs of the same code differ: a prior, which earlier runs overrule."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from perbyte.model import Cell, CellFigure, Interval, Quality
from perbyte.stats.across import ACROSS_RUNS, Across, between_runs

CELLS = [Cell("alpha", "aes-128-ctr", "encrypt", 16 << k, "message/1") for k in range(12)]


def run(draw: np.random.Generator, common: float, own: float, width: float = 0.001) -> dict[Cell, CellFigure]:
    """The figures of a run whose cells share a deviation and have one each."""
    shared = draw.normal(0, common)
    figures = {}
    for number, cell in enumerate(CELLS):
        cost = 100.0 * (number + 1) * math.exp(shared + draw.normal(0, own))
        interval = Interval(cost * (1 - width), cost * (1 + width))
        figures[cell] = CellFigure(
            cell=cell,
            library="Alpha",
            library_version="1.0",
            cycles_per_call=cost,
            ns_per_call=cost,
            interval=interval,
            samples=400,
            clean_samples=390,
            epochs=5,
            epoch_cycles=(cost,) * 5,
            epoch_ns=(cost,) * 5,
            calls_per_sample=10,
            quality=Quality.GOOD,
            cycle_source="probe",
        )
    return figures


def test_without_earlier_runs_the_prior_stands() -> None:
    draw = np.random.default_rng(1)
    for runs in ([], [run(draw, 0, 0)]):
        assert between_runs(runs) == Across(ACROSS_RUNS, 0)
    noisy = [
        {cell: replace(figure, quality=Quality.NOISY) for cell, figure in run(draw, 0.1, 0).items()}
        for _ in range(3)
    ]
    assert between_runs(noisy) == Across(ACROSS_RUNS, 0)


def test_earlier_runs_overrule_it_in_both_directions() -> None:
    draw = np.random.default_rng(2)
    quiet, unsteady = ([run(draw, common, 0.0005) for _ in range(16)] for common in (0.001, 0.02))
    runs = between_runs(quiet)
    assert runs.earlier == 16
    assert 0.003 < runs.relative < 0.006
    assert 0.003 < between_runs(quiet[:6]).relative < ACROSS_RUNS
    assert between_runs(unsteady).relative > 0.03


def test_what_the_intervals_explain_is_not_counted_again() -> None:
    draw = np.random.default_rng(3)
    wide = [run(draw, 0.0, 0.01, width=0.02) for _ in range(10)]
    narrow = [
        {
            cell: replace(figure, interval=Interval(figure.ns_per_call, figure.ns_per_call))
            for cell, figure in figures.items()
        }
        for figures in wide
    ]
    assert between_runs(wide).relative < 0.015
    assert between_runs(narrow).relative > 0.02


@pytest.mark.parametrize("common", [0.0005, 0.002, 0.004])
def test_two_further_runs_differ_by_more_in_five_of_a_hundred(common: float) -> None:
    """Where runs differ by less than the prior says, in fewer; ten earlier runs, 400 machines."""
    draw = np.random.default_rng(34)
    beyond = 0
    for _ in range(400):
        limit = between_runs([run(draw, common, 0.0003) for _ in range(10)]).relative
        first, second = (next(iter(run(draw, common, 0.0003).values())).ns_per_call for _ in range(2))
        beyond += abs(math.log(first / second)) > math.log1p(limit)
    assert beyond / 400 < 0.05 + 2.6 * math.sqrt(0.05 * 0.95 / 400)
