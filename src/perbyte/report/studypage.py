"""What a report shows of a judged study: claims with verdicts and numbers, statistics, assumptions, figures."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from perbyte.errors import PerbyteError, UsageError
from perbyte.model import Run
from perbyte.report.gallery import Picture
from perbyte.report.operations import operations_chart
from perbyte.report.units import number, plain
from perbyte.stats.quantity import Unit
from perbyte.studies.evidence import cells_of
from perbyte.studies.model import GroupStatistic, Judgement, Number, Outcome, Statistics, Study
from perbyte.studies.printed import judge_in_print

KINDS = {
    Outcome.REPRODUCED: "holds",
    Outcome.NOT_REPRODUCED: "fails",
    Outcome.INCONCLUSIVE: "undecided",
    Outcome.NOT_TESTABLE: "unmeasurable",
}
_SHOWN = 2  # sentences of evidence that stand open; the rest unfolds
SIGNS = {
    Outcome.REPRODUCED: "✓",
    Outcome.NOT_REPRODUCED: "✗",
    Outcome.INCONCLUSIVE: "?",
    Outcome.NOT_TESTABLE: "–",
}


def names_of(study: Study) -> dict[tuple[str, str], str]:
    """What the study calls an algorithm on a tier: the label of the group that is about nothing else.

    Where groups of different labels are about the same (one per interface, say), none of them is its name.
    """
    found: dict[tuple[str, str], set[str]] = {}
    for group in study.groups:
        try:
            cells = [one.cell for selector in group.selectors for one in cells_of(selector)]
        except (PerbyteError, ValueError):
            continue
        about = {(cell.algorithm, cell.cpu) for cell in cells}
        if len(about) == 1:
            found.setdefault(about.pop(), set()).add(group.label)
    return {key: labels.pop() for key, labels in found.items() if len(labels) == 1}


def tally(judgement: Judgement) -> str:
    """Count the verdicts in one sentence."""
    counts = [(outcome, judgement.count(outcome)) for outcome in Outcome]
    said = ", ".join(f"{count} {outcome}" for outcome, count in counts if count)
    return f"{len(judgement.verdicts)} claims: {said}" if said else "the study makes no claims"


def study_view(judgement: Judgement) -> dict[str, Any]:
    """The study's part of the page, as text; each verdict beside the one on the figures as printed."""
    study = judgement.study
    printed = _in_print(study)
    return {
        "question": plain(study.question, 1000),
        "citation": plain(study.citation, 600),
        "verdicts": [
            {
                "kind": KINDS[verdict.outcome],
                "outcome": f"{SIGNS[verdict.outcome]} {verdict.outcome}",
                "says": plain(verdict.claim.says, 600),
                "place": plain(verdict.claim.place, 200),
                "reading": plain(verdict.claim.reading, 600),
                "evidence": [plain(line, 600) for line in verdict.evidence[:_SHOWN]],
                "more": [plain(line, 600) for line in verdict.evidence[_SHOWN:]],
                "printed": printed.get(verdict.claim.id, ""),
                "numbers": [number_row(one) for one in verdict.numbers],
            }
            for verdict in judgement.verdicts
        ],
        "outcomes": [
            (KINDS[outcome], f"{SIGNS[outcome]} {outcome}", count)
            for outcome in Outcome
            if (count := judgement.count(outcome))
        ],
        "assumptions": [
            {"what": plain(one.what, 800), "why": plain(one.why, 1500)} for one in study.assumptions
        ],
        "statistics": _statistics(judgement.statistics) if judgement.statistics else None,
    }


def number_row(one: Number) -> tuple[str, str, str, str, str, str]:
    """A number behind a verdict: group, name, value, both ends of its interval, unit."""
    half = (one.high - one.low) / 2
    ends = ("–", "–") if one.high == one.low else (number(one.low, half), number(one.high, half))
    return plain(one.group, 80), plain(one.name, 120), number(one.value, half), *ends, plain(one.unit, 24)


def study_pictures(run: Run, judgement: Judgement) -> tuple[Picture, ...]:
    """Published ratios beside today's, then published against today, one figure per operation."""
    from perbyte.report.studycharts import operations_of, published_against_today

    study = judgement.study
    ratios: tuple[Picture, ...] = ()
    if any(figure.unit == Unit.RATIO for figure in study.published):
        with suppress(UsageError):
            chart = operations_chart(run, study=study, names=names_of(study))
            ratios = (Picture("ratios", "Ratio of two operations: published and today", chart),)
    return ratios + tuple(
        Picture(
            f"published{f'-{index + 1}' if index else ''}",
            f"Published against today: {plain(operation, 24)}",
            published_against_today(run, study, operation=operation),
        )
        for index, operation in enumerate(operations_of(run, study))
    )


def _in_print(study: Study) -> dict[str, str]:
    """How each claim fares on the study's own figures, where those can be laid out as a run."""
    try:
        return {one.claim.id: str(one.outcome) for one in judge_in_print(study).verdicts}
    except PerbyteError:
        return {}


def _statistics(statistics: Statistics) -> dict[str, Any]:
    return {
        "remarks": [plain(line, 800) for line in statistics.remarks],
        "groups": statistics.groups,
        "rows": [row for group in statistics.groups for row in _group_rows(group)],
    }


def _group_rows(group: GroupStatistic) -> list[tuple[str, ...]]:
    name = plain(", ".join(str(value) for _, value in group.group), 120)
    epochs = dict(zip(group.members, group.epochs, strict=True))
    rows: list[tuple[str, ...]] = [
        (
            name,
            f"Kruskal-Wallis over {len(group.members)}: H = {number(group.h, 0.01)}",
            str(sum(group.epochs)),
            "",
            _p(group.p),
            "",
            "",
            "",
            "",
            "",
        )
    ]
    for pair in group.pairs:
        value, low, high = pair.ratio
        half = (high - low) / 2
        rows.append(
            (
                name,
                f"{plain(pair.first, 60)} against {plain(pair.second, 60)}",
                f"{epochs.get(pair.first, 0)}, {epochs.get(pair.second, 0)}",
                number(pair.u, 0.1),
                _p(pair.p_corrected),
                number(pair.cohen_d, 0.01),
                number(pair.cliff_delta, 0.001),
                number(value, half),
                f"{number(low, half)} to {number(high, half)}",
                "yes" if pair.ratio_decides else "cannot tell",
            )
        )
    return rows


def _p(value: float) -> str:
    return "–" if value != value else "<0.0001" if value < 0.0001 else f"{value:.4f}"
