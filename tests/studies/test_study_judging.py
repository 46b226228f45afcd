"""From findings to outcomes: quantifiers, what is missing and why, several runs, and what is said about doubts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from scripted_studies import Overrides, figure_of, scripted_run, write_study

from perbyte.errors import UsageError
from perbyte.model import Cell, Failure, Quality
from perbyte.studies import Outcome, Study, Verdict, find, judge, read_study
from perbyte.studies.claims import State
from perbyte.studies.evidence import gather
from perbyte.studies.judge import decide

YES, NO, OPEN, UNMEASURED, UNPROVIDED, LEFT_OUT, NOT_PRINTED, TOO_FEW = State

CLAIM = """
[[claims]]
id = "c"
says = "s"
place = "p"
form = "rank"
quantifier = "{quantifier}"
candidates = "group"
first = "fast"
where = {{ kind = ["new", "old"] }}
by = ["runner", "operation", "size_bytes"]
"""


def study_of(tmp_path: Path, quantifier: str = "every") -> Study:
    return read_study(write_study(tmp_path, claims=CLAIM.format(quantifier=quantifier)))


def only(study: Study, *runs: object) -> Verdict:
    (verdict,) = judge(study, list(runs)).verdicts  # type: ignore[arg-type]
    return verdict


@pytest.mark.parametrize(
    ("states", "every", "most", "some"),
    [
        ([YES, YES, YES], "reproduced", "reproduced", "reproduced"),
        ([YES, YES, NO], "not reproduced", "reproduced", "reproduced"),
        ([YES, NO, NO], "not reproduced", "not reproduced", "reproduced"),
        ([NO, NO, NO], "not reproduced", "not reproduced", "not reproduced"),
        ([YES, YES, OPEN], "inconclusive", "reproduced", "reproduced"),
        ([YES, NO, OPEN], "not reproduced", "inconclusive", "reproduced"),
        ([YES, OPEN, UNPROVIDED], "not testable", "not testable", "reproduced"),
        ([NO, NO, UNPROVIDED], "not reproduced", "not reproduced", "not testable"),
        ([NO, UNMEASURED, UNMEASURED], "not reproduced", "inconclusive", "inconclusive"),
        ([UNMEASURED], "inconclusive", "inconclusive", "inconclusive"),
        ([YES, NO], "not reproduced", "not reproduced", "reproduced"),
        ([YES, LEFT_OUT, LEFT_OUT], "reproduced", "reproduced", "reproduced"),
        ([NO, OPEN, LEFT_OUT], "not reproduced", "not reproduced", "inconclusive"),
        ([LEFT_OUT], "inconclusive", "inconclusive", "inconclusive"),
        ([YES, NOT_PRINTED], "not testable", "not testable", "reproduced"),
        ([YES, YES, NOT_PRINTED], "not testable", "reproduced", "reproduced"),
        ([NO, NOT_PRINTED], "not reproduced", "not reproduced", "not testable"),
        ([NOT_PRINTED], "not testable", "not testable", "not testable"),
        ([], "not testable", "not testable", "not testable"),
    ],
)
def test_states_become_outcomes(states: list[State], every: str, most: str, some: str) -> None:
    assert [decide(states, rule).value for rule in ("every", "most", "some")] == [every, most, some]


def test_quantifiers_of_a_claim(tmp_path: Path) -> None:
    five: Overrides = {"one/mid/*": 0.5, "two/mid/encrypt@16": (2.0, 0.5)}
    assert only(study_of(tmp_path, "every"), scripted_run(five)).outcome is Outcome.NOT_REPRODUCED
    assert only(study_of(tmp_path, "most"), scripted_run(five)).outcome is Outcome.NOT_REPRODUCED
    assert only(study_of(tmp_path, "some"), scripted_run(five)).outcome is Outcome.REPRODUCED
    two: Overrides = {"one/mid/*@16": 0.5}
    assert only(study_of(tmp_path, "most"), scripted_run(two)).outcome is Outcome.REPRODUCED


def test_a_failure_tells_why_a_cell_is_missing(tmp_path: Path) -> None:
    study = study_of(tmp_path)
    gone: Overrides = {"two/mid/encrypt@16": None}
    address = "two/camellia-128-ecb/encrypt@16+contract=stream/1"
    for kind, outcome in [
        ("unsupported", Outcome.NOT_TESTABLE),
        ("absent", Outcome.NOT_TESTABLE),
        ("crashed", Outcome.INCONCLUSIVE),
        ("incorrect", Outcome.INCONCLUSIVE),
    ]:
        failure = Failure(kind, "two", "for a reason", address=address)
        verdict = only(study, scripted_run(gone, failures=(failure,)))
        assert verdict.outcome is outcome
        assert f"Mid (two, encrypt, 16 bytes) has no figure: {kind}: for a reason." in verdict.evidence


def test_a_runner_that_is_absent_makes_its_cells_unmeasurable(tmp_path: Path) -> None:
    failure = Failure("absent", "two", "its library is not installed")
    verdict = only(study_of(tmp_path), scripted_run({"two/*": None}, failures=(failure,)))
    assert verdict.outcome is Outcome.NOT_TESTABLE
    assert verdict.evidence[0] == "Of 12 comparisons 6 support the claim, 6 are provided by no library here."


def test_cells_that_were_not_asked_for_leave_a_claim_open(tmp_path: Path) -> None:
    study = study_of(tmp_path)
    gone: Overrides = {"two/*": None}
    other = only(study, scripted_run(gone, study=""))
    assert other.outcome is Outcome.INCONCLUSIVE
    assert "the run did not ask for it" in other.evidence[1]
    stopped = only(study, scripted_run(gone, complete=False))
    assert stopped.outcome is Outcome.INCONCLUSIVE
    assert "the run was not completed" in stopped.evidence[1]


def test_a_quick_run_is_recognised(tmp_path: Path) -> None:
    quick: Overrides = {"*@512": None, "*/slow/*": None}
    verdict = only(study_of(tmp_path), scripted_run(quick))
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "the quick variant leaves it out" in verdict.evidence[1]


def test_a_quick_run_is_judged_on_what_it_is_meant_to_hold(tmp_path: Path) -> None:
    claims = CLAIM.format(quantifier="every").replace('["new", "old"]', '"new"')
    study = read_study(write_study(tmp_path, claims=claims))
    quick: Overrides = {"*@512": None, "*/slow/*": None}
    verdict = only(study, scripted_run(quick))
    assert verdict.outcome is Outcome.REPRODUCED
    assert verdict.evidence[0] == "Of 12 comparisons 8 support the claim, 4 are not in the quick variant."
    gone = only(study, scripted_run({**quick, "one/mid/encrypt@16": None}))
    assert gone.outcome is Outcome.NOT_TESTABLE


def test_flat_and_extreme_are_judged_on_the_sizes_of_a_quick_run(tmp_path: Path) -> None:
    quick: Overrides = {"*@512": None, "*/slow/*": None}
    head = '[[claims]]\nid = "{id}"\nsays = "s"\nplace = "p"\nform = "trend"\n'
    sides = 'numerator = {{ group = "mid" }}\ndenominator = {{ group = "fast" }}\n'
    by = 'by = ["runner", "operation"]\n'
    claims = (
        head.format(id="flat")
        + 'where = { group = "mid" }\nwithin_percent = 6\nby = ["runner", "operation"]\n'
        + (head + sides + by + "within_percent = 30\n").format(id="ratio_flat")
        + (head + sides + by + "smallest = 16\nlargest = 32\n").format(id="ratio_extremes")
    )
    study = read_study(write_study(tmp_path, claims=claims))
    verdicts = judge(study, scripted_run(quick)).verdicts
    assert [verdict.outcome.value for verdict in verdicts] == ["reproduced", "reproduced", "reproduced"]


def test_several_runs_are_judged_together_and_the_first_counts(tmp_path: Path) -> None:
    study = study_of(tmp_path)
    first, second = scripted_run({"two/*": None}), scripted_run({"one/*": 99.0})
    assert only(study, first, second).outcome is Outcome.REPRODUCED
    assert only(study, second, first).outcome is Outcome.INCONCLUSIVE
    assert judge(study, [first, second]).run_id == "scripted + scripted"
    with pytest.raises(UsageError, match="there is no run to judge"):
        judge(study, [])


def test_the_larger_noise_floor_of_several_runs_counts(tmp_path: Path) -> None:
    study = study_of(tmp_path)
    close: Overrides = {"two/mid/decrypt@16": 2.05}
    quiet, loud = scripted_run(close, floor=0.001), scripted_run({"two/*": None}, floor=0.03)
    assert only(study, quiet).outcome is Outcome.REPRODUCED
    assert only(study, quiet, loud).outcome is Outcome.INCONCLUSIVE
    assert "The noise floor of the run is 3.00 %." in only(study, quiet, loud).evidence


def test_a_run_without_a_noise_floor_says_so_where_nothing_was_decided(tmp_path: Path) -> None:
    verdict = only(study_of(tmp_path), scripted_run({"two/mid/decrypt@16": (2.0, 0.1)}, floor=None))
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "The run has no A/A pair: only the intervals decided." in verdict.evidence


def test_figures_of_poor_quality_are_counted(tmp_path: Path) -> None:
    run = scripted_run({"two/mid/decrypt@16": (2.0, 0.1)})
    noisy = replace(run, cells=(replace(run.cells[0], quality=Quality.NOISY), *run.cells[1:]))
    assert (
        "1 of 36 figures of this study are not of good quality." in only(study_of(tmp_path), noisy).evidence
    )


def test_the_second_process_of_an_a_a_pair_is_no_evidence(tmp_path: Path) -> None:
    run = scripted_run()
    twin = Cell("two", "camellia-128-ecb", "decrypt", 16, "stream/1", twin=1)
    verdict = only(study_of(tmp_path), replace(run, cells=(*run.cells, figure_of(twin, 0.1))))
    assert verdict.outcome is Outcome.REPRODUCED


def test_long_lists_of_groups_are_cut(tmp_path: Path) -> None:
    verdict = only(study_of(tmp_path), scripted_run({"*/mid/*": 0.5}))
    assert verdict.evidence[0] == "Of 12 comparisons 12 contradict it."
    assert verdict.evidence[-1] == "And 8 more of this kind."
    assert len(verdict.evidence) == 6
    assert len({number.group for number in verdict.numbers}) == 12


def test_that_nobody_offers_one_algorithm_says_nothing_of_another() -> None:
    study = find("openssl-speed-2013")
    message = "no runner here offers '*/mdc2/digest@16,64,256,1024,8192+contract=oneshot/1'"
    refused = Failure("refused", "cryptopp", "too long", address="cryptopp/md2/digest@16+contract=oneshot/1")
    run = scripted_run(study=study.name, failures=(Failure("unsupported", "*", message), refused))
    rows = gather(study, [replace(run, cells=())]).rows
    assert {row.dims["group"] for row in rows if message in row.reason} == {"mdc2"}
    (row,) = (row for row in rows if "too long" in row.reason)
    assert (row.dims["group"], row.dims["size_bytes"]) == ("md2", 16)
