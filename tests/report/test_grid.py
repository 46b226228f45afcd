from __future__ import annotations

from dataclasses import replace

import pytest
from made_runs import hostile_run, made_figure, made_run, usual_run

from perbyte.model import Cell, Doubt, Failure, NoiseFloor, Quality, Warning
from perbyte.model.text import natural
from perbyte.report.facts import failures_by_cause
from perbyte.report.grid import run_grids
from perbyte.report.marks import Mark
from perbyte.stats.quantity import Unit
from perbyte.stats.standing import Lead


def cell(runner: str, size: int = 16, **changes: object) -> Cell:
    given = {"algorithm": "aes-128-ecb", "operation": "encrypt", "contract": "stream/1", **changes}
    return Cell(runner, size_bytes=size, **given)  # type: ignore[arg-type]


def test_rows_are_algorithms_in_libraries_and_columns_operations_by_size() -> None:
    (table,) = run_grids(usual_run())
    assert [(column.operation, column.size) for column in table.columns] == [
        (operation, size)
        for operation in ("encrypt", "decrypt")
        for size in ("16 B", "32 B", "512 B", "10 MB")
    ]
    assert [title for title, _ in table.groups()] == [
        "aes-128-ecb (full)",
        "aes-128-ecb (soft)",
        "camellia-128-ecb",
        "des-ede3-ecb",
        "serpent-128-ecb",
    ]
    assert [row.label for row in table.rows[:4]] == ["alphassl", "betacrypt", "deltacrypt", "gammalib"]
    assert table.unit is Unit.CYCLES_PER_BYTE


def test_every_figure_and_every_failure_of_a_run_stands_in_a_table() -> None:
    run = usual_run()
    entries = [entry for table in run_grids(run) for row in table.rows for entry in row.entries]
    assert {entry.figure.cell for entry in entries if entry.figure} == {figure.cell for figure in run.cells}
    shown = [entry.failure for entry in entries if entry.failure]
    assert sorted(each_cell.address for each_cell in shown) == sorted(
        failure.address for failure in run.failures if failure.address
    )


def test_contracts_never_share_a_table() -> None:
    slow, fast = made_figure(cell("a"), 200.0), made_figure(cell("b", contract="message/1"), 100.0)
    grids = run_grids(made_run((slow, fast)))
    assert [table.contract for table in grids] == ["message/1", "stream/1"]
    assert all(entry.lead is Lead.NONE for table in grids for row in table.rows for entry in row.entries)


def test_the_fastest_is_marked_and_a_tie_is_shown_as_one() -> None:
    figures = (made_figure(cell("a"), 100.0), made_figure(cell("bb"), 100.1), made_figure(cell("c"), 120.0))
    quiet = NoiseFloor(0.0, (("x", 1.0),))
    noisy = NoiseFloor(0.3, (("a/x", 1.3),))  # of the fastest one's runner

    def places(floor: NoiseFloor) -> list[Lead]:
        (table,) = run_grids(made_run(figures, noise_floor=floor))
        return [row.entries[0].lead for row in table.rows]

    assert places(quiet) == [Lead.TIED, Lead.TIED, Lead.NONE]
    assert places(noisy) == [Lead.UNKNOWN] * 3, "not known is no tie"
    alone = (made_figure(cell("a"), 100.0), made_figure(cell("c"), 120.0))
    (table,) = run_grids(made_run(alone, noise_floor=quiet))
    assert [row.entries[0].lead for row in table.rows] == [Lead.FASTEST, Lead.NONE]


def test_tiers_are_not_rivals() -> None:
    figures = (
        made_figure(cell("a"), 10.0),
        made_figure(cell("b"), 12.0),
        made_figure(cell("a", cpu="soft"), 90.0),
        made_figure(cell("b", cpu="soft"), 80.0),
    )
    (table,) = run_grids(made_run(figures))
    assert [row.entries[0].lead for row in table.rows] == [
        Lead.FASTEST,
        Lead.NONE,
        Lead.NONE,
        Lead.FASTEST,
    ]


def test_one_library_alone_is_ranked_within_the_column() -> None:
    figures = (made_figure(cell("a"), 100.0), made_figure(cell("a", algorithm="camellia-128-ecb"), 300.0))
    (table,) = run_grids(made_run(figures))
    assert table.ranked_within == "column"
    assert [row.entries[0].lead for row in table.rows] == [Lead.FASTEST, Lead.NONE]


