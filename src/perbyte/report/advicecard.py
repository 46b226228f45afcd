"""The card that opens an advice: what to use, how sure that is, what it costs; and one library for all parts."""

from __future__ import annotations

from collections.abc import Sequence

from perbyte.advise import Library, Option, Sure, Together
from perbyte.advise.decision import compare_options
from perbyte.model import CellFigure
from perbyte.report.advice import Told
from perbyte.report.advicewords import (
    guesses_text,
    library_text,
    memory_text,
    option_text,
    time_text,
    with_article,
)
from perbyte.report.card import RATES, Card, Line, milliseconds, rates_text, times_text, work_time
from perbyte.report.listing import Head, Listing
from perbyte.report.wording import number, sentence, size_label, three_digits
from perbyte.stats.compare import Answer, cost_of, sum_costs
from perbyte.stats.quantity import data_bytes

_SIGNS = {Sure.CERTAIN: "►", Sure.CLOSE: "=", Sure.LIKELY: "?", Sure.DOUBTFUL: "?"}


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
    lines = [task_line(task, rate) for task in told]
    if len(told) < 2:
        return Card(tuple(lines))
    parts = tuple(
        Line(told[number].title, line.sign, line.winner, line.sure if line.sign == "?" else "", line.cost)
        for number, line in enumerate(lines)
    )
    if alternatives:
        return Card(parts, tuple(weigh(told)))
    if together is None:
        return Card(parts, ("The best library for each part, mixed (--mix).",))
    if together.first is None:
        note = f"No library here has all parts, so these are mixed. {lacking_text(told, together)}"
        return Card(parts, (note.strip(),))
    return Card((_for_all(told, together, rate), *parts))


def weigh(told: Sequence[Told]) -> list[str]:
    """What each way costs beside the first, a sentence each."""
    first = told[0].decision.first
    lines = []
    for task in told[1:]:
        other = task.decision.first
        if not first or not other or first.best.unit != other.best.unit:
            continue
        comparison = compare_options(first.best, other.best, task.decision.case.floor)
        doubt = "" if comparison.claimed else f", though {comparison.doubt or comparison.reason}"
        lines.append(f"{sentence(task.title)}: {times_text(comparison)} the cost of {told[0].title}{doubt}.")
    return lines


def task_line(told: Told, rate: float | None = None) -> Line:
    """The answer to one task."""
    if told.passwords:
        parameters = told.passwords.parameters
        cost = (
            f"{time_text(parameters[0].time_ns)} a hash, {memory_text(parameters[0].memory_bytes)} a guess; one core "
            f"like this makes {guesses_text(parameters[0])} guesses a second"
            if parameters
            else ""
        )
        return Line("", "", told.answer, cost=cost)
    sure = " ".join(dict(told.lines).get("How sure", ()))
    sign = _SIGNS.get(told.decision.sure, "") if told.decision.sure else ""
    return Line("", sign, told.answer, sure, _cost(told, rate))


def lacking_text(told: Sequence[Told], together: Together) -> str:
    """Which library lacks which part, as far as a library has any."""
    names = [task.title for task in told]
    return "; ".join(
        f"{runner} lacks {' and '.join(names[part] for part in parts)}" for runner, parts in together.lacks
    ) + ("." if together.lacks else "")


def gain_texts(told: Sequence[Told], together: Together) -> list[str]:
    """What another library would gain in single parts, where that is beyond doubt."""
    return [
        f"{told[gain.part].title} by {option_text(gain.option)}, at {times_text(gain.comparison)} the cost"
        for gain in together.gains
        if gain.comparison.answer is Answer.FASTER
    ]


