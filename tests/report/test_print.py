"""Reports on paper: what a browser prints of them is A4, whole, and without what a sheet cannot show."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from browsing import Opened
from made_pages import write_history, write_report, write_side_by_side
from made_runs import made_cells, made_figure, made_judgement, made_run, usual_run
from test_history_page import measured_run

from perbyte.model import Cell, CellFigure, Doubt, Quality, Warning
from perbyte.studies.history import load_history

pytestmark = pytest.mark.browser

SHEET = 703  # pixels of 1/96 inch between the margins of 12 mm of an A4 sheet


def doubted() -> tuple[CellFigure, ...]:
    """Figures of twelve columns, each with every doubt in many words."""
    warnings = (
        Warning(Doubt.IMPRECISE, "the interval is ±4.6 %, wider than the ±0.25 % requested"),
        Warning(Doubt.NOISY_EPOCH, "too few clean samples in epoch 2"),
    )
    return tuple(
        replace(cell, quality=Quality.IMPRECISE, warnings=warnings)
        for cell in made_cells(4, sizes=(16, 64, 256, 1024, 8192, 10_000_000))
    )


def of_a_study(path: Path) -> Path:
    run = usual_run()
    return write_report(run, path, judgement=made_judgement(run), history=load_history([measured_run()]))


def of_many_columns(path: Path) -> Path:
    return write_report(made_run(doubted()), path)


def of_runs(path: Path) -> Path:
    names = [f"a-machine-with-quite-a-long-name-{number}" for number in range(5)]
    return write_side_by_side([usual_run() for _ in names], path, names=names)


def of_history(path: Path) -> Path:
    return write_history(load_history([measured_run()]), path)


def printed(browser: Any, path: Path) -> Opened:
    """A page as the printer gets it: print media on the width of a sheet, after the page's own preparations."""
    page = Opened(browser, path, viewport={"width": SHEET, "height": 1000})
    page.page.emulate_media(media="print")
    page.page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    return page


@pytest.mark.parametrize("write", [of_a_study, of_many_columns, of_runs, of_history])
def test_nothing_is_wider_than_the_sheet(browser: Any, tmp_path: Path, write: Callable[[Path], Path]) -> None:
    page = printed(browser, write(tmp_path / "report.html"))
    beyond = page.page.evaluate(
        """sheet => [...document.querySelectorAll('main *')]
            .filter(part => !part.closest('svg') || part.tagName === 'svg')
            .filter(part => part.getBoundingClientRect().right > sheet + 1)
            .map(part => part.tagName + ' ' + part.textContent.slice(0, 40))""",
        SHEET,
    )
    assert beyond == []
    assert page.page.evaluate("document.documentElement.scrollWidth") <= SHEET
    page.clean()
    page.context.close()


def test_sheets_are_a4_upright_and_few(browser: Any, tmp_path: Path) -> None:
    page = Opened(browser, of_a_study(tmp_path / "report.html"))
    sheets = re.findall(rb"/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]", page.page.pdf(prefer_css_page_size=True))
    assert {(round(float(wide)), round(float(high))) for wide, high in sheets} == {(595, 842)}
    assert 5 < len(sheets) <= 16
    page.context.close()


def test_two_figures_fit_a_sheet_and_none_is_split(browser: Any, tmp_path: Path) -> None:
    page = printed(browser, of_a_study(tmp_path / "report.html"))
    figures = page.page.evaluate(
        """() => [...document.querySelectorAll('figure')].map(figure =>
            [figure.getBoundingClientRect().height, getComputedStyle(figure).breakInside])"""
    )
    assert len(figures) > 5
    assert {how for _, how in figures} == {"avoid"}
    assert max(high for high, _ in figures) < (297 - 29) / 2 * 96 / 25.4
    page.context.close()


def test_closed_details_are_left_out_and_say_so(browser: Any, tmp_path: Path) -> None:
    this_page = printed(browser, of_a_study(tmp_path / "report.html"))
    page = this_page.page
    closed = page.locator("details:not([open]) > summary:visible")
    assert closed.count() > 0
    notes = closed.evaluate_all("all => all.map(one => getComputedStyle(one, '::after').content)")
    assert all("not printed" in note for note in notes)
    assert page.locator(".claims details details:visible").count() == 0
    assert page.locator(".claims > details > .why:visible").count() > 0, "paper shows the evidence"
    page.locator("#history details").first.evaluate("one => { one.open = true; }")
    assert "not printed" not in page.locator("#history summary").first.evaluate(
        "one => getComputedStyle(one, '::after').content"
    )
    this_page.context.close()


def test_headings_that_are_repeated_are_text(browser: Any, tmp_path: Path) -> None:
    """Chromium draws no button in the heading that it repeats on the next sheet."""
    page = printed(browser, of_many_columns(tmp_path / "report.html"))
    shown = page.page.eval_on_selector_all(
        "th button", "all => all.map(one => getComputedStyle(one).display)"
    )
    assert len(shown) > 20
    assert set(shown) == {"contents"}
    page.context.close()


def test_the_list_has_marks_for_remarks_on_paper(browser: Any, tmp_path: Path) -> None:
    page = Opened(browser, of_many_columns(tmp_path / "report.html"))
    last = page.page.locator("#cells tbody tr").first.locator("td").last
    assert last.text_content() == (
        "the interval is ±4.6 %, wider than the ±0.25 % requested; too few clean samples in epoch 2"
    )
    assert page.page.locator("#cells .print-only").is_hidden()
    page.page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    page.page.emulate_media(media="print")
    assert last.text_content() == "~w"
    legend = page.page.locator("#cells .print-only")
    assert legend.is_visible()
    assert "~ interval wider than requested" in legend.text_content()
    page.page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert "±4.6 %" in last.text_content()
    page.context.close()


def test_a_failure_keeps_its_reason_on_paper(browser: Any, tmp_path: Path) -> None:
    page = printed(browser, write_report(usual_run(), tmp_path / "report.html"))
    assert "signal 11" in page.page.locator("#cells tbody").text_content()
    page.context.close()


def test_on_screen_a_remark_needs_few_lines(browser: Any, tmp_path: Path) -> None:
    figure = made_figure(
        Cell("alphassl", "aes-128-ecb", "encrypt", 16, "stream/1"),
        quality=Quality.LONG,
        warnings=(
            Warning(
                Doubt.LONG,
                "one call lasts 1223 µs, a sample should last 50 µs: disturbances within the call go unseen",
            ),
            Warning(Doubt.IMPRECISE, "the interval is ±4.6 %, wider than the ±0.25 % requested"),
        ),
    )
    page = Opened(browser, write_report(made_run((figure,)), tmp_path / "one.html"))
    assert page.page.locator("#cells tbody tr").bounding_box()["height"] < 90
    page.context.close()
