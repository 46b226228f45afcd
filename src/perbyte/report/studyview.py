"""A judged study as rows of text (claims, numbers, published ratios, statistics), as JSON and as Markdown."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from perbyte.errors import PerbyteError
from perbyte.model import Machine, Run
from perbyte.model.text import counted, markdown_text, plain
from perbyte.report import markdown
from perbyte.report.document import Block, Heading, Items
from perbyte.report.listing import Entry, Head, Listing, records
from perbyte.report.methods import at_one_place
from perbyte.report.runview import RunView, interval_said
from perbyte.report.wording import (
    interval_text,
    number,
    ratio_interval_text,
    ratio_text,
    sentence,
    size_label,
)
from perbyte.stats.quantity import Unit
from perbyte.studies.evidence import cells_of
from perbyte.studies.judge import PairedPoint, judge_in_print, paired
from perbyte.studies.model import (
    Claim,
    ComparedRow,
    GroupStatistic,
    Judgement,
    Number,
    Outcome,
    SeenVerdict,
    Statistics,
    Study,
    Verdict,
    rule_mark,
)
from perbyte.studies.wording import listing
from perbyte.studies.words import read_as

_SHOWN = {
    Outcome.REPRODUCED: ("holds", "✓"),
    Outcome.NOT_REPRODUCED: ("fails", "✗"),
    Outcome.INCONCLUSIVE: ("undecided", "?"),
    Outcome.NOT_TESTABLE: ("unmeasurable", "–"),
}
"""The class of an outcome on a page, and its sign."""
PARTIAL = " (quick)"
ABOUT = {
    "finding": ("finding", "findings"),
    "table": ("claim read off the tables", "claims read off the tables"),
    "machine": ("number of the authors' machine", "numbers of the authors' machine"),
    "print": ("claim on the printed figures alone", "claims on the printed figures alone"),
    "question": ("question that the text does not ask", "questions that the text does not ask"),
}
"""What a claim may be counted as (`Claim.counted_as`): one, and several."""
MARKS = {"table": "Table", "machine": "Number", "print": "Print", "question": "Ours"}
"""How the page marks what is not a statement of the text that is judged on the run."""
NUMBER_COLUMNS = (("of", ""), ("what", ""), ("value", "n"), ("from", "n"), ("to", "n"), ("unit", ""))
_COMPARED = (
    Head("what", "", "what"),
    Head("ratio", "n", "ratio"),
    Head("interval", "n", "low high"),
    Head("answer", "", "answer"),
)
_THEN = (
    Head("what", "", "what"),
    Head("then", "n", "then"),
    Head("today", "n", "today"),
    Head("interval", "n", "interval"),
    Head("times as fast", "n", "times"),
    Head("cell of today", "", "cell"),
)
PUBLISHED = "what | where:text | published:n | today:n | interval:n | cells of today:text mono"
STATISTICS = (
    "group | compared | values:n | U:n | p (Bonferroni):n | Cohen's d:n | Cliff's δ:n | "
    "ratio:n | interval:n | differ"
)


def tally(judgement: Judgement) -> str:
    """Count the verdicts in a few sentences, each kind of claim apart (`ABOUT`)."""
    if not judgement.verdicts:
        return "the study makes no claims"
    texts = []
    for about, (singular, several) in ABOUT.items():
        counts = judgement.statements(about)
        if total := sum(counts.values()):
            text = ", ".join(
                f"{count} {outcome or 'differing by reading'}" for outcome, count in counts.items()
            )
            texts.append(f"{total} {singular if total == 1 else several}: {text}")
    if partial := sum(verdict.partial for verdict in judgement.verdicts):
        texts.append(f"{partial} of these verdicts rest on fewer cells, because the run is a quick one")
    return "; ".join(texts)


def outcome_of(verdict: Verdict) -> str:
    """The outcome with its sign, and with what a quick run left out."""
    return f"{_SHOWN[verdict.outcome][1]} {verdict.outcome}{PARTIAL if verdict.partial else ''}"


def verdict_record(verdict: Verdict) -> dict[str, Any]:
    """A verdict as plain values, for JSON and for pages; the fields are documented in docs/cli.md."""
    claim = verdict.claim
    return {
        "id": claim.id,
        "outcome": str(verdict.outcome),
        "about": claim.counted_as,
        "partial": verdict.partial,
        "compared": verdict.compared,
        "left_out": verdict.left_out,
        "says": claim.says,
        "place": claim.place,
        "rule": verdict.rule,
        "refuted_by": verdict.refuted_by,
        "evidence": list(verdict.evidence),
    }


def claims_view(judgement: Judgement) -> dict[str, Any]:
    """The claims, each with its verdict beside the one on the figures as printed; and how many fared how."""
    printed = in_print(judgement.study)
    return {
        "claims": [
            verdict_record(verdict)
            | {
                "kind": _SHOWN[verdict.outcome][0],
                "outcome": outcome_of(verdict),
                "reading": _reading(verdict.claim),
                "printed": printed.get(verdict.claim.id, ""),
                "partial": _partial_text(verdict),
                "about": f"a {ABOUT[kind][0]}" if (kind := verdict.claim.counted_as) in MARKS else "",
                "numbers": [number_row(entry) for entry in verdict.numbers],
            }
            for verdict in decided_first(judgement)
        ],
        "outcomes": [
            (kind, f"{sign} {outcome}", count)
            for outcome, (kind, sign) in _SHOWN.items()
            if (count := judgement.count(outcome))
        ],
        "columns": NUMBER_COLUMNS,
    }


def _partial_text(verdict: Verdict) -> str:
    whole = verdict.compared + verdict.left_out
    return (
        f"{verdict.left_out} of {whole} comparisons are not in the quick variant" if verdict.partial else ""
    )


def decided_first(judgement: Judgement) -> list[Verdict]:
    """The verdicts, those that say something before those that say nothing; else in the study's order."""
    outcomes = (Outcome.REPRODUCED, Outcome.NOT_REPRODUCED)
    return sorted(judgement.verdicts, key=lambda verdict: verdict.outcome not in outcomes)


