"""What a data rate costs: cores, records, and what a record takes."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from made_runs import made_figure

from perbyte.model import Cell, Quality
from perbyte.report.beside import rate_json, rate_listing
from perbyte.report.terminal import render
from perbyte.stats.quantity import demands

RECORD = Cell("alphassl", "aes-256-gcm", "seal", 1350, "message/1")


def render_rate(figures, rate: float, *, width: int, colour: bool) -> str:
    return render([rate_listing(figures, rate)], width=width, colour=colour)


FAST = made_figure(RECORD, 2700.0, relative=0.01, ns=900.0)  # 1.5 GB/s on one core
SLOW = made_figure(replace(RECORD, runner="betacrypt"), 27000.0, relative=0.01, ns=9000.0)


def test_cores_are_the_rate_over_what_one_core_does():
    first, second = demands([SLOW, FAST], 2e9)
    assert first.figure is FAST, "the least cores first"
    assert first.records == pytest.approx(2e9 / 1350)
    assert first.cores.value == pytest.approx(2e9 / 1350 * 900e-9)
    assert (first.cores.low, first.cores.high) == pytest.approx(
        (first.cores.value * 0.99, first.cores.value * 1.01)
    )
    assert second.cores.value == pytest.approx(10 * first.cores.value)


def test_the_answer_is_a_share_of_a_core_or_whole_cores():
    text = render_rate([FAST, replace(SLOW, quality=Quality.NOISY)], 1e9, width=100, colour=False)
    assert text.startswith("What 1 GB/s takes\n")
    once = "operation of all: seal; record of all: 1350 B; records/s of all: 741 thousand"
    assert once in text.replace("\n  ", " ")
    fast, slow = (line for line in text.splitlines() if line.startswith("aes-256-gcm"))
    assert fast.split()[-2:] == ["900", "2700"]
    assert "67% of a core (66% to 67%)" in fast
    assert "6.67 cores (6.60 to 6.73), so 7" in slow
    assert "so 7 !" in slow, "marks of doubt travel with figures"
    assert all(len(line) <= 40 for line in render_rate([FAST], 1e9, width=40, colour=False).splitlines())


def test_what_has_no_data_has_no_rate():
    signature = made_figure(Cell("alphassl", "rsa-2048", "sign", 32, "pk/1"), 1e6)
    assert demands([signature], 1e9) == ()
    assert "no cell has data" in render_rate([signature], 1e9, width=80, colour=False)


def test_programs_get_the_same():
    rows = rate_json([FAST], 1e9)
    assert json.loads(json.dumps(rows, allow_nan=False)) == rows
    [cell] = rows["cells"]
    assert (cell["address"], cell["cores"]) == (RECORD.address, pytest.approx(900 / 1350))
    assert cell["cores_low"] < cell["cores"] < cell["cores_high"]


def test_rows_name_their_tier_and_an_interval_is_said_where_it_shows():
    soft = made_figure(replace(RECORD, cpu="soft"), 81000.0, relative=0.01, ns=27000.0)
    text = render_rate([FAST, soft], 1e9, width=100, colour=False)
    assert [line.split("  ")[0] for line in text.splitlines() if "alphassl" in line] == [
        "aes-256-gcm",
        "aes-256-gcm (soft)",
    ]
    exact = made_figure(RECORD, 2700.0, relative=1e-5, ns=900.0)
    assert "67% of a core  " in render_rate([exact], 1e9, width=120, colour=False), "not '67% to 67%'"
