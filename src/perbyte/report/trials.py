"""A user's own programs in words: beside the best library, since a baseline, their faults; benchmarks of a project."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from perbyte.model import Cell, CellFigure, Doubt, Estimate, Failure, Run
from perbyte.model.algorithm import Benchmark
from perbyte.model.text import plain
from perbyte.report import markdown
from perbyte.report.behaviour import behaviour_parts, behaviours_json, change_lines, placement_parts
from perbyte.report.behaviour import changes_json as count_changes_json
from perbyte.report.document import Block, Text, table_of
from perbyte.report.export import to_json
from perbyte.report.facts import failure_lines, failures_by_cause, outputs_text
from perbyte.report.listing import Listing, columns
from perbyte.report.printed import render_table
from perbyte.report.terminal import render
from perbyte.report.wording import (
    claim_text,
    interval_text,
    number,
    ratio_text,
    size_label,
    three_digits,
    value_text,
)
from perbyte.stats.compare import Answer
from perbyte.stats.quantity import Unit, data_bytes, read
from perbyte.stats.trials import BaselineChange, BesideTheBest, CountChange

# what Go's runtime says of a panic: its words, and the first line of the user's own file
_PANIC = re.compile(
    r"(panic: [^\n]*)\n.*?^main\.[^\n]*\n\s*(?:\S*/)?(\S+\.go:\d+).*", re.DOTALL | re.MULTILINE
)


def beside_lines(run: Run, own: Collection[str], bests: Sequence[BesideTheBest]) -> Iterator[str]:
    """What the rows of `own` cost beside the best library, how they were compiled, and the table of the run."""
    several = len({best.own.cell.contract for best in bests}) > 1
    yield from (fault_line(failure) for failure, _ in failures_by_cause(run) if failure.runner in own)
    for best in bests:
        yield beside_line(best, several=several)
    if not bests and any(figure.cell.runner in own for figure in run.cells):
        yield "no library here does the same under this contract: nothing to compare with"
    for identity in sorted(run.conditions.identities, key=lambda identity: identity.runner):
        if identity.runner in own:
            yield f"{identity.runner}: {identity.library}, {identity.compiler}, {identity.flags or 'no flags'}"
    yield ""
    yield render_table(run)
    yield from seen_lines(run)


def beside_line(best: BesideTheBest, *, several: bool) -> str:
    """What a row of one's own costs beside the best library, or which doubt is in the way."""
    cell, comparison = best.own.cell, best.comparison
    head = f"{cell.runner}, {row_label(cell, several=several)}"
    library = best.best.cell.runner + (f", the best of {best.others}" if best.others > 1 else "")
    if comparison.claimed:
        ratio = comparison.ratio
        return f"{head}: {ratio_text(ratio)} times the cost of {library} ({interval_text(ratio)})"
    if comparison.direction in (Answer.SLOWER, Answer.FASTER):
        times, limit = f"{three_digits(comparison.ratio.value)} times the cost", claim_text(comparison)
        return f"{head}: {times} of {library} ({limit})"
    return f"{head}, against {library}: {claim_text(comparison)}"


def trial_json(
    run: Run,
    own: Collection[str],
    bests: Sequence[BesideTheBest],
    *,
    roles: Mapping[str, Sequence[str]],
    faults: Sequence[Failure],
    stored: Any,
) -> dict[str, Any]:
    """The run for programs: how the rows of `own` were compiled, their ratios to the best library, faults.

    `roles`: what the parameters of each function were taken for.
    """
    document = {
        "rows": [
            {"runner": identity.runner, "compiler": identity.compiler, "flags": identity.flags}
            for identity in run.conditions.identities
            if identity.runner in own
        ],
        "ratios": [
            {"address": best.own.cell.address, "best": best.best.cell.address}
            | ratio_json(best.comparison.ratio)
            for best in bests
        ],
        "behaviour": behaviours_json(run),
        "understood": roles,
        "faults": faults,
        "stored": stored.as_json(run) if stored else None,
    }
    return to_json(run) | {"trial": document}


def changed_json(changed: Any, seconds: float, *, counted: bool) -> dict[str, Any]:
    """What became of the rows in an `app.trying.trial.InTurn`; `counted`: instructions were asked for."""
    document = {
        "changes": changes_json(changed.changes),
        "behaviour": behaviours_json(changed.run),
        "seconds": seconds,
    }
    return document | ({"instructions": count_changes_json(changed.instructions)} if counted else {})


def ratio_json(ratio: Estimate) -> dict[str, float]:
    """A ratio with the ends of its interval."""
    return {"ratio": ratio.value, "low": ratio.low, "high": ratio.high}


