"""The verdict of the audit from outside: numbers of looks in, a refusal, a doubt or nothing out."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from perbyte.model import Audit, Cell, Doubt
from perbyte.stats.audit import (
    AuditVerdict,
    Printed,
    exceeds_in_epochs,
    gross_lie,
    is_finished,
    is_settled,
    is_suspicious,
    is_unlike,
    judge_audits,
)
from perbyte.stats.newdata import Memory, Surroundings

CELL = Cell("alpha", "aes-128-ecb", "encrypt", 4096, "message/1")
NOISE = (0.0, 0.02, -0.03, 0.01, 0.3, -0.01, 0.0, -0.2)
CALL_NS = 10_000.0
QUIET = Surroundings({4096: Memory(0.0, 500.0, 900.0)}, 0.0, 1.0)


def looks(
    cpu: float = 1.0, *, wall: float | None = None, count: int = 8, epoch: int = 0, **more: Any
) -> Audit:
    """Looks at calls of 10 us by the runner's word that take `cpu` times as much, in the middle of noise."""
    noise = [NOISE[i % len(NOISE)] for i in range(count)]
    given = {
        "claimed_ns": [CALL_NS] * count,
        "cpu_ns": [CALL_NS * (cpu + noise_value) for noise_value in noise],
        "wall_ns": [CALL_NS * ((cpu if wall is None else wall) + abs(noise_value)) for noise_value in noise],
        "threads": [1.0] * count,
        "clock_hz": [3e9] * count,
        "own_hz": [3e9] * count,
        "chained_ns": [1.05 * CALL_NS],
        "control_ns": [0.05 * CALL_NS],
    }
    return Audit(more.pop("cell", CELL), epoch, **{**given, **more})


def epochs(*factors: float, **more: Any) -> list[Audit]:
    """An epoch each of looks that take so many times what the runner says."""
    return [looks(factor, epoch=number, **more) for number, factor in enumerate(factors)]


def flat(times: float = 1.0, *, count: int = 8, **more: Any) -> Audit:
    """Looks without noise; what is given as a number stands in each."""
    given = {"cpu_ns": CALL_NS * times, "wall_ns": CALL_NS * times, **more}
    names = ("claimed_ns", "cpu_ns", "wall_ns", "threads", "beside", "clock_hz", "own_hz")
    lists = {name: [given.pop(name)] * count for name in names if isinstance(given.get(name), float)}
    return looks(**{"count": count, **given, **lists})


def five(**given: Any) -> list[Audit]:
    return [flat(**given, epoch=number) for number in range(5)]


def judged(audits: list[Audit], printed: Printed | None = None) -> AuditVerdict:
    return judge_audits(audits, printed, QUIET)


def kinds(verdict: AuditVerdict) -> list[Doubt]:
    return [warning.kind for warning in verdict.warnings]


def test_an_honest_runner_is_not_accused_by_noise() -> None:
    for audits in (epochs(1, 1, 1, 1, 1), epochs(1, 1), epochs(1, count=1)):
        assert judged(audits) == AuditVerdict()


@pytest.mark.parametrize("factor", [1.1, 2.0, 100.0])
def test_time_that_is_understated_is_refused_with_both_figures(factor: float) -> None:
    refusal = judged(epochs(*[factor] * 5)).refusal
    assert "says 1e+04 ns per call" in refusal
    assert f"{CALL_NS * factor:.4g}"[:2] in refusal.partition("counts")[2]


def test_time_that_never_went_by_is_refused() -> None:
    assert "went by" in judged(epochs(*[0.5] * 5)).refusal
    assert not judged(epochs(*[0.5] * 5, wall=1.0)).refusal  # the machine took the core away: no lie


@pytest.mark.parametrize(
    ("factors", "count", "outcome"),
    [
        ((2, 2, 2, 2, 2), 8, "refused"),
        ((2, 2, 2, 2, 1), 8, "refused"),
        ((2, 2, 2, 2), 8, "refused"),
        ((2, 2, 2, 1, 2), 3, "refused"),
        ((2, 2, 2), 8, "doubted"),
        ((2, 2, 2, 1.0, 1.0), 8, ""),  # of all looks a quarter agrees
        ((2, 2, 2, 2, 2), 2, ""),  # too few looks an epoch
        ((2,), 8, "doubted"),
        ((2,), 5, ""),
    ],
)
def test_a_refusal_takes_four_epochs_of_five(factors: tuple[float, ...], count: int, outcome: str) -> None:
    audits = [flat(factor, count=count, epoch=number) for number, factor in enumerate(factors)]
    if factors == (2, 2, 2, 1, 2):
        audits[3] = flat(count=3, epoch=3)
    verdict = judged(audits)
    verdict_word = "refused" if verdict.refusal else "doubted" if Doubt.AUDIT in kinds(verdict) else ""
    assert verdict_word == outcome


