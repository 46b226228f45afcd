"""Counts beside cycles: what tables say, what is doubted, and where count and time disagree."""

from __future__ import annotations

import csv
import io

import pytest
from made_runs import made_figure, made_run

from perbyte.model import Behaviour, Cell, Counted
from perbyte.report.behaviour import (
    behaviour_parts,
    behaviours_json,
    change_lines,
    changes,
    count_table,
    memory_table,
    uncounted,
)
from perbyte.report.export import to_csv, to_json
from perbyte.report.grid import compare_runs
from perbyte.report.html import render
from perbyte.report.pages import run_page
from perbyte.report.terminal import render as render_text

CELL = Cell("alphassl", "aes-128-ctr", "encrypt", 1024, "stream/1")
OTHER = Cell("betassl", "aes-128-ctr", "encrypt", 1024, "stream/1")


def counted(cell=CELL, instructions=2000.0, repeated=None, **changes):
    call = Counted(instructions, {"aes": 640.0, "load": 100.0}, 0.0, 1.0, 112.0, 96, 0, 50, 11)
    setup = Counted(6000.0, {}, heap_calls=4.0, heap_bytes=1044.0, heap_left=1032)
    whole = {"calls": 16, "call": call, "setup": setup, "stack": 464, "setup_stack": 728}
    return Behaviour(cell, **whole | {"repeated": instructions if repeated is None else repeated} | changes)


def run_of(*behaviours, cycles=500.0, cell=CELL):
    return made_run((made_figure(cell, cycles),), behaviours=behaviours)


def first_row(listing) -> dict[str, str]:
    heads, rows = listing.shown
    return dict(zip((column.text for column in heads), rows[0], strict=True))


def test_the_table_has_instructions_by_byte_cycle_and_kind():
    table = count_table(run_of(counted()))
    row = first_row(table)
    assert (row["instr/call"], row["instr/byte"], row["instr/cycle"]) == ("2,000", "1.95", "4.00")
    assert (row["AES %"], row["load %"]) == ("32.0", "5.0")
    assert "SHA %" not in row  # nobody executes one


def test_the_table_of_memory_has_bytes():
    table = memory_table(run_of(counted()))
    row = first_row(table)
    assert [row[name] for name in ("stack", "allocs", "heap", "peak", "state")] == [
        "464",
        "1",
        "112",
        "96",
        "1,032",
    ]
    assert [row[name] for name in ("set-up stack", "set-up allocs", "set-up heap", "code", "pages")] == [
        "728",
        "4",
        "1,044",
        "3,200",
        "11",
    ]


def test_a_count_that_is_not_exact_is_marked_and_what_is_not_known_says_why():
    lost = counted(OTHER, call=None, calls=0, repeated=None, unknown="it takes longer than the limit")
    run = run_of(counted(repeated=2100.0), lost)
    text = render_text(behaviour_parts(run), width=200)
    assert "2,000 ~" in text
    assert "differs by 5.0" in text
    assert f"{OTHER.address}: instructions not known: it takes longer than the limit" in text
    assert "nothing was counted" in render_text(behaviour_parts(run_of(), memory=False))


def test_json_csv_and_page_have_what_was_counted():
    run = run_of(counted())
    [change] = to_json(run)["behaviour"]
    assert change["instructions_per_cycle"] == 4.0
    assert change["state_bytes"] == 1032
    assert behaviours_json(run)[0]["code_bytes"] == 3200
    [row] = csv.DictReader(io.StringIO(to_csv(run)))
    assert float(row["instructions"]) == 2000
    page = render(run_page(run))
    assert "What rows execute, use and tell" in page
    bare = run_of()
    assert "behaviour" not in to_json(bare)
    assert "instructions" not in to_csv(bare).splitlines()[0].split(",")
    assert "What rows execute, use and tell" not in render(run_page(bare))


@pytest.mark.parametrize(
    ("instructions", "repeated", "cycles", "disagree", "message"),
    [
        (1900.0, 1900.0, 600.0, True, "fewer instructions and slower"),
        (2100.0, 2100.0, 400.0, True, "more instructions and faster"),
        (2100.0, 2100.0, 600.0, False, "×1.0500, time"),
        (1900.0, 2050.0, 600.0, False, "~"),  # it is not known to be fewer
    ],
)
def test_count_and_time_are_held_against_each_other(instructions, repeated, cycles, disagree, message):
    runs = [run_of(counted()), run_of(counted(instructions=instructions, repeated=repeated), cycles=cycles)]
    grids = compare_runs(runs, ["before", "after"])
    [change] = changes(grids, runs)
    assert change.contradicts is disagree
    assert change.exact is (instructions == repeated)
    assert message in change_lines([change])[0]
    assert uncounted(grids, [change]) == []


def test_what_one_side_did_not_count_is_not_compared():
    runs = [run_of(counted()), run_of()]
    grids = compare_runs(runs, ["before", "after"])
    assert changes(grids, runs) == []
    assert uncounted(grids, []) == [CELL.address]


def test_a_table_without_a_row_is_left_out():
    text = render_text(behaviour_parts(run_of(Behaviour(CELL, unknown="it says so"))))
    assert "Instructions" not in text
    assert "Memory" not in text
    assert "instructions not known: it says so" in " ".join(text.split())
