"""The card that opens a page and a table: who wins, by how much, how sure that is, and what it costs."""

from __future__ import annotations

import math
import sys
from dataclasses import replace

import pytest
from made_pages import render_report, render_side_page
from made_runs import imported, made_cells, made_figure, made_judgement, made_run, usual_run

from perbyte.model import Cell, CellFigure, Interval, Quality, Run
from perbyte.report.card import comparison_card, run_card
from perbyte.report.grid import compare_runs, run_grids
from perbyte.report.printed import render_table
from perbyte.report.runview import RunView
from perbyte.stats.quantity import Unit
from perbyte.studies.model import Outcome


def sealed(runner: str, algorithm: str, cycles: float, *, size: int = 1024, cpu: str = "full", **more):
    cell = Cell(runner, algorithm, "seal", size, "message/1", cpu)
    return made_figure(cell, cycles * size, ns=cycles * size / 2.5, **more)


def ciphers(*more: CellFigure) -> Run:
    return made_run(
        (
            sealed("alphassl", "aes-256-gcm", 1.0),
            sealed("betacrypt", "aes-256-gcm", 1.5),
            sealed("alphassl", "chacha20-poly1305", 2.0),
            *more,
        )
    )


def test_the_winner_with_its_distance_its_certainty_and_its_cost():
    (line,) = run_card(ciphers()).lines
    assert line.about == "authenticated cipher, 256-bit keys, seal 1 KiB"
    assert (line.sign, line.winner) == ("►", "aes-256-gcm in alphassl")
    assert "1.000 cycles/byte; the next, aes-256-gcm in betacrypt, costs ×1.500 (1.49" in line.sure
    assert "chacha20-poly1305 in alphassl costs ×2.00" in line.sure, "and the next algorithm"
    assert line.cost == "0.40 cores at 1 GB/s, 4.0 at 10 GB/s", "0.4 ns a byte"


def test_figures_are_in_the_unit_that_is_asked_for():
    (line,) = run_card(ciphers(), Unit.NS_PER_CALL).lines
    assert "ns/call" in line.sure + line.cost
    assert "cycles" not in line.sure + line.cost


def test_the_headline_is_at_a_size_at_which_aes_was_measured():
    others = [sealed(runner, "chacha20-poly1305", 0.5, size=48) for runner in ("a", "b", "c", "d")]
    (line,) = run_card(ciphers(*others)).lines
    assert line.about == "authenticated cipher, 256-bit keys, seal 1 KiB"
    assert line.winner == "aes-256-gcm in alphassl"


def test_what_is_not_known_and_what_is_a_tie_are_told_apart():
    tied = made_run((sealed("alphassl", "aes-256-gcm", 1.0), sealed("betacrypt", "aes-256-gcm", 1.0004)))
    (line,) = run_card(tied).lines
    assert (line.sign, line.winner) == ("=", "alphassl or betacrypt")
    assert "known to be alike: they differ by less than 0.23%" in line.sure
    wide = [replace(cell, quality=Quality.NOISY) for cell in tied.cells]
    (line,) = run_card(replace(tied, cells=tuple(wide))).lines
    assert line.sign == "?"
    assert "the other may cost as little: noisy" in line.sure


def test_a_noisy_winner_has_no_factor_but_a_direction():
    noisy = sealed("alphassl", "aes-256-gcm", 1.0, quality=Quality.NOISY)
    (line,) = run_card(made_run((noisy, sealed("betacrypt", "aes-256-gcm", 9.0)))).lines
    assert (line.sign, line.winner) == ("►", "alphassl")
    assert "the next, betacrypt, costs ×9.00 (at least ×8.9" in line.sure
    assert "noisy) as much" in line.sure


def test_software_makes_no_headline_unless_it_is_all_there_is():
    soft = sealed("gammalib", "aes-256-gcm", 0.1, cpu="soft")
    card = run_card(ciphers(soft))
    assert card.lines[0].winner == "aes-256-gcm in alphassl"
    assert "rows without them (soft) are below" in " ".join(card.notes)
    (alone,) = run_card(made_run((soft, sealed("alphassl", "aes-256-gcm", 0.5, cpu="soft")))).lines
    assert alone.about == "aes-256-gcm (soft), seal 1 KiB", "asked for alone, and named"


def test_the_smallest_size_is_told_where_another_wins_there():
    small = (
        sealed("alphassl", "aes-256-gcm", 9.0, size=64),
        sealed("betacrypt", "aes-256-gcm", 5.0, size=64),
        sealed("alphassl", "chacha20-poly1305", 9.0, size=64),
    )
    (line,) = run_card(ciphers(*small)).lines
    assert line.winner == "aes-256-gcm in alphassl"
    assert "at 64 B ► aes-256-gcm in betacrypt" in line.sure


def test_public_keys_cost_milliseconds_of_a_handshake():
    cells = [
        made_figure(Cell(runner, "ed25519", operation, 32, "pk/1"), cycles, ns=cycles / 2.5)
        for runner, cost in (("alphassl", 1.0), ("betacrypt", 1.5))
        for operation, cycles in (("sign", 1e5 * cost), ("verify", 2.5e5 * cost))
    ]
    (line,) = run_card(made_run(tuple(cells))).lines
    assert (line.sign, line.winner, line.about) == ("►", "alphassl", "ed25519, sign")
    assert line.cost == "0.140 ms of a handshake (sign once and verify once)"


def test_other_programs_figures_are_shown_and_nothing_is_claimed_of_them():
    lines = run_card(imported(usual_run().cells)).lines
    assert {line.sign for line in lines} <= {"?", ""}
    assert "no interval is known, so nothing is claimed" in lines[0].sure
    assert run_card(made_run(())).lines == ()


