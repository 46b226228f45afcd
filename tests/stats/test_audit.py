"""The verdict of the audit from outside: numbers of looks in, a refusal, a doubt or nothing out."""

from __future__ import annotations

from dataclasses import replace
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


def test_threads_that_share_a_core_are_a_doubt_and_those_of_a_language_are_not() -> None:
    verdict = judge_audits([looks(beside=[2.0] * 8)])
    assert [warning.kind for warning in verdict.warnings] == [Doubt.THREADS]
    assert is_suspicious([looks(count=1, beside=[2.0])])
    busy = looks(1.25, beside=[1.25] * 8)  # what others than the busiest thread took, it did not hide
    assert judge_audits([busy, looks(1.25, beside=[1.25] * 8, epoch=1)]) == judge_audits([looks()])


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
    audits = [looks(clean_ns=100.0, epoch=epoch) for epoch in range(5)]
    assert "the figure is 60 ns" in judge_audits(audits, 60.0).refusal
    assert [one.kind for one in judge_audits(audits, 70.0).warnings] == [Doubt.AUDIT]
    assert not judge_audits([*audits[:2], looks(clean_ns=72.0, epoch=2)], 60.0).warnings  # one was as fast
    assert judge_audits(audits, 85.0) == judge_audits(audits[:2], 60.0)
    assert not judge_audits([looks()], 60.0).refusal  # no clean sample: a neighbour may have slowed all


def test_a_figure_far_below_what_calls_on_new_data_take_is_doubted() -> None:
    """As of a runner whose audited calls are honest, and which flags the honest ones of its samples."""
    audits = [looks(chained_ns=[600.0], epoch=epoch) for epoch in range(3)]
    [doubt] = judge_audits(audits, 60.0).warnings
    assert doubt.kind is Doubt.AUDIT
    assert doubt.numbers == (60.0, 600.0)
    assert not judge_audits(audits, 80.0).warnings
    assert not judge_audits(audits[:2], 60.0).warnings


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
    for given in ({"chained_ns": [], "unchained": "unsupported: no"}, {"chained_ns": [], "afresh": True}):
        later = looks(chained_ns=[], epoch=1)  # chains are not made in every epoch
        warnings = judge_audits([looks(**given), later]).warnings
        assert [warning.kind for warning in warnings] == [Doubt.UNCHAINED]
    assert (
        "unsupported: no"
        in judge_audits([looks(chained_ns=[], unchained="unsupported: no")]).warnings[0].text
    )


def flat(times: float = 1.0, *, count: int = 16, **more: Any) -> Audit:
    """Looks without noise; what is given as a number stands in each."""
    given = {"cpu_ns": 100.0 * times, "wall_ns": 100.0 * times, **more}
    lists = {
        name: [one] * count
        for name, one in given.items()
        if isinstance(one, float) and name not in ("chain_ns", "clean_ns")
    }
    return looks(**{"count": count, "chained_ns": [], **given, **lists})


def both(**given: Any) -> list[Audit]:
    """The same in two epochs."""
    return [flat(**given), flat(**given, epoch=1)]


@pytest.mark.parametrize(
    ("at", "beyond", "said"),
    [
        ({"times": 1.05}, {"times": 1.0501}, "the kernel counts 105"),
        ({"times": 0.95}, {"times": 0.9499}, "but 94.99 ns went by"),
        ({"count": 5, "times": 1.6}, {"count": 6, "times": 1.6}, "160"),
        ({"count": 3, "times": 1.3}, {"count": 3, "times": 1.3001}, "130"),
        ({"long": True, "count": 1, "times": 0.94}, {"long": True, "count": 2, "times": 0.94}, "94"),
        ({"clock_hz": 3.75e9}, {"clock_hz": 3.76e9}, "3.760 GHz, by Perbyte's own probe at 3.000 GHz"),
    ],
)
def test_a_refusal_begins_beyond_its_limit(at: dict[str, Any], beyond: dict[str, Any], said: str) -> None:
    count = 1 if at.get("count", 16) in (1, 5) else 2
    assert not judge_audits(both(**at)[:count]).refusal
    assert said in judge_audits(both(**beyond)[:count]).refusal


@pytest.mark.parametrize(
    ("at", "beyond", "kind", "said"),
    [
        ({"threads": 1.25}, {"threads": 1.26}, Doubt.THREADS, "1.26 s of CPU time per second"),
        ({"beside": 1.5}, {"beside": 1.51}, Doubt.THREADS, "1.51 times the CPU time of the busiest"),
        ({"cpu_ns": 70.0}, {"cpu_ns": 69.0}, Doubt.THREADS, "only 69 % of the time"),
        ({"clock_hz": 3.299e9}, {"clock_hz": 3.301e9}, Doubt.AUDIT, "1.1 times the rate"),
    ],
)
def test_a_doubt_begins_beyond_its_limit_and_on_four_looks(
    at: dict[str, Any], beyond: dict[str, Any], kind: Doubt, said: str
) -> None:
    given = {"wall_ns": 100.0, "chained_ns": [100.0]}
    assert not judge_audits([flat(count=4, **{**given, **at})]).warnings
    assert not judge_audits([flat(count=3, **{**given, **beyond})]).warnings
    (warning,) = judge_audits([flat(count=4, **{**given, **beyond})]).warnings
    assert warning.kind is kind
    assert said in warning.text
    assert warning.numbers


