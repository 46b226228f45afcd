"""One library for all parts, as a table: what each library would use for each part, and what that costs."""

from __future__ import annotations

from collections.abc import Sequence

from perbyte.advise import Library, Option, Together
from perbyte.report.advicewords import library_text
from perbyte.report.card import milliseconds
from perbyte.report.listing import Head, Listing
from perbyte.report.wording import number, three_digits
from perbyte.stats.compare import NS, Cost, cost_of, sum_costs
from perbyte.stats.quantity import data_bytes


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
        figures = [(figure, counts[operation]) for (operation, _), figure in option.figures.items()]
        if any(data_bytes(figure.cell) for figure, _ in figures):
            byte.append(_per_byte(option))
        else:
            calls += [(count, cost_of(figure, NS, source=0)) for figure, count in figures]
    whole = milliseconds(sum_costs(calls).estimate) if calls else ""
    ratio = library.cost.estimate.value / first.cost.estimate.value
    mean = "1" if library is first else f"×{number(ratio)}"
    names = [option.algorithm.name for option in library.options]
    return (
        library_text(library.options[0]),
        *names,
        ", ".join(byte),
        whole,
        mean + ("?" if library.doubt else ""),
    )


def _per_byte(option: Option) -> str:
    """The cost of a byte at the largest size, all operations together."""
    largest = max(size for _, size in option.figures)
    costs: list[tuple[float, Cost]] = [
        (1.0, cost_of(figure, option.unit, per=largest, source=0))
        for (_, size), figure in option.figures.items()
        if size == largest
    ]
    return f"{three_digits(sum_costs(costs).estimate.value)} {option.unit}"
