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
from perbyte.report.export import comparison_csv, comparison_json
from perbyte.report.grid import GridRow, compare_runs
from perbyte.report.printed import render_comparison
from perbyte.stats.quantity import Unit

AES = Cell("openssl", "aes-128-cbc", "encrypt", 1024, "stream/1")
BELOW = Cell("openssl-lowlevel", "aes-128-cbc", "encrypt", 1024, "stream/1")


def figure(
    cell: Cell, cost: float, library: str = "OpenSSL", half: float = 0.001, cycles: bool = True
) -> CellFigure:
    values = tuple(cost * (1 + part * half / 5) for part in (-1, -0.5, 0, 0.5, 1))
    return CellFigure(
        cell=cell,
        library=library,
        library_version="3",
        cycles_per_call=cost if cycles else None,
        ns_per_call=cost / 2,
        interval=Interval(cost * (1 - half), cost * (1 + half)),
        samples=100,
        clean_samples=90,
        epochs=5,
        epoch_cycles=values if cycles else (),
        epoch_ns=tuple(value / 2 for value in values),
        calls_per_sample=10,
        quality=Quality.GOOD,
        cycle_source="probe" if cycles else "none",
    )


def run(*figures: CellFigure, failures: tuple[Failure, ...] = (), floor: float = 0.001) -> Run:
    runners = dict.fromkeys((each_figure.cell.runner, each_figure.library) for each_figure in figures)
    identities = tuple(
        RunnerIdentity(runner, "full", library, "3", "", "", "", "", "", "", "")
        for runner, library in runners
    )
    conditions = Conditions("id", "0", "0", 1, "", (), Machine(), Policy(), (), identities=identities)
    return Run(
        Path(), conditions, figures, failures=failures, noise_floor=NoiseFloor(floor, (("x", 1 + floor),))
    )


def rows_of(runs: list[Run]) -> list[GridRow]:
    return [
        row for grid in compare_runs(runs, [str(number) for number in range(len(runs))]) for row in grid.rows
    ]


def text_of(
    runs: list[Run], width: int = 100, unit: Unit | None = None, names: list[str] | None = None
) -> str:
    grids = compare_runs(runs, names or ["a", "b"], unit)
    return render_comparison(grids, None, width=width, colour=False)


def test_equal_addresses_stand_in_one_row_with_their_ratio():
    (row,) = rows_of([run(figure(AES, 1000)), run(figure(AES, 2000)), run(figure(AES, 1000.1))])
    assert row.cell == AES
    first, second, third = row.entries
    assert first.comparison is None
    assert second.comparison is not None
    assert second.comparison.ratio.value == pytest.approx(2)
    assert not second.comparison.tie
    assert third.comparison is not None
    assert third.comparison.tie


def test_another_runner_of_the_same_library_counts_where_there_is_no_better():
    runs = [run(figure(AES, 1000)), run(figure(BELOW, 5000))]
    (row,) = rows_of(runs)
    assert [entry.figure.cell for entry in row.entries if entry.figure] == [AES, BELOW]
    text = text_of(runs)
    assert "aes-128-cbc, openssl | openssl-lowlevel" in text


def test_a_counterpart_is_never_taken_from_a_row_of_its_own():
    rows = rows_of([run(figure(AES, 1000), figure(BELOW, 4000)), run(figure(BELOW, 5000))])
    assert {(row.cell, *(bool(entry.figure) for entry in row.entries)) for row in rows} == {
        (AES, True, False),
        (BELOW, True, True),
    }


def test_another_library_s_runner_never_counts():
    other = Cell("jca-bc", "aes-128-cbc", "encrypt", 1024, "stream/1")
    third = Cell("jca-sun", "aes-128-cbc", "encrypt", 1024, "stream/1")
    rows = rows_of([run(figure(other, 9, "Bouncy Castle")), run(figure(third, 9, "OpenJDK"))])
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
    assert len(rows_of([run(figure(AES, 1000)), run(figure(unlike, 1000))])) == 2


def test_the_digest_s_length_does_not_part_keys():
    ours, theirs = (Cell("openssl", "rsa-2048", "sign", size, "pk/1") for size in (32, 36))
    (row,) = rows_of([run(figure(ours, 1000)), run(figure(theirs, 3000))])
    assert row.entries[1].comparison is not None
    assert row.entries[1].comparison.ratio.value == pytest.approx(3)


def test_why_a_run_lacks_a_figure_is_said():
    lacking = run(
        figure(Cell("openssl", "md5", "digest", 64, "oneshot/1"), 9),
        failures=(Failure("absent", "openssl", "not there", address=AES.address),),
    )
    text = text_of([run(figure(AES, 1000)), lacking])
    line = next(line for line in text.splitlines() if "encrypt 1 KiB" in line)
    assert line.endswith("absent")
    assert next(line for line in text.splitlines() if "digest 64 B" in line).split()[3] == "–"


def test_the_unit_is_cycles_only_where_all_have_them():
    assert "\ncycles per byte" in text_of([run(figure(AES, 1024)), run(figure(AES, 2048))])
    runs = [run(figure(AES, 1024)), run(figure(AES, 2048, cycles=False))]
    assert "\nMB/s" in "\n" + text_of(runs)
    assert "2000" in text_of(runs)  # 1024 bytes in 512 ns
    assert "\nnanoseconds" in "\n" + text_of(runs, unit=Unit.NS_PER_CALL)


def test_tables_fit_the_width_and_repeat_the_first_run():
    runs = [run(figure(AES, 1000 + 100 * number)) for number in range(9)]
    names = [f"machine-number-{number}" for number in range(9)]
    text = text_of(runs, width=70, names=names)
    assert all(len(line) <= 70 for line in text.splitlines())
    heads = [line for line in text.splitlines() if "machine-number-0 " in line and "×" not in line]
    assert len(heads) > 1
    for name in names:
        assert name in text


def test_records_are_json_types_and_nothing_is_rounded():
    runs = [run(figure(AES, 1000)), run(figure(AES, 1234.5678))]
    grids = compare_runs(runs, ["a", "b"])
    rows = comparison_json(grids, NoiseFloor(0.001, ()))
    assert (rows["sides"], rows["noise_floor"]) == (["a", "b"], 0.001)
    (record,) = rows["rows"]
    assert record["figures"][1]["cycles_per_call"] == 1234.5678
    assert record["figures"][1]["address"] == AES.address
    assert record["size_bytes"] == 1024
    header, *lines = comparison_csv(grids).splitlines()
    assert header.startswith("algorithm,operation,contract,cpu,size_bytes,side,address,")
    assert [line.split(",")[5] for line in lines] == ["a", "b"]


def test_the_schema_is_the_same_for_two_and_for_many():
    runs = [run(figure(AES, 1000 * number)) for number in (1, 2, 3)]
    two = comparison_json(compare_runs(runs[:2], ["a", "b"]), None)
    three = comparison_json(compare_runs(runs, ["a", "b", "c"]), None)
    assert two.keys() == three.keys()
    assert two["rows"][0].keys() == three["rows"][0].keys()
    assert three["rows"][0]["figures"][:2] == two["rows"][0]["figures"]


def test_no_figures_is_said():
    assert "no figures" in text_of([run(), run()])