def seen_lines(run: Run) -> list[str]:
    """What rows execute and use, and how their cost depends on places in memory, where that was asked for."""
    parts = [behaviour_parts(run)] * bool(run.behaviours) + [placement_parts(run.placements)] * bool(
        run.placements
    )
    return [line for each in parts for line in ("", *render(each).splitlines())]


def changes_json(changes: Sequence[BaselineChange]) -> list[dict[str, Any]]:
    """What became of each row."""
    return [
        {"operation": change.operation, "size_bytes": change.size_bytes} | change_json(change)
        for change in changes
    ]


def change_json(change: BaselineChange) -> dict[str, Any]:
    """The verdict on a row and the change with its interval."""
    answer = {"verdict": change.word, "answer": change.comparison.answer.value}
    return answer | ratio_json(change.comparison.ratio)


def changes_markdown(
    name: str, changes: Sequence[BaselineChange], counted: Sequence[CountChange] = ()
) -> list[str]:
    """A table for a comment: what it is, the verdict, the change with its interval, instructions where counted."""
    more = {id(change.comparison): change for change in counted}
    heads = "function | operation | size | verdict | change | 99.8 % interval"
    rows: list[tuple[str, ...]] = []
    for change in changes:
        by, low, high = percent_changes(change)
        row = (name, change.operation, size_label(change.size_bytes), change.word, by, f"{low} to {high}")
        rows.append((*row, *((_instructions(more.get(id(change.comparison))),) if counted else ())))
    return markdown.lines(table_of("", heads + " | instructions" * bool(counted), rows))


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


def changes_lines(
    name: str,
    changes: Sequence[BaselineChange],
    since: str,
    run: Run,
    counted: Sequence[CountChange],
    flags: tuple[str, str] | None,
) -> Iterator[str]:
    """What became of each row, `since` when, and counts; `flags`: those of then and of now."""
    for change in changes:
        more = "; try again, or give it more: --budget 30s" if change.word == "not known" else ""
        yield f"{name}, {change.operation} {size_label(change.size_bytes)}: {change_text(change)}{more}"
    yield since
    if flags and flags[0] != flags[1]:
        yield f"flags then: {flags[0]}; now: {flags[1]}"
    yield from seen_lines(run)
    yield from change_lines(counted)


def change_text(change: BaselineChange) -> str:
    """What became of a row: `SLOWER by 1.04 % (0.91 to 1.20 %)`, `the same (-0.21 to +0.18 %)`."""
    ratio = change.comparison.ratio
    low, high = (100 * (end - 1) for end in (ratio.low, ratio.high))
    if change.word in ("slower", "faster"):
        ends = sorted((abs(low), abs(high)))
        by = abs(100 * (ratio.value - 1))
        return f"{change.word.upper()} by {by:.2f} % ({ends[0]:.2f} to {ends[1]:.2f} %)"
    between = f"{low:+.2f} to {high:+.2f} %"
    return f"the same ({between})" if change.word == "the same" else f"{change.word}, {between}"


def search_line(step: Any) -> str:
    """A step of a search among commits, or its end: the commit that changed the row, or those that may have."""
    if hasattr(step, "word"):
        seen = change_text(step.change) if step.change else f"cannot be measured: {step.why}"
        return f"  {step.commit.short} {seen} · {step.commit.subject}"
    if step.count > 1:
        return f"one of {step.count} commits: {step.first.short} to {step.last.short}"
    seen = f": {change_text(step.change)} than before it" if step.change else ""
    return f"changed by {step.first.short} {step.first.subject}{seen}"


def cost_text(figure: CellFigure, *, rough: bool = False) -> str:
    """A cost per byte with its unit; `rough`: to three digits, whatever its interval."""
    size = figure.cell.size_bytes or 1
    unit = "cycles/byte" if figure.cycles_per_call is not None else "ns/byte"
    each = figure.per_call / size
    return f"{f'{each:.3g}' if rough else number(each, figure.interval.half_width / size)} {unit}"


def costs_text(run: Run, name: str) -> str:
    """What the rows of `name` cost, in a phrase."""
    figures = [figure for figure in run.cells if figure.cell.runner == name]
    return ", ".join(f"{cost_text(figure)} at {size_label(figure.cell.size_bytes)}" for figure in figures)


def fault_line(fault: Failure) -> str:
    """A fault in a line: what is wrong, where, with expected and got."""
    message = plain(_PANIC.sub(r"\1 (\2)", fault.message), 300) + outputs_text(fault)
    return f"{plain(fault.address or fault.runner, 100)}: {fault.kind}: {message}"


def first_line(figures: Sequence[CellFigure], elapsed_s: float) -> str:
    """What a user reads first: that it compiled, that it is right, and about what it costs."""
    costs = [
        f"{figure.cell.runner}: {figure.cell.operation} {size_label(figure.cell.size_bytes)} "
        f"about {cost_text(figure, rough=True)}"
        for figure in figures
    ]
    unchecked = any(figure.cell.algorithm.startswith("unverified-") for figure in figures)
    verdict = "not checked: no known answer" if unchecked else "right so far"
    return f"compiled, {verdict}; {'; '.join(costs) or 'no figure yet'} ({elapsed_s:.1f} s)"