@pytest.mark.parametrize(
    ("at", "beyond"),
    [
        ({"times": 1.3}, {"times": 1.301}),
        ({"times": 0.7}, {"times": 0.699}),
        ({"threads": 1.25}, {"threads": 1.26}),
        ({"beside": 1.5}, {"beside": 1.51}),
        ({"cpu_ns": 70.0, "wall_ns": 100.0}, {"cpu_ns": 69.0, "wall_ns": 100.0}),
        ({"clock_hz": 3.299e9}, {"clock_hz": 3.301e9}),
        ({"count": 4, "times": 1.08}, {"count": 4, "times": 1.081}),
        ({"count": 3, "times": 1.2}, {"count": 4, "times": 1.2}),
        ({"count": 4, "times": 0.92}, {"count": 4, "times": 0.919}),
    ],
)
def test_more_looks_are_asked_for_beyond_a_limit(at: dict[str, Any], beyond: dict[str, Any]) -> None:
    assert not is_suspicious([flat(**{"count": 1, **at})])
    assert is_suspicious([flat(**{"count": 1, **beyond})])


def test_one_odd_look_of_the_last_epoch_is_enough_to_look_again() -> None:
    assert is_suspicious([flat(count=3, cpu_ns=[140.0, 100.0, 100.0])])
    assert is_suspicious([flat(count=3, cpu_ns=[60.0, 100.0, 100.0], wall_ns=[60.0, 100.0, 100.0])])
    assert not is_suspicious([flat(1.4, count=1), flat(count=2, epoch=1)])


def test_looks_settle_at_three_that_agree() -> None:
    assert is_settled(flat(count=3), 0)
    assert not is_settled(flat(count=2), 0)
    for odd in ({"times": 1.08}, {"times": 0.92}, {"threads": 1.25}, {"beside": 1.5}, {"clock_hz": 3.301e9}):
        assert not is_settled(flat(**odd), 0)


def test_what_a_chain_may_cost_more() -> None:
    allowed = 100 * 1.35 + 500.0
    for given, limit in (
        ({}, allowed),
        ({"chain_ns": 50.0}, allowed + 50),
        ({"cell": replace(CELL, operation="open")}, 3 * allowed),
        ({"cpu_ns": 80.0}, allowed),  # the larger of what was said and seen
        ({"cpu_ns": 120.0}, 120 * 1.35 + 500),
    ):
        cell = given.pop("cell", CELL)
        fits, beyond = (
            replace(flat(**{"count": 6, **given, "chained_ns": [value] * 6}), cell=cell)
            for value in (limit, limit * 1.001)
        )
        assert not is_unlike(fits)
        assert is_unlike(beyond)
        assert not judge_audits([fits]).refusal
        assert "new data" in judge_audits([beyond]).refusal
        assert not judge_audits([replace(beyond, chained_ns=beyond.chained_ns[:5])]).refusal
    assert not is_unlike(flat())


def test_a_figure_is_held_against_the_lowest_clean_call() -> None:
    audits = [
        flat(clean_ns=value, epoch=k, chained_ns=[100.0])
        for k, value in enumerate((150.0, 160.0, 155.0, 170.0, 165.0))
    ]
    assert "never said less than 150 ns" in judge_audits(audits, 99.0).refusal
    assert not judge_audits(audits, 100.0).refusal
    assert not judge_audits(audits, 95.0, half_width=0.06).refusal
    assert judge_audits(audits, 94.0, half_width=0.06).refusal
    assert len(judge_audits(audits, 119.0).warnings) == 1
    assert not judge_audits(audits, 120.0).warnings
    few = [*audits[:4], flat(clean_ns=0.0, epoch=4)]
    assert not judge_audits(few, 99.0).refusal
    assert len(judge_audits(few, 99.0).warnings) == 1


def test_processes_are_counted_at_their_most() -> None:
    (warning,) = judge_audits([flat(children=1, chained_ns=[1.0]), flat(children=3, epoch=1)]).warnings
    assert warning.numbers == (3,)


def test_a_claim_of_no_time_has_no_share() -> None:
    audit = flat(count=4, claimed_ns=[0.0] * 4, chained_ns=[1.0], threads=2.0)
    assert {warning.kind for warning in judge_audits([audit]).warnings} == {Doubt.THREADS}
