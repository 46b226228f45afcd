"""Advice as a page: the answer, speed against status as a picture, the reasons, the table, the sources."""

from __future__ import annotations

import math
import shlex
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from perbyte.advise import Decision, PasswordDecision, Ranked
from perbyte.advise.decision import compare_options
from perbyte.model.text import plain
from perbyte.report import charts, theme
from perbyte.report.advice import Told
from perbyte.report.advicecard import Advice
from perbyte.report.advicewords import library_text, plain_name, status_word
from perbyte.report.charts import Chart, finished
from perbyte.report.document import Block, Code, Figure, Fold, Heading, Items, Listed, Page, Section, Text
from perbyte.report.listing import Listing
from perbyte.report.pictures import Picture
from perbyte.report.wording import sentence, three_digits

MOST_TICKS = 6  # of a picture for a telephone
_FOLDED = ("Status", "Ruled out", "No figure", "The kernel's own code")
LOOK = {
    "allowed": (theme.BLUE, "circle", [1, 0]),
    "unlisted": (theme.ORANGE, "triangle-up", [1, 0]),
    "with reserve": (theme.PURPLE, "square", [1, 0]),
    "ruled out": (theme.VERMILION, "diamond", [1, 0]),
}


def advice_page(advice: Advice) -> Page:
    """The page of all answers to a question. The card comes first; who allows what is folded below it."""
    told, command = advice.told, advice.run.conditions.command
    words = shlex.join(["perbyte", *(plain(word, 200) for word in command)])
    repeat = [Code(words)] if command else []
    sources = _sources(told)
    return Page(
        advice.question.title,
        [advice.question.asks],
        [
            Section("summary", "Answer", [advice.card]),
            *_tabled("libraries", advice.libraries),
            *(_section(advice, task, number) for number, task in enumerate(told, 1)),
            *_tabled("machines", advice.machines),
            Section("sources", "Sources", [Items(sources) if sources else Text("None.")]),
            Section("repeat", "Repeat", [*repeat, *map(Text, advice.notes)], "How to repeat it"),
        ],
    )


def _tabled(place: str, listing: Listing | None) -> list[Section]:
    """A section of one table; none where there is no row."""
    if not listing or not listing.rows:
        return []
    return [Section(place, listing.title, [listing])]


def _section(advice: Advice, told: Told, number: int) -> Section:
    picture = _picture(told)
    blocks: list[Block] = [Figure(picture, f"picture-{number}")] if picture else []
    for name, texts in advice.reasons(told):
        if name in _FOLDED:
            blocks.append(Fold(f"{name} ({len(texts)})", [Items(texts)]))
        else:
            blocks += [Heading(name), Items(texts)]
    if told.table.rows:
        once, listing = told.table.told_once()
        blocks += [Heading("; ".join([listing.title, *once])), Listed(replace(listing, title=told.title))]
    link = "Why" if advice.single else sentence(told.title)
    title = link if advice.single else f"{link}: {told.answer}"
    return Section(told.decision.case.task.name, link, blocks, title)


def _picture(told: Told) -> Picture | None:
    """Speed against status; for passwords, what a guess has to hold."""
    records = _weights(told.passwords) if told.passwords else _speeds(told.decision)
    if not records:
        return None
    wide, narrow = (_chart(told, records, narrow=narrow) for narrow in (False, True))
    return Picture("advice", f"Speed against status: {told.title}", wide, narrow)


def _chart(told: Told, records: list[dict[str, Any]], *, narrow: bool) -> Chart:
    present = [name for name in LOOK if any(record["status"] == name for record in records)]
    values = [record[end] for record in records for end in ("low", "value", "high")]
    unit = (
        "MiB seconds that a guess holds" if told.passwords else "speed, as a multiple of what is recommended"
    )
    scale = charts.logarithmic(values, (1,)) if told.passwords else charts.ratio_scale(values)
    if told.passwords and narrow:  # decades are many, and a telephone has room for few
        scale["axis"]["values"] = scale["axis"]["values"][::3]
    elif narrow and len(scale["axis"]["values"]) > MOST_TICKS:
        kept = scale["axis"]["values"]
        scale["axis"]["values"] = kept[kept.index(1) % 2 :: 2] if 1 in kept else kept[::2]
    uniform = len(present) == 1  # which is then said once
    names = list(dict.fromkeys(str(record["name"]) for record in records))
    chart = charts.dots(
        records,
        y=("name", names) if uniform else charts.grouped_axis(records, "status", "name", present),
        x=unit,
        scale=scale,
        look={name: LOOK[name] for name in present},
        by="status",
        legend=not uniform,
        rule_at_one=not told.passwords,
        narrow=narrow,
    )
    alone = len(told.decision.case.runners) == 1 and told.decision.first
    title = (
        f"Each algorithm in {library_text(alone.best)}" if alone else "Each algorithm in its fastest library"
    )
    subtitle = f"status of all: {present[0]}" if uniform else "by status"
    return finished(chart, title, [subtitle], narrow=narrow)


def _speeds(decision: Decision) -> list[dict[str, Any]]:
    measured = decision.measured
    if not measured:
        return []
    first = (decision.first or measured[0]).best
    records = []
    for ranked in measured:
        ratio = compare_options(ranked.best, first, decision.case.floor).ratio
        low, high = (
            end if math.isfinite(end) and end > 0 else ratio.value for end in (ratio.low, ratio.high)
        )
        if ranked.best is first:
            low = high = 1.0
        label = f"{library_text(ranked.best)}: ×{three_digits(ratio.value)}, {status_word(ranked.standing)}"
        records.append(_record(ranked, ratio.value, low, high, f"{ranked.algorithm.name}, {label}"))
    return records


def _weights(decision: PasswordDecision) -> list[dict[str, Any]]:
    records: list[dict[str, Any]] = []
    for parameters in (*decision.parameters, *decision.ruled_out):
        weight = parameters.weight / (1 << 20)
        relative = parameters.time_ns.relative if parameters.time_ns.known else 0.0
        name = plain_name(parameters.ranked.algorithm)
        label = f"{name}, {parameters.words}: {three_digits(weight)} MiB s a guess"
        records.append(
            _record(parameters.ranked, weight, weight * (1 - relative), weight * (1 + relative), label)
        )
    return records


def _record(ranked: Ranked, value: float, low: float, high: float, described: str) -> dict[str, Any]:
    name = plain(plain_name(ranked.algorithm), 40)
    return {
        "name": name,
        "status": status_word(ranked.standing),
        "value": value,
        "low": low,
        "high": high,
        "described": described,
    }


def _sources(told: Sequence[Told]) -> list[tuple[str, str]]:
    """Every document that is quoted, once, with its date and when it was looked up."""
    documents: dict[str, tuple[str, str]] = {}
    for task in told:
        for ranked in (*task.decision.ranking, *task.decision.ruled_out):
            for quote in ranked.standing.quotes:
                document = quote.document
                draft = ", a draft" if document.draft else ""
                looked = (
                    f"looked up {document.retrieved}" if document.retrieved else "not looked up: unconfirmed"
                )
                text_of = f"{document}{draft}, published {document.published}; {looked}"
                documents[str(document)] = (quote.authority, text_of)
    return sorted(documents.values())
