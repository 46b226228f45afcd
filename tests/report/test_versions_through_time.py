"""Versions of a library beside each other: where one changed, it is named; where none is known to, nothing is said."""

from __future__ import annotations

from dataclasses import replace

import pytest
from made_runs import made_figure, made_run

from perbyte.model import Cell, CellFigure, Run
from perbyte.report.pictures import run_pictures
from perbyte.report.runview import RunView
from perbyte.report.saving import as_svg
from perbyte.report.versioncharts import Versions

CELL = Cell("toy", "sha-256", "digest", 1024, "oneshot/1")


def built(version: str, cycles: float, relative: float = 0.001) -> CellFigure:
    figure = made_figure(replace(CELL, runner=f"toy-{version}"), cycles, relative=relative)
    return replace(figure, library="Toy", library_version=version)


def version_changes(run: Run) -> list[str]:
    return Versions(run).told("sha-256")


def test_the_version_at_which_a_cost_changed_is_named_oldest_first() -> None:
    run = made_run(
        (built("1.10", 500.0), built("1.2", 1000.0), built("1.9", 1001.0, 0.01), built("2.0", 600.0))
    )
    first, second = version_changes(run)
    assert first.startswith("Toy 1.10: digest costs 0.5")
    assert first.endswith("in 1.9"), "versions are ordered as numbers, and compared with the one before"
    assert second.startswith("Toy 2.0: digest costs 1.2")
    assert second.endswith("in 1.10")
    assert [change.after.library_version for change in Versions(run).changes] == ["1.10", "2.0"], (
        "largest first"
    )


def test_no_change_is_named_that_the_intervals_do_not_show() -> None:
    before = replace(built("1.0", 1000.0, 0.02), epoch_cycles=(980.0, 1000.0, 1020.0, 990.0, 1010.0))
    after = replace(built("1.1", 990.0, 0.02), epoch_cycles=(1015.0, 970.0, 985.0, 1005.0, 975.0))
    assert version_changes(made_run((before, after))) == []


def test_a_change_below_a_percent_is_left_out_though_it_is_known() -> None:
    assert version_changes(made_run((built("1.0", 1000.0, 0.0005), built("1.1", 1004.0, 0.0005)))) == []


def test_the_picture_names_the_version_at_which_the_cost_changed() -> None:
    run = made_run((built("1.0", 1000.0), built("1.1", 500.0), built("1.1a", 499.0)))
    (picture,) = [
        each_picture
        for each_picture in run_pictures(RunView(run))
        if each_picture.name.startswith("versions")
    ]
    assert (picture.name, picture.heading) == ("versions", "Versions: sha-256")
    drawn = as_svg(picture.chart)
    assert "3 versions of Toy: the newest is 2.00 times as fast as the oldest" in drawn
    assert "Toy 1.1: digest costs 0.5" in drawn
    assert drawn.count("×0.5") == 1, "a ring at 1.1, and none at 1.1a"
    at = [drawn.index(f">{version}<") for version in ("1.0", "1.1", "1.1a")]
    assert at == sorted(at), "versions stand on the axis in their order"


def test_each_algorithm_has_a_picture_and_one_without_data_is_counted_by_call() -> None:
    agreed = Cell("toy", "x25519", "derive", 0, "pk/1")
    pairs = [
        replace(
            made_figure(replace(agreed, runner=f"toy-{version}"), cycles),
            library="Toy",
            library_version=version,
        )
        for version, cycles in (("1.0", 90_000.0), ("1.1", 60_000.0))
    ]
    pairs += [
        replace(pair, cell=replace(pair.cell, size_bytes=64)) for pair in pairs
    ]  # no cost: the same line
    run = made_run((built("1.0", 1000.0), built("1.1", 500.0), *pairs))
    by_name = {
        picture.name: picture for picture in run_pictures(RunView(run)) if picture.name.startswith("versions")
    }
    assert [picture.heading for picture in by_name.values()] == ["Versions: sha-256", "Versions: x25519"]
    assert len(Versions(run).lines) == 2
    assert "cycles per call" in as_svg(by_name["versions-2"].chart)
    assert "cycles per byte" in as_svg(by_name["versions"].chart)


def test_one_version_alone_has_no_picture() -> None:
    assert Versions(made_run((built("1.0", 1000.0),))).algorithms == ()


@pytest.mark.parametrize("tier", ["soft"])
def test_another_tier_is_left_out(tier: str) -> None:
    slow = [replace(run, cell=replace(run.cell, cpu=tier)) for run in (built("1.0", 9.0), built("1.1", 5.0))]
    assert version_changes(made_run(tuple(slow))) == []


def test_operations_are_told_in_the_order_of_the_tables() -> None:
    cells = [replace(CELL, operation=operation) for operation in ("setup", "digest")]
    figures = [
        replace(built(version, cycles), cell=replace(cell, runner=f"toy-{version}"))
        for cell in cells
        for version, cycles in (("1.0", 1000.0), ("1.1", 500.0))
    ]
    (sentence,) = version_changes(made_run(tuple(figures)))
    assert sentence.index("setup costs") < sentence.index("digest costs")
