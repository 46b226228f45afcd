"""All answers to a question: the card that opens them, and the whole of them for a terminal and for programs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rich.text import Text as Styled

from perbyte.advise import Library, Option, Ranked, Sure, Together
from perbyte.advise.decision import compare_options
from perbyte.catalogue.facts import strength_of
from perbyte.catalogue.questions import Question, Task
from perbyte.model import CellFigure, Estimate, Run
from perbyte.model.text import json_ready
from perbyte.report.advice import Told
from perbyte.report.advicewords import (
    guesses_text,
    library_text,
    memory_text,
    option_text,
    reserve_texts,
    standing_texts,
    status_word,
    time_text,
    with_article,
)
from perbyte.report.card import RATES, milliseconds, rates_text, work_time
from perbyte.report.document import Card, Heading, Items, Line
from perbyte.report.listing import Head, Listing, records
from perbyte.report.marks import ANSWER_SIGNS, FASTEST, TIED, UNDECIDED
from perbyte.report.terminal import Part, render
from perbyte.report.wording import number, sentence, size_label, three_digits, times_text
from perbyte.stats.compare import Answer, cost_of, sum_costs
from perbyte.stats.quantity import data_bytes

_SIGNS = {Sure.CERTAIN: FASTEST, Sure.CLOSE: TIED, Sure.LIKELY: FASTEST, Sure.DOUBTFUL: UNDECIDED}
_Work = list[tuple[CellFigure, float]]


@dataclass(frozen=True, slots=True)
class Advice:
    """All answers to a question from the figures of `run`.

    `together` is the decision for one library, `rate` the user's (bytes a second), `machines` a table of other ones.
    """

    question: Question
    run: Run
    told: Sequence[Told]
    together: Together | None = None
    rate: float | None = None
    machines: Listing | None = None

    @property
    def single(self) -> bool:
        """True for one answer, which the card gives whole."""
        return len(self.told) == 1

    def reasons(self, told: Told) -> list[tuple[str, tuple[str, ...]]]:
        """The sentences of an answer by heading; of a single one the card has said already how sure it is."""
        return [line for line in told.lines if not (self.single and line[0] == "How sure")]

    @property
    def card(self) -> Card:
        """What stands above all else."""
        return advice_card(self.told, self.together, self.rate, alternatives=self.question.alternatives)

    @property
    def libraries(self) -> Listing | None:
        """A table of the libraries, where one of them is to do all parts."""
        return library_table(self.together, [task.title for task in self.told]) if self.together else None

    @property
    def notes(self) -> list[str]:
        """What is said with every answer, and where the figures are from."""
        conditions = self.run.conditions
        where = conditions.machine.cpu_model or "this machine"
        when = f"{conditions.started_at[:10]}, on {where}; {self.run.measuring_s:.0f} s of measuring"
        figures = f"Figures: run {conditions.run_id}, {when}."
        return [self.question.note, figures] if self.question.note else [figures]


def advice_card(
    told: Sequence[Told],
    together: Together | None = None,
    rate: float | None = None,
    *,
    alternatives: bool = False,
) -> Card:
    """The card of all answers; `rate` is the user's (bytes a second), without it those that people have.

    `alternatives`: the answers are ways to do one work, and the card says what each costs beside the first.
    """
    lines = [_line(task, rate) for task in told]
    if len(told) < 2:
        return Card(tuple(lines))
    parts = tuple(
        Line(
            task.title,
            line.sign,
            line.winner,
            line.sure
            if line.sign == UNDECIDED
            else " ".join(() if task.passwords else reserve_texts(task.decision)),
            line.cost,
        )
        for task, line in zip(told, lines, strict=True)
    )
    if alternatives:
        return Card(parts, tuple(_weighed(told)))
    if together is None:
        return Card(parts, ("The best library for each part, mixed (--mix).",))
    if not any(task.decision.first for task in told):
        return Card(parts)
    if together.first is None:
        lacking = "; ".join(
            f"{runner} lacks {' and '.join(told[part].title for part in parts)}"
            for runner, parts in together.lacks
        )
        note = "No library here has all parts, so these are mixed."
        return Card(parts, (f"{note} {lacking}." if lacking else note,))
    return Card((_for_all(told, together, together.first, rate), *parts))


def _weighed(told: Sequence[Told]) -> list[str]:
    """What each way costs beside the first, a sentence each."""
    first = told[0].decision.first
    lines = []
    for task in told[1:]:
        other = task.decision.first
        if not first or not other or first.best.unit != other.best.unit:
            continue
        comparison = compare_options(first.best, other.best, task.decision.case.floor)
        lines.append(f"{sentence(task.title)}: {times_text(comparison)} the cost of {told[0].title}.")
    return lines


def _line(told: Told, rate: float | None) -> Line:
    decision = told.decision
    if told.passwords:
        cost = ""
        for parameters in told.passwords.parameters[:1]:
            cost = (
                f"{time_text(parameters.time_ns)} a hash, {memory_text(parameters.memory_bytes)} a guess; one core "
                f"like this makes {guesses_text(parameters)} guesses a second"
            )
        return Line("", "", told.answer, cost=cost)
    sure = " ".join((*reserve_texts(decision), *dict(told.lines).get("How sure", ())))
    sign = _SIGNS.get(decision.sure, "") if decision.sure else ""
    cost = _cost(decision.case.task, decision.first.best, rate) if decision.first else ""
    return Line("", sign, told.answer, sure, cost)


def _for_all(told: Sequence[Told], together: Together, first: Library, rate: float | None) -> Line:
    what = ", ".join(option.algorithm.name for option in first.options)
    sign, reasons = "", ["the only library here with all parts"]
    if together.comparison and len(together.ranking) > 1:
        next_, comparison = library_text(together.ranking[1].options[0]), together.comparison
        sign = ANSWER_SIGNS.get(
            comparison.direction, FASTEST if comparison.direction is Answer.SLOWER else UNDECIDED
        )
        reasons = [
            f"the next library, {next_}, costs {times_text(comparison)} as much in the mean of the parts"
        ]
    gains = [
        f"{told[gain.part].title} by {option_text(gain.option)}, at {times_text(gain.comparison)} the cost"
        for gain in together.gains
        if gain.comparison.answer is Answer.FASTER
    ]
    cheaper = f"mixing libraries would make cheaper: {', '.join(gains) or 'nothing beyond doubt'}"
    reasons += [cheaper] * (len(together.parts) > 1)
    with_data, calls = _divided(together, first)
    costs = [_cost(task, option, rate) for task, option in with_data]
    if calls:
        costs.append(f"{milliseconds(work_time(calls))} of computing a handshake, both sides together")
    empty = " and ".join(task.title for number, task in enumerate(told) if number not in together.parts)
    parts = f"one library; {empty}: nothing here" if empty else "one library for all parts"
    return Line(
        parts, sign, f"{library_text(first.options[0])}: {what}", "; ".join(reasons), "; ".join(costs)
    )


def _work(task: Task, option: Option) -> _Work:
    counts = task.operations(option.algorithm)
    return [(figure, counts[operation]) for (operation, _), figure in option.figures.items()]


def _has_data(work: _Work) -> bool:
    return any(data_bytes(figure.cell) for figure, _ in work)


def _divided(together: Together, library: Library) -> tuple[list[tuple[Task, Option]], _Work]:
    with_data, calls = [], []
    for part, option in zip(together.parts, library.options, strict=True):
        task = together.cases[part].task
        work = _work(task, option)
        if _has_data(work):
            with_data.append((task, option))
        else:
            calls += work
    return with_data, calls


def _cost(task: Task, option: Option, rate: float | None) -> str:
    """Cores at a rate for the dearest operation at the largest size; without data, the time of a unit of work."""
    work = _work(task, option)
    if not _has_data(work):
        parts = ", ".join(f"{count:g} {figure.cell.operation}" for figure, count in work)
        return f"{time_text(work_time(work))} {with_article(task.unit)}" + (f" ({parts})" if work[1:] else "")
    largest = max(data_bytes(figure.cell) for figure, _ in work)
    figure = max(
        (figure for figure, _ in work if data_bytes(figure.cell) == largest),
        key=lambda figure: figure.ns_per_call,
    )
    shown = rates_text(figure, (rate,) if rate else RATES)
    return f"{shown} ({figure.cell.operation}, {size_label(largest)})"


def library_table(together: Together, titles: Sequence[str]) -> Listing:
    """Libraries that have all parts by their mean cost, then those that lack one.

    A part with data costs cycles (or ns) a byte at its largest size, the others together a handshake's time.
    """
    rows = [_row(library, together) for library in together.ranking]
    named = {each.cell.runner: library_text(each) for case in together.cases for each in case.figures}
    for runner, lacking in together.lacks:
        parts = ("–" if part in lacking else "has it" for part in together.parts)
        rows.append((named.get(runner, runner), *parts, "–", "–", "–"))
    heads = (*(titles[part] for part in together.parts), "a byte", "handshake", "mean")
    return Listing("Library by library", [Head("library"), *(Head(head, "n") for head in heads)], rows)


def _row(library: Library, together: Together) -> tuple[str, ...]:
    first = together.ranking[0]
    with_data, calls = _divided(together, library)
    byte = ", ".join(_per_byte(option) for _, option in with_data)
    handshake = milliseconds(work_time(calls)) if calls else ""
    ratio = library.cost.estimate.value / first.cost.estimate.value
    mean = ("×1" if library is first else f"×{number(ratio)}") + " noisy" * bool(library.doubt)
    names = [option.algorithm.name for option in library.options]
    return (library_text(library.options[0]), *names, byte, handshake, mean)


def _per_byte(option: Option) -> str:
    """The cost of a byte at the largest size, all operations together."""
    largest = max(size for _, size in option.figures)
    costs = [
        (1.0, cost_of(figure, option.unit, per=largest, source=0))
        for (_, size), figure in option.figures.items()
        if size == largest
    ]
    return f"{three_digits(sum_costs(costs).estimate.value)} {option.unit}"


def render_advice(advice: Advice, *, width: int | None = None, colour: bool | None = None) -> str:
    """Give the answers as text, the card first; the text ends with a line end."""
    parts: list[Part] = [(advice.question.title, "bold"), advice.question.asks, Styled(), advice.card]
    parts += [advice.libraries] if advice.libraries else []
    for task in advice.told:
        if not advice.single:
            parts += [Styled(), (f"{sentence(task.title)}: {task.answer}", "bold underline")]
        for heading, texts in advice.reasons(task):
            parts += [Heading(heading), *([Items(texts)] if len(texts) > 1 else [f"  {texts[0]}"])]
        parts += [Styled(), replace(task.table, title="")]
    parts += [advice.machines] if advice.machines else []
    return render(
        [*parts, *(part for note in advice.notes for part in (Styled(), note))], width=width, colour=colour
    )


def together_json(together: Together) -> dict[str, Any]:
    """The answer for one library as plain values: the libraries by cost, and what mixing would gain."""
    names = [case.task.name for case in together.cases]
    return {
        "recommended": together.first.runner if together.first else None,
        "ranking": [
            {
                "runner": library.runner,
                "algorithms": {
                    names[part]: option.algorithm.id
                    for part, option in zip(together.parts, library.options, strict=True)
                },
            }
            for library in together.ranking
        ],
        "ratio": json_ready(together.comparison.ratio) if together.comparison else None,
        "answer": together.comparison.answer.value if together.comparison else None,
        "gains": [
            {
                "task": names[gain.part],
                "runner": gain.option.runner,
                "algorithm": gain.option.algorithm.id,
                "ratio": json_ready(gain.comparison.ratio),
                "claimed": gain.comparison.claimed,
            }
            for gain in together.gains
        ],
        "lacks": {runner: [names[part] for part in parts] for runner, parts in together.lacks},
    }


def answers_json(advice: Advice, named: Mapping[str, str]) -> dict[str, Any]:
    """All answers for programs; `named`: what was asked, by the names of its fields."""
    run = advice.run
    return {
        "schema_version": 1,
        **named,
        "run": str(run.path) if run.path else run.conditions.run_id,
        "tasks": [told_json(task) for task in advice.told],
        **({"together": together_json(advice.together)} if advice.together else {}),
        "notes": advice.notes,
        **({"machines": records(advice.machines)} if advice.machines else {}),
    }


def told_json(told: Told) -> dict[str, Any]:
    """An answer for programs: the decision with its numbers, and the sentences by heading."""
    decision, passwords = told.decision, told.passwords
    profile = decision.case.asked.profile
    first, second = decision.first, decision.runner_up
    document: dict[str, Any] = {
        "task": decision.case.task.name,
        "answer": told.answer,
        "recommended": first.algorithm.id if first else None,
        "runner_up": second.algorithm.id if second else None,
        "sure": decision.sure.value if decision.sure else None,
        "ratio": _ends(decision.comparison.ratio) if decision.comparison else None,
        "equal": [entry.algorithm.id for entry in decision.equal],
        "ranking": [_ranked(entry, profile) for entry in decision.ranking],
        "ruled_out": [_ranked(entry, profile) for entry in decision.ruled_out],
        "missing": [{"name": name, "reason": reason} for name, reason in decision.missing],
        "said": {heading: list(texts) for heading, texts in told.lines},
    }
    if passwords:
        document["recommended"] = (
            passwords.parameters[0].ranked.algorithm.id if passwords.parameters else None
        )
        document["parameters"] = [
            {
                "algorithm": parameters.ranked.algorithm.id,
                "parameters": parameters.words,
                "ns_per_hash": _ends(parameters.time_ns),
                "memory_bytes": parameters.memory_bytes,
                "guesses_per_second": parameters.guesses_s,
            }
            for parameters in passwords.parameters
        ]
    return document


def _ranked(entry: Ranked, profile: str) -> dict[str, Any]:
    strength = strength_of(entry.algorithm.id)
    return {
        "algorithm": entry.algorithm.id,
        "status": status_word(entry.standing),
        "strength": strength.said if strength else None,
        "reasons": list(standing_texts(entry.standing, profile)),
        "options": [
            {
                "runner": option.runner,
                "library": option.library,
                "library_version": option.version,
                "cost": _ends(option.cost.estimate),
                "unit": option.unit,
                "doubt": option.doubt,
                "cells": {
                    f"{name}@{size}": figure.cell.address for (name, size), figure in option.figures.items()
                },
            }
            for option in entry.options
        ],
    }


def _ends(estimate: Estimate) -> Any:
    return json_ready(estimate) if math.isfinite(estimate.value) else None
