"""Differences are claimed when they are there, and ties are called ties."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from perbyte.errors import UsageError
from perbyte.model import Cell, CellFigure, Interval, NoiseFloor, Quality
from perbyte.stats import compare, noise_floor, rank


def figure_with(
    epochs, *, runner="openssl", half=0.0, dominated_by="epochs", ghz=2.0, **changes
) -> CellFigure:
    value = float(np.median(epochs))
    whole = CellFigure(
        cell=Cell(runner, "aes-128-ctr", "encrypt", 64, "message/1"),
        library=runner,
        library_version="1",
        cycles_per_call=value,
        ns_per_call=value / ghz,
        interval=Interval(value - half, value + half, 0.95, dominated_by),
        samples=100,
        clean_samples=90,
        epochs=len(epochs),
        epoch_cycles=tuple(map(float, epochs)),
        epoch_ns=tuple(e / ghz for e in epochs),
        calls_per_sample=10,
        quality=Quality.GOOD,
        cycle_source="probe",
    )
    return replace(whole, **changes)


FAST = figure_with([100.0, 100.1, 99.9])
SLOW = figure_with([110.0, 110.2, 109.9], runner="nettle")


def test_a_clear_difference_is_claimed_both_ways():
    there, back = compare(FAST, SLOW), compare(SLOW, FAST)
    assert (there.tie, back.tie) == (False, False)
    assert there.ratio == pytest.approx(1.1)
    assert there.interval.low < 1.1 < there.interval.high
    assert there.interval.low == pytest.approx(1 / back.interval.high)
    assert there.unit == "cycles"
    assert "no A/A pair" in there.reason


def test_an_interval_that_covers_one_is_a_tie():
    found = compare(FAST, figure_with([100.0, 101.5, 99.5]))
    assert found.tie
    assert "covers 1" in found.reason


def test_the_noise_floor_makes_ties():
    near = figure_with([100.5, 100.6, 100.4])
    assert not compare(FAST, near, NoiseFloor(0.001, ())).tie
    found = compare(FAST, near, NoiseFloor(0.01, ()))
    assert found.tie
    assert "noise floor of 1 %" in found.reason


def test_pairing_removes_what_epochs_share():
    shared = np.array([1.0, 1.02, 0.98])
    a, b = figure_with(100 * shared), figure_with(101 * shared)
    assert not compare(a, b).tie
    assert compare(a, b, same_run=False).tie


def test_samples_bound_the_width_when_epochs_agree_by_luck():
    a = figure_with([100.0, 100.0, 100.0], half=2.0, dominated_by="samples")
    b = figure_with([101.0, 101.0, 101.0], half=2.0, dominated_by="samples")
    found = compare(a, b)
    assert found.tie
    assert found.interval.dominated_by == "samples"


def test_single_epochs_use_the_figures_own_intervals():
    a = figure_with([100.0], half=1.0)
    assert compare(a, figure_with([101.0], half=1.0)).tie
    assert not compare(a, figure_with([105.0], half=1.0)).tie


def test_unknown_widths_never_claim():
    unknown = figure_with([120.0], interval=Interval(0.0, math.inf, 0.95, "samples"))
    found = compare(FAST, unknown)
    assert found.tie
    assert (found.interval.low, found.interval.high) == (0.0, math.inf)


def test_other_cycle_sources_are_compared_in_nanoseconds():
    for other in (
        replace(SLOW, cycle_source="pmu"),
        replace(SLOW, cycles_per_call=None, epoch_cycles=(), cycle_source="none"),
    ):
        found = compare(FAST, replace(other, ns_per_call=50.0, epoch_ns=(50.0, 50.1, 49.9)))
        assert found.unit == "ns"
        assert found.ratio == pytest.approx(1.0)
        assert found.tie
        assert "nanoseconds" in found.reason


def test_costs_that_are_not_positive_have_no_ratio():
    found = compare(FAST, figure_with([-0.1, 0.0, 0.1]))
    assert found.tie
    assert math.isnan(found.ratio)


def test_doubts_travel_with_the_comparison():
    found = compare(FAST, replace(SLOW, quality=Quality.NOISY, cell=replace(SLOW.cell, contract="stream/1")))
    assert "noisy" in found.reason
    assert "message/1 and stream/1" in found.reason


def test_ranks_show_ties_as_ties():
    tied = figure_with([100.05, 100.15, 99.9], runner="cryptopp")
    groups = rank([SLOW, tied, FAST], NoiseFloor(0.002, ()))
    assert [[f.cell.runner for f in group] for group in groups] == [["openssl", "cryptopp"], ["nettle"]]
    assert rank([]) == []


def test_different_contracts_never_rank_together():
    with pytest.raises(UsageError, match="message/1, stream/1"):
        rank([FAST, replace(SLOW, cell=replace(SLOW.cell, contract="stream/1"))])


def test_false_claims_are_rare_and_real_differences_are_found():
    random = np.random.default_rng(8)
    draw = lambda centre: figure_with(centre * (1 + 0.001 * random.standard_normal(5)))  # noqa: E731
    false = sum(not compare(draw(100.0), draw(100.0)).tie for _ in range(400))
    missed = sum(compare(draw(100.0), draw(101.0)).tie for _ in range(400))
    assert false <= 0.10 * 400
    assert missed <= 0.02 * 400


def test_the_noise_floor_is_the_worst_pair():
    twin = replace(FAST, cell=replace(FAST.cell, twin=1), cycles_per_call=100.2)
    other = replace(SLOW, cell=replace(SLOW.cell, twin=1), cycles_per_call=109.0)
    found = noise_floor([(FAST, twin), (SLOW, other)])
    assert found.relative == pytest.approx(1 / 110)
    assert found.pairs[0] == (FAST.cell.address, pytest.approx(1.002))
    assert noise_floor([]) is None