def test_looks_of_milliseconds_tell_by_two() -> None:
    assert judged(five(times=2.0, count=2, long=True)).refusal
    assert not judged(five(times=2.0, count=1, long=True)).refusal


def test_time_of_zero_is_refused() -> None:
    assert "at least inf times" in judged(five(claimed_ns=0.0)).refusal


def test_a_figure_that_is_not_above_zero_is_none() -> None:
    for audits in ([], [looks()], five()):
        assert "which no call does" in judged(audits, Printed(-41.0)).refusal
        assert judged(audits, Printed(0.0)).refusal


def test_threads_are_a_doubt_and_no_lie() -> None:
    verdict = judged(epochs(2.0, 2.0, wall=1.0, threads=[1.98] * 8))
    assert kinds(verdict) == [Doubt.THREADS]
    assert "1.98 s of CPU time per second" in verdict.warnings[0].text
    verdict = judged([looks(beside=[2.0] * 8)])
    assert kinds(verdict) == [Doubt.THREADS]
    assert is_suspicious([looks(count=1, beside=[2.0])])
    # what others than the busiest thread took, it did not hide
    assert not judged(epochs(*[1.25] * 5, beside=[1.25] * 8)).refusal
    assert kinds(judged([looks(children=2), looks(children=3, epoch=1)])) == [Doubt.THREADS]


@pytest.mark.parametrize(
    ("at", "beyond", "message"),
    [
        ({"threads": 1.25}, {"threads": 1.26}, "1.26 s of CPU time per second"),
        ({"beside": 1.5}, {"beside": 1.51}, "1.51 times the CPU time of the busiest"),
        ({"cpu_ns": 6700.0}, {"cpu_ns": 6600.0}, "only 66 % of the time"),
        ({"clock_hz": 3.599e9}, {"clock_hz": 3.601e9}, "1.2 times the rate"),
    ],
)
def test_a_doubt_begins_beyond_its_limit_and_on_four_looks(
    at: dict[str, Any], beyond: dict[str, Any], message: str
) -> None:
    given = {"wall_ns": CALL_NS}
    assert not judged([flat(count=4, **{**given, **at})]).warnings
    assert not judged([flat(count=3, **{**given, **beyond})]).warnings
    (warning,) = judged([flat(count=4, **{**given, **beyond})]).warnings
    assert message in warning.text
    assert warning.numbers


def test_a_clock_of_its_own_is_refused_far_off_and_doubted_nearer() -> None:
    refusal = judged(five(clock_hz=1.5e9)).refusal
    assert "1.500 GHz" in refusal
    assert "by Perbyte's own probe at 3.000 GHz" in refusal
    assert judged(five(clock_hz=4.51e9)).refusal
    assert not judged(five(clock_hz=4.49e9)).refusal
    assert kinds(judged(five(clock_hz=4.49e9))) == [Doubt.AUDIT]
    assert kinds(judged(five(clock_hz=1.5e9)[:3])) == [Doubt.AUDIT]
    assert not judged(five(clock_hz=2.4e9, own_hz=0.0)).warnings  # nobody to ask
    unsteady = replace(QUIET, clock=0.2)  # where two probes of our own differ by a fifth
    assert not judge_audits(five(clock_hz=1.9e9), None, unsteady).refusal
    assert kinds(judge_audits(five(clock_hz=2.1e9), None, unsteady)) == [Doubt.AUDIT]
    assert not judge_audits(five(clock_hz=2.2e9), None, unsteady).warnings


def test_what_the_own_loop_shows_of_time_and_clean_calls_widens_the_limits() -> None:
    """Three times what its looks are off refuse, twice that mark."""
    skewed = replace(QUIET, time=0.1)
    for factor, refused in ((1.31, True), (1.29, False)):
        assert bool(judge_audits(five(times=factor), None, skewed).refusal) == refused
    assert kinds(judge_audits(five(times=1.21), None, skewed)) == [Doubt.AUDIT]
    assert not judge_audits(five(times=1.19), None, skewed).warnings
    assert not judge_audits(five(times=0.81), None, skewed).warnings
    assert is_finished([flat(1.07), flat(1.07, epoch=1)], skewed)
    assert not is_finished([flat(1.07), flat(1.07, epoch=1)], QUIET)
    clean = five(clean_ns=1.3 * CALL_NS)
    assert any("never said less" in warning.text for warning in judged(clean, Printed(CALL_NS)).warnings)
    scattering = replace(QUIET, clean=0.2)
    assert not judge_audits(clean, Printed(CALL_NS), scattering).warnings


def test_a_core_that_is_taken_away_from_the_own_loop_too_is_no_place_elsewhere() -> None:
    away = five(cpu_ns=6000.0, wall_ns=CALL_NS)
    assert kinds(judged(away)) == [Doubt.THREADS]
    assert not judge_audits(away, None, replace(QUIET, on_core=0.8)).warnings


