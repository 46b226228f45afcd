"""What `perbyte bench` found, in words: a table of figures, changes since the baseline, a list of what there is."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from perbyte.model import CellFigure, Run
    from perbyte.report.listing import Listing
    from perbyte.trial.benchmark_file import BenchmarkProgram
    from perbyte.trial.kept import BaselineChange

UNVERIFIED = "unverified: nobody has checked what these benchmarks compute, on known data or on new"
EMPTY_CYCLES = 3.0
EMPTY = "no more than a loop that does nothing takes: the compiler may have dropped what it computes"


def print_figures(run: Run, suites: Sequence[BenchmarkProgram], *, as_json: bool, markdown: bool) -> None:
    """Print a figure of each benchmark: cost of a call, and of a byte where bytes are declared, with 95 % intervals."""
    if as_json:
        from perbyte.report.export import to_json

        told = [
            {"id": one.id, "name": one.name, "bytes": one.bytes, "contract": one.contract, "why": one.why}
            for suite in suites
            for one in suite.benchmarks
        ]
        print(json.dumps(to_json(run) | {"benchmarks": told}, indent=1))
        return
    from perbyte.report.listing import Listing, columns

    level = f"{100 * run.conditions.policy.level:g} %"
    unit = "cycles" if all(one.cycles_per_call is not None for one in run.cells) else "ns"
    names = f"benchmark | {unit}/call:n | {level} interval:n | {unit}/byte:n | {level} interval:n"
    heads = columns(names)
    for suite in suites:
        rows = [
            [name, *_cells(figure, unit)] for name, figure in _figures(run, suite) if figure.cell.twin == 0
        ]
        if rows:
            identity = next((one for one in run.conditions.identities if one.runner == suite.spec.name), None)
            by = f", {identity.compiler}, {identity.flags or 'no flags'}" if identity else ""
            width = len(heads) if any(row[3] for row in rows) else 3  # without bytes nothing is of a byte
            listing = Listing(f"{suite.spec.name}{by}", heads[:width], [row[:width] for row in rows])
            _print_table(listing, as_markdown=markdown)
    print(UNVERIFIED)
    _print_doubts(run, suites)


def _figures(run: Run, suite: BenchmarkProgram) -> list[tuple[str, CellFigure]]:
    names = {one.id: one.name for one in suite.benchmarks}
    return [
        (_plain(names.get(one.cell.algorithm, one.cell.algorithm)), one)
        for one in run.cells
        if one.cell.runner == suite.spec.name
    ]


def _plain(text: str) -> str:
    from perbyte.model.text import plain

    return plain(text, 80)


def _cells(figure: CellFigure, unit: str) -> list[str]:
    """Cost of a call and of a byte with their intervals; empty where no bytes are declared."""
    from perbyte.report.wording import interval_text, value_text
    from perbyte.stats.quantity import Unit, data_bytes, read

    call = read(figure, Unit.CYCLES_PER_CALL if unit == "cycles" else Unit.NS_PER_CALL)
    if not call:
        return [""] * 4
    size = data_bytes(figure.cell)
    told = [call, *([call.scaled(per=size)] if size else [])]
    words = [words for one in told for words in (value_text(one), interval_text(one))]
    return words + [""] * (4 - len(words))


def _print_table(listing: Listing, *, as_markdown: bool) -> None:
    from perbyte.report.listing import lines, markdown

    told = markdown(listing) if as_markdown else [f"  {line}" for line, _ in lines(listing)]
    print("\n".join([*([listing.title] if listing.title else []), *told]))


def _print_doubts(run: Run, suites: Sequence[BenchmarkProgram]) -> None:
    """What is to be said beside figures, each once, and what has none."""
    from perbyte.model import Doubt
    from perbyte.report.facts import failure_lines

    doubts: dict[str, list[str]] = {}
    for suite in suites:
        for name, figure in _figures(run, suite):
            for warning in figure.warnings:
                if warning.kind is Doubt.UNCHAINED:  # said of all of them
                    continue
                doubts.setdefault(warning.text, []).append(name)
            if figure.cycles_per_call is not None and figure.cycles_per_call < EMPTY_CYCLES:
                doubts.setdefault(EMPTY, []).append(name)
        for one in suite.benchmarks:
            if one.note and not one.why:
                doubts.setdefault(one.note, []).append(_plain(one.name))
    shown = {name for suite in suites for name, _ in _figures(run, suite)}
    for text, names in doubts.items():
        of = list(dict.fromkeys(names))
        who = "all" if len(shown) > 1 and set(of) == shown else ", ".join(of)
        print(f"{who}: {_long(text)}")
    for line in failure_lines(run):
        print(line)


def _long(text: str) -> str:
    from perbyte.model.text import plain

    return plain(text, 300)


def print_changed(
    run: Run, changes: Sequence[tuple[BenchmarkProgram, BaselineChange]], *, as_json: bool, markdown: bool
) -> None:
    """Print what became of each benchmark since its program was kept."""
    from perbyte.cli.try_told import change_words, percent_changes
    from perbyte.report.facts import failure_lines
    from perbyte.report.listing import Listing, columns

    named = [
        (next((one.name for one in suite.benchmarks if one.id == change.algorithm), change.algorithm), change)
        for suite, change in changes
    ]
    if as_json:
        told = [
            {
                "name": name,
                "id": one.algorithm,
                "verdict": one.word,
                "answer": one.comparison.answer.value,
                "ratio": one.comparison.ratio.value,
                "low": one.comparison.ratio.low,
                "high": one.comparison.ratio.high,
            }
            for name, one in named
        ]
        print(json.dumps({"changes": told}))
        return
    if markdown:
        rows = [(f"`{_plain(name)}`", one.word, *percent_changes(one)) for name, one in named]
        _print_table(Listing("", columns("benchmark | verdict | change | from | to"), rows), as_markdown=True)
    else:
        for name, one in named:
            print(f"{_plain(name)}: {change_words(one)}")
    for line in failure_lines(run):
        print(line)
    print(UNVERIFIED)


def print_listed(suites: Sequence[BenchmarkProgram], *, as_json: bool) -> None:
    """Print what benchmarks there are."""
    if as_json:
        told = [
            {
                "program": suite.spec.name,
                "id": one.id,
                "name": one.name,
                "bytes": one.bytes,
                "contract": one.contract,
                "why": one.why,
            }
            for suite in suites
            for one in suite.benchmarks
        ]
        print(json.dumps({"benchmarks": told}, indent=1))
        return
    for suite in suites:
        for one in suite.benchmarks:
            size = f", {one.bytes} bytes" if one.bytes else ""
            told_of = f"not measured: {one.why}" if one.why else one.contract
            print(f"{suite.spec.name}: {_plain(one.name)} ({one.id}{size}): {told_of}")
