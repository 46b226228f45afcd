"""Places in words: the spread, the slow share, what decides, what was not told, and what changed."""

from __future__ import annotations

from dataclasses import replace

import pytest
from made_runs import made_figure, made_run

from perbyte.model import Cell, Estimate, Quantile
from perbyte.model.placement import Decider, MemoryPlace, Placement
from perbyte.report.behaviour import (
    NO_PLACES,
    placement_change_lines,
    placement_changes,
    placement_parts,
)
from perbyte.report.export import to_json
from perbyte.report.grid import compare_runs
from perbyte.report.html import render
from perbyte.report.pages import run_page
from perbyte.report.printed import RunExtras, render_run
from perbyte.report.terminal import render as render_text

CELL = Cell("alphassl", "aes-128-ctr", "encrypt", 1024, "stream/1")
STACK = Decider("stack", 4096, 3840, 256, Estimate(0.14, 0.139, 0.141), 0.0001, 30, 28)
ALL = ("stack", "state", "input", "output")


def placed(*deciders, **changes):
    places = tuple(MemoryPlace(number // 10, (100.0, 100.1)) for number in range(240))
    quantiles = [(0.05, 99.0), (0.25, 100.0), (0.5, 100.0), (0.75, 101.0), (0.95, 114.0)]
    given = {
        "verdict": "decided" if deciders else "nothing",
        "places": places,
        "quantiles": tuple(
            Quantile(share, Estimate(cost, cost - 0.1, cost + 0.1)) for share, cost in quantiles
        ),
        "noise": 0.001,
        "heaps": True,
        "limit": 107.0,
        "slow": Estimate(0.13, 0.09, 0.17),
        "slower": Estimate(0.14, 0.139, 0.141),
        "deciders": deciders,
        "drawn": ALL,
        "near": Estimate(0.0, -0.001, 0.001),
    }
    return Placement(CELL, **given | changes)


def text_of(*placements):
    return render_text(placement_parts(placements), width=80, colour=False)


def test_a_band_of_the_stack_is_told_whole():
    text = " ".join(text_of(placed(STACK)).split())
    assert "alphassl/aes-128-ctr/encrypt@1024" in text
    assert "100.0 cycles a call at the median place" in text
    assert "slow (of two heaps the dear one): 13% (9.0% to 17%) of places" in text
    assert (
        "decides: the stack modulo 4,096: from 3,840 to below 256 it costs 14.0 % more (13.9 to 14.1 %)"
        in text
    )
    assert "28 of 31 slow places lie there" in text
    assert "not told" not in text


def test_every_line_fits_eighty_columns():
    text = text_of(placed(STACK), placed(drawn=(), near=None, lost=3), Placement(CELL, unknown="why " * 60))
    assert max(map(len, text.splitlines())) <= 80


@pytest.mark.parametrize(
    ("decider", "words"),
    [
        (("output - input", 64, 16, 0), "the output less the input modulo 64: from 16 to below 64 it costs"),
        (("library", 1 << 22, 1 << 21, 1 << 22), "where bit 21 of the library's address is 1 it costs"),
        (
            ("library - caller", 1 << 22, 0, 1 << 21),
            "where bit 21 of the library's distance from its caller is 0",
        ),
        (("distance", 0, 0, 0), "more than 2 GiB from its library costs 14.0 % more"),
        (("process", 0, 0, 0), "the process, by nothing that is known of it"),
    ],
)
def test_each_decider_has_its_words(decider, words):
    assert words in " ".join(text_of(placed(Decider(*decider, STACK.more, 0.0001))).split())


def test_what_is_not_told_is_said():
    text = " ".join(text_of(placed(drawn=("stack",), near=None, lost=2)).split())
    assert "the state always lay alike" not in text
    assert "not told: state always lay alike" in text
    assert "not told: the distance from the library" in text
    assert "not told: 2 places" in text
    assert "one place a process" in text_of(placed(drawn=()))


def test_nothing_and_nothing_that_was_drawn_are_two_answers():
    small = tuple(replace(each, estimate=Estimate(100.0, 99.9, 100.1)) for each in placed().quantiles)
    none = {"slow": None, "slower": None, "limit": None}
    assert "nothing decides: 90 % of places lie within" in text_of(placed(quantiles=small, **none))
    assert "differs as much at one" in text_of(placed(**none))
    assert "nothing that was drawn" in " ".join(text_of(placed(verdict="undecided")).split())


def test_a_run_shows_places_where_they_are_asked_for():
    run = made_run((made_figure(CELL),), placements=(placed(STACK),))
    assert "Places in memory" not in render_run(run, None, RunExtras())
    assert "Places in memory" in render_run(run, None, RunExtras(places=True))
    assert NO_PLACES in render_run(made_run((made_figure(CELL),)), None, RunExtras(places=True))


def test_json_has_the_answer_and_no_address_of_a_process():
    [told] = to_json(made_run((made_figure(CELL),), placements=(placed(STACK),)))["places"]
    assert told["verdict"] == "decided"
    assert (told["slow_share"], told["slow_share_low"], told["slower_high"]) == (0.13, 0.09, 0.141)
    assert told["deciders"][0]["factor"] == "stack"
    assert (told["places"], told["processes"]) == (240, 24)
    assert "places" not in to_json(made_run((made_figure(CELL),)))


def test_two_runs_say_what_became_of_the_slow_places():
    before = made_run((made_figure(CELL),), placements=(placed(STACK),))
    more = placed(STACK, slow=Estimate(0.5, 0.44, 0.56))
    for after, words in (
        (placed(slow=None, slower=None), "slow places: 13% → none; decides: stack modulo 4096 → nothing"),
        (placed(STACK), "not known whether it changed"),
        (more, "it changed: +"),
    ):
        runs = [before, made_run((made_figure(CELL),), placements=(after,))]
        [line] = placement_change_lines(placement_changes(compare_runs(runs, ["a", "b"]), runs))
        assert words in line


def test_the_page_of_a_run_has_them():
    page = render(run_page(made_run((made_figure(CELL),), placements=(placed(STACK),))))
    assert "Places in memory" in page
    assert "the stack modulo 4,096" in page