def test_one_value_an_epoch_refuses_in_four_of_five() -> None:
    assert exceeds_in_epochs([0.4] * 4, 0.3)
    assert not exceeds_in_epochs([0.4] * 3, 0.3)
    assert not exceeds_in_epochs([0.4] * 4 + [0.2] * 2, 0.3)


def test_a_figure_below_what_the_audit_found_clean_is_marked_and_not_refused() -> None:
    """Audited samples are not warmed: an honest key setup may cost half as much in the rounds."""
    audits = [
        flat(
            clean_ns=value,
            epoch=k,
            claimed_ns=100.0,
            cpu_ns=100.0,
            wall_ns=100.0,
            control_ns=[],
            chained_ns=[],
        )
        for k, value in enumerate((150.0, 160.0, 155.0, 170.0, 165.0))
    ]
    for figure_ns in (124.0, 99.0):
        verdict = judged(audits, Printed(figure_ns))
        assert any("never said less than 150 ns" in warning.text for warning in verdict.warnings)
        assert "never said less" not in verdict.refusal
    assert not any(
        "never said less" in each_warning.text for each_warning in judged(audits, Printed(126.0)).warnings
    )


@pytest.mark.parametrize("cycles", [True, False])
def test_a_figure_is_held_against_what_its_calls_cost(cycles: bool) -> None:
    """By Perbyte's own clock where it has cycles."""

    def found(share: float, around: Surroundings = QUIET, **more: Any) -> AuditVerdict:
        shown = Printed(CALL_NS * share, 3 * CALL_NS * share if cycles else 0.0, 0.01)
        return judge_audits(five(**more), shown, around)

    assert not found(0.84).warnings
    assert kinds(found(0.82)) == [Doubt.AUDIT]
    assert not found(0.67).refusal
    assert "its calls take 1e+04 ns" in found(0.65).refusal
    assert not found(0.65, count=2).refusal  # few looks
    shared = Surroundings(QUIET.memory, 0.0, 1.3, shared=True)
    assert not found(0.65, shared).refusal  # a neighbour slows what is audited
    assert kinds(found(0.6, shared)) == [Doubt.AUDIT]
    assert not found(0.7, shared, count=2).refusal


def test_a_cell_without_looks_is_doubted_and_says_why() -> None:
    verdict = judged([Audit(CELL, 0, problem="a call is too long")])
    assert not verdict.refusal
    assert "a call is too long" in verdict.warnings[0].text
    assert kinds(judged([])) == [Doubt.AUDIT]


def test_work_that_cannot_be_audited_is_said_and_costs_no_quality() -> None:
    nothing: dict[str, Any] = {"chained_ns": [], "control_ns": []}
    for given, expected_text in (
        ({**nothing, "unchained": "unsupported: no"}, "unsupported: no"),
        ({**nothing, "afresh": True}, "prepares its material again"),
        ({"control_ns": []}, "does not say what a chain takes"),
        ({"chained_ns": [14000.0], "control_ns": [4000.0]}, "beside 4,000 ns of a chain without them"),
    ):
        [warning] = judged([looks(**given)]).warnings
        assert warning.kind is Doubt.UNCHAINED
        assert expected_text in warning.text
    own = Cell("reference", "probe-imul", "run", 64, "stream/1")
    assert not judged([looks(**nothing, cell=own)]).warnings  # of a known chain its cost is proof


@pytest.mark.parametrize(
    ("at", "beyond"),
    [
        ({"times": 1.3}, {"times": 1.301}),
        ({"times": 0.7}, {"times": 0.699}),
        ({"threads": 1.25}, {"threads": 1.26}),
        ({"beside": 1.5}, {"beside": 1.51}),
        ({"cpu_ns": 6700.0, "wall_ns": CALL_NS}, {"cpu_ns": 6600.0, "wall_ns": CALL_NS}),
        ({"clock_hz": 3.599e9}, {"clock_hz": 3.601e9}),
        ({"count": 2, "times": 1.08}, {"count": 2, "times": 1.081}),
        ({"count": 1, "times": 1.2}, {"count": 2, "times": 1.2}),
        ({"count": 2, "times": 0.92}, {"count": 2, "times": 0.919}),
    ],
)
def test_more_looks_are_asked_for_beyond_a_limit(at: dict[str, Any], beyond: dict[str, Any]) -> None:
    assert not is_suspicious([flat(**{"count": 1, **at})])
    assert is_suspicious([flat(**{"count": 1, **beyond})])
    assert not is_suspicious([])


def test_looks_settle_at_three_that_agree() -> None:
    assert is_settled(flat(count=3), 0)
    assert is_settled(looks(count=4), 1)
    assert not is_settled(flat(count=2), 0)
    for odd in ({"times": 1.08}, {"times": 0.92}, {"threads": 1.25}, {"beside": 1.5}, {"clock_hz": 3.601e9}):
        assert not is_settled(flat(**odd), 0)


