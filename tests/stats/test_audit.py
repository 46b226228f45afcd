"""The verdict of the audit from outside: numbers of looks in, a refusal, a doubt or nothing out."""

from __future__ import annotations

from typing import Any

import pytest

from perbyte.model import Audit, Cell, Doubt
from perbyte.stats import is_settled, is_suspicious, is_unlike, judge_audits

CELL = Cell("alpha", "aes-128-ecb", "encrypt", 16, "message/1")
NOISE = (0.0, 0.02, -0.03, 0.01, 0.3, -0.01, 0.0, -0.2)


def looks(
    cpu: float = 1.0, *, wall: float | None = None, count: int = 8, epoch: int = 0, **more: Any
) -> Audit:
    """Looks at calls of 100 ns by the runner's word that take `cpu` times as much, in the middle of noise."""
    noise = [NOISE[i % len(NOISE)] for i in range(count)]
    given = {
        "claimed_ns": [100.0] * count,
        "cpu_ns": [100 * (cpu + one) for one in noise],
        "wall_ns": [100 * ((cpu if wall is None else wall) + abs(one)) for one in noise],
        "threads": [1.0] * count,
        "clock_hz": [3e9] * count,
        "own_hz": [3e9] * count,
        "chained_ns": [110.0] * count,
    }
    return Audit(CELL, epoch, **{**given, **more})


def test_an_honest_runner_is_not_accused_by_noise() -> None:
    assert judge_audits([looks(), looks(epoch=1)]) == judge_audits([looks(count=1)])
    assert not judge_audits([looks()]).refusal
    assert not judge_audits([looks()]).warnings


@pytest.mark.parametrize("factor", [1.1, 2.0, 100.0])
def test_time_that_is_understated_is_refused_with_both_figures(factor: float) -> None:
    refusal = judge_audits([looks(factor), looks(factor, epoch=1)]).refusal
    assert "says 100 ns per call" in refusal
    assert f"{100 * factor:.4g}"[:2] in refusal.partition("counts")[2]


def test_time_that_never_went_by_is_refused() -> None:
    assert "went by" in judge_audits([looks(0.5)]).refusal
    assert not judge_audits([looks(0.5, wall=1.0)]).refusal  # the machine took the core away: no lie


def test_nothing_is_refused_on_few_looks_unless_they_are_long() -> None:
    assert not judge_audits([looks(2.0, count=3)]).refusal
    assert judge_audits([looks(2.0, count=3, long=True)]).refusal
    assert judge_audits([looks(2.0, count=2, epoch=epoch) for epoch in range(3)]).refusal


def test_a_small_difference_is_believed_of_many_looks_in_two_epochs() -> None:
    assert not judge_audits([looks(1.2), looks(1.2, count=7, epoch=1)]).refusal
    assert not judge_audits([looks(1.2, count=24)]).refusal
    assert judge_audits([looks(1.2), looks(1.2, epoch=1)]).refusal
    assert judge_audits([looks(1.4)]).refusal
    assert judge_audits([looks(0.8), looks(0.8, epoch=1)]).refusal
    assert not judge_audits([looks(0.8)]).refusal


def test_time_of_zero_is_refused() -> None:
    assert "at least inf times" in judge_audits([looks(claimed_ns=[0.0] * 8)]).refusal


def test_two_threads_are_a_doubt_and_no_lie() -> None:
    verdict = judge_audits([looks(2.0, wall=1.0, threads=[1.98] * 8)])
    assert not verdict.refusal
    assert [warning.kind for warning in verdict.warnings] == [Doubt.THREADS]
    assert "1.98 s of CPU time per second" in verdict.warnings[0].text


def test_processes_that_the_runner_started_are_a_doubt() -> None:
    verdict = judge_audits([looks(children=2)])
    assert [warning.kind for warning in verdict.warnings] == [Doubt.THREADS]


def test_a_clock_of_its_own_is_refused_far_off_and_doubted_nearer() -> None:
    assert "1.500 GHz" in judge_audits([looks(clock_hz=[1.5e9] * 8)]).refusal
    assert "6.000 GHz" in judge_audits([looks(clock_hz=[6e9] * 8)]).refusal
    near = judge_audits([looks(clock_hz=[2.5e9] * 8)])
    assert not near.refusal
    assert [warning.kind for warning in near.warnings] == [Doubt.AUDIT]
    assert not judge_audits([looks(clock_hz=[2.5e9] * 8, own_hz=[0.0] * 8)]).warnings  # nobody to ask


def test_a_figure_below_what_the_audit_found_clean_is_refused() -> None:
    audits = [looks(clean_ns=100.0, epoch=epoch) for epoch in range(3)]
    assert "the figure is 60 ns" in judge_audits(audits, 60.0).refusal
    assert not judge_audits(audits, 95.0).refusal
    assert not judge_audits(
        [looks()], 60.0
    ).refusal  # no clean sample: a neighbour may have slowed all of them


def test_a_cell_without_looks_is_doubted_and_says_why() -> None:
    verdict = judge_audits([Audit(CELL, 0, problem="a call is too long")])
    assert not verdict.refusal
    assert "a call is too long" in verdict.warnings[0].text
    assert judge_audits([]).warnings[0].kind is Doubt.AUDIT


def test_what_is_odd_asks_for_more_looks_until_they_agree() -> None:
    assert is_suspicious([looks(1.4, count=1)])
    assert is_suspicious([looks(0.6, count=1)])
    assert is_suspicious([looks(count=1, clock_hz=[2e9])])
    assert is_suspicious([looks(1.1, count=1, epoch=epoch) for epoch in range(6)])
    assert not is_suspicious([looks(1.1, count=1)])
    assert not is_suspicious([])
    assert is_settled(looks(count=4), 1)
    assert not is_settled(looks(count=3), 1)
    assert not is_settled(looks(1.1), 1)
    assert not is_settled(looks(threads=[1.5] * 8), 1)


def test_calls_that_cost_much_more_on_new_data_are_refused() -> None:
    assert not judge_audits([looks(chained_ns=[600.0] * 8)]).refusal  # the chain itself costs something
    assert "where each call has new data" in judge_audits([looks(chained_ns=[1000.0] * 8)]).refusal
    assert not judge_audits([looks(chained_ns=[1000.0])]).refusal  # one look: a neighbour, for all we know
    long = {name: [1e5] * 8 for name in ("claimed_ns", "cpu_ns", "wall_ns")}
    assert "new data" in judge_audits([looks(**long, chained_ns=[1.5e5] * 8)]).refusal
    assert not judge_audits([looks(**long, chained_ns=[1.2e5] * 8)]).refusal
    assert is_unlike(looks(**long, chained_ns=[1.5e5]))


def test_work_that_cannot_be_audited_is_said_and_costs_no_quality() -> None:
    for given in ({"chained_ns": [], "unchained": "unsupported: no"}, {"afresh": True}):
        warnings = judge_audits([looks(**given)]).warnings
        assert [warning.kind for warning in warnings] == [Doubt.UNCHAINED]
    assert (
        "unsupported: no"
        in judge_audits([looks(chained_ns=[], unchained="unsupported: no")]).warnings[0].text
    )
