"""What `perbyte try` found, in words: a table and ratios, changes since the baseline, faults."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from perbyte.app.trying.stored import Stored
    from perbyte.model import CellFigure, Failure, Run
    from perbyte.report.behaviour import CountChange
    from perbyte.trial.kept import BaselineChange


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


def print_failures(run: Run) -> None:
    """Print what failed in a run."""
    from perbyte.report.facts import failure_lines

    for line in failure_lines(run):
        print(line)


def print_markdown(name: str, changes: Sequence[Any], counted: Sequence[CountChange] = ()) -> None:
    """A table for a comment: what it is, the verdict, the change with its interval, instructions where counted."""
    from perbyte.report.listing import Listing, columns, markdown
    from perbyte.report.wording import size_label

    more = {id(change.comparison): change for change in counted}
    heads = "function | operation | size | verdict | change | 99.8 % interval" + " | instructions" * bool(
        counted
    )
    rows = []
    for change in changes:
        by, low, high = percent_changes(change)
        row = (name, change.operation, size_label(change.size_bytes), change.word, by, f"{low} to {high}")
        rows.append((*row, *((_instructions(more.get(id(change.comparison))),) if counted else ())))
    print("\n".join(markdown(Listing("", columns(heads), rows))))


def percent_changes(change: BaselineChange) -> tuple[str, str, str]:
    """By how many per cent a cost changed, with the ends of the interval."""
    ratio = change.comparison.ratio
    by, low, high = (f"{100 * (end - 1):+.2f} %" for end in (ratio.value, ratio.low, ratio.high))
    return by, low, high


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


def fault_line(fault: Failure) -> str:
    """A fault in a line: what is wrong, where, with expected and got."""
    from perbyte.model.text import plain

    line = f"{plain(fault.address or fault.runner, 100)}: {fault.kind}: {plain(fault.message, 300)}"
    if fault.expected or fault.got:
        line += f"; expected {plain(fault.expected, 72)}, got {plain(fault.got, 72)}"
    return line


def first_line(figures: Sequence[CellFigure], elapsed_s: float) -> str:
    """What a user reads first: that it compiled, that it is right, and about what it costs."""
    from perbyte.report.wording import size_label

    told = []
    for figure in figures:
        size = figure.cell.size_bytes or 1
        unit = "cycles/byte" if figure.cycles_per_call is not None else "ns/byte"
        told.append(
            f"{figure.cell.runner}: {figure.cell.operation} {size_label(figure.cell.size_bytes)} "
            f"about {figure.per_call / size:.3g} {unit}"
        )
    return f"compiled, right; {'; '.join(told) or 'no figure yet'} ({elapsed_s:.1f} s)"


def stored_lines(stored: Stored, now: Run) -> list[str]:
    """The figures that were not measured again, by run and row, with where they are from."""
    from perbyte.report.wording import number, size_label

    told: dict[str, dict[tuple[str, int], list[str]]] = {}
    for run, figure in sorted(stored.kept(now), key=lambda kept: kept[1].ns_per_call):
        size = figure.cell.size_bytes or 1
        unit = "cycles/byte" if figure.cycles_per_call is not None else "ns/byte"
        value = number(figure.per_call / size, figure.interval.half_width / size)
        when = f"{run.conditions.started_at[:16].replace('T', ' ')} UTC"
        name = run.conditions.run_id
        head = f"not measured again, from the run {name} of {when} (same boot, builds and policy):"
        row = (figure.cell.operation, figure.cell.size_bytes)
        told.setdefault(head, {}).setdefault(row, []).append(f"{figure.cell.runner} {value} {unit}")
    lines = []
    for head, rows in told.items():
        lines.append(head)
        lines += [
            f"  {operation} {size_label(size)}: {', '.join(costs_told)}"
            for (operation, size), costs_told in rows.items()
        ]
    return lines
