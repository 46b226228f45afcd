"""What became of a leak follows from two verdicts and their intervals."""

from __future__ import annotations

from dataclasses import replace

import pytest
from made_leaks import made_leak

from perbyte.model import Cell
from perbyte.model.leak import Contrast
from perbyte.stats.leak import Became, LeakChange, leak_changes

CELL = Cell("old", "aes-128-gcm", "seal", 64, "message/1")
NEW = replace(CELL, runner="new")


@pytest.mark.parametrize(
    ("before", "after", "became", "worse"),
    [
        (made_leak(CELL), made_leak(CELL, 12.0), Became.NEW, True),
        (made_leak(CELL, verdict="unknown"), made_leak(CELL, 12.0), Became.NEW, True),
        (made_leak(CELL, 12.0), made_leak(CELL, 13.0), Became.LARGER, True),
        (made_leak(CELL, 12.0), made_leak(CELL, -13.0), Became.LARGER, True),  # more, the other way
        (made_leak(CELL, 12.0), made_leak(CELL, 12.5), Became.SAME, False),
        (made_leak(CELL, 12.0), made_leak(CELL, 3.0), Became.SMALLER, False),
        (made_leak(CELL, 12.0), made_leak(CELL, 30.0, unit="ns"), Became.SAME, False),  # not to be compared
        (made_leak(CELL, 12.0), made_leak(CELL), Became.GONE, False),
        (made_leak(CELL), made_leak(CELL), Became.NONE, False),
        (made_leak(CELL, 12.0), made_leak(CELL, verdict="harness"), Became.UNKNOWN, False),
    ],
)
def test_what_became_of_it(before, after, became, worse):
    change = LeakChange(before, after)
    assert change.became is became
    assert change.worse is worse


def test_the_same_cell_and_secret_are_paired_and_what_is_left_is_named():
    data = Contrast("data", "zeros", "random")
    first = [made_leak(CELL), made_leak(CELL, contrast=data), made_leak(CELL, cold=True)]
    later = [made_leak(CELL, 5.0), made_leak(CELL, cold=True, contrast=data)]
    told = leak_changes(first, later)
    assert [(change.before, change.after) for change in told.found] == [(first[0], later[0])]
    assert told.lost == (f"{CELL.address}, {data}", f"{CELL.address}, key: fixed | random, emptied caches")
    assert told.added == (f"{CELL.address}, {data}, emptied caches",)


def test_two_runners_are_paired_on_one_algorithm():
    told = leak_changes([made_leak(CELL)], [made_leak(NEW, 5.0)])
    assert [change.became for change in told.found] == [Became.NEW]
    other = replace(NEW, size_bytes=128)
    assert leak_changes([made_leak(CELL)], [made_leak(other)]).found == ()
