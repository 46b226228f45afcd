from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest
from made_runs import hostile_run, made_cells, made_figure, made_judgement, made_run, usual_run

from perbyte.model import Cell, Failure
from perbyte.report import terminal
from perbyte.report.grid import Column, Grid, compare_pairs, run_grids
from perbyte.report.printed import render_comparison, render_judgement, render_table
from perbyte.report.wording import number
from perbyte.stats.quantity import TABLE_UNITS, Unit, read

TABLE_OF_TWO = """\
► alphassl (aes-128-ecb, encrypt 1 KiB)
  1.953 cycles/byte; the next, betacrypt, costs ×1.500 (1.495 to 1.505) as much
  0.78 cores at 1 GB/s, 7.8 at 10 GB/s
= alphassl or betacrypt (des-ecb, encrypt 16 B)
  40.00 cycles/byte; known to be alike: they differ by less than 0.26%
  16 cores at 1 GB/s, 160 at 10 GB/s

cycles per byte · stream/1 · median and ± of the 95 % interval

             encrypt ──────────────────────
                16 B           1 KiB
───────────────────────────────────────────
aes-128-ecb
  alphassl    ►6.250 ±0.10%   ►1.953 ±0.20%
  betacrypt    9.38  ±0.50%~   2.930 ±0.10%
des-ecb
  alphassl   =40.00  ±0.10%               –
  betacrypt  =40.02  ±0.10%         crashed
"""


def two_libraries() -> str:
    def cell(runner: str, algorithm: str, size: int) -> Cell:
        return Cell(runner, algorithm, "encrypt", size, "stream/1")

    figures = (
        made_figure(cell("alphassl", "aes-128-ecb", 16), 100.0),
        made_figure(cell("alphassl", "aes-128-ecb", 1024), 2000.0, relative=0.002),
        made_figure(cell("betacrypt", "aes-128-ecb", 16), 150.0, relative=0.005, quality="imprecise"),
        made_figure(cell("betacrypt", "aes-128-ecb", 1024), 3000.0),
        made_figure(cell("alphassl", "des-ecb", 16), 640.0),
        made_figure(cell("betacrypt", "des-ecb", 16), 640.3),
    )
    failures = (
        Failure("unsupported", "alphassl", "no such size", address=cell("alphassl", "des-ecb", 1024).address),
        Failure("crashed", "betacrypt", "signal 11", address=cell("betacrypt", "des-ecb", 1024).address),
    )
    return render_table(made_run(figures, failures=failures), width=80, colour=False)


def test_the_table_looks_as_it_should() -> None:
    assert two_libraries().startswith(TABLE_OF_TWO)


def test_below_the_table_stand_legend_failures_noise_floor_and_conditions() -> None:
    text = two_libraries()[len(TABLE_OF_TWO) :]
    assert "► fastest of its algorithm in the column" in text
    assert "= fastest of its algorithm in the column, a tie" in text
    assert "~ interval wider than requested" in text
    assert "– not in this library" in text
    assert "betacrypt/des-ecb/encrypt@1024+contract=stream/1: crashed: signal 11" in text
    assert "noise floor: 0.15%" in text
    assert "Imaginary CPU 9000" in text
    assert "AlphaSSL 1.2.3-made-up" in text
    assert "one call outlasts" not in text


@pytest.mark.parametrize("width", [40, 60, 80, 100, 120, 200])
@pytest.mark.parametrize("unit", [None, *TABLE_UNITS])
def test_no_line_is_wider_than_the_terminal_and_no_figure_is_cut(width: int, unit: Unit | None) -> None:
    run = usual_run()
    text = render_table(run, width=width, colour=False, unit=unit)
    assert max(map(len, text.splitlines())) <= width
    assert all("%" in line or "± in %" in text for line in text.splitlines() if re.search("±[0-9<]", line))
    shown = re.findall(r"[0-9][0-9.,]*(?= +±)", text)
    wanted = [
        number(reading.value, reading.half_width)
        for table in run_grids(run, unit)
        for row in table.rows
        for entry in row.entries
        if entry.figure and (reading := read(entry.figure, table.unit))
    ]
    assert sorted(shown) == sorted(wanted)


