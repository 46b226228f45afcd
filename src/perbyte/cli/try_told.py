"""What `perbyte try` found, in words: a table and ratios, changes since the baseline, faults."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from perbyte.model import Run
    from perbyte.report.behaviour import CountChange


def print_beside(run: Run, own: Sequence[str], bests: Sequence[Any]) -> None:
    """Print the table of a run, how the rows of `own` were compiled, and their ratios to the best library."""
    from perbyte.report.text import render_table
    from perbyte.report.wording import claim_text, interval_text, ratio_text, size_label

    print(render_table(run), end="")
    print()
    for identity in sorted(run.conditions.identities, key=lambda identity: identity.runner):
        if identity.runner in own:
            print(
                f"{identity.runner}: {identity.library}, {identity.compiler}, {identity.flags or 'no flags'}"
            )
    for best in bests:
        cell, ratio = best.own.cell, best.comparison.ratio
        where = f"{cell.operation} {size_label(cell.size_bytes)}"
        library = (
            f"{best.best.cell.runner}, the best of {best.others}"
            if best.others > 1
            else best.best.cell.runner
        )
        if text := claim_text(best.comparison):
            print(f"{cell.runner}, {where}, against {library}: {text}")
        else:
            print(
                f"{cell.runner}, {where}: {ratio_text(ratio)} times the cost of {library} ({interval_text(ratio)})"
            )
    if not bests and any(figure.cell.runner in own for figure in run.cells):
        print("no library here does the same under this contract: nothing to compare with")


def print_counts(run: Run) -> None:
    """Print what rows execute and use, where that was counted."""
    from perbyte.report.behaviour import render_behaviour

    if run.behaviours:
        print("\n" + render_behaviour(run, count=True, memory=True), end="")


def instruction_changes(run: Run, name: str, before: str, changes: Sequence[Any]) -> list[CountChange]:
    """Of each row that was counted in both programs: instructions now over those before, beside what time says."""
    from perbyte.report.behaviour import CountChange

    counted = {
        (
            behaviour.cell.runner,
            behaviour.cell.operation,
            behaviour.cell.contract,
            behaviour.cell.size_bytes,
        ): behaviour
        for behaviour in run.behaviours
        if behaviour.call
    }
    told = []
    for change in changes:
        row = (change.operation, change.contract, change.size_bytes)
        old, new = counted.get((before, *row)), counted.get((name, *row))
        if old and old.call and new and new.call:
            ratio = new.call.instructions / old.call.instructions
            ends = (new.ends[0] / old.ends[1], new.ends[1] / old.ends[0])
            told.append(CountChange(new.cell.address, ratio, *ends, change.comparison))
    return told


def print_failures(run: Run) -> None:
    """Print what failed in a run."""
    from perbyte.report.facts import failure_lines

    for line in failure_lines(run):
        print(line)


def print_markdown(name: str, changes: Sequence[Any], counted: Sequence[CountChange] = ()) -> None:
    """A table for a comment: what it is, the verdict, the change with its interval, instructions where counted."""
    from perbyte.report.wording import size_label

    more = {id(change.comparison): change for change in counted}
    extra = (" instructions |", "---|") if counted else ("", "")
    print(f"| function | operation | size | verdict | change | 99.8 % interval |{extra[0]}")
    print(f"|---|---|---|---|---|---|{extra[1]}")
    for change in changes:
        by, low, high = (
            f"{100 * (end - 1):+.2f} %"
            for end in (
                change.comparison.ratio.value,
                change.comparison.ratio.low,
                change.comparison.ratio.high,
            )
        )
        size, told = size_label(change.size_bytes), ""
        if counted:
            told = f" {_instructions(more.get(id(change.comparison)))} |"
        print(f"| {name} | {change.operation} | {size} | {change.word} | {by} | {low} to {high} |{told}")


def _instructions(change: CountChange | None) -> str:
    if change is None:
        return "not counted"
    doubt = "" if change.exact else " ~"
    return f"{100 * (change.ratio - 1):+.2f} %{doubt}{', against the time' * change.contradicts}"


def print_changes(name: str, changes: Sequence[Any], what: str) -> None:
    """Print what became of each row, and then `what` it was compared with."""
    from perbyte.report.wording import size_label

    for change in changes:
        more = "; try again, or give it more: --budget 30s" if change.word == "not known" else ""
        print(f"{name}, {change.operation} {size_label(change.size_bytes)}: {change_words(change)}{more}")
    print(what)


def change_words(change: Any) -> str:
    """What became of a row: `SLOWER by 1.04 % (0.91 to 1.20 %)`, `the same (-0.21 to +0.18 %)`."""
    low, high = (100 * (end - 1) for end in (change.comparison.ratio.low, change.comparison.ratio.high))
    if change.word in ("slower", "faster"):
        ends = sorted((abs(low), abs(high)))
        by = abs(100 * (change.comparison.ratio.value - 1))
        return f"{change.word.upper()} by {by:.2f} % ({ends[0]:.2f} to {ends[1]:.2f} %)"
    return f"{change.word}{' (' if change.word == 'the same' else ', '}{low:+.2f} to {high:+.2f} %" + (
        ")" if change.word == "the same" else ""
    )


def costs(run: Run, name: str) -> str:
    """What the rows of `name` cost, in a phrase."""
    from perbyte.report.wording import number, size_label

    told = []
    for figure in run.cells:
        if figure.cell.runner == name:
            size = figure.cell.size_bytes or 1
            unit = "cycles/byte" if figure.cycles_per_call is not None else "ns/byte"
            value = number(figure.per_call / size, figure.interval.half_width / size)
            told.append(f"{value} {unit} at {size_label(figure.cell.size_bytes)}")
    return ", ".join(told)