def number_row(entry: Number) -> tuple[str, str, str, str, str, str]:
    """A number behind a verdict: group, name, value, both ends of its interval, unit."""
    half = (entry.high - entry.low) / 2
    ends = ("–", "–") if entry.high == entry.low else (number(entry.low, half), number(entry.high, half))
    group, name, unit = plain(entry.group, 80), plain(entry.name, 120), plain(entry.unit, 24)
    return group, name, number(entry.value, half), *ends, unit


def number_text(entry: Number) -> str:
    """A number behind a verdict in a phrase: its name, value, interval and unit."""
    _, name, value, low, high, unit = number_row(entry)
    return f"{name} {value}{f' ({low} to {high})' if low != '–' else ''} {unit}".rstrip()


def published_ratio_rows(view: RunView) -> list[tuple[str, ...]]:
    """Each published ratio beside today's, under `PUBLISHED`; without a counterpart, today's is a dash."""
    rows: list[tuple[str, ...]] = []
    for published, today in view.published_ratios:
        size = f", {size_label(published.size_bytes)}" if published.size_bytes else ""
        cells = f"{today.above.cell.address} over {today.below.cell.address}" if today else ""
        now = (ratio_text(today.comparison.ratio), interval_said(today)) if today else ("–", "–")
        name = plain(f"{published.algorithm}, {published.operation}{size}", 120)
        then = (plain(published.place, 120), plain(published.printed, 24))
        rows.append((name, *then, *now, plain(cells, 240)))
    return rows


def then_and_today(study: Study, runs: Sequence[Run]) -> Listing:
    """Each printed figure beside today's in its own unit; of several cells that stand for one the fastest counts."""
    best: dict[str, PairedPoint] = {}
    counterparts: Counter[str] = Counter()
    for point in paired(study, runs):
        id = point.published.id
        counterparts[id] += bool(point.addresses)
        if id not in best or (point.ratio or 0) > (best[id].ratio or 0):
            best[id] = point
    return Listing(
        "Then and today, row by row", _THEN, [_then_row(best[id], counterparts[id]) for id in best]
    )


