from __future__ import annotations

import math

import pytest
from made_runs import made_figure

from perbyte.app.quantities import UNITS
from perbyte.model import Cell, Interval
from perbyte.model.text import plain
from perbyte.report.wording import number, percent, size_label
from perbyte.stats.quantity import TABLE_UNITS, Unit, read

CELL = Cell("lib", "aes-128-ecb", "encrypt", 512, "stream/1")


@pytest.mark.parametrize(
    ("value", "half_width", "text"),
    [
        (12.3456, 0.03, "12.35"),
        (12.3456, 0.3, "12.3"),
        (12.3456, 3, "12"),
        (12345.6, 300, "12,300"),
        (12345.6, 0.1, "12,346"),
        (9999.6, 0.1, "10000"),
        (0.67701, 0.00001, "0.677"),
        (0.0312345, 0.000001, "0.0312"),
        (117.0943, 0.001, "117.1"),
        (0.36, 1.9, "0.4"),
        (23.0, math.inf, "20"),
        (0.0, 0.0, "0.000"),
        (-0.0001, 0.01, "0.00"),
        (2.5e12, 1.0, "2.500e+12"),
        (math.nan, 1.0, "–"),
        (math.inf, 0.0, "–"),
    ],
)
def test_number_prints_no_digit_the_interval_does_not_support(
    value: float, half_width: float, text: str
) -> None:
    assert number(value, half_width) == text


def test_percent_keeps_two_digits() -> None:
    assert [percent(x) for x in (0.00001, 0.0002, 0.0025, 0.0123, 0.5, 0.0, math.inf, 12.0)] == [
        "<0.01%",
        "0.02%",
        "0.25%",
        "1.2%",
        "50%",
        "0.00%",
        "–",
        ">999%",
    ]


def test_sizes_are_exact() -> None:
    assert [size_label(n) for n in (16, 1000, 1024, 10_000_000, 10 * 2**20, 2**30, 1025)] == [
        "16 B",
        "1000 B",
        "1 KiB",
        "10 MB",
        "10 MiB",
        "1 GiB",
        "1025 B",
    ]


def test_units_carry_the_interval_along() -> None:
    figure = made_figure(CELL, 1024.0, relative=0.01, ns=400.0)
    per_byte = read(figure, Unit.CYCLES_PER_BYTE)
    assert per_byte is not None
    assert (per_byte.value, per_byte.low, per_byte.high) == pytest.approx((2.0, 1.98, 2.02))
    in_time = read(figure, Unit.NS_PER_CALL)
    assert in_time is not None
    assert (in_time.value, in_time.low, in_time.high) == pytest.approx((400.0, 396.0, 404.0))
    rate = read(figure, Unit.MEGABYTES_PER_SECOND)
    assert rate is not None
    assert (rate.value, rate.low, rate.high) == pytest.approx((1280.0, 512 / 404 * 1e3, 512 / 396 * 1e3))


def test_a_figure_without_cycles_has_time_only() -> None:
    figure = made_figure(CELL, None, ns=100.0)
    assert read(figure, Unit.CYCLES_PER_BYTE) is None
    assert read(figure, Unit.CYCLES_PER_CALL) is None
    reading = read(figure, Unit.NS_PER_CALL)
    assert reading is not None
    assert (reading.value, reading.low, reading.high) == pytest.approx((100.0, 99.9, 100.1))


@pytest.mark.parametrize("interval", [Interval(math.nan, 1.0), Interval(0.0, math.inf)])
def test_what_is_not_finite_has_no_reading(interval: Interval) -> None:
    assert all(read(made_figure(CELL, 100.0, interval=interval), unit) is None for unit in TABLE_UNITS)


def test_a_cell_without_data_has_no_cost_per_byte() -> None:
    figure = made_figure(Cell("lib", "aes", "setup", 0, "setup/1"), 100.0)
    assert read(figure, Unit.CYCLES_PER_BYTE) is None
    assert read(figure, Unit.MEGABYTES_PER_SECOND) is None
    assert read(figure, Unit.CYCLES_PER_CALL) is not None


def test_unit_names() -> None:
    assert {str(unit) for unit in TABLE_UNITS} == {*UNITS}, (
        "the command line names them without loading numpy"
    )


def test_plain_leaves_nothing_that_acts() -> None:
    assert plain("\x1b[31mred\x1b[0m\x9b2J\x07") == "[31mred[0m2J"
    assert plain("a\nb\r\n\tc\x00\u2028d") == "a b c d"
    assert plain("\u202etxt.exe\u200f\u2066x\u2069\ufeff") == "txt.exex"
    assert plain("\ud800lone") == "lone"
    assert plain("  two   words  ") == "two words"
    cut = plain("x" * 10_000, 50)
    assert len(cut) == 50
    assert "…" in cut
