"""The report in a real browser: it opens from the disk, sorts, filters, draws, and asks nobody for anything."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browsing import Opened
from made_pages import draw, write_report
from made_runs import HOSTILE, hostile_run, made_cells, made_figure, made_judgement, made_run, usual_run

from perbyte.model import Cell
from perbyte.report.saving import save_chart

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = usual_run()
    return write_report(run, tmp_path_factory.mktemp("report") / "usual.html", judgement=made_judgement(run))


@pytest.fixture
def opened(browser: Any, report: Path) -> Iterator[Opened]:
    page = Opened(browser, report)
    yield page
    page.clean()
    page.context.close()


def column(page: Any, key: int) -> list[str]:
    """The texts of a results column, top to bottom, of the rows that are seen."""
    return list(
        page.eval_on_selector_all(
            "section[data-pivot] tbody tr:not([hidden])",
            "(rows, key) => rows.map(row => (row.cells[key].querySelector('.v') || row.cells[key]).textContent.trim())",
            key,
        )
    )


def numbers(shown: list[str]) -> list[float]:
    """The figures among the texts of a column."""
    return [float(text.replace(",", "")) for text in shown if text[0].isdigit()]


def test_sorting_by_value_and_by_name(opened: Opened) -> None:
    page = opened.page
    head = page.locator("section[data-pivot] th[data-key='2']")
    head.locator("button").click()
    assert head.get_attribute("aria-sort") == "ascending"
    shown = column(page, 2)
    values = numbers(shown)
    assert values == sorted(values)
    assert {*shown[len(values) :]} == {"–", "crashed"}  # without a figure: last, in either direction
    head.locator("button").click()
    assert head.get_attribute("aria-sort") == "descending"
    shown = column(page, 2)
    assert numbers(shown) == sorted(values, reverse=True)
    assert {*shown[len(values) :]} == {"–", "crashed"}
    page.locator("section[data-pivot] th[data-key='1'] button").click()
    assert head.get_attribute("aria-sort") is None
    libraries = column(page, 1)
    assert libraries == sorted(libraries)


def test_sorting_by_keyboard(opened: Opened) -> None:
    page = opened.page
    button = page.locator("section[data-pivot] th[data-key='3'] button")
    button.focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Space")
    assert page.locator("section[data-pivot] th[data-key='3']").get_attribute("aria-sort") == "descending"


def test_filtering_results(opened: Opened) -> None:
    page = opened.page
    page.get_by_label("Filter rows").fill("camellia beta")
    assert column(page, 0) == ["camellia-128-ecb"]
    assert page.locator("section[data-pivot] output").text_content() == "1 of 20 rows"
    page.get_by_label("Filter rows").fill("")
    assert len(column(page, 0)) == 20
    assert page.locator("section[data-pivot] output").text_content() == "all 20 rows"


def test_another_unit(opened: Opened) -> None:
    page = opened.page
    before = column(page, 2)
    page.get_by_label("Unit").select_option("MB/s")
    after = column(page, 2)
    assert before != after
    row = page.locator("section[data-pivot] tbody tr").first
    given = row.locator("td").first.get_attribute("data-u").split("|")[1].split(";")[0]
    assert row.locator(".v").first.text_content() == given
    page.locator("section[data-pivot] th[data-key='2'] button").click()
    values = numbers(column(page, 2))
    assert values == sorted(values)


def test_the_list_of_cells(opened: Opened) -> None:
    page = opened.page
    cells = page.locator("#cells")
    assert cells.locator("tbody tr").count() == 100
    assert cells.locator("output").text_content() == "all 160 rows, page 1 of 2"
    cells.get_by_role("button", name="Next").click()
    assert cells.locator("tbody tr").count() == 60
    page.get_by_label("Filter cells").fill("crashed")
    assert cells.locator("tbody tr").count() == 8
    assert "signal 11" in cells.locator("tbody tr").first.text_content()
    page.get_by_label("Filter cells").fill("")
    cells.locator("th[data-key='8'] button").click()
    shown = cells.locator("tbody tr td:nth-child(9)").all_text_contents()
    values = numbers(shown)
    assert len(values) == 100
    # What is shown is rounded to what its interval supports; the order is that of the full figures.
    assert all(after >= before * 0.99 for before, after in itertools.pairwise(values))
    assert values[-1] > values[0] * 10


def test_figures_are_seen_and_can_be_read(opened: Opened) -> None:
    page = opened.page
    figures = page.locator("figure svg:visible")
    assert figures.count() >= 6
    for index in range(figures.count()):
        box = figures.nth(index).bounding_box()
        assert box["width"] > 300
        assert box["height"] > 100
    tip = page.locator("#tip")
    assert tip.is_hidden()
    page.locator("figure", has_text="Who is the fastest").locator("[data-tip]").first.hover()
    assert tip.is_visible()
    assert "cycles/byte" in tip.text_content()
    draw = page.locator("figure .draw:visible").nth(1)
    draw.focus()
    page.keyboard.press("ArrowRight")
    first = tip.text_content()
    page.keyboard.press("ArrowRight")
    assert tip.text_content() != first
    page.keyboard.press("Escape")
    assert tip.is_hidden()


def test_claims_by_how_they_fared(opened: Opened) -> None:
    page = opened.page
    assert page.locator(".claims > details:visible").count() == 4
    button = page.get_by_role("button", name="✗ not reproduced")
    button.click()
    assert button.get_attribute("aria-pressed") == "true"
    assert page.locator(".claims > details:visible .badge").all_text_contents() == ["✗ not reproduced"]
    page.get_by_role("button", name="all 4").click()
    assert page.locator(".claims > details:visible").count() == 4


def ground(page: Any) -> str:
    return str(page.evaluate("getComputedStyle(document.body).backgroundColor"))


def ink(page: Any) -> str:
    return str(page.evaluate("getComputedStyle(document.querySelector('figure svg text')).fill"))


def test_dark_follows_the_system_and_the_reader(browser: Any, report: Path) -> None:
    light = Opened(browser, report, color_scheme="light")
    dark = Opened(browser, report, color_scheme="dark")
    assert ground(light.page) == "rgb(255, 255, 255)"
    assert ground(dark.page) == "rgb(11, 15, 20)"
    assert ink(light.page) != ink(dark.page)
    dark.page.get_by_role("button", name="Switch to light colours").click()
    assert ground(dark.page) == ground(light.page)
    assert ink(dark.page) == ink(light.page)
    dark.page.reload()
    assert ground(dark.page) == ground(light.page)  # the choice stays
    light.clean()
    light.context.close()
    dark.context.close()


def test_without_scripts_results_and_figures_are_there(browser: Any, report: Path) -> None:
    page = Opened(browser, report, java_script_enabled=False, color_scheme="dark")
    assert page.page.locator("section[data-pivot] tbody tr").count() == 20
    assert page.page.locator("figure svg").first.is_visible()
    assert page.page.get_by_label("Filter rows").is_hidden()
    page.context.close()


@pytest.mark.parametrize("width", [360, 768, 1280])
def test_the_page_never_scrolls_sideways(browser: Any, report: Path, width: int) -> None:
    page = Opened(browser, report, viewport={"width": width, "height": 800})
    assert page.page.evaluate("document.documentElement.scrollWidth") <= width
    page.clean()
    page.context.close()


def test_in_print_the_tools_are_gone_and_paper_is_white(browser: Any, report: Path) -> None:
    page = Opened(browser, report, color_scheme="dark")
    page.page.emulate_media(media="print", color_scheme="dark")
    assert page.page.locator(".top").is_hidden()
    assert page.page.locator("section[data-pivot] .tools").is_hidden()
    assert ground(page.page) == "rgb(255, 255, 255)"
    page.clean()
    page.context.close()


def test_paper_gets_every_row_of_the_list(opened: Opened) -> None:
    page = opened.page
    page.evaluate(
        """() => { window.printed = 0;
        window.addEventListener('beforeprint', () => {
            window.printed = document.querySelectorAll('#cells tbody tr').length; }); }"""
    )
    assert page.locator("#cells tbody tr").count() == 100
    page.pdf()
    assert page.evaluate("window.printed") == 160
    assert page.locator("#cells tbody tr").count() == 100
    page.get_by_label("Filter cells").fill("crashed")
    page.pdf()
    assert page.evaluate("window.printed") == 8  # what the reader filtered is what is printed


def test_names_and_landmarks_for_a_screen_reader(opened: Opened) -> None:
    page = opened.page
    unnamed = page.eval_on_selector_all(
        "button, input, select, svg[role=img]",
        """all => all.filter(one => !one.getAttribute('aria-label') && !one.textContent.trim()
            && !(one.labels && one.labels.length)).length""",
    )
    assert unnamed == 0
    assert page.locator("main").count() == 1
    assert page.locator("h1").count() == 1
    assert page.locator("html").get_attribute("lang") == "en"
    assert page.locator("output[aria-live=polite]").count() == 2
    assert page.locator("section[data-pivot] th:not([scope])").count() == 0


def test_a_hostile_run_injects_nothing(browser: Any, tmp_path: Path) -> None:
    hostile_page = Opened(browser, write_report(hostile_run(), tmp_path / "hostile.html"))
    page = hostile_page.page
    assert page.evaluate("window.pwned") is None
    assert page.locator("img").count() == 0
    assert page.locator("script").count() == 2
    page.get_by_label("Filter cells").fill("script")
    assert page.locator("#cells tbody tr").count() > 0
    assert page.evaluate("window.pwned") is None
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280
    hostile_page.clean()
    hostile_page.context.close()


def test_a_figure_alone_is_drawn_and_cannot_be_broken_out_of(browser: Any, tmp_path: Path) -> None:
    cells = [
        made_figure(Cell(f"{name}{HOSTILE[0]}", HOSTILE[5], "encrypt", size, "stream/1"))
        for name in "ab"
        for size in (16, 512)
    ]
    page = Opened(browser, save_chart(draw("everything", made_run(tuple(cells))), tmp_path / "figure.html"))
    page.page.locator("#figure svg path[aria-roledescription=point]").first.wait_for()
    assert page.page.locator("#figure svg path[aria-roledescription=point]").count() == len(cells)
    assert page.page.evaluate("window.pwned") is None
    assert page.page.locator("img").count() == 0
    page.clean()
    page.context.close()


@pytest.mark.slow
def test_five_thousand_cells_answer_at_once(browser: Any, tmp_path: Path) -> None:
    run = made_run(made_cells(40, sizes=tuple(16 * 2**step for step in range(16)))[:5000])
    large_page = Opened(browser, write_report(run, tmp_path / "large.html"))
    page = large_page.page
    took = page.evaluate(
        """() => {
            const filter = document.querySelector('#cells input');
            const head = document.querySelector('#cells th[data-key="6"] button');
            const start = performance.now();
            head.click();
            filter.value = 'aes';
            filter.dispatchEvent(new Event('input'));
            document.querySelector('section[data-pivot] th[data-key="5"] button').click();
            document.body.offsetHeight;
            return performance.now() - start;
        }"""
    )
    print(f"sorting and filtering 5,000 cells: {took:.0f} ms")
    assert page.locator("#cells tbody tr").count() == 100
    assert "of 5000 rows" in page.locator("#cells output").text_content()
    large_page.clean()
    large_page.context.close()