def _then_row(point: PairedPoint, counterparts: int) -> tuple[Entry, ...]:
    printed, today = point.published, point.today
    size = f", {size_label(printed.size_bytes)}" if printed.size_bytes else ""
    what = plain(f"{printed.machine}: {printed.algorithm}, {printed.operation}{size}", 120)
    then = f"{plain(printed.printed, 24)} {printed.unit}" if printed.available else "none"
    now, interval = (ratio_text(today), interval_text(today)) if today else ("–", "–")
    ratio = "" if printed.unit == Unit.RATIO or point.ratio is None else f"{point.ratio:.3g}"
    cell = plain(" over ".join(point.addresses), 240) + (f" (of {counterparts})" if counterparts > 1 else "")
    return what, then, now, interval, ratio, cell or plain(printed.note, 120) or "no cell stands for it"


def compared_listing(title: str, rows: Sequence[ComparedRow]) -> Listing:
    """A table of an answer."""
    entries = []
    for place, ratio, word in rows:
        interval = (ratio_interval_text(ratio), ratio.low, ratio.high)
        entries.append(((plain(place, 120), place), (ratio_text(ratio), ratio.value), interval, word))
    return Listing(plain(title, 200), _COMPARED, entries)


def statistic_rows(statistics: Statistics) -> list[tuple[str, ...]]:
    """The tests of all groups, under `STATISTICS`."""
    return [row for group in statistics.groups for row in _group_rows(group)]


def in_print(study: Study) -> dict[str, str]:
    """How each claim fares on the study's own figures, for each of its machines where they differ."""
    verdicts_of: dict[str, dict[str, str]] = {}
    for machine in study.machines:
        with suppress(PerbyteError):
            for verdict in judge_in_print(study, machine.id).verdicts:
                verdicts_of.setdefault(verdict.claim.id, {})[machine.id] = _as_printed(verdict)
    return {
        id: next(iter(by.values()))
        if len(set(by.values())) == 1
        else ", ".join(f"{outcome} ({machine})" for machine, outcome in by.items())
        for id, by in verdicts_of.items()
    }


def _reading(claim: Claim) -> str:
    """What the claim's words stand for, and what else was decided."""
    return " ".join(part for part in (read_as(claim), claim.reading) if part)


def _as_printed(verdict: Verdict) -> str:
    """The outcome in print, with how much of the claim is printed where that is a part of it."""
    part = verdict.not_printed and verdict.not_printed < verdict.compared
    return f"{verdict.outcome} ({verdict.evidence[0].rstrip('.')})" if part else str(verdict.outcome)


def _group_rows(group: GroupStatistic) -> list[tuple[str, ...]]:
    name = plain(", ".join([*(str(value) for _, value in group.group), group.unit]), 120)
    epochs = dict(zip(group.members, group.counts, strict=True))
    whole = f"Kruskal-Wallis over {len(group.members)}: H = {number(group.h, 0.01)}"
    rows: list[tuple[str, ...]] = [(name, whole, str(sum(group.counts)), "", _p(group.p), *[""] * 5)]
    for pair in group.pairs:
        value, low, high = pair.ratio
        half = (high - low) / 2
        compared = f"{plain(pair.first, 60)} against {plain(pair.second, 60)}"
        values = f"{epochs.get(pair.first, 0)}, {epochs.get(pair.second, 0)}"
        tests = (number(pair.u, 0.1), _p(pair.p_corrected), number(pair.cohen_d, 0.01))
        ratio = (number(value, half), f"{number(low, half)} to {number(high, half)}")
        decides = "yes" if pair.ratio_decides else "cannot tell"
        rows.append((name, compared, values, *tests, number(pair.cliff_delta, 0.001), *ratio, decides))
    return rows


def _p(value: float) -> str:
    return "–" if value != value else "<0.0001" if value < 0.0001 else f"{value:.4f}"