def test_a_wide_terminal_shows_one_table_and_a_narrow_one_splits_by_operation() -> None:
    run = usual_run()
    assert render_table(run, width=200, colour=False).count("encrypt ─") == 1
    narrow = render_table(run, width=80, colour=False)
    assert (narrow.count("encrypt ─"), narrow.count("decrypt ─")) == (1, 1)
    assert render_table(run, width=50, colour=False).count("encrypt ─") > 1


def test_colour_only_where_it_is_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    run = usual_run()
    assert "\x1b[" in render_table(run, width=80, colour=True)
    assert "\x1b" not in render_table(run, width=80, colour=False)
    assert "\x1b" not in render_table(run, width=80)  # standard output of a test is no terminal
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert "\x1b[" in render_table(run, width=80)
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in render_table(run, width=80)


@pytest.mark.parametrize("width", [60, 120])
def test_a_hostile_run_cannot_steer_the_terminal(width: int) -> None:
    text = render_table(hostile_run(), width=width, colour=False)
    kept = set(text) - {"\n"}
    assert not [character for character in kept if ord(character) < 32 or 0x7F <= ord(character) < 0xA0]
    assert not kept & set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u2028")
    assert "x" * 400 not in text


def test_an_empty_and_an_interrupted_run_say_so() -> None:
    assert "nothing was measured" in render_table(made_run(()), width=80, colour=False)
    run = replace(usual_run(), complete=False)
    assert "INTERRUPTED" in render_table(run, width=80, colour=False)


def test_verdicts_are_told_by_word_as_well_as_by_sign() -> None:
    judgement = made_judgement(made_run(made_cells()))
    text = render_judgement(judgement, width=80, colour=False, numbers=True)
    for outcome in ("✓ reproduced", "✗ not reproduced", "? inconclusive", "– not testable"):
        assert outcome in text
    counts = "4 findings: 1 reproduced, 1 not reproduced, 1 inconclusive, 1 not testable"
    assert counts in " ".join(text.split())
    assert "AES-NI over AES 0.317 (0.315 to 0.318)" in text
    assert max(map(len, text.splitlines())) <= 80


def test_comparison_shows_values_ratios_intervals_and_ties() -> None:
    cells = [Cell("a", "aes", "encrypt", size, "stream/1") for size in (16, 64)]
    before = (made_figure(cells[0], 100.0), made_figure(cells[1], 400.0))
    after = (made_figure(cells[0], 100.05), made_figure(cells[1], 412.0))
    floor = made_run(()).noise_floor
    grids = compare_pairs(zip(before, after, strict=True), ("old", "new"), floor)
    lines = render_comparison(grids, floor, width=120, colour=False).splitlines()
    assert lines[0] == "► old is faster than new in the mean"
    assert lines[1].startswith("  In the mean over 2 common cells new costs ×1.015"), "the answer first"
    assert lines[2].startswith("  aes encrypt 64 B at 10 GB/s: 25 cores in old, 26 cores in new")
    assert lines[4].startswith("cycles per byte · stream/1 · × cost of a call as a multiple of that in old")
    same, slower = (next(line for line in lines[4:] if f"encrypt {size} B" in line) for size in (16, 64))
    assert same.endswith("=")
    assert re.search(r"6\.25.* 6\.25.* ×1\.00.* ±0\.1\d%=$", same)
    assert re.search(r"×1\.03.* ±0\.1\d%$", slower)
    assert "new: 0 faster, 1 slower, 1 tied" in lines
    assert any(line.startswith("noise floor: 0.15%") for line in lines)


def test_comparison_of_nothing() -> None:
    assert "the runs hold no figures" in render_comparison([], None, width=80, colour=False)


def test_a_table_of_thousands_of_sizes_draws_each_a_few_times(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[str] = []

    class Counted(terminal._Drawn):
        def __init__(self, grid: Grid, column: Column, *more: Any) -> None:
            drawn.append(column.size)
            super().__init__(grid, column, *more)

    monkeypatch.setattr(terminal, "_Drawn", Counted)
    cells = [Cell("a", "sha-256", "digest", size, "oneshot/1") for size in range(16, 3016)]
    run = made_run(tuple(made_figure(cell, 100.0) for cell in cells))
    grids = terminal._grid(run_grids(run)[0], 100)
    assert len(drawn) < 10 * len(cells)
    assert "3015 B" in grids[-4].plain + grids[-5].plain + grids[-3].plain
