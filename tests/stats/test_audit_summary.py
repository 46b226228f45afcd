"""What looks at many cells come to, for people who want to see more than a verdict."""

from __future__ import annotations

from typing import Any

from perbyte.model import Audit, Cell
from perbyte.stats.audit_summary import Seen, sum_up_audits

CELL = Cell("alpha", "aes-128-ecb", "encrypt", 16, "message/1")


def looks(cpu_ns: list[float], **more: Any) -> Audit:
    given: dict[str, Any] = {
        "claimed_ns": [100.0] * len(cpu_ns),
        "wall_ns": cpu_ns,
        "threads": [0.9] * len(cpu_ns),
        "clock_hz": [3e9] * len(cpu_ns),
        "own_hz": [3e9] * len(cpu_ns),
    }
    return Audit(CELL, 0, cpu_ns=cpu_ns, **{**given, **more})


def test_each_cell_counts_with_its_middle_look() -> None:
    epoch_looks = [looks([90.0, 110.0, 500.0]), looks([105.0, 120.0])]
    two = [looks([200.0, 210.0, 220.0])]
    audits = sum_up_audits([epoch_looks, two])
    assert (audits.cells, audits.looks) == (2, 8)
    assert audits.time == (1.1, 2.1)
    assert audits.clock == (1.0, 1.0)
    assert audits.threads == (1.0, 1.0), "fewer than one thread is one"
    assert (audits.new_data, audits.children) == (None, 0)


def test_new_data_is_held_against_the_timed_calls_of_the_same_epoch() -> None:
    epoch_looks = [looks([100.0] * 3, chained_ns=[150.0]), looks([200.0] * 3, chained_ns=[700.0, 320.0])]
    assert sum_up_audits([epoch_looks]).new_data == (1.6, 1.6)  # 1.5, 3.5 and 1.6
    tiny = [looks([0.5] * 3, chained_ns=[4.0])]
    assert sum_up_audits([epoch_looks, tiny]).new_data == (1.6, 4.0), "less than a nanosecond is one"


def test_threads_are_the_larger_of_both_ways_to_see_them() -> None:
    beside = [looks([100.0] * 3, threads=[1.2, 1.3, 1.1], beside=[1.0, 1.9, 1.5])]
    alone = [looks([100.0] * 3, threads=[2.0, 2.5, 1.0])]
    assert sum_up_audits([beside]).threads == (1.5, 1.5)
    assert sum_up_audits([alone]).threads == (2.0, 2.0)
    assert sum_up_audits([beside, alone]).threads == (1.5, 2.0)


def test_what_nobody_knows_is_not_there() -> None:
    nothing = Seen(0, 0, None, None, None, None, 0)
    assert sum_up_audits([]) == nothing
    assert sum_up_audits([[], [Audit(CELL, 0, problem="too long", children=3)]]) == nothing
    audits = sum_up_audits([[looks([100.0] * 2, claimed_ns=[0.0, 0.0], own_hz=[0.0, 0.0], children=2)]])
    assert (audits.cells, audits.looks, audits.time, audits.clock, audits.children) == (1, 2, None, None, 2)
    half = sum_up_audits([[looks([100.0, 300.0], claimed_ns=[0.0, 100.0], clock_hz=[2e9, 0.0], children=1)]])
    assert (half.time, half.clock) == ((3.0, 3.0), (2e9 / 3e9, 2e9 / 3e9))