def claims_page(study: Study, judgement: Judgement | None = None, runs: Sequence[Run] = ()) -> str:
    """Return the page; without a judgement the verdicts here are missing. Rules come from the claims themselves."""
    printed = in_print(study)
    cores = [core_of(run) for run in runs]
    verdicts = (judgement or judge_in_print(study)).verdicts
    parts: list[str | Block] = [
        f"# {_marked(study.title, 300)}",
        _marked(study.citation, 600),
        f"**Question.** {_marked(study.question, 1000)}",
    ]
    if judgement:
        parts.append(f"**Answer of this run.** {_marked(' '.join(judgement.answers), 3000)}")
        for title, rows in judgement.tables:
            listing = compared_listing(title, rows)
            parts += [f"{_marked(listing.title, 300)}:", listing]
        parts.append(f"{sentence(tally(judgement))}.")
        parts.append("\n".join(f"Run: {_marked(_described(run), 1000)}" for run in runs))
        if several := turning(judgement, cores):
            parts.append(f"Another core decided otherwise on: {_marked(', '.join(several), 1000)}.")
        table = then_and_today(study, runs)
        parts += [f"{_marked(table.title, 300)}:", table]
    judged = "the printed figures" + (" and on this run" if judgement else "; there is no run yet")
    parts.append(
        "This page is generated by `perbyte study page`. For each claim: the statement in our words, its place in "
        f"the text, how it is judged, what result would refute it, and the verdict on {judged}. "
        "*Table* marks what a table shows and no sentence says; *Number* a number of the authors' own machine, which "
        "another machine need not share; *Print* a claim on the published machines alone, which no run can change; "
        "*Ours* a question that the text does not ask. The four are counted apart. A statement that can be read in "
        "several ways counts once."
    )
    for verdict in verdicts:
        told = printed.get(verdict.claim.id, "")
        parts += _claim(verdict, told, study, cores, here=judgement is not None)
    return markdown.render(parts)


def judgement_data(judgement: Judgement) -> dict[str, Any]:
    """Return a judgement as plain values for JSON; the fields are documented in docs/cli.md."""
    return {
        "study": judgement.study.name,
        "run": judgement.run_id,
        "question": judgement.study.question,
        "answers": list(judgement.answers),
        "tables": [
            {"title": title, "rows": records(compared_listing(title, rows))}
            for title, rows in judgement.tables
        ],
        "verdicts": [verdict_record(verdict) for verdict in judgement.verdicts],
    }


def _marked(text: object, longest: int) -> str:
    """A text of a study or a run as a page in Markdown has it."""
    return markdown_text(plain(text, longest))


def _claim(
    verdict: Verdict, printed: str, study: Study, cores: Sequence[str], *, here: bool
) -> list[str | Block]:
    """A claim: what it says, how it is judged, and the verdicts."""
    claim = verdict.claim
    mark = f" *{MARKS[claim.counted_as]}.*" if claim.counted_as in MARKS else ""
    rows = [
        ("Place", claim.place),
        ("Another reading of", claim.reading_of),
        ("Reading", _reading(claim)),
        ("Rule", verdict.rule),
        ("Refuted by", verdict.refuted_by),
        ("In print", printed or "cannot be judged on the printed figures"),
    ]
    if here:
        basis = ", by print alone" if claim.in_print_only else ""
        rows.append(("Here", f"{outcome_of(verdict)}{basis}. {' '.join(verdict.evidence[:2])}"))
        if len(verdict.numbers) == 1:
            rows.append(("Number", number_text(verdict.numbers[0])))
        for row in study.seen_elsewhere(verdict, cores):
            quick = PARTIAL if row.quick == "yes" else ""
            what = f"{_SHOWN[row.outcome][1]} {row.outcome}{quick} ({row.date})"
            rows.append((f"On {row.core}", f"{what}. {row.evidence}".rstrip()))
    items = Items([(name, text) for name, text in rows if text])
    return [Heading(claim.id), f"{_marked(claim.says, 600)}{mark}", items]


def core_of(run: Run) -> str:
    """The core that a run was made on."""
    return core_name(run.conditions.machine)


def core_name(machine: Machine) -> str:
    """The processor's name, and its family, as one name stands for several cores."""
    name = plain(machine.cpu_model, 80) or "unknown machine"
    family = plain(machine.cpu_family, 80).removeprefix("cpu ")
    return f"{name} ({family})" if family else name


