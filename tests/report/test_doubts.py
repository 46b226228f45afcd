"""What is said of made-up tables: a known direction, one of three words where none is, the next by its cost.

Who costs less is worked out here from the intervals alone, apart from what the program does.
"""

from __future__ import annotations

import math
import random
import re

import pytest
from made_runs import made_figure, made_run

from perbyte.model import Cell, CellFigure, Doubt, Quality, Run, Warning
from perbyte.report.card import run_card
from perbyte.report.grid import run_grids
from perbyte.report.legends import legend_of
from perbyte.report.marks import ANSWER_SIGNS, SIGNS, Mark
from perbyte.report.printed import render_table
from perbyte.report.wording import times_text
from perbyte.stats.compare import SHARED_CORE, Answer, Unsure, compare
from perbyte.stats.compare import UNSEEN as LIE_AT_MOST

FLOOR = 0.001  # that of made runs
NAMES = ("alpha", "beta", "gamma", "delta", "epsilon")
QUALITIES = (Quality.GOOD, Quality.GOOD, Quality.GOOD, Quality.NOISY, Quality.UNSETTLED, Quality.DOUBTED)
UNSEEN = Warning(Doubt.UNCHAINED, "its work was not audited on new data")


def table(seed: int) -> Run:
    """A run of up to five libraries with one algorithm, of every doubt and width."""
    draw = random.Random(seed)
    figures = []
    for name in NAMES[: draw.randint(2, 5)]:
        cost = 100.0 * draw.choice((1.0, 1.002, 1.03, 1.4, 1.9, 2.5, 8.0, 120.0)) * draw.uniform(0.999, 1.001)
        quality = draw.choice(QUALITIES)
        warnings = (UNSEEN,) if draw.random() < 0.15 and quality is Quality.GOOD else ()
        cell = Cell(name, "sha-256", "digest", 1024, "oneshot/1")
        relative = draw.choice((0.001, 0.004, 0.03, 0.3))
        figures.append(made_figure(cell, cost, relative=relative, quality=quality, warnings=warnings))
    return made_run(tuple(figures))


def reach(figure: CellFigure) -> tuple[float, float]:
    """From the least to the most that a figure may cost, by its interval and what its doubt explains."""
    low, high = figure.interval.low, figure.interval.high
    if figure.quality in (Quality.NOISY, Quality.DOUBTED):
        low = min(low, figure.per_call / SHARED_CORE)
    return low, math.inf if figure.quality is Quality.DOUBTED else high


def dearer(a: CellFigure, b: CellFigure) -> bool:
    """Whether `b` costs more than `a` in any case."""
    return reach(b)[0] > reach(a)[1] * (1 + FLOOR)


def vouched(figure: CellFigure) -> bool:
    return figure.quality is not Quality.DOUBTED and not figure.warnings


TABLES = range(400)


@pytest.mark.parametrize("start", range(0, len(TABLES), 100))
def test_a_direction_that_the_intervals_show_is_said_and_none_else(start: int):
    for seed in TABLES[start : start + 100]:
        run = table(seed)
        for a in run.cells:
            for b in run.cells:
                if a is b:
                    continue
                compared = compare(a, b, run.noise_floor)
                if dearer(a, b):
                    assert compared.direction is Answer.SLOWER, seed
                elif dearer(b, a):
                    assert compared.direction is Answer.FASTER, seed
                elif not compared.claimed and not compared.tie:
                    assert compared.direction is Answer.UNDECIDED, seed
                text = times_text(compared)
                assert "not known" not in text
                words = [word for word in (Unsure.NOISY, Unsure.UNAUDITED) if word in text]
                assert words == ([] if compared.unsure in (None, Unsure.CLOSE) else [compared.unsure]), text
                if least := re.search(r"at least ×([\d.,]+)", text):
                    assert 1 <= float(least[1].replace(",", "")) <= reach(b)[0] / reach(a)[1]


@pytest.mark.parametrize("start", range(0, len(TABLES), 100))
def test_the_card_names_who_is_first_the_doubt_and_the_next_of_the_table(start: int):
    for seed in TABLES[start : start + 100]:
        run = table(seed)
        (line,) = run_card(run).lines
        by_cost = sorted(run.cells, key=lambda figure: figure.per_call)
        ahead = [figure for figure in by_cost if figure.cell.runner in re.split(r" or ", line.winner)]
        hidden = "more" in line.winner
        assert "not known who" not in line.sure
        if line.sign == "►":
            (winner,) = ahead
            seen = min((figure.per_call for figure in run.cells if vouched(figure)), default=math.inf)
            far = winner.quality is not Quality.DOUBTED and LIE_AT_MOST * winner.per_call < seen
            assert vouched(winner) or far, seed
        elif line.sign == "?":
            assert len(ahead) > 1
            assert sum(word in line.sure for word in Unsure) >= 1, line.sure
        best = min(filter(vouched, run.cells), key=lambda figure: figure.per_call, default=None)
        if best and all(dearer(best, figure) for figure in run.cells if figure is not best):
            assert (line.sign, line.winner) == ("►", best.cell.runner), seed
        behind = [figure for figure in by_cost if figure not in ahead]
        if (named := re.search(r"the next, (\w+), costs", line.sure)) and not hidden:
            assert named[1] == behind[0].cell.runner, seed
        elif not hidden:
            assert not behind, "who is neither ahead nor behind is left out"


@pytest.mark.parametrize(("factor", "sign"), [(1.05, "?"), (1.4, "?"), (1.6, "►"), (2.0, "►"), (30.0, "►")])
@pytest.mark.parametrize("others", [1, 3])
def test_an_unseen_row_leads_by_its_figure_beyond_what_a_lie_could_make_of_it(factor, sign, others):
    figures = [
        made_figure(
            Cell(name, "sha-256", "digest", 1024, "oneshot/1"), 100.0 * by, relative=0.002, warnings=why
        )
        for name, by, why in (
            (NAMES[0], 1.0, (UNSEEN,)),
            *((name, factor * (1 + 0.1 * number), ()) for number, name in enumerate(NAMES[1 : 1 + others])),
        )
    ]
    (line,) = run_card(made_run(tuple(figures))).lines
    assert line.sign == sign
    assert "not known who" not in line.sure
    if sign == "►":
        assert line.winner == NAMES[0]
    else:
        assert NAMES[0] in line.winner
    shown = render_table(made_run(tuple(figures)), width=100, colour=False)
    assert f" {Mark.WARNING}" in shown, "the mark stands beside the figure"


def test_a_sign_has_one_meaning_in_a_table():
    signs = [*(str(mark) for mark in Mark), *filter(None, SIGNS.values())]
    assert len(signs) == len(set(signs))
    assert set(ANSWER_SIGNS.values()) <= set(SIGNS.values()), "what is not known has one sign everywhere"
    for seed in TABLES:
        (grid,) = run_grids(table(seed))
        shown = [sign for sign, _ in legend_of(grid) if sign]
        assert len(shown) == len(set(shown)), seed


def test_a_known_direction_is_printed_with_its_least_factor():
    sun = made_figure(Cell("jca-sun", "sha-256", "digest", 64, "oneshot/1"), 16.0, relative=0.087)
    bc = made_figure(
        Cell("jca-bc", "sha-256", "digest", 64, "oneshot/1"), 2000.0, relative=0.69, quality=Quality.NOISY
    )
    text = " ".join(render_table(made_run((sun, bc)), width=100, colour=False).split())
    assert text.startswith("► jca-sun (sha-256, digest 64 B)")
    assert "the next, jca-bc, costs ×125 (at least ×35.5; noisy) as much" in text