def stored_lines(kept: Sequence[tuple[Run, CellFigure]]) -> list[str]:
    """The figures that were not measured again, by run and row, with where they are from."""
    rows: dict[str, dict[str, list[str]]] = {}
    several = len({figure.cell.contract for _, figure in kept}) > 1
    for run, figure in sorted(kept, key=lambda pair: pair[1].per_call):
        when = f"{run.conditions.started_at[:16].replace('T', ' ')} UTC"
        head = f"not measured again, from the run {run.conditions.run_id} of {when} (same boot, builds and policy):"
        row = rows.setdefault(head, {}).setdefault(row_label(figure.cell, several=several), [])
        row.append(f"{figure.cell.runner} {cost_text(figure)}")
    return [
        line
        for head, costs in rows.items()
        for line in (head, *(f"  {row}: {', '.join(texts)}" for row, texts in costs.items()))
    ]


def row_label(cell: Cell, *, several: bool) -> str:
    """`digest 1 KiB`, and `digest 1 KiB oneshot/1` where rows of `several` contracts stand together."""
    return f"{cell.operation} {size_label(cell.size_bytes)}{f' {cell.contract}' * several}"


def tree_lines(algorithm: str, run: Run | None, outcomes: Sequence[Any], measured: str) -> Iterator[str]:
    """The table of a tree's implementations, counts by outcome, and why the others have no figure.

    An outcome has `name`, `word` and `detail`; `measured` is the word of those with a figure.
    """
    if run:
        yield render_table(run)
    counts = _counts(outcomes, measured)
    fitting = sum(outcome.word == measured and "fits" in outcome.detail for outcome in outcomes)
    sums = f"; {fitting} give the checksums of the tree" if fitting else ""
    yield f"{algorithm}: {len(outcomes)} implementations: {counts}{sums}"
    for outcome in outcomes:
        if outcome.word != measured:
            yield f"  {plain(outcome.name, 60)}: {outcome.word}: {plain(outcome.detail, 400)}"


def _counts(outcomes: Sequence[Any], measured: str) -> str:
    words = [outcome.word for outcome in outcomes]
    return ", ".join(f"{words.count(word)} {word}" for word in dict.fromkeys([measured, *words]))


def tree_json(algorithm: str, outcomes: Sequence[Any]) -> dict[str, Any]:
    """The same for programs; an outcome has `place` as well."""
    rows = [
        {"name": each.name, "directory": str(each.place), "outcome": each.word, "detail": each.detail}
        for each in outcomes
    ]
    return {"algorithm": algorithm, "implementations": rows}


def primitive_line(outcomes: Sequence[Any], measured: str) -> str:
    """What became of a primitive of a tree: how many implementations, `measured` first, and the best."""
    best: dict[str, tuple[float, str]] = {}
    for outcome in outcomes:
        for where, values in outcome.figures.items():
            if values[0] and (where not in best or values[0] < best[where][0]):
                best[where] = (values[0], outcome.implementation)
    named = [f"{where.split()[0]} {cycles:,.0f} cycles ({name})" for where, (cycles, name) in best.items()]
    return _counts(outcomes, measured) + (f"; best: {', '.join(named[:4])}" if named else "")


def tree_end(journal: Any) -> list[str]:
    """What there is of a whole tree by now, and where."""
    outcomes = journal.outcomes.values()
    counts = ", ".join(f"{count} {word}" for word, count in journal.counts().items())
    done = len({(outcome.operation, outcome.primitive) for outcome in outcomes})
    return [
        f"{done} primitives, {len(outcomes)} programs: {counts}",
        f"{journal.place / 'data'}: in SUPERCOP's form; {journal.place / 'state.jsonl'}: each with its reason",
    ]


UNVERIFIED = "unverified: the output of these benchmarks is not checked"
EMPTY_CYCLES = 3.0
EMPTY = "no more than an empty loop takes: the compiler may have removed the computation"
Programs = Mapping[str, Sequence[Benchmark]]
"""The benchmarks of each program, by the name of its rows."""
Named = Sequence[tuple[str, BaselineChange]]


