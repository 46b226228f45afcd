"""Verdicts on leaks in a run's tables, page, JSON and CSV, and what became of them between two runs."""

from __future__ import annotations

import csv
import io
import json

import pytest
from made_leaks import made_leak
from made_runs import made_figure, made_run

from perbyte.model import Behaviour, Cell, Counted
from perbyte.model.leak import Contrast
from perbyte.report.export import to_csv, to_json
from perbyte.report.html import render
from perbyte.report.leaktext import leak_change_lines, leak_changes_json, leak_parts, leaks_csv, worst_of
from perbyte.report.pages import run_page
from perbyte.report.sections import row_cards
from perbyte.report.terminal import render as render_text
from perbyte.stats.leak import leak_changes

CELL = Cell("alphassl", "aes-128-gcm", "seal", 1024, "message/1")
DATA = Contrast("data", "zeros", "random")


def run_of(*leaks, behaviours=()):
    return made_run((made_figure(CELL, 500.0),), leaks=leaks, behaviours=behaviours)


def test_a_card_has_cycles_instructions_memory_and_leaks():
    call, setup = Counted(2000.0, heap_peak=96, code_lines=50), Counted(6000.0, heap_left=1032)
    counted = Behaviour(CELL, 16, call, setup, repeated=2000.0, stack=464)
    run = run_of(made_leak(CELL, 12.0), made_leak(CELL, contrast=DATA), behaviours=(counted,))
    [(title, [drawn, lines, warned])] = row_cards(run)
    assert title == "aes-128-gcm seal, alphassl, message/1"
    row = dict(zip((head.text for head in drawn.listing.columns), drawn.listing.rows[0], strict=True))
    assert (row["size"], row["cycles/byte"], row["instr/call"]) == ("1 KiB", "0.488", "2,000")
    assert (row["instr/cycle"], row["stack"], row["heap peak"]) == ("4.00", "464", "96")
    assert (row["state"], row["code"]) == ("1,032", "3,200")
    assert row["leaks"] == "yes"
    assert lines.lines == [
        ("1 KiB", "key: fixed | random: leaks 11.6 to 12.4 cycles: random is slower"),
        ("1 KiB", "data: zeros | random: no leak above 0.40 cycles (95 %)"),
    ]
    assert "depends on a secret" in warned.said


def test_a_card_says_what_nobody_looked_at():
    [(_, [drawn])] = row_cards(run_of(behaviours=(Behaviour(CELL, unknown="why"),)))
    assert drawn.listing.rows[0][3:] == ("–",) * 6 + ("not looked at",)


def test_the_page_of_a_run_has_the_cards():
    page = render(run_page(run_of(made_leak(CELL, 12.0))))
    assert "What rows execute, use and tell" in page
    assert "leaks 11.6 to 12.4 cycles" in page
    assert "What rows execute, use and tell" not in render(run_page(run_of()))


def test_json_and_csv_have_the_verdicts():
    run = run_of(made_leak(CELL), made_leak(CELL, 12.0, contrast=DATA))
    told = json.loads(json.dumps(to_json(run)["leaks"], allow_nan=False))
    assert [(each_row["role"], each_row["verdict"], each_row["shift"]) for each_row in told] == [
        ("key", "none", 0.0),
        ("data", "leaks", 12.0),
    ]
    [row] = csv.DictReader(io.StringIO(to_csv(run)))
    assert (row["leak"], float(row["leak_bound"])) == ("leaks", 12.4)  # what has to be told first
    assert "leak" not in to_csv(run_of()).splitlines()[0].split(",")
    lines = list(csv.DictReader(io.StringIO(leaks_csv(run.leaks))))
    assert lines[0]["said"] == "no leak above 0.40 cycles (95 %)"
    assert "leaks" not in to_json(run_of())


@pytest.mark.parametrize(
    ("figures", "first"),
    [
        ((made_leak(CELL, 3.0), made_leak(CELL, -12.0)), 1),  # the larger leak, whichever class is slower
        ((made_leak(CELL), made_leak(CELL, verdict="unknown")), 1),
        ((made_leak(CELL, 0.5, verdict="unknown"), made_leak(CELL, 2.0)), 1),
    ],
)
def test_what_has_to_be_told_first(figures, first):
    assert worst_of(figures) is figures[first]


def test_the_text_of_a_run_says_where_nobody_looked():
    assert "no verdict on leaks here" in render_text(leak_parts(()))
    assert "leaks 11.6 to 12.4 cycles" in render_text(leak_parts((made_leak(CELL, 12.0),)))


def test_a_change_is_told_with_both_sides():
    leaks = leak_changes([made_leak(CELL)], [made_leak(CELL, 12.0)]).found
    [line] = leak_change_lines(leaks)
    assert line.startswith(
        f"{CELL.address}, key: fixed | random: leaks now: no leak above 0.40 cycles (95 %) → leaks"
    )
    [told] = leak_changes_json(leaks)
    assert (told["became"], told["worse"], told["verdict_before"]) == ("leaks now", True, "none")
