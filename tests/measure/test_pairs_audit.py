"""Ticks of pairs are held against time that their runner does not choose."""

from __future__ import annotations

import random

import pytest

from perbyte.measure.pairs_audit import PairsAudit
from perbyte.model import Burst, Calibration, Cell
from perbyte.runners.pairs import TakenPairs

CELL = Cell("alpha", "aes-128-gcm", "open", 64, "message/1")
CALIBRATION = Calibration("alpha", "full", 0, 0, "probe", "", 1e9, 1, 3000.0, 100.0, 0.0, {})
CALL, LEAK, PAIRS = 1000, 30, 1500


def taken(*, leaks: int = 0, flat: bool = False, wall: float = 1.0, seed: int = 1) -> TakenPairs:
    """Pairs of which the second class takes `leaks` ticks more; `flat`: the runner says that all are alike."""
    draw, now, order = random.Random(seed), 0, ""
    columns: dict[str, list[int]] = {name: [] for name in ("start", "ticks")}
    for _ in range(PAIRS):
        for letter in draw.choice(("01", "10")):
            true = CALL + leaks * (letter == "1") + draw.randrange(20)
            columns["start"].append(now)
            columns["ticks"].append(CALL + draw.randrange(20) if flat else true)
            order += letter
            now += true + 600 + draw.randrange(40)
    clock, company, flags = ([value] * len(order) for value in (1000, 100, 0))
    burst = Burst(
        CELL, 0, 0, 1, columns["start"], columns["ticks"], clock, clock, company, company, flags, []
    )
    return TakenPairs(burst, order, (0, 0), False, wall * now / 1e9)


def judged(shift: float, **more: object) -> str:
    audit = PairsAudit()
    audit.note(taken(**more), CALIBRATION)  # type: ignore[arg-type]
    return audit.wrong(shift)


def test_true_ticks_pass() -> None:
    assert judged(0.0) == ""
    assert judged(3.0 * LEAK, leaks=LEAK) == ""


def test_a_leak_that_was_taken_out_of_the_ticks_lies_between_the_samples() -> None:
    assert "between its samples" in judged(0.1, leaks=LEAK, flat=True)


def test_no_more_time_than_went_by() -> None:
    assert "the time that went by" in judged(0.0, wall=0.5)


@pytest.mark.parametrize(("call_s", "wrong"), [(1.2e-6, False), (2e-6, True)])
def test_single_calls_take_no_less_than_calls_of_a_loop(call_s: float, wrong: bool) -> None:
    audit = PairsAudit()
    audit.note(taken(), CALIBRATION)
    audit.calls_s.append(call_s)
    assert bool(audit.wrong(0.0)) == wrong


def of_class(which: int, cost_s: tuple[float, float], draw: random.Random) -> TakenPairs:
    """A burst of one class, of which calls take so long beside a neighbour."""
    burst = taken().burst
    calls = len(burst.ticks)
    cpu_s = calls * cost_s[which] * (1 + abs(draw.gauss(0, 0.003)) + (draw.random() < 0.03))
    return TakenPairs(burst, str(which) * calls, (0, 0), False, 2 * cpu_s, cpu_s)


@pytest.mark.parametrize(
    ("cycles", "shift", "wrong"),
    [(0.0, 0.0, False), (60.0, 0.1, True), (-60.0, 0.1, True), (60.0, 55.0, False)],
)
def test_what_the_kernel_counts_more_for_a_class_is_in_its_ticks(
    cycles: float, shift: float, wrong: bool
) -> None:
    audit, draw, cost_s = PairsAudit(), random.Random(7), (2e-6, 2e-6 + cycles / 3e9)
    for _ in range(4):  # epochs
        audit.note(taken(), CALIBRATION)
        audit.compare(lambda which: of_class(which, cost_s, draw), 2.5)
    assert len(audit.by_class_s) == 48
    assert ("the kernel counts" in audit.wrong(shift)) == wrong


def test_classes_are_not_compared_where_nobody_can() -> None:
    audit = PairsAudit()
    audit.compare(lambda _: taken(), 2.5)  # a runner that does not know it
    audit.compare(lambda which: of_class(which, (1e-6, 1e-6), random.Random(1)), 0.1)  # no time
    assert not audit.by_class_s
    assert not audit.wrong(0.0)
