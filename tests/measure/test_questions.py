"""Bursts that forks take are asked for by few questions: each costs about as much as a burst."""

from __future__ import annotations

from dataclasses import replace

import pytest

from perbyte.measure.rounds import EpochUnderWay
from perbyte.measure.ways import ENOUGH, FULL_ROUND, Warmth, Ways
from perbyte.model import Cell, Policy

CELL = Cell("alpha", "aes-128-ecb", "encrypt", 16, "message/1")
POLICY = Policy(forks=True, warm_us=2000.0, warm_least_us=200.0)


def epoch(*, planned: int | None, compares: bool) -> EpochUnderWay:
    warmth = Warmth(POLICY)
    if not compares:
        warmth.note({replace(CELL, size_bytes=n): {1: 1.0, FULL_ROUND: 1.0} for n in range(1, ENOUGH + 1)})
    assert warmth.compares == compares
    return EpochUnderWay(
        number=3,
        sessions=None,  # type: ignore[arg-type] - nothing is asked here
        policy=POLICY,
        calibrations={},
        deadline=0.0,
        keep=lambda burst: None,
        fail=lambda failure: None,
        tell=lambda *_: None,
        ways=Ways(warmth),
        most_rounds=lambda cell: planned,
        most_samples=lambda cell: 0,
    )


@pytest.mark.parametrize("compares", [True, False])
@pytest.mark.parametrize("planned", [None, 2, 3, 4, 7, 10, 33, 128])
def test_each_round_is_asked_for_once(planned: int | None, compares: bool) -> None:
    under_way = epoch(planned=planned, compares=compares)
    rounds = planned or POLICY.looks[-1]
    asked = [under_way._at_once(CELL, number) for number in range(1, rounds + 1)]
    covered = [start + n for start, bursts in enumerate(asked, 1) for n in range(bursts)]
    assert covered == list(range(1, rounds + 1))


def test_a_planned_epoch_has_two_questions_and_others_one_for_each_look_and_one_more() -> None:
    def questions(**how: object) -> list[int]:
        under_way = epoch(**how)  # type: ignore[arg-type]
        return [number for number in range(1, 17) if under_way._at_once(CELL, number)]

    assert questions(planned=16, compares=False) == [1, 9]
    assert questions(planned=None, compares=False) == [1, 3, 5, 9]
    assert questions(planned=None, compares=True) == [1, FULL_ROUND, 3, 5, 9]
    assert questions(planned=16, compares=True) == [1, FULL_ROUND, 3, 9]


def test_cells_that_no_fork_takes_are_asked_round_by_round() -> None:
    under_way = epoch(planned=16, compares=False)
    under_way.ways.single.add(CELL)
    assert {under_way._at_once(CELL, number) for number in range(1, 17)} == {1}
