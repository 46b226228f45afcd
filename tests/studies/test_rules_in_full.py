"""The texts of every claim against what was computed: change what decides, and the rule that is printed changes.

Rendered are the pages of all studies, in print and on a run that was stored and read again.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from msgspec import structs
from test_counterexamples import drawn, printed_costs

from perbyte.datafile import Problem, parse_toml
from perbyte.errors import DataFileError
from perbyte.model import Run
from perbyte.report import studyview
from perbyte.report.listing import LONGEST
from perbyte.report.studyview import claims_page, in_print, outcome_of
from perbyte.store import RunWriter, open_run
from perbyte.studies import Judgement, Outcome, Study, Verdict, judge, judge_in_print, published_run, studies
from perbyte.studies.claims import Context, Form, State
from perbyte.studies.claims.availability import OutOfReach
from perbyte.studies.claims.significance import Effect
from perbyte.studies.evidence import gather

ALL = studies()
SAID_ELSEWHERE = {"id", "says", "place", "reading", "words", "figures_set", "about", "why", "measured_by"}
"""Keys that decide nothing: what the claim is called, and texts of ours about it."""

OTHER: dict[str, tuple[object, ...]] = {
    "quantifier": ("every", "most", "some"),
    "per": ("byte", "block", "call"),
    "of": ("time", "instructions", "stack", "heap", "heap-peak", "allocations", "code"),
    "aggregate": ("each", "mean", "min", "max"),
    "test": ("kruskal-wallis", "mann-whitney", "shapiro-wilk"),
    "values": ("epochs", "samples"),
    "effect": ("cohen_d", "cliff_delta"),
    "between": ("today", "machines"),
    "negate": (False, True),
    "anywhere": (False, True),
    "everywhere": (False, True),
}


def changed(claim: Form) -> Iterator[tuple[str, Form]]:
    """The claim with one of its keys changed to another value that is legal, key by key."""
    for field in structs.fields(claim):
        key, value = field.name, getattr(claim, field.name)
        others: list[object] = []
        if key in SAID_ELSEWHERE:
            continue
        if key in OTHER:
            others = [other for other in OTHER[key] if other != value]
        elif isinstance(value, bool):
            raise AssertionError(f"no other value is known for {key}")
        elif isinstance(value, int | float) and value not in (0, float("inf")):
            others = [value * 1.5] if key not in ("from_", "to") else []
        elif isinstance(value, dict) and value:
            first = next(iter(value))
            others = [{name: entry for name, entry in value.items() if name != first}]
        elif isinstance(value, tuple) and len(value) > 1:
            others = [value[1:]] if key not in ("order", "rises") or len(value) > 2 else []
            others += [value[::-1]] if key in ("order", "rises") else []
        elif isinstance(value, tuple) and value and key in ("by", "each", "average_over", "best_of"):
            others = [()]
        for other in others:
            with suppress(Problem):  # keys that exclude each other
                yield key, structs.replace(claim, **{key: other})


def indifferent(claim: Form, context: Context, key: str) -> bool:
    """True where a key decides nothing: a quantifier of one finding, a share where each pair is judged by itself."""
    if key == "quantifier":
        return claim.single or not claim.groups(context)
    return key == "share_percent" and isinstance(claim, Effect) and claim.from_ is None


@pytest.mark.parametrize("study", ALL, ids=lambda study: study.name)
def test_what_decides_is_in_the_rule(study: Study) -> None:
    context = Context(study, gather(study, [published_run(study)]), None)
    silent, tried = [], 0
    for claim in study.claims:
        assert isinstance(claim, Form)
        if isinstance(claim, OutOfReach):
            continue
        message = claim.rule(context)
        for key, other in changed(claim):
            if indifferent(claim, context, key):
                continue
            tried += 1
            if other.rule(context) == message:
                silent.append((claim.id, key))
    assert silent == []
    assert tried > 2 * len(study.claims)


@pytest.mark.parametrize("study", ALL, ids=lambda study: study.name)
def test_the_cells_that_the_tests_of_a_study_run_on_are_in_the_rule(study: Study) -> None:
    plan = study.statistics
    if plan is None:
        return
    table = gather(study, [published_run(study)])
    for changed_plan in (
        structs.replace(plan, compare="runner"),
        structs.replace(plan, group_by=plan.group_by[1:]),
        structs.replace(plan, where={}),
    ):
        before = Context(study, table, None)
        after = Context(structs.replace(study, statistics=changed_plan), table, None)
        for claim in study.claims:
            if claim.__struct_config__.tag in ("significant", "effect"):
                assert isinstance(claim, Form)
                assert claim.rule(before) != claim.rule(after), (claim.id, changed_plan)


def counted(verdict: Verdict) -> dict[State, int]:
    """How many comparisons of each kind the first sentence of the evidence tells of."""
    outcomes = {}
    for state in State:
        for number, words in enumerate(state.value):
            count = re.search(rf"(\d+) {re.escape(words)}(?=[,.])", verdict.evidence[0])
            if count:
                assert (int(count[1]) == 1) == (number == 0), verdict.evidence[0]
                outcomes[state] = int(count[1])
    return outcomes


def stored(study: Study, place: Path) -> Run:
    """A run of drawn figures, written to disk and read again."""
    run = drawn(study, printed_costs(study), 1)
    written = place / study.name
    with RunWriter.create(written) as writer:
        writer.begin(run.conditions)
        writer.finish(run.cells, run.noise_floor, 1.0, complete=True)
    return open_run(written)


def judged(study: Study, place: Path) -> Iterator[tuple[Judgement, Run]]:
    for machine in study.machines:
        yield judge_in_print(study, machine.id), published_run(study, machine.id)
    run = stored(study, place)
    yield judge(study, run), run


@pytest.mark.slow
@pytest.mark.parametrize("study", ALL, ids=lambda study: study.name)
def test_a_page_says_of_every_claim_what_was_computed(
    study: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    printed = in_print(study)  # the same on the page of each machine, and as dear as all of them
    monkeypatch.setattr(studyview, "in_print", lambda of: {study.name: printed}[of.name])
    for judgement, run in judged(study, tmp_path):
        context = Context(study, gather(study, [run]), judgement.statistics)
        page = claims_page(study, judgement, [run])
        texts = re.split(r"^## ", page, flags=re.MULTILINE)[1:]
        parts = {text.split("\n", 1)[0]: text for text in texts}
        assert list(parts) == [claim.id for claim in study.claims]
        for verdict in judgement.verdicts:
            part = parts[verdict.claim.id]
            assert isinstance(verdict.claim, Form)
            assert f"- Rule: {verdict.claim.rule(context)}\n" in part
            assert len(f"Rule: {verdict.rule}") < LONGEST
            assert f"- Refuted by: {verdict.claim.refuted_by(context)}\n" in part
            assert f"- In print: {printed[verdict.claim.id]}\n" in part
            basis = ", by print alone" if verdict.claim.in_print_only else ""
            assert f"- Here: {outcome_of(verdict)}{basis}." in part
            holds(verdict.claim, verdict, context)


def holds(claim: Form, verdict: Verdict, context: Context) -> None:
    """What the evidence counts is what the form found, and what print cannot answer is not called reproduced."""
    states = [finding.state for finding in claim.judge(context)]
    if claim.negate:
        states = [state.negated for state in states]
    sentence = verdict.evidence[0]
    assert "Of 0 " not in sentence
    if len(states) > 1:
        assert sentence.startswith(f"Of {len(states)} comparisons ")
        assert counted(verdict) == {state: states.count(state) for state in State if state in states}
    if State.NOT_PRINTED in states and claim.quantifier == "every":
        assert verdict.outcome in (Outcome.NOT_TESTABLE, Outcome.NOT_REPRODUCED)
    if verdict.outcome is Outcome.REPRODUCED:
        assert State.YES in states
    if verdict.outcome is Outcome.NOT_REPRODUCED:
        assert State.NO in states


def test_print_answers_nothing_about_today() -> None:
    for study in ALL:
        for machine in study.machines:
            for verdict in judge_in_print(study, machine.id).verdicts:
                if getattr(verdict.claim, "between", "") == "today":
                    assert verdict.outcome is Outcome.NOT_TESTABLE, verdict.claim.id


def test_no_refutation_says_the_reverse(tmp_path: Path) -> None:
    """A rule and its refutation exclude each other where both are read as sentences: of what a library has."""
    (claim,) = [claim for study in ALL for claim in study.claims if claim.id == "rows-are-to-be-had"]
    assert isinstance(claim, Form)
    study = next(study for study in ALL if claim in study.claims)
    context = Context(study, gather(study, [published_run(study)]), None)
    assert "at least one library here has the algorithm" in claim.rule(context)
    assert claim.refuted_by(context).startswith("no library here has it")


NASTY = "<script>alert(1)</script> [l](javascript:x) ![i](x) `c` *e* ~~s~~ | # h"
SAFE = r"&lt;script&gt;alert(1)&lt;/script&gt; \[l\](javascript:x) !\[i\](x) \`c\` \*e\* \~\~s\~\~ \| # h"


def test_no_text_of_a_study_is_markup_on_its_page():
    study = next(study for study in ALL if study.claims)
    claims = tuple(structs.replace(claim, says=NASTY, place=NASTY) for claim in study.claims[:1])
    texts = {"title": f"# {NASTY}", "citation": f"- {NASTY}", "question": NASTY}
    page = claims_page(structs.replace(study, claims=claims, **texts))
    assert "<" not in page
    lines = page.splitlines()
    assert lines[0] == rf"# \# {SAFE}"
    assert lines[2] == rf"\- {SAFE}"
    assert lines[4] == f"**Question.** {SAFE}"
    assert any(line.startswith(SAFE) for line in lines)
    assert f"- Place: {SAFE}" in lines


@pytest.mark.parametrize("kind", ["pipe", "device", "large"])
def test_a_file_of_a_study_that_has_no_end_is_refused(tmp_path, kind):
    place = tmp_path / "study.toml"
    if kind == "pipe":
        os.mkfifo(place)
    elif kind == "device":
        place.symlink_to("/dev/zero")
    else:
        with place.open("wb") as file:
            file.truncate((16 << 20) + 1)
    with pytest.raises(DataFileError, match=r"regular file|more than 16 MiB"):
        parse_toml(place)
