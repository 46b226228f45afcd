"""Runs with forty libraries: the fastest five and one's own first, the rest folded and said; no chart without bars."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import pytest
from made_pages import render_report, view_of
from made_runs import made_figure, made_run

from perbyte.model import Cell, Run
from perbyte.report import many, pictures
from perbyte.report.many import FIRST, MANY, first_names, rest_texts, rows_in_order
from perbyte.report.pictures import not_drawn, run_pictures
from perbyte.report.printed import render_table

LIBRARIES = [f"lib{number:02}" for number in range(40)]
OWN = "lib33"


@pytest.fixture(autouse=True)
def own(monkeypatch: pytest.MonkeyPatch) -> None:
    """All libraries are Perbyte's, save one."""
    monkeypatch.setattr(many, "is_own", lambda name: name == OWN)


def hashes() -> Run:
    """SHA-256 and SHA-512 at three sizes in forty libraries; the first is the slowest."""
    figures = [
        made_figure(
            Cell(name, algorithm, "digest", size, "oneshot/1"), (300 - number) * size / 10, relative=0.001
        )
        for number, name in enumerate(LIBRARIES)
        for algorithm in ("sha-256", "sha-512")
        for size in (64, 1024, 16384)
    ]
    return made_run(tuple(figures))


def keys() -> Run:
    """What signs and what agrees, in forty libraries."""
    figures = [
        made_figure(Cell(name, algorithm, operation, 32, "pk/1"), cost * (1 + number / 10), relative=0.001)
        for number, name in enumerate(LIBRARIES)
        for algorithm, cost in (("ed25519", 5e4), ("rsa-2048", 1e6), ("ml-dsa-65", 3e5))
        for operation in ("sign", "verify")
    ]
    return made_run(tuple(figures))


def data_of(chart: Any) -> list[dict[str, Any]]:
    """The records that a chart draws."""
    results: list[dict[str, Any]] = []

    def walk(node: Any) -> None:
        if isinstance(node, dict):
            for each in node.values():
                walk(each)
        elif isinstance(node, str) and node.startswith("[{"):
            results.extend(json.loads(node))
        elif isinstance(node, list):
            for each in node:
                walk(each)

    walk(chart.to_dict())
    return results


def named(drawn: Any, key: str) -> list[Any]:
    """The values of `key` anywhere in a chart's dictionary."""
    if isinstance(drawn, dict):
        inner = [value for each in drawn.values() for value in named(each, key)]
        return [drawn[key], *inner] if key in drawn else inner
    return [value for each in drawn for value in named(each, key)] if isinstance(drawn, list) else []


def test_the_fastest_five_and_ones_own_stand_first():
    [grid] = view_of(hashes()).grids
    rows = rows_in_order(grid)
    assert len(rows) == 80, "none is dropped"
    shown = [row.label for row, is_folded in rows if row.heading == "sha-256" and not is_folded]
    assert shown == ["lib39", "lib38", "lib37", "lib36", "lib35", OWN]
    assert len(shown) == FIRST + 1
    few = made_run(tuple(cell for cell in hashes().cells if cell.cell.runner in LIBRARIES[:MANY]))
    unfolded = rows_in_order(view_of(few).grids[0])
    assert not any(is_folded for _, is_folded in unfolded), "a dozen stand as they are"


def test_names_are_ordered_by_what_they_are_behind_in_the_columns_that_they_have():
    costs: dict[str, dict[Any, float]] = {
        "even": {1: 2.0, 2: 2.0},
        "quick": {1: 1.0, 2: 1.1},
        "half": {2: 1.0},
        "none": {},
    }
    assert first_names(costs) == ("half", "quick", "even", "none")


def test_a_terminal_says_how_many_follow_and_how_far_they_reach():
    text = render_table(hashes(), width=100, colour=False)
    assert text.count("lib33") >= 2
    assert "lib02" not in text.partition("cycles per byte")[2].partition("sha-256: 34 more")[0]
    assert (
        "sha-256: 34 more libraries, ×1.02 to ×1.15 of the fastest; --csv, --json and perbyte report"
        in " ".join(text.split())
    )
    [grid] = view_of(hashes()).grids
    assert len(rest_texts(grid)) == 2


