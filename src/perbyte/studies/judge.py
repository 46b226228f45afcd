"""Judging: the findings of a claim's groups become one of four outcomes, with the sentences that decide it.

A claim is reproduced only if every group it speaks of supports it, and not reproduced if a single one clearly
contradicts it; what overlaps or was not measured leaves it inconclusive, and what no library here provides makes it
not testable. `most` and `some` count groups instead. Nothing here knows what a particular form means.

Printed figures are judged as a run of their own, without intervals: a text may claim more than its table shows. What
is not printed is not answered by print: it leaves a claim not testable there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from perbyte import places
from perbyte.datafile import located
from perbyte.errors import PerbyteError, UsageError
from perbyte.model import Cell, CellFigure, Estimate, Quality, Run
from perbyte.model.text import counted
from perbyte.stats.across import floor_across
from perbyte.stats.compare import compare
from perbyte.stats.quantity import Unit, read
from perbyte.store import runs as stored_runs
from perbyte.studies.answers import AnswerSentence
from perbyte.studies.claims import Context, Finding, Form, State
from perbyte.studies.claims.significance import compute
from perbyte.studies.evidence import EvidenceTable, cells_of, figures_of, gather, published_run
from perbyte.studies.history import History, load_history
from perbyte.studies.load import find
from perbyte.studies.model import Claim, Judgement, Outcome, PublishedFigure, Study, Verdict
from perbyte.studies.wording import percent

_SHOWN = 4


def judge(study: Study, runs: Run | Sequence[Run]) -> Judgement:
    """Judge all claims of `study` on a run, or on several that together hold its cells.

    Raises UsageError without a run, and DataFileError, naming the claim, when a claim cannot be brought to one
    cost per cell.
    """
    several = (runs,) if isinstance(runs, Run) else tuple(runs)
    table = gather(study, several)
    context = Context(study, table, compute(study, table, several))
    answers = [answer for answer in study.answers if isinstance(answer, AnswerSentence)]
    return Judgement(
        answers=tuple(answer.fill(context) for answer in answers),
        tables=tuple(table for answer in answers for table in answer.tables(context)),
        study=study,
        run_id=" + ".join(run.conditions.run_id for run in several),
        verdicts=tuple(verdict(claim, context) for claim in study.claims),
        statistics=context.statistics,
    )


def verdict(claim: Claim, context: Context) -> Verdict:
    """Judge one claim. Raises DataFileError, naming the claim, when it does not fit the cells."""
    assert isinstance(claim, Form)
    with located(f"{context.study.name}/claims.toml: [[claims]] {claim.id}"):
        findings = claim.judge(context)
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
        not_printed=sum(finding.state is State.NOT_PRINTED for finding in findings),
    )


def decide(states: Sequence[State], quantifier: str = "every") -> Outcome:
    """Bring the states of a claim's groups to one outcome.

    `every`: one contradiction decides; `most`: more than half of the groups; `some`: one group is enough. Groups
    that are open count as possible either way; if they could still decide, the outcome stays open, and is
    `not testable` when what is missing is not provided by anybody. What a quick variant leaves out, and what the
    study does not print, does not count, unless nothing else is there.
    """
    if all(state is State.NOT_PRINTED for state in states):  # or nothing is there
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
    return Outcome.NOT_TESTABLE if any(state.lacking for state in states) else Outcome.INCONCLUSIVE


def _evidence(findings: Sequence[Finding], outcome: Outcome) -> tuple[str, ...]:
    """The summary, then the sentences that decide: contradictions first for a failure, the closest call else."""
    if not findings:
        return ("Nobody who is named by the claim has a figure.",)
    if len(findings) == 1:
        return (findings[0].sentence,)
    counts = [(state, sum(finding.state is state for finding in findings)) for state in State]
    text = ", ".join(f"{count} {state.value[count != 1]}" for state, count in counts if count)
    return (f"Of {counted(len(findings), 'comparison')} {text}.", *_deciding(findings, outcome))


def _deciding(findings: Sequence[Finding], outcome: Outcome) -> list[str]:
    if outcome is Outcome.REPRODUCED:
        supporting = [finding for finding in findings if finding.state is State.YES]
        closest = min(supporting, key=lambda finding: finding.margin)
        farthest = max(supporting, key=lambda finding: finding.margin)
        texts = [f"Closest call: {closest.sentence}"]
        return texts if farthest is closest else [*texts, f"Clearest: {farthest.sentence}"]
    wanted = {
        Outcome.NOT_REPRODUCED: (State.NO,),
        Outcome.INCONCLUSIVE: (State.OPEN, State.UNMEASURED, State.NO, State.LEFT_OUT),
        Outcome.NOT_TESTABLE: (State.UNPROVIDED, State.NOT_PRINTED, State.TOO_FEW, State.NO),
    }[outcome]
    deciding = sorted(
        (finding for finding in findings if finding.state in wanted),
        key=lambda finding: (wanted.index(finding.state), -finding.margin),
    )
    shown = list(dict.fromkeys(finding.sentence for finding in deciding))
    more = len(shown) - _SHOWN
    return shown[:_SHOWN] + ([f"And {more} more of this kind."] if more > 0 else [])


def _doubts(table: EvidenceTable, outcome: Outcome) -> list[str]:
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


@dataclass(frozen=True, slots=True)
class PairedPoint:
    """A printed figure and one counterpart of today.

    `today` is in the printed unit and None where there is none; `addresses` are the cells it comes from. `ratio` is
    how many times faster today is (above 1: faster), for ratios simply today over then; None without both.
    """

    published: PublishedFigure
    addresses: tuple[str, ...] = ()
    library: str = ""
    today: Estimate | None = None

    @property
    def ratio(self) -> float | None:
        """Today over then, the faster the larger."""
        if not self.today or self.today.value <= 0 or not self.published.value:
            return None
        grown = self.today.value / self.published.value
        rises = self.published.unit.more_is_better or self.published.unit == Unit.RATIO
        return grown if rises else 1 / grown


def paired(study: Study, runs: Run | Sequence[Run]) -> tuple[PairedPoint, ...]:
    """Pair all printed figures of `study` with what `runs` hold; figures without a counterpart stay in the list."""
    figures = figures_of((runs,) if isinstance(runs, Run) else runs)
    return tuple(point for published in study.published for point in _points(published, figures))


def _points(
    published: PublishedFigure, figures: Mapping[Cell, tuple[CellFigure, Run]]
) -> Iterator[PairedPoint]:
    match [_matching(side, figures) for side in published.sides]:
        case [[(above, first), *_], [(below, second), *_]]:
            together = first is second
            floor = first.noise_floor if together else floor_across((first.noise_floor, second.noise_floor))
            today = compare(below, above, floor, same_run=together).ratio
            yield PairedPoint(published, (above.cell.address, below.cell.address), _library(above), today)
        case [[_, *_] as matching]:
            for figure, _ in matching:
                now = read(figure, published.unit, size_bytes=published.size_bytes, calls=published.calls)
                yield PairedPoint(published, (figure.cell.address,), _library(figure), now)
        case _:
            yield PairedPoint(published)


def _matching(selector: str, figures: Mapping[Cell, tuple[CellFigure, Run]]) -> list[tuple[CellFigure, Run]]:
    wanted = cells_of(selector)
    if all(asked.literal for asked in wanted):
        return [figures[asked.cell] for asked in wanted if asked.cell in figures]
    return [both for cell, both in figures.items() if any(asked.matches(cell) for asked in wanted)]


def _library(figure: CellFigure) -> str:
    return f"{figure.library} {figure.library_version}".strip()


def judge_in_print(study: Study, machine: str = "") -> Judgement:
    """Judge the claims of `study` on the figures it printed for `machine` (its first one by default)."""
    return judge(study, published_run(study, machine))


def judgement_of(run: Run) -> tuple[Judgement | None, str]:
    """Judge the claims of the study that `run` repeats, or say why they are not judged.

    Both are empty for a run that repeats none. A study that is unknown or broken here costs the claims, not the report.
    """
    name = run.conditions.study
    if not name:
        return None, ""
    try:
        study = find(name)
    except UsageError:
        return None, f"This run was made for the study '{name}', which is not known here: no claim is judged."
    except PerbyteError as error:
        return None, f"The study '{name}' cannot be read here: no claim is judged. {error}"
    try:
        return judge(study, run), ""
    except PerbyteError as error:
        return None, f"The claims of '{name}' cannot be judged: {error}"


def history_of(run: Run) -> tuple[History | None, str]:
    """Set `run` beside all studies, or say why that cannot be done."""
    try:
        return load_history([run]), ""
    except PerbyteError as error:
        return None, f"The history cannot be shown: {error}"


def newest_of_studies() -> list[Path]:
    """The newest run of each study in the home of runs; an interrupted one only where no other is there."""
    paths: dict[str, Path] = {}
    # the sort is stable: the newest stays first among equals
    for summary in sorted(stored_runs(places.runs_home()), key=lambda summary: not summary.complete):
        if summary.study and summary.cells and not summary.problem:
            paths.setdefault(summary.study, summary.path)
    return list(paths.values())
