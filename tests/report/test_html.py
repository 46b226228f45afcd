from __future__ import annotations

import base64
import hashlib
import html.parser
import json
import math
import re
import time
from dataclasses import replace
from pathlib import Path

import pytest
from made_pages import render_report, write_report
from made_runs import HOSTILE, hostile_run, made_cells, made_figure, made_judgement, made_run, usual_run
from msgspec import structs

from perbyte.model import Cell, Interval, Quality


class Page(html.parser.HTMLParser):
    """Elements, their attributes, and the text of scripts and of everything else."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[tuple[dict[str, str | None], str]] = []
        self.words: list[str] = []
        self._within = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self._within = tag
        if tag == "script":
            self.scripts.append((dict(attrs), ""))

    def handle_endtag(self, tag: str) -> None:
        self._within = ""

    def handle_data(self, data: str) -> None:
        if self._within == "script":
            self.scripts[-1] = (self.scripts[-1][0], self.scripts[-1][1] + data)
        elif self._within != "style":
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())


@pytest.fixture(scope="module")
def usual() -> Page:
    return Page(render_report(usual_run()))


def test_the_summary_comes_first_and_everything_else_is_there(usual: Page) -> None:
    headings = [attrs["id"] for tag, attrs in usual.elements if tag == "section" and attrs.get("id")]
    assert headings == [
        *("summary", "figures", "results", "costs", "ratios"),
        *("cells", "quality", "conditions", "repeat"),
    ]
    text = usual.text
    assert "144 cells measured" in text
    assert "noise floor: 0.15%" in text.lower()
    assert "deltacrypt: crashed (8 cells): the runner ended by signal 11" in text
    assert "Imaginary CPU 9000" in text
    assert "ab" * 32 in text
    assert "perbyte measure '*/aes-*'" in text


def test_every_figure_stands_in_the_tables_and_in_the_list(usual: Page) -> None:
    run = usual_run()
    entries = [attrs for tag, attrs in usual.elements if tag == "td" and "data-u" in attrs]
    assert len(entries) == len(run.cells)
    listed = json.loads(next(text for attrs, text in usual.scripts if attrs.get("id") == "cells-data"))
    assert len(listed["rows"]) == len(run.cells) + sum(bool(failure.address) for failure in run.failures)
    assert {len(row) for row in listed["rows"]} == {len(listed["kinds"])}


def test_nothing_is_loaded_from_anywhere(usual: Page) -> None:
    for tag, attrs in usual.elements:
        assert tag not in ("link", "img", "iframe", "object", "embed", "base", "form"), tag
        assert not {"src", "srcset", "style", "xlink:href"} & set(attrs), (tag, attrs)
        assert not [name for name in attrs if name.startswith("on")]
        assert (attrs.get("href") or "#").startswith("#")


def test_the_policy_admits_this_script_and_this_style_only() -> None:
    text = render_report(usual_run())
    page = Page(text)
    policy = next(
        attrs["content"]
        for tag, attrs in page.elements
        if attrs.get("http-equiv") == "Content-Security-Policy"
    )
    script = next(text for attrs, text in page.scripts if not attrs)
    style = re.search(r"<style>(.*?)</style>", text, re.DOTALL)
    assert style is not None
    for kind, content in (("script", script), ("style", style[1])):
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in str(policy)
    assert str(policy).startswith("default-src 'none';")
    assert "unsafe" not in str(policy)


def test_hostile_strings_are_shown_and_do_nothing() -> None:
    text = render_report(hostile_run())
    page = Page(text)
    assert len([tag for tag, _ in page.elements if tag == "script"]) == 2
    assert not [tag for tag, _ in page.elements if tag == "img"]
    assert "<script>window.pwned=1</script>" in page.text
    assert "{{ 7*7 }}" in page.text
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u2028]", text)
    assert "x" * 2000 not in text
    data = next(text for attrs, text in page.scripts if attrs.get("id") == "cells-data")
    assert not set("<>&") & set(data)
    rows = json.loads(data)["rows"]
    assert any("<script>" in str(row) for row in rows)


def test_a_study_shows_claims_verdicts_numbers_and_statistics() -> None:
    run = usual_run()
    page = Page(render_report(run, judgement=made_judgement(run)))
    text = page.text
    for word in ("✓ reproduced", "✗ not reproduced", "? inconclusive", "– not testable"):
        assert word in text
    assert "4 findings: 1 reproduced" in text
    assert "0.317 0.315 0.318" in text
    assert "Cliff's δ" in text
    assert "Published against today: decrypt" in text
    assert "the source does not name one" in text
    assert "AES-NI" in text


def test_a_hostile_study_does_nothing_either() -> None:
    run = usual_run()
    judgement = made_judgement(run)
    verdicts = tuple(
        replace(
            verdict, claim=structs.replace(verdict.claim, says=HOSTILE[0], place=HOSTILE[5]), evidence=HOSTILE
        )
        for verdict in judgement.verdicts
    )
    study = structs.replace(
        judgement.study, title=HOSTILE[0], question=HOSTILE[0], citation=HOSTILE[5], authors=HOSTILE
    )
    page = Page(render_report(run, judgement=replace(judgement, verdicts=verdicts, study=study)))
    assert len([tag for tag, _ in page.elements if tag == "script"]) == 2
    assert not [tag for tag, _ in page.elements if tag == "img"]


def test_runs_without_figures_make_a_report_too() -> None:
    text = Page(render_report(made_run(()))).text
    assert "A run without figures" in text
    assert "There is nothing to draw." in text


@pytest.mark.parametrize(
    "command", [("perbyte", "measure", "a b"), ("measure", "a b"), ("/opt/bin/perbyte", "measure", "a b")]
)
def test_the_command_can_be_typed(command: tuple[str, ...]) -> None:
    run = usual_run()
    run = replace(run, conditions=replace(run.conditions, command=command))
    assert "perbyte measure 'a b'" in Page(render_report(run)).text


def test_an_interrupted_run_says_so() -> None:
    assert "interrupted" in Page(render_report(replace(usual_run(), complete=False))).text


@pytest.mark.slow
def test_five_thousand_cells_stay_small(tmp_path: Path) -> None:
    run = made_run(made_cells(40, sizes=tuple(16 * 2**step for step in range(16)))[:5000])
    assert len(run.cells) == 5000
    started = time.perf_counter()
    path = write_report(run, tmp_path / "report.html")
    took = time.perf_counter() - started
    print(f"5,000 cells: {took:.1f} s, {path.stat().st_size / 1e6:.1f} MB")
    assert path.stat().st_size < 10e6


def test_an_imported_run_claims_nothing_about_samples_and_precision() -> None:
    unknown = Interval(0.0, math.inf, dominated_by="unknown")
    cells = tuple(
        made_figure(
            Cell("openssl", "md5", "digest", size, "oneshot/1"),
            None,
            ns=10.0 * size,
            interval=unknown,
            samples=0,
            clean_samples=0,
            quality=Quality.IMPRECISE,
        )
        for size in (16, 8192)
    )
    run = made_run(cells, measuring_s=0.0, noise_floor=None)
    run = replace(run, conditions=replace(run.conditions, origin="imported", input={"source": "listing.txt"}))
    text = Page(render_report(run)).text
    assert ", imported from listing.txt." in text
    assert "2 cells imported" in text
    assert "2 cells imported from another program" in text
    assert "cells measured" not in text
    assert "less precise than requested" not in text
    assert "±–" not in text