def test_a_wrong_output_wins_nothing():
    cells = ciphers().cells
    from perbyte.model import Failure

    wrong = Failure("incorrect", "alphassl", "wrong tag", address=cells[0].cell.address)
    (line,) = run_card(replace(ciphers(), failures=(wrong,))).lines
    assert line.winner == "aes-256-gcm in betacrypt"


def sides(factor: float, *, wide: float = 0.001) -> tuple[Run, Run]:
    def run(times: float) -> Run:
        return made_run(
            tuple(
                sealed("alphassl", name, cost * times, relative=wide)
                for name, cost in (("aes-256-gcm", 1.0), ("chacha20-poly1305", 2.0))
            )
        )

    return run(1.0), run(factor)


@pytest.mark.parametrize(
    ("factor", "sign", "winner"),
    [
        (1.2, "►", "old is faster than new"),
        (0.8, "►", "new is faster than old"),
        (1.0, "=", "old and new are alike within 2.0%"),
    ],
)
def test_several_sides_by_the_mean_of_their_common_cells(factor: float, sign: str, winner: str):
    (line,) = comparison_card(compare_runs(sides(factor), ("old", "new"))).lines
    assert (line.sign, line.winner) == (sign, winner)
    assert "in the mean over 2 common cells new costs ×" in line.sure
    assert "at 10 GB/s: 4.0 cores in old" in line.cost


def test_the_mean_of_several_sides_claims_no_more_than_its_cells():
    (line,) = comparison_card(compare_runs(sides(1.02, wide=0.2), ("old", "new"))).lines
    assert line.sign == "?"
    assert line.winner == "old or new: too noisy to tell which costs less"


def test_a_mark_that_every_figure_carries_is_said_once():
    imprecise = tuple(replace(cell, quality=Quality.IMPRECISE) for cell in ciphers().cells)
    text = render_table(made_run(imprecise), width=100, colour=False)
    assert "%~" not in text
    assert "every figure: interval wider than requested (~)" in text
    (grid,) = run_grids(made_run(imprecise))
    assert [str(mark) for mark in grid.everywhere] == ["~"]
    some = (*imprecise[1:], replace(imprecise[0], quality=Quality.GOOD))
    assert "%~" in render_table(made_run(some), width=100, colour=False)
    (view,) = RunView(made_run(imprecise)).points
    assert not any("~" in record["text"] for record in view.records)


def test_tiers_are_named_where_an_algorithm_stands_in_several():
    text = render_table(ciphers(sealed("alphassl", "aes-256-gcm", 9.0, cpu="soft")), width=100, colour=False)
    assert "aes-256-gcm (full)" in text
    assert "aes-256-gcm (soft)" in text
    assert "(full) with the processor's own instructions for it" in text
    assert "(full)" not in render_table(ciphers(), width=100, colour=False)


def test_pages_open_with_their_card():
    html = render_report(ciphers())
    assert html.index('class="answer"') < html.index("<figure")
    assert html.index('class="answer"') < html.index('class="counts"'), (
        "what was counted comes with the quality"
    )
    assert "0.40 cores at 1 GB/s, 4.0 at 10 GB/s" in html
    side = render_side_page(sides(1.2), names=("old", "new"))
    assert side.index("old is faster than new") < side.index("<figure")


def test_the_page_of_a_study_opens_with_its_answer_and_lists_what_was_decided_first():
    run = usual_run()
    html = render_report(run, judgement=replace(made_judgement(run), answers=("It holds.", "Mostly.")))
    card = html[html.index('class="answer"') : html.index("<figure")]
    assert card.index('class="winner') < card.index("It holds."), "who wins, then the answer in words"
    assert card.index("It holds.") < card.index("<details") < card.index("Mostly."), (
        "of which the rest is folded"
    )
    assert "1 reproduced, 1 not reproduced" in card
    claims = html[html.index('class="claims"') :]
    indexes = [
        claims.index(str(NOT_REPRODUCED)) for NOT_REPRODUCED in (Outcome.NOT_REPRODUCED, Outcome.INCONCLUSIVE)
    ]
    assert indexes == sorted(indexes)


def test_a_card_of_nothing_but_infinities_is_none():
    nothing = sealed("alphassl", "aes-256-gcm", 1.0, interval=Interval(0.0, math.inf))
    empty = run_card(made_run((replace(nothing, ns_per_call=math.inf, cycles_per_call=math.inf),)))
    assert not empty.lines + empty.notes


def test_the_work_grows_no_faster_than_the_cells():
    def calls(algorithms: int) -> int:
        run, made = made_run(made_cells(algorithms, sizes=(16, 512, 8192))), 0

        def count(_frame, event, _argument):
            nonlocal made
            made += event == "call"

        sys.setprofile(count)
        try:
            assert run_card(run).notes
        finally:
            sys.setprofile(None)
        return made

    assert calls(40) < 6 * calls(10)


def test_rivals_are_named_in_the_order_of_the_tables():
    """By cycles where all have them: the clock of one row may have been higher than that of another."""
    doubted = {"quality": Quality.DOUBTED}
    quick = sealed("alphassl", "aes-256-gcm", 1.0, **doubted)
    slow = replace(sealed("betacrypt", "aes-256-gcm", 1.001, **doubted), ns_per_call=1.0)
    (line,) = run_card(made_run((slow, quick))).lines
    assert line.winner.index("alphassl") < line.winner.index("betacrypt")