def seen_rows(judgement: Judgement, runs: Sequence[Run]) -> str:
    """The verdicts of a run as lines of seen.csv: what is decided, or could have been."""
    core, run = core_of(runs[0]), runs[0].conditions
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(field.encode_name for field in msgspec.structs.fields(SeenVerdict))
    for verdict in judgement.verdicts:
        if (
            verdict.claim.judged
            and not verdict.claim.in_print_only
            and verdict.outcome is not Outcome.NOT_TESTABLE
        ):
            quick, evidence = "yes" if verdict.partial else "no", plain(" ".join(verdict.evidence[:2]), 600)
            told = (core, run.run_id, run.started_at[:10], verdict.claim.id, rule_mark(verdict.rule))
            writer.writerow([*told, verdict.outcome, quick, evidence])
    return text.getvalue()


def turning(judgement: Judgement, cores: Sequence[str]) -> list[str]:
    """The claims that are decided one way here and the other way on a core where they were seen before."""
    decided = {Outcome.REPRODUCED, Outcome.NOT_REPRODUCED}
    return [
        verdict.claim.id
        for verdict in judgement.verdicts
        if verdict.outcome in decided
        and {row.outcome for row in judgement.study.seen_elsewhere(verdict, cores)}
        & (decided - {verdict.outcome})
    ]


def _described(run: Run) -> str:
    libraries = sorted({f"{figure.library} {figure.library_version}".strip() for figure in run.cells})
    machine = core_of(run)
    early = "" if run.complete else f" (ended early, after {run.measuring_s:.0f} s of measuring)"
    placed = "; address randomisation was off" if at_one_place(run) else ""
    return (
        f"{plain(run.conditions.run_id, 80)}{early}, {plain(run.conditions.started_at[:10], 10)}, {machine}, "
        f"Perbyte {plain(run.conditions.perbyte_version, 20)}, {plain(', '.join(libraries), 300)}{placed}."
    )


def answer_lines(judgement: Judgement) -> list[str]:
    """The study's question, and what the judged claims answer."""
    return [judgement.study.question, *(f"  {line}" for line in judgement.answers)]


def skeleton_lines(folder: Path, study: Study) -> Iterator[str]:
    """What of a new study in `folder` is known: figures with a cell of today, those without, verdicts in print."""
    known = sum(bool(figure.cell) for figure in study.published)
    figures = f"{counted(len(study.published), 'figure')}, {known} with a cell of today"
    yield f"{folder}: {figures}, {counted(len(study.groups), 'algorithm')}."
    without = Counter(
        (figure.library, figure.algorithm, figure.operation, figure.note)
        for figure in study.published
        if not figure.cell
    )
    for (library, algorithm, operation, note), count in without.items():
        what = ", ".join(part for part in (library, algorithm, operation) if part)
        yield f"  no cell: {what}{f' ({count} figures)' if count > 1 else ''}: {note}"
    for contract in dict.fromkeys(
        cell.cell.contract
        for group in study.groups
        for selector in group.selectors
        for cell in cells_of(selector)
    ):
        if contract != study.contract:
            yield f"  under {contract}, which fits them: {listing(_under(study, contract))}"
    for verdict in judge_in_print(study).verdicts:
        yield f"  in print: {verdict.outcome}: {verdict.claim.says}"


def _under(study: Study, contract: str) -> list[str]:
    """The labels of the groups that are measured under a contract."""
    return [
        group.label
        for group in study.groups
        if any(f"contract={contract}" in text for text in group.selectors)
    ]


def study_lines(study: Study) -> Iterator[str]:
    """What a study asks, how, on what, which claims it makes, and its notes."""
    yield f"{study.title}\n{', '.join(study.authors)}, {study.year} ({study.language})\n{study.citation}\n"
    yield f"Question: {study.question}\n"
    yield "Method as far as it is published:"
    yield from (f"  - {line}" for line in study.method)
    for machine in study.machines:
        clock = f", {machine.clock_hz / 1e9:g} GHz" if machine.clock_hz else ""
        yield f"Machine: {'; '.join((f'{machine.name}{clock}', *machine.facts))}"
    yield "\nAssumptions made here:"
    yield from (f"  - {assumption.what} {assumption.why}" for assumption in study.assumptions)
    yield f"\n{len(study.published)} published figures, {len(study.claims)} claims:"
    yield from (f"  {claim.id:32} {claim.says}" for claim in study.claims)
    yield f"\nNotes\n\n{study.notes.rstrip()}"
