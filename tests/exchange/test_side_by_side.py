"""Which figures of several runs stand in one row, and what is said of their ratio."""

from __future__ import annotations

from pathlib import Path

import pytest

from perbyte.model import (
    Cell,
    CellFigure,
    Conditions,
    Failure,
    Interval,
    Machine,
    NoiseFloor,
    Policy,
    Quality,
    Run,
    RunnerIdentity,
)
from perbyte.report.sidebyside import render_side_by_side, set_side_by_side, side_records
from perbyte.stats.quantity import Unit

AES = Cell("openssl", "aes-128-cbc", "encrypt", 1024, "stream/1")
BELOW = Cell("openssl-lowlevel", "aes-128-cbc", "encrypt", 1024, "stream/1")


def figure(
    cell: Cell, cost: float, library: str = "OpenSSL", half: float = 0.001, cycles: bool = True
) -> CellFigure:
    values = (cost * (1 - half / 5), cost, cost * (1 + half / 5))
    return CellFigure(
        cell=cell,
        library=library,
        library_version="3",
        cycles_per_call=cost if cycles else None,
        ns_per_call=cost / 2,
        interval=Interval(cost * (1 - half), cost * (1 + half)),
        samples=100,
        clean_samples=90,
        epochs=3,
        epoch_cycles=values if cycles else (),
        epoch_ns=tuple(value / 2 for value in values),
        calls_per_sample=10,
        quality=Quality.GOOD,
        cycle_source="probe" if cycles else "none",
    )


def run(*figures: CellFigure, failures: tuple[Failure, ...] = (), floor: float = 0.001) -> Run:
    runners = dict.fromkeys((one.cell.runner, one.library) for one in figures)
    identities = tuple(
        RunnerIdentity(runner, "full", library, "3", "", "", "", "", "", "", "")
        for runner, library in runners
    )
    conditions = Conditions("id", "0", "0", 1, "", (), Machine(), Policy(), (), identities=identities)
    return Run(
        Path(), conditions, figures, failures=failures, noise_floor=NoiseFloor(floor, (("x", 1 + floor),))
    )


def test_equal_addresses_stand_in_one_row_with_their_ratio():
    (row,) = set_side_by_side([run(figure(AES, 1000)), run(figure(AES, 2000)), run(figure(AES, 1000.1))])
    assert row.cell == AES
    first, second, third = row.entries
    assert first.comparison is None
    assert second.comparison is not None
    assert second.comparison.ratio.value == pytest.approx(2)
    assert not second.comparison.tie
    assert third.comparison is not None
    assert third.comparison.tie


def test_another_runner_of_the_same_library_counts_where_there_is_no_better():
    (row,) = set_side_by_side([run(figure(AES, 1000)), run(figure(BELOW, 5000))])
    assert [entry.figure.cell for entry in row.entries if entry.figure] == [AES, BELOW]
    text = render_side_by_side([row], ["a", "b"], width=100, colour=False)
    assert "aes-128-cbc, openssl | openssl-lowlevel" in text


def test_a_counterpart_is_never_taken_from_a_row_of_its_own():
    rows = set_side_by_side([run(figure(AES, 1000), figure(BELOW, 4000)), run(figure(BELOW, 5000))])
    assert {(row.cell, *(bool(entry.figure) for entry in row.entries)) for row in rows} == {
        (AES, True, False),
        (BELOW, True, True),
    }


def test_another_library_s_runner_never_counts():
    other = Cell("jca-bc", "aes-128-cbc", "encrypt", 1024, "stream/1")
    third = Cell("jca-sun", "aes-128-cbc", "encrypt", 1024, "stream/1")
    rows = set_side_by_side([run(figure(other, 9, "Bouncy Castle")), run(figure(third, 9, "OpenJDK"))])
    assert len(rows) == 2


@pytest.mark.parametrize(
    "unlike",
    [
        Cell("openssl", "aes-128-cbc", "encrypt", 1024, "message/1"),
        Cell("openssl", "aes-128-cbc", "encrypt", 1024, "stream/1", "soft"),
        Cell("openssl", "aes-128-cbc", "decrypt", 1024, "stream/1"),
        Cell("openssl", "aes-128-cbc", "encrypt", 2048, "stream/1"),
    ],
)
def test_what_is_another_call_is_another_row(unlike):
    assert len(set_side_by_side([run(figure(AES, 1000)), run(figure(unlike, 1000))])) == 2


def test_the_digest_s_length_does_not_part_keys():
    ours, theirs = (Cell("openssl", "rsa-2048", "sign", size, "pk/1") for size in (32, 36))
    (row,) = set_side_by_side([run(figure(ours, 1000)), run(figure(theirs, 3000))])
    assert row.entries[1].comparison is not None
    assert row.entries[1].comparison.ratio.value == pytest.approx(3)


def test_why_a_run_lacks_a_figure_is_said():
    lacking = run(
        figure(Cell("openssl", "md5", "digest", 64, "oneshot/1"), 9),
        failures=(Failure("absent", "openssl", "not there", address=AES.address),),
    )
    rows = set_side_by_side([run(figure(AES, 1000)), lacking])
    text = render_side_by_side(rows, ["a", "b"], width=100, colour=False)
    line = next(line for line in text.splitlines() if "encrypt 1 KiB" in line)
    assert line.endswith("absent")
    assert next(line for line in text.splitlines() if "digest 64 B" in line).split()[3] == "–"


def test_the_unit_is_cycles_only_where_all_have_them():
    rows = set_side_by_side([run(figure(AES, 1024)), run(figure(AES, 2048))])
    assert render_side_by_side(rows, ["a", "b"], colour=False).startswith("cycles per byte")
    rows = set_side_by_side([run(figure(AES, 1024)), run(figure(AES, 2048, cycles=False))])
    text = render_side_by_side(rows, ["a", "b"], colour=False)
    assert text.startswith("MB/s")
    assert "2000" in text  # 1024 bytes in 512 ns
    assert render_side_by_side(rows, ["a", "b"], unit=Unit.NS_PER_CALL, colour=False).startswith(
        "nanoseconds"
    )


def test_tables_fit_the_width_and_repeat_the_first_run():
    runs = [run(figure(AES, 1000 + 100 * number)) for number in range(9)]
    names = [f"machine-number-{number}" for number in range(9)]
    text = render_side_by_side(set_side_by_side(runs), names, width=70, colour=False)
    assert all(len(line) <= 70 for line in text.splitlines()[2:])
    heads = [line for line in text.splitlines() if "machine-number-0 " in line and "×" not in line]
    assert len(heads) > 1
    for name in names:
        assert name in text


def test_records_are_json_types_and_nothing_is_rounded():
    (record,) = side_records(
        set_side_by_side([run(figure(AES, 1000)), run(figure(AES, 1234.5678))]), ["a", "b"]
    )
    assert record["figures"][1]["cycles_per_call"] == 1234.5678
    assert record["figures"][1]["address"] == AES.address
    assert record["size_bytes"] == 1024


def test_no_figures_is_said():
    assert "no figures" in render_side_by_side(set_side_by_side([run(), run()]), ["a", "b"], colour=False)
