"""Remarks on the way: each once, and those that say the same in one line."""

from __future__ import annotations

import dataclasses
import sys

import pytest

from perbyte.cli.terminal import ProgressLine
from perbyte.measure.history import Moment


def test_remarks_that_say_the_same_become_one_line(capsys):
    line = ProgressLine()
    for text in (
        "imul run: unchecked",
        "left out: 17 bytes",
        "crc32 run: unchecked",
        "imul run: unchecked",
        "late",
    ):
        line.note(text)
    line.note("too late")
    line.close()
    told = ["imul run, crc32 run: unchecked", "left out: 17 bytes", "late", "too late"]
    assert capsys.readouterr().err.splitlines() == told
    line.note("late")
    line.close()
    assert capsys.readouterr().err == "", "once is enough"


def test_of_many_things_the_first_are_named(capsys):
    line = ProgressLine()
    for number in range(40):
        line.note(f"row {number}: alone")
    line.close()
    [told] = capsys.readouterr().err.splitlines()
    assert told == "row 0, row 1, row 2, row 3, row 4, row 5 and 34 more: alone"


def test_no_remarks_where_quiet_was_asked_for(capsys):
    line = ProgressLine(quiet=True)
    line.note("x: y")
    line.close()
    assert capsys.readouterr().err == ""


def test_what_a_command_does_after_its_run_is_part_of_what_is_left(capsys):
    moment = Moment("epoch 9", "x", 9, 0, 2, 2, 0.9, 12.0, 20.0, after_s=6.0)
    for known in (moment, dataclasses.replace(moment, expected_s=3.0)):
        line = ProgressLine()
        line.moment(known)
        line.close()
    at_most, about = capsys.readouterr().err.splitlines()
    assert at_most.startswith("12 s, at most 26 s left")
    assert about.startswith("12 s, about 9 s left")


@pytest.mark.parametrize(
    ("left_s", "message"),
    [(4.0, "12 s, at most 4 s left"), (0.0, "12 s, beyond the budget, for the least number")],
)
def test_a_run_beyond_its_budget_says_so(capsys, left_s, message):
    line = ProgressLine()
    line.moment(Moment("epoch 1", "x", 1, 0, 2, 2, 0.9, 12.0, left_s))
    line.close()
    assert message in capsys.readouterr().err


def test_a_terminal_has_the_figure_so_far_first_and_a_log_has_not(capsys, monkeypatch):
    moment = Moment(
        "epoch 1", "x", 1, 0, 2, 2, 0.9, 12.0, 20.0, figure="alpha/x@16: 116 cycles a call so far"
    )
    for live in (True, False):
        monkeypatch.setattr(sys.stderr, "isatty", lambda live=live: live)
        monkeypatch.setenv("TERM", "xterm")
        monkeypatch.setenv("COLUMNS", "200")
        ProgressLine().moment(moment)
        told = capsys.readouterr().err
        assert ("116 cycles a call so far · 12 s" in told) == live
        assert "12 s, at most 20 s left" in told
