from __future__ import annotations

import math
from dataclasses import replace

import pytest
from made_runs import made_figure

from perbyte.app.quantities import MORE_UNITS, UNITS, read_unit
from perbyte.errors import UsageError
from perbyte.model import Cell, Interval
from perbyte.model.text import plain
from perbyte.report.wording import number, percent, size_label
from perbyte.stats.quantity import TABLE_UNITS, Unit, read, unit_named

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


@pytest.mark.parametrize(
    ("written", "unit", "value"),
    [
        ("c/B", Unit.CYCLES_PER_BYTE, 1.0),
        ("cpb", Unit.CYCLES_PER_BYTE, 1.0),
        ("Cycles per byte", Unit.CYCLES_PER_BYTE, 1.0),
        ("us", Unit.MICROSECONDS, 0.25),
        ("ms", Unit.MILLISECONDS, 2.5e-4),
        ("ns/op", Unit.NS_PER_CALL, 250.0),
        ("GB/s", Unit.GIGABYTES_PER_SECOND, 4.0),
        ("Gb/s", Unit.GIGABITS_PER_SECOND, 32.0),
        ("Gbps", Unit.GIGABITS_PER_SECOND, 32.0),
        ("Gbit/s", Unit.GIGABITS_PER_SECOND, 32.0),
        ("Mbit/s", Unit.MEGABITS_PER_SECOND, 32000.0),
        ("MB/sec", Unit.MEGABYTES_PER_SECOND, 4000.0),
        ("MiB/s", Unit.MEBIBYTES_PER_SECOND, 3814.697),
        ("GiB/s", Unit.GIBIBYTES_PER_SECOND, 3.725290),
        ("1000 bytes/s", Unit.KILOBYTES_PER_SECOND, 4e6),
        ("ops/s", Unit.CALLS_PER_SECOND, 4e6),
        ("op/s", Unit.CALLS_PER_SECOND, 4e6),
    ],
)
def test_units_as_everybody_writes_them(written: str, unit: Unit, value: float) -> None:
    """1000 cycles for 1000 bytes at 4 GHz."""
    assert unit_named(written) is unit
    assert read_unit(written) == unit
    figure = replace(made_figure(Cell("lib", "aes", "encrypt", 1000, "stream/1"), 1000.0), ns_per_call=250.0)
    reading = read(figure, unit)
    assert reading is not None
    assert reading.value == pytest.approx(value, rel=1e-5)


@pytest.mark.parametrize("written", ["mb/s", "gbps", "mB/s"])
def test_a_unit_of_bits_or_bytes_is_not_guessed(written: str) -> None:
    with pytest.raises(UsageError, match=r"may mean bits or bytes: .bit/s or .B/s"):
        read_unit(written)


def test_unit_names() -> None:
    assert {str(unit) for unit in TABLE_UNITS} == {*UNITS}, (
        "the command line names them without loading numpy"
    )
    others = {*Unit} - {*TABLE_UNITS, Unit.RATIO, Unit.SECONDS_PER_OPERATION, Unit.OPERATIONS_PER_SECOND}
    assert others == {*MORE_UNITS}


def test_plain_leaves_nothing_that_acts() -> None:
    assert plain("\x1b[31mred\x1b[0m\x9b2J\x07") == "[31mred[0m2J"
    assert plain("a\nb\r\n\tc\x00\u2028d") == "a b c d"
    assert plain("\u202etxt.exe\u200f\u2066x\u2069\ufeff") == "txt.exex"
    assert plain("\ud800lone") == "lone"
    assert plain("  two   words  ") == "two words"
    cut = plain("x" * 10_000, 50)
    assert len(cut) == 50
    assert "…" in cut
