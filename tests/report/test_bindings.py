"""What a binding costs: pairs by `wraps`, the difference with its interval, the same in every form of a report."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest
from made_pages import render_report
from made_runs import made_figure, made_run

from perbyte.model import Cell, CellFigure, NoiseFloor, Quality, Run
from perbyte.report.beside import bindings_listing
from perbyte.report.export import to_json
from perbyte.report.printed import render_table
from perbyte.report.runview import bindings
from perbyte.report.wording import claim_text
from perbyte.runners import find, locate
from perbyte.stats.compare import compare, difference


def figure(runner: str, cycles: float, size: int = 64, **how: object) -> CellFigure:
    return made_figure(Cell(runner, "sha-256", "digest", size, "oneshot/1"), cycles, **how)


def a_run(*figures: CellFigure, version: str = "7, OpenSSL 3.0.19 27 Jan 2026") -> Run:
    run = made_run(figures, noise_floor=NoiseFloor(0.001, ()))
    identities = tuple(
        replace(identity, library_version=version, wraps="openssl")
        if identity.runner == "snake"
        else replace(identity, library_version="3.0.19")
        for identity in run.conditions.identities
    )
    return replace(run, conditions=replace(run.conditions, identities=identities))


RUN = a_run(
    figure("openssl", 400.0), figure("snake", 1400.0), figure("snake", 9.0, 1), figure("other", 500.0)
)


def test_a_binding_stands_beside_the_library_below_wherever_both_were_measured() -> None:
    (binding,) = bindings(RUN)
    assert (binding.above.cell.runner, binding.below.cell.runner) == ("snake", "openssl")
    assert binding.more.value == pytest.approx(1000.0)
    assert binding.more.low < 1000.0 < binding.more.high
    assert not claim_text(binding.comparison)


def test_the_difference_is_no_surer_than_ratio_and_cost_allow() -> None:
    a, b = figure("a", 400.0, relative=0.01), figure("b", 1200.0, relative=0.01)
    comparison = compare(a, b)
    this_difference = difference(a, comparison)
    assert this_difference.value == pytest.approx(800.0)
    assert this_difference.half_width >= 400.0 * comparison.ratio.half_width
    assert this_difference.half_width >= 800.0 * 0.0099  # both costs may be wrong by the same factor
    assert difference(b, compare(b, a)).value == pytest.approx(-800.0)


def test_nothing_is_claimed_of_ties_and_doubtful_figures() -> None:
    (tie,) = bindings(a_run(figure("openssl", 400.0), figure("snake", 400.1)))
    assert claim_text(tie.comparison) == "alike within 1.0%"
    noisy = a_run(figure("openssl", 400.0), figure("snake", 900.0, quality=Quality.NOISY))
    assert "noisy" in claim_text(bindings(noisy)[0].comparison)
    assert "(at least ×1.12; noisy)" in render_table(noisy, width=200, colour=False)


def test_other_versions_below_are_named() -> None:
    assert not bindings_listing(RUN).notes
    other = a_run(figure("openssl", 400.0), figure("snake", 1400.0), version="8, OpenSSL 4.0.3")
    assert "snake says 8, OpenSSL 4.0.3, openssl 3.0.19" in bindings_listing(other).notes[0]


def test_text_page_and_json_say_the_same() -> None:
    head, row = (
        render_table(RUN, width=200, colour=False).partition("What the binding costs\n")[2].splitlines()[:2]
    )
    told = dict(zip(re.split(r" {2,}", head), re.split(r" {2,}", row), strict=False))
    assert (told["binding"], told["library below"], told["operation"]) == ("snake", "openssl", "digest")
    assert (told["per call"], told["below"]) == ("1400", "400.0")
    assert told["more"].startswith("1000 (")
    narrow = render_table(RUN, width=100, colour=False).partition("What the binding costs\n")[2]
    assert narrow.partition("\n\n")[0].count("snake") == 1, "one table"
    page = render_report(RUN)
    assert 'id="bindings"' in page
    (record,) = json.loads(json.dumps(to_json(RUN), allow_nan=False))["bindings"]
    assert record["wraps"] == "openssl/sha-256/digest@64+contract=oneshot/1"
    assert record["more_per_call"] == pytest.approx(1000.0)
    assert record["answer"] == "slower"
    without = a_run(figure("openssl", 400.0))
    assert "binding" not in render_table(without, width=200, colour=False)
    assert 'id="bindings"' not in render_report(without)


def test_what_a_runner_wraps_is_a_runner() -> None:
    wrapped = {spec.name: spec.wraps for spec in locate() if spec.wraps}
    assert wrapped["python-cryptography"] == "openssl-4"
    assert wrapped["node-crypto"] == "openssl"
    for name in wrapped.values():
        assert find(name).language in ("c", "c++", "command")
