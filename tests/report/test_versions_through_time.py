"""Versions of a library beside each other: where one changed, it is named; where none is known to, nothing is said."""

from __future__ import annotations

from dataclasses import replace

import pytest
from made_runs import made_figure, made_run

from perbyte.model import Cell, CellFigure
from perbyte.report.ratiocharts import version_changes, versions
from perbyte.report.runview import RunView

CELL = Cell("toy", "sha-256", "digest", 1024, "oneshot/1")


def built(version: str, cycles: float, relative: float = 0.001) -> CellFigure:
    figure = made_figure(replace(CELL, runner=f"toy-{version}"), cycles, relative=relative)
    return replace(figure, library="Toy", library_version=version)


def test_the_version_at_which_a_cost_changed_is_named_largest_first() -> None:
    run = made_run(
        (built("1.10", 500.0), built("1.2", 1000.0), built("1.9", 1001.0, 0.01), built("2.0", 600.0))
    )
    first, second = version_changes(run)
    assert first.startswith("Toy 1.10: sha-256 digest of 1 KiB costs")
    assert "in 1.9" in first, "versions are ordered as numbers, and compared with the one before"
    assert second.startswith("Toy 2.0: sha-256 digest of 1 KiB costs")
    assert "in 1.10" in second


def test_no_change_is_named_that_the_intervals_do_not_show() -> None:
    before = replace(built("1.0", 1000.0, 0.02), epoch_cycles=(980.0, 1000.0, 1020.0, 990.0, 1010.0))
    after = replace(built("1.1", 990.0, 0.02), epoch_cycles=(1015.0, 970.0, 985.0, 1005.0, 975.0))
    assert version_changes(made_run((before, after))) == []


def test_a_change_below_a_percent_is_left_out_though_it_is_known() -> None:
    assert version_changes(made_run((built("1.0", 1000.0, 0.0005), built("1.1", 1004.0, 0.0005)))) == []


def test_the_picture_carries_the_changes() -> None:
    chart = versions(RunView(made_run((built("1.0", 1000.0), built("1.1", 500.0)))))
    assert chart is not None
    assert "Toy 1.1: sha-256 digest of 1 KiB costs" in str(chart.to_dict())


def test_one_version_alone_has_no_picture() -> None:
    assert versions(RunView(made_run((built("1.0", 1000.0),)))) is None


@pytest.mark.parametrize("tier", ["soft"])
def test_another_tier_is_left_out(tier: str) -> None:
    slow = [replace(one, cell=replace(one.cell, cpu=tier)) for one in (built("1.0", 9.0), built("1.1", 5.0))]
    assert version_changes(made_run(tuple(slow))) == []
