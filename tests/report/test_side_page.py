"""Runs side by side as a page: a column per run, ratios with their doubts, profiles, imported figures."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from browsing import Opened
from made_pages import render_side_page, side_pictures, write_side_by_side
from made_runs import HOSTILE, hostile_run, made_cells, made_figure, made_run, usual_run
from test_html import Page

from perbyte.errors import UsageError
from perbyte.model import Cell, CellFigure, Failure, Interval, Machine, Quality, Run
from perbyte.report.facts import feature_row, profile_rows
from perbyte.report.pages import run_names
from perbyte.report.saving import as_specification, as_svg

SIZES = (16, 512)


def named(run: Run, name: str, **machine: Any) -> Run:
    profile = replace(run.conditions.machine, cpu_model=f"CPU of {name}", **machine)
    return replace(run, path=Path(name), conditions=replace(run.conditions, run_id=name, machine=profile))


def times(figure: CellFigure, cycles: float, time: float) -> CellFigure:
    """The same cell at other costs: so many times the cycles and the time."""
    assert figure.cycles_per_call is not None
    return replace(
        figure,
        cycles_per_call=figure.cycles_per_call * cycles,
        ns_per_call=figure.ns_per_call * time,
        interval=Interval(figure.interval.low * cycles, figure.interval.high * cycles),
        epoch_cycles=tuple(cycle * cycles for cycle in figure.epoch_cycles),
        epoch_ns=tuple(epoch * time for epoch in figure.epoch_ns),
    )


def imported(figure: CellFigure, time: float) -> CellFigure:
    return replace(
        times(figure, 1.0, time),
        cycles_per_call=None,
        epoch_cycles=(),
        epoch_ns=(figure.ns_per_call * time,),
        epochs=1,
        interval=Interval(0.0, math.inf, dominated_by="unknown"),
        quality=Quality.IMPRECISE,
        cycle_source="none",
        samples=0,
        clean_samples=0,
    )


def first_run() -> Run:
    return named(made_run(made_cells(sizes=SIZES)), "server", cpu_flags=("aes", "sse2", "avx2"))


def second_run() -> Run:
    """Every cell at twice the cycles and half the time; one cell lost, one crashed, one of its own."""
    cells = [times(figure, 2.0, 0.5) for figure in made_cells(sizes=SIZES)]
    crashed = cells.pop(1)
    cells.append(made_figure(Cell("omega", "rc4", "encrypt", 16, "stream/1"), 64.0))
    failure = Failure("crashed", crashed.cell.runner, "signal 11", address=crashed.cell.address)
    run = made_run(tuple(cells), failures=(failure,))
    return named(run, "laptop", cpu_flags=("aes", "sse2", "sha_ni"))


def third_run() -> Run:
    run = made_run(tuple(imported(figure, 4.0) for figure in made_cells(sizes=SIZES)))
    run = named(replace(run, noise_floor=None, measuring_s=0.0), "listing", cpu_flags=())
    return replace(run, conditions=replace(run.conditions, origin="imported", started_at=""))


@pytest.fixture(scope="module")
def runs() -> list[Run]:
    return [first_run(), second_run(), third_run()]


def units_of(text: str, name: str) -> list[list[str]]:
    """What a page holds in each unit, per entry of the row that begins with `name`."""
    (row,) = [word for word in text.split("<tr") if name in word]
    return [
        [word.split(";")[0] for word in every.split("|")] for every in re.findall(r'data-u="([^"]*)"', row)
    ]


def test_values_and_ratios_in_every_unit(runs: list[Run]) -> None:
    text = render_side_page(runs)
    name = '<th scope="row">des-ede3-ecb</th><th scope="row">alphassl: decrypt 512 B</th>'
    a, b, b_ratio, c, c_ratio = units_of(text, name)
    figure = next(
        cell
        for cell in runs[0].cells
        if cell.cell == Cell("alphassl", "des-ede3-ecb", "decrypt", 512, "stream/1")
    )
    assert figure.cycles_per_byte is not None
    assert figure.megabytes_per_second is not None
    assert float(a[0].replace(",", "")) == pytest.approx(figure.cycles_per_byte, rel=0.01)
    assert float(b[0].replace(",", "")) == pytest.approx(2 * figure.cycles_per_byte, rel=0.01)
    assert float(c[1].replace(",", "")) == pytest.approx(figure.megabytes_per_second / 4, rel=0.01)
    assert [ratio_text.startswith("×2.0") for ratio_text in b_ratio] == [True, False, False, True]  # cycles
    assert [ratio_text.startswith("×0.5") for ratio_text in b_ratio] == [False, True, True, False]  # time
    assert c[0] == c_ratio[0] == "n/a"
    assert c_ratio[1:3] == ["×4.00 ?", "×4.00 ?"]


def test_cycles_where_all_have_them_else_throughput(runs: list[Run]) -> None:
    caption = '<caption><span class="unit">{}</span></caption>'
    assert caption.format("cycles/byte") in render_side_page(runs[:2])
    assert caption.format("MB/s") in render_side_page(runs)


def test_identical_runs_are_tied_everywhere(runs: list[Run]) -> None:
    text = render_side_page([runs[0], replace(runs[0], path=Path("again"))])
    ratios = [every for every in re.findall(r'data-u="([^"]*)"', text) if every.startswith("×")]
    assert len(ratios) == len(runs[0].cells)
    assert all(word.split(";")[0].endswith(" =") for every in ratios for word in every.split("|"))
    assert f"{len(runs[0].cells)} tied" in Page(text).text


def test_the_summary_counts_and_claims_nothing_without_intervals(runs: list[Run]) -> None:
    text = Page(render_side_page(runs)).text
    cells = len(runs[0].cells)
    assert f"laptop against server, {cells - 1} common cells: 2.00 times the cycles" in text
    assert f"{cells - 1} slower" in text
    assert f"listing against server, {cells} common cells: 4.00 times the time" in text
    assert f"{cells} without an interval, where no difference is claimed" in text
    assert f"{cells + 1} cells: {cells - 1} in all runs, 1 in one only" in text
    assert "imported" in text


def test_what_a_run_lacks_is_said(runs: list[Run]) -> None:
    text = render_side_page(runs)
    lost = made_cells(sizes=SIZES)[1].cell
    (row,) = [
        word
        for word in text.split("<tr")
        if f"{lost.runner}: {lost.operation} {lost.size_bytes} B" in word
        and lost.algorithm in word
        and ("(soft)" in word) == (lost.cpu == "soft")
    ]
    assert 'title="crashed">crashed</td>' in row
    page = Page(text)
    assert "signal 11" in page.text
    (only,) = [word for word in text.split("<tr") if "rc4" in word]
    assert only.count("not in this run") == 3  # the first run's value, the third's value and its ratio
    assert "not in the first run" in only


def test_profiles_stand_beside_each_other(runs: list[Run]) -> None:
    rows = {name: values for name, *values in profile_rows(runs)}
    assert rows["processor"] == ["CPU of server", "CPU of laptop", "CPU of listing"]
    assert rows["seed"][2] == "–"  # the policy of an imported run means nothing
    assert rows["noise floor"][2] == "–"
    assert "CPU features" not in rows
    features, common = feature_row(runs)
    assert features[1:] == ("avx2", "sha_ni", "not listed")
    assert common == "2 CPU features are common to the 2 runs that list them"
    page = render_side_page(runs)
    differing, alike = page.index("What differs between the machines"), page.index("The same in all runs")
    assert differing < page.index(">processor<") < alike < page.index(">seed<")


def test_public_key_operations_are_given_per_call() -> None:
    cell = Cell("openssl", "rsa-2048", "sign", 32, "pk/1")
    runs = [
        named(made_run((made_figure(cell, cycles),)), name) for name, cycles in (("a", 9e5), ("b", 1.8e6))
    ]
    text = render_side_page(runs)
    a, b, ratio = units_of(text, "openssl: sign</th>")
    assert '<span class="unit">cycles/call</span>' in text  # nobody signs bytes: no cycles/byte, no MB/s
    assert a == ["900,000", "2778", "360,000"]  # cycles/call, calls/s, ns/call
    assert b[0] == "1,800,000"
    assert all(ratio_text.startswith("×2.0") for ratio_text in ratio)


def test_the_figure_draws_every_common_cell(runs: list[Run]) -> None:
    (picture,) = side_pictures(runs)
    specification = as_specification(picture.chart)
    assert "geometric mean: 2.00 in laptop, 4.00 in listing" in " ".join(specification["title"]["text"])
    svg = as_svg(picture.chart)
    assert svg.count("interval not known") >= len(runs[0].cells)
    assert len(re.findall(r'aria-roledescription="point"', svg)) == 2 * len(runs[0].cells) - 1


def test_nothing_in_common() -> None:
    other = named(made_run((made_figure(Cell("x", "rc4", "encrypt", 16, "stream/1"), 64.0),)), "other")
    assert side_pictures([first_run(), other]) == ()
    text = Page(render_side_page([first_run(), other])).text
    assert "other has no cell in common with server" in text
    assert "There is nothing to draw" in text
    assert "The runs hold no figures" in Page(render_side_page([made_run(()), made_run(())])).text


def test_names_of_columns_are_distinct() -> None:
    run = first_run()
    assert run_names([run, run, named(run, "other")]) == ["server (1)", "server (2)", "other"]
    with pytest.raises(UsageError, match="a comparison needs two or more runs"):
        render_side_page([run])


def test_hostile_runs_do_nothing() -> None:
    run = hostile_run()
    machine = Machine(cpu_model=HOSTILE[0], caches=HOSTILE, cpu_flags=HOSTILE)
    other = replace(run, conditions=replace(run.conditions, machine=machine, run_id=HOSTILE[5]))
    text = render_side_page([run, other, usual_run()], names=[HOSTILE[0], HOSTILE[1], HOSTILE[3]])
    page = Page(text)
    assert len([tag for tag, _ in page.elements if tag == "script"]) == 1
    assert not [tag for tag, _ in page.elements if tag == "img"]
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u2028]", text)


@pytest.fixture
def opened(browser: Any, runs: list[Run], tmp_path: Path) -> Iterator[Opened]:
    page = Opened(browser, write_side_by_side(runs, tmp_path / "machines.html"))
    yield page
    page.clean()
    page.context.close()


@pytest.mark.browser
def test_in_a_browser_units_change_values_and_ratios_and_columns_sort(opened: Opened) -> None:
    page = opened.page
    row = page.locator("section[data-pivot] tbody tr").first
    before = row.locator("td").all_text_contents()
    page.get_by_label("Unit").select_option("cycles/byte")
    after = row.locator("td").all_text_contents()
    assert before[0] != after[0]
    assert before[2].startswith("×0.5")
    assert after[2].startswith("×2.0")
    assert after[3:] == ["n/a", "n/a"]
    page.get_by_label("Unit").select_option("MB/s")
    page.locator("section[data-pivot] th[data-key='3'] button").click()  # the second run's values
    shown = page.eval_on_selector_all(
        "section[data-pivot] tbody tr", "rows => rows.map(row => row.cells[3].textContent.trim())"
    )
    known = [float(text.replace(",", "").partition("±")[0]) for text in shown if text[0].isdigit()]
    assert all(later >= earlier * 0.99 for earlier, later in itertools.pairwise(known))
    assert shown[-1] == "crashed"
    page.get_by_label("Filter rows").fill("rc4")
    assert page.locator("section[data-pivot] tbody tr:visible").count() == 1
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280


@pytest.mark.browser
@pytest.mark.parametrize("width", [360, 768])
def test_in_a_browser_the_page_never_scrolls_sideways(
    browser: Any, runs: list[Run], tmp_path: Path, width: int
) -> None:
    path = write_side_by_side(runs, tmp_path / "machines.html")
    page = Opened(browser, path, viewport={"width": width, "height": 800})
    assert page.page.evaluate("document.documentElement.scrollWidth") <= width
    page.clean()
    page.context.close()