def test_a_page_holds_all_rows_and_folds_those_that_come_after():
    page = render_report(hashes())
    body = page.partition('id="results"')[2]
    rows = re.findall(r"<tr[^>]*>(?=<th scope=\"row\">sha-)", body)
    assert len(rows) == 80
    assert sum("data-folded" in row for row in rows) == 68
    assert "68 rows more: show all" in body


def test_a_chart_of_many_libraries_has_the_fastest_five_and_then_ones_own():
    first = ["lib39", "lib38", "lib37", "lib36", "lib35", OWN]
    drawn = {picture.name: picture.chart.to_dict() for picture in run_pictures(view_of(hashes()))}
    places = [name.rpartition("␟")[2] for name in named(drawn["bars"], "sort")[0]]
    assert places == ["sha-256", *first, "sha-512", *first]
    assert first in named(drawn["by-library"], "sort"), "panels of libraries"
    assert first in named(drawn["everything"], "domain"), "its legend"


def test_a_chart_of_public_keys_has_no_row_without_a_figure():
    """Neither as bars, nor as the dots of what lies far apart."""
    costs = {"sign": {"ed25519": 5e4, "rsa-2048": 1e8}, "derive": {"x25519": 1e5}, "keygen": {"x25519": 4e4}}
    figures = [
        made_figure(Cell(name, algorithm, operation, 32, "pk/1"), cost * factor, relative=0.001)
        for name, factor in (("openssl", 1.0), ("nettle", 2.0))
        for operation, by_algorithm in costs.items()
        for algorithm, cost in by_algorithm.items()
    ]
    for kept in (figures, [figure for figure in figures if figure.per_call < 1e7]):
        for picture in run_pictures(view_of(made_run(tuple(kept)))):
            drawn = picture.chart.to_dict()
            assert "facet" not in drawn, "panels of a facet share their rows"
            for panel in drawn.get("vconcat", [drawn]):
                [place] = {axis["field"]: axis for axis in named(panel, "y")}.values()
                records = json.loads(drawn["datasets"][panel["data"]["name"]])
                there = {str(record[place["field"]]).partition("␟")[0] for record in records}
                rows = {name.partition("␟")[0] for name in place["sort"]}
                assert rows == there, picture.name


@pytest.mark.parametrize("run", [hashes, keys])
def test_no_chart_is_without_marks_or_speaks_of_no_data(run):
    pictures = run_pictures(view_of(run()))
    assert len(pictures) >= 2
    for picture in pictures:
        text = json.dumps(picture.chart.to_dict())
        data = data_of(picture.chart)
        assert data, picture.name
        assert '"0 B"' not in text, picture.name
        assert len({row["library"] for row in data if "library" in row}) <= FIRST + 1 + MANY, picture.name
        told = ("libraries are shown", "libraries and one's own are shown", "rows are shown")
        assert any(label in text for label in told), picture.name


def test_every_key_and_operation_stands_on_the_page_of_public_keys():
    [bars] = [picture for picture in run_pictures(view_of(keys())) if picture.name == "bars"]
    data = data_of(bars.chart)
    assert {(row["series"], row["operation"]) for row in data} == {
        (name, operation) for name in ("ed25519", "rsa-2048", "ml-dsa-65") for operation in ("sign", "verify")
    }
    assert {row["library"] for row in data} == {*LIBRARIES[:FIRST], OWN}


def test_what_reaches_no_chart_is_said():
    cells = [
        replace(each_cell.cell, contract=contract)
        for each_cell in hashes().cells[:12]
        for contract in ("oneshot/1", "stream/1", "message/1", "rekey/1", "keyed/1")
    ]
    page = render_report(made_run(tuple(made_figure(cell, 1000.0) for cell in cells)))
    assert "1 contract more has no chart; the tables have it." in page


def test_more_cells_than_a_chart_can_have_are_in_the_tables_alone(monkeypatch: pytest.MonkeyPatch):
    view = view_of(hashes())
    assert run_pictures(view)
    monkeypatch.setattr(pictures, "_MOST_DRAWN", len(view.run.cells) - 1)
    assert run_pictures(view) == ()
    assert not_drawn(view) == ("240 cells are too many for a chart; the tables have them.",)