def figures_parts(run: Run, programs: Programs) -> list[Block]:
    """A figure of each benchmark: cost of a call, and of a byte where bytes are declared, with intervals."""
    level = f"{100 * run.conditions.policy.level:g} %"
    unit = "cycles" if all(figure.cycles_per_call is not None for figure in run.cells) else "ns"
    heads = columns(f"benchmark | {unit}/call:n | {level} interval:n | {unit}/byte:n | {level} interval:n")
    built = {identity.runner: identity for identity in run.conditions.identities}
    parts: list[Block] = []
    for program in programs:
        figures = [pair for pair in _figures(run, program, programs) if pair[1].cell.twin == 0]
        if rows := [[name, *_costs(figure, unit)] for name, figure in figures]:
            identity = built.get(program)
            by = f", {identity.compiler}, {identity.flags or 'no flags'}" if identity else ""
            width = len(heads) if any(row[3] for row in rows) else 3  # without bytes nothing is of a byte
            parts += [Text(f"{program}{by}"), Listing("", heads[:width], [row[:width] for row in rows])]
    return [*parts, Text(UNVERIFIED), *map(Text, _doubts(run, programs))]


def lines_of(parts: Sequence[Block], *, as_markdown: bool) -> list[str]:
    """The lines of what is said of benchmarks, as text or for a comment."""
    if as_markdown:
        return [line for part in parts for line in markdown.lines(part)]
    return render(parts).splitlines()


def _figures(run: Run, program: str, programs: Programs) -> list[tuple[str, CellFigure]]:
    names = {benchmark.id: benchmark.name for benchmark in programs[program]}
    return [
        (plain(names.get(figure.cell.algorithm, figure.cell.algorithm), 80), figure)
        for figure in run.cells
        if figure.cell.runner == program
    ]


def _costs(figure: CellFigure, unit: str) -> list[str]:
    """Cost of a call and of a byte with their intervals; empty where no bytes are declared."""
    call = read(figure, Unit.CYCLES_PER_CALL if unit == "cycles" else Unit.NS_PER_CALL)
    if not call:
        return [""] * 4
    size = data_bytes(figure.cell)
    costs = [call, *([call.scaled(per=size)] if size else [])]
    words = [words for cost in costs for words in (value_text(cost), interval_text(cost))]
    return words + [""] * (4 - len(words))


def _doubts(run: Run, programs: Programs) -> Iterator[str]:
    """What is to be said beside figures, each once, and what has none."""
    doubts: dict[str, list[str]] = {}
    shown = set()
    for program, benchmarks in programs.items():
        for name, figure in _figures(run, program, programs):
            shown.add(name)
            for warning in figure.warnings:
                if warning.kind is not Doubt.UNCHAINED:  # said of all of them
                    doubts.setdefault(warning.text, []).append(name)
            if figure.cycles_per_call is not None and figure.cycles_per_call < EMPTY_CYCLES:
                doubts.setdefault(EMPTY, []).append(name)
        for benchmark in benchmarks:
            if benchmark.note and not benchmark.why:
                doubts.setdefault(benchmark.note, []).append(plain(benchmark.name, 80))
    for text, names in doubts.items():
        of = list(dict.fromkeys(names))
        subject = "all" if len(shown) > 1 and set(of) == shown else ", ".join(of)
        yield f"{subject}: {plain(text, 300)}"
    titles = {benchmark.id: plain(benchmark.name, 80) for them in programs.values() for benchmark in them}
    for line in failure_lines(run):
        address, colon, rest = line.partition(": ")
        algorithm = address.split("/")[1] if "/" in address else ""
        yield f"{titles.get(algorithm, address)}{colon}{rest}"


def benchmark_changes_parts(run: Run, changes: Named) -> list[Block]:
    """What became of each benchmark since its program was kept."""
    rows = [(plain(name, 80), change.word, *percent_changes(change)) for name, change in changes]
    table = table_of("", "benchmark:code | verdict | change | from | to", rows)
    return [table, *map(Text, failure_lines(run)), Text(UNVERIFIED)]


def benchmark_changes_json(changes: Named) -> list[dict[str, Any]]:
    """The same for programs."""
    return [{"name": name, "id": change.algorithm} | change_json(change) for name, change in changes]


def benchmarks_json(programs: Programs, *, named: bool) -> list[dict[str, Any]]:
    """What benchmarks there are; `named`: with the name of the program."""
    return [
        ({"program": program} if named else {})
        | {
            "id": benchmark.id,
            "name": benchmark.name,
            "bytes": benchmark.bytes,
            "contract": benchmark.contract,
            "why": benchmark.why,
        }
        for program, benchmarks in programs.items()
        for benchmark in benchmarks
    ]


def benchmarks_lines(programs: Programs) -> Iterator[str]:
    """A line for each benchmark: how it is measured, or why not."""
    for program, benchmarks in programs.items():
        for benchmark in benchmarks:
            size = f", {benchmark.bytes} bytes" if benchmark.bytes else ""
            how = f"not measured: {benchmark.why}" if benchmark.why else benchmark.contract
            yield f"{program}: {plain(benchmark.name, 80)} ({benchmark.id}{size}): {how}"