def _for_all(told: Sequence[Told], together: Together, rate: float | None) -> Line:
    first = together.first
    assert first is not None
    what = ", ".join(option.algorithm.name for option in first.options)
    sign, reasons = "", ["the only library here with all parts"]
    if together.comparison and len(together.ranking) > 1:
        next_, comparison = library_text(together.ranking[1].options[0]), together.comparison
        sign = {Answer.SLOWER: "►", Answer.TIED: "="}.get(comparison.answer, "?")
        reasons = [
            f"the next library, {next_}, costs {times_text(comparison)} as much in the mean of the parts"
        ]
        reasons += [comparison.doubt] if comparison.doubt else []
    gains = gain_texts(told, together)
    reasons.append(f"mixing libraries would make cheaper: {', '.join(gains) or 'nothing beyond doubt'}")
    costs = [_cost(told[number], rate) for number in together.parts if _has_data(told[number])]
    calls = [
        called for number in together.parts if not _has_data(told[number]) for called in _work(told[number])
    ]
    if calls:
        costs.append(f"{milliseconds(work_time(calls))} of computing a handshake, both sides together")
    name = library_text(first.options[0])
    empty = " and ".join(task.title for number, task in enumerate(told) if number not in together.parts)
    parts = f"one library; {empty}: nothing here" if empty else "one library for all parts"
    return Line(parts, sign, f"{name}: {what}", "; ".join(reasons), "; ".join(costs))


def _work(told: Told) -> list[tuple[CellFigure, float]]:
    """The figures of what is recommended, each with how often a unit of work takes it."""
    first = told.decision.first
    if first is None:
        return []
    counts = told.decision.case.task.operations(first.algorithm)
    return [(figure, counts[operation]) for (operation, _), figure in first.best.figures.items()]


def _has_data(told: Told) -> bool:
    return any(data_bytes(figure.cell) for figure, _ in _work(told))


def _cost(told: Told, rate: float | None) -> str:
    """Cores at a rate for the dearest operation at the largest size; without data, the time of a unit of work."""
    work = _work(told)
    if not work:
        return ""
    task = told.decision.case.task
    if not _has_data(told):
        return f"{time_text(work_time(work))} {with_article(task.unit)}"
    largest = max(data_bytes(figure.cell) for figure, _ in work)
    figure = max(
        (figure for figure, _ in work if data_bytes(figure.cell) == largest),
        key=lambda figure: figure.ns_per_call,
    )
    shown = rates_text(figure, (rate,) if rate else RATES)
    return f"{shown} ({figure.cell.operation}, {size_label(largest)})"


def library_table(together: Together, titles: Sequence[str]) -> Listing:
    """Libraries that have all parts by their mean cost, then those that lack one.

    A part with data costs cycles (or ns) a byte in the mean of its sizes, the others together a handshake's time.
    """
    named = [titles[part] for part in together.parts]
    rows = [_row(library, together) for library in together.ranking]
    for runner, parts in together.lacks:
        lacking = {titles[part] for part in parts}
        rows.append((runner, *("–" if name in lacking else "has it" for name in named), "–", "–", "–"))
    figures = [Head(head, "n") for head in (*named, "a byte", "handshake", "mean")]
    return Listing("Library by library", [Head("library"), *figures], rows)


def _row(library: Library, together: Together) -> tuple[str, ...]:
    first = together.ranking[0]
    byte, calls = [], []
    for part, option in zip(together.parts, library.options, strict=True):
        counts = together.cases[part].task.operations(option.algorithm)
        work = [(figure, counts[operation]) for (operation, _), figure in option.figures.items()]
        if any(data_bytes(figure.cell) for figure, _ in work):
            byte.append(_per_byte(option))
        else:
            calls += work
    whole = milliseconds(work_time(calls)) if calls else ""
    ratio = library.cost.estimate.value / first.cost.estimate.value
    mean = "1" if library is first else f"×{number(ratio)}"
    names = [option.algorithm.name for option in library.options]
    mean += "?" if library.doubt else ""
    return (library_text(library.options[0]), *names, ", ".join(byte), whole, mean)


def _per_byte(option: Option) -> str:
    """The cost of a byte at the largest size, all operations together."""
    largest = max(size for _, size in option.figures)
    costs = [
        (1.0, cost_of(figure, option.unit, per=largest, source=0))
        for (_, size), figure in option.figures.items()
        if size == largest
    ]
    return f"{three_digits(sum_costs(costs).estimate.value)} {option.unit}"
