"""What a figure says of itself: units that follow from each other, and gaps that stay gaps."""

from __future__ import annotations

import dataclasses

import pytest

from perbyte.model import Burst, Cell, CellFigure, Flag, Interval, Quality, Run


def figure(size: int = 64, cycles: float | None = 128.0, ns: float = 40.0, **more: object) -> CellFigure:
    return dataclasses.replace(
        CellFigure(
            cell=Cell("alpha", "aes-128-ecb", "encrypt", size, "message/1"),
            library="Fake",
            library_version="1.0",
            cycles_per_call=cycles,
            ns_per_call=ns,
            interval=Interval(127.0, 129.0),
            samples=10,
            clean_samples=9,
            epochs=3,
            epoch_cycles=(127.5, 128.0, 128.5),
            epoch_ns=(39.9, 40.0, 40.1),
            calls_per_sample=500,
            quality=Quality.GOOD,
            cycle_source="probe",
        ),
        **more,
    )


def test_units_follow_from_each_other():
    figure_made = figure()
    assert figure_made.cycles_per_byte == 2.0
    assert figure_made.megabytes_per_second == pytest.approx(64 / 40.0 * 1000)
    assert figure_made.per_call == 128.0
    assert figure_made.interval.half_width == 1.0
    assert figure_made.relative_half_width == pytest.approx(1 / 128)


def test_without_cycles_there_are_no_cycles_per_byte_and_the_interval_is_in_ns():
    dark = figure(cycles=None, interval=Interval(39.0, 41.0), cycle_source="none")
    assert dark.cycles_per_byte is None
    assert dark.per_call == 40.0
    assert dark.relative_half_width == pytest.approx(1 / 40)
    assert dark.megabytes_per_second == pytest.approx(1600)


def test_without_data_there_is_nothing_per_byte():
    setup = figure(size=0)
    assert setup.cycles_per_byte is None
    assert setup.megabytes_per_second is None


def test_a_cost_of_nothing_is_never_precise():
    assert figure(cycles=0.0).relative_half_width == float("inf")
    assert figure(ns=0.0).megabytes_per_second is None


def test_qualities_stand_from_best_to_worst():
    assert list(Quality) == ["good", "imprecise", "long", "noisy", "unsettled", "doubted"]


def test_flags_are_the_bits_of_the_protocol():
    bits = {flag.name: flag.value for flag in Flag if flag}
    assert bits == {"SWITCHED": 1, "MIGRATED": 2, "FAULTED": 4, "COLLECTED": 8, "FAILED_CALL": 16}


def test_a_run_finds_a_figure_by_its_cell():
    small, large = figure(64), figure(128)
    run = Run(path=None, conditions=None, cells=(small, large))  # type: ignore[arg-type]
    assert run.figure(large.cell) is large
    assert run.figure(dataclasses.replace(large.cell, cpu="soft")) is None


def test_values_are_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        figure().samples = 11  # type: ignore[misc]
    with pytest.raises(dataclasses.FrozenInstanceError):
        figure().cell.size_bytes = 1  # type: ignore[misc]


def test_the_length_of_a_burst_is_its_samples():
    columns = {
        name: [1, 2, 3]
        for name in (
            "start",
            "ticks",
            "clock_before",
            "clock_after",
            "contention_before",
            "contention_after",
            "flags",
        )
    }
    assert len(Burst(cell=figure().cell, epoch=0, round=1, calls=1, cycles=[], waits=0, **columns)) == 3


@pytest.mark.parametrize("name", ["start", "clock_before", "contention_after", "flags", "cycles", "core"])
def test_a_burst_of_unequal_arrays_cannot_be(name):
    cell, three = Cell("alpha", "aes-128-ecb", "encrypt", 16, "message/1"), [1, 2, 3]
    whole = Burst(cell, 0, 1, 5, *(list(three) for _ in range(8)), core=[])
    with pytest.raises(ValueError, match="unequal length"):
        dataclasses.replace(whole, **{name: [1, 2]})
