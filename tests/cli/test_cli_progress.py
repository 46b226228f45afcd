"""Remarks on the way: each once, and those that say the same in one line."""

from __future__ import annotations

from perbyte.cli.terminal import ProgressLine


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
