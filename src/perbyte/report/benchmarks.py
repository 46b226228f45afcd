"""Benchmarks of a project in words: a table of figures, changes since the baseline, a list of what there is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from perbyte.model import CellFigure, Doubt, Run
from perbyte.model.algorithm import Benchmark
from perbyte.model.text import markdown_text, plain
from perbyte.report.facts import failure_lines
from perbyte.report.listing import Listing, columns, lines, markdown
from perbyte.report.trials import change_json, change_text, percent_changes
from perbyte.report.wording import interval_text, value_text
from perbyte.stats.quantity import Unit, data_bytes, read
from perbyte.stats.trials import BaselineChange

UNVERIFIED = "unverified: the output of these benchmarks is not checked"
EMPTY_CYCLES = 3.0
EMPTY = "no more than an empty loop takes: the compiler may have removed the computation"
Programs = Mapping[str, Sequence[Benchmark]]
"""The benchmarks of each program, by the name of its rows."""
Named = Sequence[tuple[str, BaselineChange]]


def figures_lines(run: Run, programs: Programs, *, as_markdown: bool) -> Iterator[str]:
    """A figure of each benchmark: cost of a call, and of a byte where bytes are declared, with intervals."""
    level = f"{100 * run.conditions.policy.level:g} %"
    unit = "cycles" if all(figure.cycles_per_call is not None for figure in run.cells) else "ns"
    names = f"benchmark | {unit}/call:n | {level} interval:n | {unit}/byte:n | {level} interval:n"
    heads = columns(names)
    built = {identity.runner: identity for identity in run.conditions.identities}
    for program in programs:
        figures = [pair for pair in _figures(run, program, programs) if pair[1].cell.twin == 0]
        if rows := [[name, *_costs(figure, unit)] for name, figure in figures]:
            identity = built.get(program)
            by = f", {identity.compiler}, {identity.flags or 'no flags'}" if identity else ""
            width = len(heads) if any(row[3] for row in rows) else 3  # without bytes nothing is of a byte
            listing = Listing(f"{program}{by}", heads[:width], [row[:width] for row in rows])
            yield markdown_text(plain(listing.title, 1000)) if as_markdown else listing.title
            yield from markdown(listing) if as_markdown else (f"  {line}" for line, _ in lines(listing))
    yield UNVERIFIED
    doubts = _doubts(run, programs)
    yield from map(markdown_text, doubts) if as_markdown else doubts


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


def changes_lines(run: Run, changes: Named, *, as_markdown: bool) -> Iterator[str]:
    """What became of each benchmark since its program was kept."""
    if as_markdown:
        rows = [(plain(name, 80), change.word, *percent_changes(change)) for name, change in changes]
        yield from markdown(Listing("", columns("benchmark:code | verdict | change | from | to"), rows))
    else:
        yield from (f"{plain(name, 80)}: {change_text(change)}" for name, change in changes)
    failures = failure_lines(run)
    yield from map(markdown_text, failures) if as_markdown else failures
    yield UNVERIFIED


def changes_json(changes: Named) -> list[dict[str, Any]]:
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
