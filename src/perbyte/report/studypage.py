"""What a report shows of a judged study: claims with verdicts and numbers, statistics, assumptions, figures."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from perbyte.errors import PerbyteError, UsageError
from perbyte.model import Run
from perbyte.report.gallery import Picture
from perbyte.report.operations import operations_chart
from perbyte.report.units import number, plain, sentence
from perbyte.stats.quantity import Unit
from perbyte.studies.evidence import cells_of
from perbyte.studies.model import GroupStatistic, Judgement, Number, Outcome, Statistics, Study, Verdict
from perbyte.studies.printed import judge_in_print

KINDS = {
    Outcome.REPRODUCED: "holds",
    Outcome.NOT_REPRODUCED: "fails",
    Outcome.INCONCLUSIVE: "undecided",
    Outcome.NOT_TESTABLE: "unmeasurable",
}
_SHOWN = 2  # sentences of evidence that stand open; the rest unfolds
PARTIAL = " (quick)"
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
    """Count the verdicts in a few sentences, findings and numbers of the authors' own machine apart."""
    if not judgement.verdicts:
        return "the study makes no claims"
    found = []
    for about, name in (("finding", "findings"), ("machine", "numbers of the authors' machine")):
        counts = [(outcome, judgement.count(outcome, about)) for outcome in Outcome]
        said = ", ".join(f"{count} {outcome}" for outcome, count in counts if count)
        if said:
            found.append(f"{sum(count for _, count in counts)} {name}: {said}")
    partial = sum(verdict.partial for verdict in judgement.verdicts)
    if partial:
        found.append(f"{partial} of these verdicts rest on fewer cells, because the run is a quick one")
    return "; ".join(found)


def outcome_of(verdict: Verdict) -> str:
    """The outcome with its sign, and with what a quick run left out."""
    text = f"{SIGNS[verdict.outcome]} {verdict.outcome}"
    return f"{text}{PARTIAL if verdict.partial else ''}"


def study_view(judgement: Judgement) -> dict[str, Any]:
    """The study's part of the page, as text; each verdict beside the one on the figures as printed."""
    study = judgement.study
    printed = in_print(study)
    return {
        "question": plain(study.question, 1000),
        "answers": [plain(line, 1200) for line in judgement.answers],
        "tally": sentence(tally(judgement)),
        "citation": plain(study.citation, 600),
        "verdicts": [
            {
                "kind": KINDS[verdict.outcome],
                "outcome": outcome_of(verdict),
                "says": plain(verdict.claim.says, 600),
                "place": plain(verdict.claim.place, 200),
                "reading": plain(verdict.claim.reading, 600),
                "evidence": [plain(line, 600) for line in verdict.evidence[:_SHOWN]],
                "more": [plain(line, 600) for line in verdict.evidence[_SHOWN:]],
                "printed": printed.get(verdict.claim.id, ""),
                "rule": plain(verdict.rule, 800),
                "refuted_by": plain(verdict.refuted_by, 600),
                "partial": f"{verdict.left_out} of {verdict.compared + verdict.left_out} comparisons are not in the "
                "quick variant"
                if verdict.partial
                else "",
                "about": "a number of the authors' machine" if verdict.claim.about == "machine" else "",
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


def in_print(study: Study) -> dict[str, str]:
    """How each claim fares on the study's own figures, for each of its machines where they differ."""
    found: dict[str, dict[str, str]] = {}
    for machine in study.machines:
        with suppress(PerbyteError):
            for one in judge_in_print(study, machine.id).verdicts:
                found.setdefault(one.claim.id, {})[machine.id] = str(one.outcome)
    return {
        id: next(iter(by.values()))
        if len(set(by.values())) == 1
        else ", ".join(f"{outcome} ({machine})" for machine, outcome in by.items())
        for id, by in found.items()
    }


def _statistics(statistics: Statistics) -> dict[str, Any]:
    return {
        "remarks": [plain(line, 800) for line in statistics.remarks],
        "groups": statistics.groups,
        "rows": [row for group in statistics.groups for row in _group_rows(group)],
    }


def _group_rows(group: GroupStatistic) -> list[tuple[str, ...]]:
    name = plain(", ".join([*(str(value) for _, value in group.group), group.unit]), 120)
    epochs = dict(zip(group.members, group.counts, strict=True))
    rows: list[tuple[str, ...]] = [
        (
            name,
            f"Kruskal-Wallis over {len(group.members)}: H = {number(group.h, 0.01)}",
            str(sum(group.counts)),
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