def test_algorithms_with_keys_of_different_lengths_are_not_ranked() -> None:
    def places(*algorithms: str, operation: str = "encrypt") -> list[Lead]:
        figures = tuple(
            made_figure(cell("a", algorithm=name, operation=operation), cost)
            for name, cost in zip(algorithms, (100.0, 300.0, 900.0), strict=False)
        )
        (table,) = run_grids(made_run(figures))
        return [row.entries[0].lead for row in table.rows]

    first, none = Lead.FASTEST, Lead.NONE
    assert places("aes-128-ecb", "aes-256-ecb") == [none, none]
    assert places("aes-256-ecb", "camellia-128-ecb", "serpent-256-ecb") == [first, none, none]
    assert places("blake2s-256", "sha-1", "sha-256", operation="digest") == [first, none, none]
    assert places("rsa-512", "rsa-4096", "rsa-pss-4096", operation="sign") == [none, first, none]
    assert places("rsa-512", "dsa-512", operation="sign") == [none, none], "64 bytes each, of two families"
    assert places("ml-dsa-44", "ml-dsa-65", operation="sign") == [none, none]
    assert places("mine-1", "mine-2") == [none, none], "of unknown ones nothing is known"


def test_twins_are_no_rows() -> None:
    figures = (made_figure(cell("a"), 100.0), made_figure(replace(cell("a"), twin=1), 99.0))
    (table,) = run_grids(made_run(figures))
    assert [entry.figure for row in table.rows for entry in row.entries] == [figures[0]]


@pytest.mark.parametrize(
    ("quality", "mark"),
    [
        (Quality.IMPRECISE, Mark.IMPRECISE),
        (Quality.LONG, Mark.LONG),
        (Quality.NOISY, Mark.NOISY),
        (Quality.UNSETTLED, Mark.UNSETTLED),
    ],
)
def test_every_doubt_is_marked(quality: Quality, mark: Mark) -> None:
    figure = made_figure(
        cell("a"), None, ns=5.0, quality=quality, warnings=(Warning(Doubt.TIER, "nothing changed"),)
    )
    (table,) = run_grids(made_run((figure,)))
    assert table.rows[0].entries[0].marks == (mark, Mark.NO_CYCLES, Mark.WARNING)
    assert table.unit is Unit.MEGABYTES_PER_SECOND


def test_a_warning_that_says_what_the_quality_says_is_marked_once() -> None:
    figure = made_figure(
        cell("a"),
        quality=Quality.LONG,
        warnings=(
            Warning(Doubt.LONG, "one call lasts 900 µs, a sample should last 50 µs"),
            Warning(Doubt.IMPRECISE, "the interval is ±3 %, wider than requested"),
        ),
    )
    (table,) = run_grids(made_run((figure,)))
    assert table.rows[0].entries[0].marks == (Mark.IMPRECISE, Mark.LONG)


def test_a_wrong_answer_has_no_figure_and_no_rank() -> None:
    wrong, right = made_figure(cell("a"), 1.0), made_figure(cell("b"), 100.0)
    failure = Failure("incorrect", "a", "wrong output", address=wrong.cell.address, expected="00", got="ff")
    (table,) = run_grids(made_run((wrong, right), failures=(failure,)))
    entries = [row.entries[0] for row in table.rows]
    assert (entries[0].figure, entries[0].failure) == (None, failure)
    assert entries[1].lead is Lead.NONE  # nothing is left to be compared with


def test_a_later_failure_stays_on_the_figure() -> None:
    figure = made_figure(cell("a"), 100.0)
    failure = Failure("crashed", "a", "signal 11", address=figure.cell.address)
    (table,) = run_grids(made_run((figure,), failures=(failure,)))
    assert table.rows[0].entries[0].figure is figure
    assert Mark.FAILED in table.rows[0].entries[0].marks


def test_a_unit_that_no_cell_has_gives_way() -> None:
    setup = made_figure(cell("a", 0, operation="setup", contract="setup/1"), 500.0)
    (table,) = run_grids(made_run((setup,)), Unit.MEGABYTES_PER_SECOND)
    assert table.unit is Unit.CYCLES_PER_CALL


def test_failures_are_grouped_by_cause() -> None:
    grouped = failures_by_cause(usual_run())
    assert [(each_cell.runner, each_cell.kind, count) for each_cell, count in grouped] == [
        ("alphassl", "unsupported", 8),
        ("deltacrypt", "crashed", 8),
        ("epsilon", "absent", 0),
    ]


def test_only_keeps_the_columns_asked_for() -> None:
    (table,) = run_grids(usual_run())
    part = table.only(table.columns[:2])
    assert part.columns == table.columns[:2]
    assert all(len(row.entries) == 2 for row in part.rows)


def test_natural_order() -> None:
    assert sorted(["aes-256", "aes-128", "aes-1024", "aes"], key=natural) == [
        "aes",
        "aes-128",
        "aes-256",
        "aes-1024",
    ]


def test_hostile_values_are_laid_out_all_the_same() -> None:
    run = hostile_run()
    shown = [
        entry.figure
        for table in run_grids(run)
        for row in table.rows
        for entry in row.entries
        if entry.figure
    ]
    assert len(shown) == len(run.cells)
