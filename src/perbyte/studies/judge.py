"""Judging: the findings of a claim's groups become one of four outcomes, with the sentences that decide it.

A claim is reproduced only if every group it speaks of supports it, and not reproduced if a single one clearly
contradicts it; what overlaps or was not measured leaves it inconclusive, and what no library here provides makes it
not testable. `most` and `some` count groups instead. Nothing here knows what a particular form means.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from perbyte.datafile import Problem
from perbyte.errors import DataFileError
from perbyte.model import Quality, Run
from perbyte.studies.answers import Answer
from perbyte.studies.claims import Context, Finding, Form, State
from perbyte.studies.claims.significance import compute
from perbyte.studies.evidence import Table, gather
from perbyte.studies.model import Claim, Judgement, Outcome, Study, Verdict
from perbyte.studies.wording import counted, percent

_SHOWN = 4


def judge(study: Study, runs: Run | Sequence[Run]) -> Judgement:
    """Judge all claims of `study` on a run, or on several that together hold its cells.

    Raises UsageError without a run, and DataFileError, naming the claim, when a claim cannot be brought to one
    cost per cell.
    """
    several = (runs,) if isinstance(runs, Run) else tuple(runs)
    table = gather(study, several)
    context = Context(study, table, compute(study, table, several))
    return Judgement(
        answers=tuple(answer.fill(context) for answer in study.answers if isinstance(answer, Answer)),
        study=study,
        run_id=" + ".join(run.conditions.run_id for run in several),
        verdicts=tuple(verdict(claim, context) for claim in study.claims),
        statistics=context.statistics,
    )


def verdict(claim: Claim, context: Context) -> Verdict:
    """Judge one claim. Raises DataFileError, naming the claim, when it does not fit the cells."""
    assert isinstance(claim, Form)
    try:
        findings = claim.judge(context)
    except Problem as problem:
        place = f"{context.study.name}/claims.toml: [[claims]] {claim.id}"
        raise DataFileError(f"{place}: {problem}", hint=problem.hint) from problem
    if claim.negate:
        findings = [replace(finding, state=finding.state.negated) for finding in findings]
    outcome = decide([finding.state for finding in findings], claim.quantifier)
    return Verdict(
        claim=claim,
        outcome=outcome,
        evidence=(*_evidence(findings, outcome), *_doubts(context.table, outcome)),
        numbers=tuple(number for finding in findings for number in finding.numbers),
        rule=claim.rule(context),
        refuted_by=claim.refuted_by(context),
        compared=sum(finding.state is not State.LEFT_OUT for finding in findings),
        left_out=sum(finding.state is State.LEFT_OUT for finding in findings),
    )


def decide(states: Sequence[State], quantifier: str = "every") -> Outcome:
    """Bring the states of a claim's groups to one outcome.

    `every`: one contradiction decides; `most`: more than half of the groups; `some`: one group is enough. Groups
    that are open count as possible either way; if they could still decide, the outcome stays open, and is
    `not testable` when what is missing is not provided by anybody. What a quick variant leaves out, and what the
    study does not print, does not count, unless nothing else is there.
    """
    if not states:
        return Outcome.NOT_TESTABLE
    if all(state is State.NOT_PRINTED for state in states):
        return Outcome.NOT_TESTABLE
    states = [state for state in states if not state.set_aside]
    total = len(states)
    if not total:
        return Outcome.INCONCLUSIVE
    yes, no = states.count(State.YES), states.count(State.NO)
    least = {"every": total, "most": total // 2 + 1, "some": 1}[quantifier]
    if yes >= least:
        return Outcome.REPRODUCED
    if total - no < least:
        return Outcome.NOT_REPRODUCED
    return Outcome.NOT_TESTABLE if State.UNPROVIDED in states else Outcome.INCONCLUSIVE


def _evidence(findings: Sequence[Finding], outcome: Outcome) -> tuple[str, ...]:
    """The summary, then the sentences that decide: contradictions first for a failure, the closest call else."""
    if len(findings) == 1:
        return (findings[0].sentence,)
    counts = [(state, sum(finding.state is state for finding in findings)) for state in State]
    said = ", ".join(f"{count} {state.value[count != 1]}" for state, count in counts if count)
    return (f"Of {counted(len(findings), 'comparison')} {said}.", *_deciding(findings, outcome))


def _deciding(findings: Sequence[Finding], outcome: Outcome) -> list[str]:
    if outcome is Outcome.REPRODUCED:
        supporting = [finding for finding in findings if finding.state is State.YES]
        closest = min(supporting, key=lambda finding: finding.margin)
        farthest = max(supporting, key=lambda finding: finding.margin)
        said = [f"Closest call: {closest.sentence}"]
        return said if farthest is closest else [*said, f"Clearest: {farthest.sentence}"]
    wanted = {
        Outcome.NOT_REPRODUCED: (State.NO,),
        Outcome.INCONCLUSIVE: (State.OPEN, State.UNMEASURED, State.NO, State.LEFT_OUT),
        Outcome.NOT_TESTABLE: (State.UNPROVIDED, State.NO, State.NOT_PRINTED),
    }[outcome]
    deciding = [
        finding.sentence
        for state in wanted
        for finding in sorted((one for one in findings if one.state is state), key=lambda one: -one.margin)
    ]
    shown = list(dict.fromkeys(deciding))
    more = len(shown) - _SHOWN
    return shown[:_SHOWN] + ([f"And {more} more of this kind."] if more > 0 else [])


def _doubts(table: Table, outcome: Outcome) -> list[str]:
    """What a reader must know where intervals decided nothing: how wide they are allowed to be."""
    if outcome is not Outcome.INCONCLUSIVE:
        return []
    figures = [row.figure for row in table.rows if row.figure]
    poor = sum(figure.quality is not Quality.GOOD for figure in figures)
    doubts = []
    if table.floor is None:
        doubts.append("The run has no A/A pair: only the intervals decided.")
    elif table.floor > 0:
        doubts.append(f"The noise floor of the run is {percent(table.floor)}.")
    if poor:
        doubts.append(f"{poor} of {counted(len(figures), 'figure')} of this study are not of good quality.")
    return doubts
