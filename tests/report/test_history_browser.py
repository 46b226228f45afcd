"""Then and now in a real browser: it opens from the disk, sorts, filters, shows its figures, and asks nobody."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browsing import Opened
from made_pages import write_history, write_report
from made_runs import made_judgement, usual_run
from test_history_page import measured_run

from perbyte.studies.history import load_history

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_history(load_history([measured_run()]), tmp_path_factory.mktemp("history") / "history.html")


@pytest.fixture
def opened(browser: Any, written: Path) -> Iterator[Opened]:
    page = Opened(browser, written)
    yield page
    page.clean()
    page.context.close()


def column(page: Any, key: int) -> list[str]:
    return list(
        page.eval_on_selector_all(
            "#points tbody tr:not([hidden])",
            "(rows, key) => rows.map(row => row.cells[key].textContent)",
            key,
        )
    )


def test_the_points_sort_and_filter(opened: Opened) -> None:
    page = opened.page
    total = page.locator("#points tbody tr").count()
    assert total > 100
    page.get_by_label("Filter rows").fill("md5 measured")
    assert set(column(page, 0)) == {"MD5"}
    assert set(column(page, 2)) == {"measured"}
    assert page.locator("#points output").text_content() == f"2 of {total} rows"
    page.get_by_label("Filter rows").fill("")
    head = page.locator("#points th[data-key='8']")
    head.locator("button").click()
    assert head.get_attribute("aria-sort") == "ascending"
    shown = column(page, 8)
    known = [float(text.replace(",", "")) for text in shown if text != "–"]
    assert known == sorted(known)
    assert set(shown[len(known) :]) == {"–"}  # what has no cycles stands last
    head.locator("button").focus()
    page.keyboard.press("Enter")
    assert head.get_attribute("aria-sort") == "descending"
    assert column(page, 8)[0] == "2,319"  # GOST R 34.11-94 in Java, the dearest of all


def test_both_figures_are_seen_and_can_be_read(opened: Opened) -> None:
    page = opened.page
    figures = page.locator("figure svg:visible")
    assert figures.count() == 2, "the others are for a telephone"
    for index in range(2):
        box = figures.nth(index).bounding_box()
        assert box["width"] > 600
        assert box["height"] > 400
    tip = page.locator("#tip")
    page.locator("figure").first.locator("[data-tip*='measured 2026']").first.hover()
    assert "cycles/byte, measured 2026" in tip.text_content()
    page.locator("figure .draw:visible").nth(1).focus()
    page.keyboard.press("ArrowRight")
    assert "Mbit/s, published 1994" in tip.text_content()


def test_a_point_is_hollow_on_any_ground(browser: Any, written: Path) -> None:
    """Published points are filled with the paper's colour, whatever the theme; measured ones are not."""
    for scheme in ("light", "dark"):
        page = Opened(browser, written, color_scheme=scheme)
        paper = page.page.evaluate("getComputedStyle(document.querySelector('figure .draw')).backgroundColor")
        fills = page.page.evaluate(
            """() => [...document.querySelectorAll('figure [data-tip]')].map(mark =>
                [mark.dataset.tip.includes('published'), getComputedStyle(mark).fill])"""
        )
        assert {fill for published, fill in fills if published} == {paper}, scheme
        assert paper not in {fill for published, fill in fills if not published}
        page.clean()
        page.context.close()


@pytest.mark.parametrize("width", [360, 768, 1280])
def test_the_page_never_scrolls_sideways(browser: Any, written: Path, width: int) -> None:
    page = Opened(browser, written, viewport={"width": width, "height": 800})
    assert page.page.evaluate("document.documentElement.scrollWidth") <= width
    page.clean()
    page.context.close()


def test_without_scripts_everything_is_there(browser: Any, written: Path) -> None:
    page = Opened(browser, written, java_script_enabled=False)
    assert page.page.locator("#points tbody tr").count() > 100
    assert page.page.locator("figure svg").first.is_visible()
    assert page.page.get_by_label("Filter rows").is_hidden()
    page.context.close()


def test_a_study_report_with_the_section_works_as_a_whole(browser: Any, tmp_path: Path) -> None:
    run = usual_run()
    path = write_report(
        run, tmp_path / "study.html", judgement=made_judgement(run), history=load_history([measured_run()])
    )
    this_page = Opened(browser, path)
    page = this_page.page
    page.get_by_role("link", name="History").click()
    assert page.locator("#history figure svg:visible").count() == 2
    assert page.locator("#history tbody tr").first.is_hidden()
    page.locator("#history summary", has_text="Every point").click()
    page.locator("#history").get_by_label("Filter rows").fill("rc4")
    assert page.locator("#history [data-list] tbody tr:visible").count() == 5
    assert page.locator("#cells tbody tr").count() == 100
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280
    this_page.clean()
    this_page.context.close()