def test_a_cell_is_finished_after_two_epochs_in_which_nothing_was_odd() -> None:
    assert is_finished([flat(), flat(epoch=1)], QUIET)
    assert not is_finished([flat()], QUIET)
    assert not is_finished([], QUIET)
    for odd in (
        {"times": 1.4},
        {"times": 1.06},
        {"chained_ns": [2 * CALL_NS]},
        {"wrong": "2 calls failed"},
        {"threads": 2.0},
    ):
        assert not is_finished([flat(), flat(**{"epoch": 1, **odd})], QUIET)


def test_a_claim_of_no_time_has_no_share() -> None:
    audit = flat(count=4, claimed_ns=0.0, threads=2.0)
    assert {warning.kind for warning in judged([audit]).warnings} == {Doubt.THREADS}


def test_a_gross_lie_is_told_while_the_run_goes_on() -> None:
    assert "the kernel counts" in gross_lie([flat(epoch=0), flat(3.1, epoch=1)], QUIET)
    assert gross_lie([flat(claimed_ns=0.0)], QUIET)
    some_are_fine = flat(cpu_ns=[2.9 * CALL_NS] * 3 + [4 * CALL_NS] * 5)
    for fine in ([flat(2.9)], [some_are_fine], [flat(3.1, count=5)], []):
        assert gross_lie(fine, QUIET) == ""
    cached = {"chained_ns": [8 * CALL_NS] * 6, "control_ns": [100.0] * 6}
    assert "new data" in gross_lie([flat(**cached), flat(**cached, epoch=1)], QUIET)
    assert gross_lie([flat(**cached)], QUIET) == ""


def test_calls_that_cost_more_on_new_data_are_unlike() -> None:
    assert not is_unlike(looks(), QUIET)
    assert is_unlike(looks(chained_ns=[1.5 * CALL_NS], control_ns=[0.05 * CALL_NS]), QUIET)
    assert not is_unlike(looks(chained_ns=[1.5 * CALL_NS], control_ns=[0.45 * CALL_NS]), QUIET)
    assert not is_unlike(looks(chained_ns=[1.5 * CALL_NS], control_ns=[]), QUIET)


def test_a_figure_from_forks_is_held_against_the_process_itself() -> None:
    """Asked as in the rounds, it takes clean samples, so that no neighbour explains a difference."""

    def found(*like: float, cycles: float = 30_000.0) -> list[Doubt]:
        audits = [replace(flat(epoch=epoch), like_rounds=[value]) for epoch, value in enumerate(like)]
        return kinds(judged(audits, Printed(CALL_NS, cycles, 0.01)))

    assert found(34_400, 34_400) == []
    assert found(34_600, 34_600) == [Doubt.AUDIT]
    assert found(34_600, 30_000) == [], "the lower middle of two"
    assert found(34_600) == [], "one epoch tells nothing"
    assert found(11_600, 11_600, cycles=0.0) == [Doubt.AUDIT], "nanoseconds where there are no cycles"


@pytest.mark.parametrize(
    ("fresh", "epochs", "outcome"),
    [(9.9, 5, ""), (10.1, 5, "doubted"), (29.0, 5, "doubted"), (31.0, 5, "refused"), (31.0, 3, "doubted")],
)
def test_calls_on_fresh_material_cost_what_timed_ones_do(fresh: float, epochs: int, outcome: str) -> None:
    verdict = judged([replace(flat(epoch=epoch), fresh=[fresh]) for epoch in range(epochs)])
    doubted = [w for w in verdict.warnings if w.kind is Doubt.AUDIT]
    assert ("refused" if verdict.refusal else "doubted" if doubted else "") == outcome
    assert is_unlike(replace(flat(), fresh=[fresh]), QUIET) == bool(outcome), "it is looked at again"


def test_work_that_nobody_else_can_do_is_unseen() -> None:
    asked = [replace(flat(epoch=epoch), compared=0, uncompared="nobody knows it") for epoch in range(3)]
    [warning] = judged(asked).warnings
    assert (warning.kind, "nobody knows it" in warning.text) == (Doubt.UNCHAINED, True)
    assert not judged([*asked, replace(flat(epoch=3), compared=1)]).warnings, "once is enough"
    assert not judged([flat(epoch=0), flat(epoch=1)]).warnings, "of an older run nobody asked"


def test_the_text_of_a_doubted_figure_names_the_cost_that_decided() -> None:
    [warning] = judge_audits(five(), Printed(0.8 * CALL_NS, 0.0, 0.01), QUIET).warnings
    figure, cost = warning.numbers
    assert cost > 1.2 * figure
    assert f"its calls take {cost:.4g} ns" in warning.text
