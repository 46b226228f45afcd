"""`perbyte list`: what there is to choose from."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import click

from perbyte.cli.options import note

Row = dict[str, Any]


@click.command("list")
@click.argument(
    "what",
    type=click.Choice(
        ("algorithms", "providers", "runners", "operations", "suites", "studies", "contracts", "runs")
    ),
)
@click.argument("pattern", required=False, default="*")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(what: str, pattern: str, as_json: bool) -> int:
    """List algorithms, providers, runners, operations, suites, studies, contracts or runs. PATTERN filters by name.

    Providers are the runners that have the algorithm PATTERN, built or not, and how to get them. Operations are those
    that the runners report; PATTERN is then a runner or a selector.

    \b
      perbyte list algorithms 'aes-*'
      perbyte list providers ML-KEM-768
      perbyte list runners --json
      perbyte list operations openssl
      perbyte list operations '*/aes-128-gcm'
    """
    show_rows(what, pattern, as_json)
    return 0


def show_rows(what: str, pattern: str, as_json: bool) -> None:
    """Print the rows of one kind, as a table or as JSON."""
    from perbyte.cli.terminal import PlainTable, print_table

    rows = _ROWS[what](pattern)
    if as_json:
        print(json.dumps(rows, indent=1, default=str))
        return
    if what == "runs":
        note("runs made with --out lie where that said, and are named by their directory")
        rows = [_run_in_short(row) for row in rows]
    flowing, expendable = _LAYOUT[what]
    print_table(PlainTable(rows, flowing, expendable))


def _named(rows: list[Row], pattern: str) -> list[Row]:
    """Those whose first column fits."""
    return [row for row in rows if fnmatch(str(next(iter(row.values()))), pattern)]


def _algorithms(pattern: str) -> list[Row]:
    from perbyte.catalogue import load

    catalogue = load()
    meant = catalogue.match(pattern)
    return [
        {
            "algorithm": algorithm.id,
            "kind": algorithm.kind,
            "key_bits": algorithm.key_bytes * 8 or "",
            "block_bits": algorithm.block_bytes * 8 or "",
            "year": algorithm.year or "",
            "aliases": ", ".join((*algorithm.aliases, *algorithm.groups)),
        }
        for algorithm in catalogue.algorithms.values()
        if algorithm.id in meant
    ]


def _providers(pattern: str) -> list[Row]:
    """Who has an algorithm: runners that are built are asked, of the others it is known from `algorithms.txt`."""
    from perbyte.catalogue import load
    from perbyte.measure import survey
    from perbyte.model.algorithm import no_instructions
    from perbyte.runners import lacking, locate
    from perbyte.runners.session import file_sha256

    catalogue = load()
    meant = catalogue.match(pattern) or (catalogue.find(pattern).id,)  # raises, with near names
    specs = locate()
    ready = [spec for spec in specs if not spec.built or spec.out().is_dir()]
    found = survey(ready, ["full"])
    for failure in found.failures:
        note(f"{failure.runner}: {failure.message}")
    rows = []
    for spec in specs:
        lacks: tuple[str, ...] = ()
        if hello := found.hellos.get((spec.name, "full")):
            has, state = {row.algorithm for row in hello.operations}, "ready"
            version = f"{hello.library} {hello.library_version}"
            lacks = lacking(spec.language, hello.object, file_sha256(hello.object))
        else:
            has = set(known_algorithms(spec.here))
            version, state = spec.library, "opt-in" if spec.opt_in else "not built"
            state = "outdated" if spec.built and spec.out().is_dir() else state
        cost = f" ({spec.cost})" if spec.cost else ""
        way = "" if state == "ready" else f"perbyte build {spec.name}{cost}"
        for name in meant:
            unused = [one for one in catalogue.find(name).accelerated_by if one in lacks]
            text = no_instructions(unused) if unused else way
            if name in has:
                rows.append(
                    {"algorithm": name, "runner": spec.name, "state": state, "library": version, "how": text}
                )
    return sorted(rows, key=lambda row: meant.index(row["algorithm"]))


def known_algorithms(directory: Path) -> tuple[str, ...]:
    """What a runner had when it was built last by its author: `algorithms.txt`, an id a line; empty without it."""
    file = directory / "algorithms.txt"
    return tuple(file.read_text(encoding="utf-8").split()) if file.is_file() else ()


def _suites(pattern: str) -> list[Row]:
    from perbyte.catalogue import suites

    rows = [
        {
            "suite": name,
            "title": suite.title,
            "answers": suite.answers,
            "cells": "; ".join(suite.selectors(("*",))),
        }
        for name, suite in suites().items()
    ]
    return _named(rows, pattern)


def _runners(pattern: str) -> list[Row]:
    from perbyte.runners import locate

    return [
        {
            "runner": spec.name,
            "library": spec.library,
            "state": "ready"
            if not spec.built or spec.out().is_dir()
            else "opt-in"
            if spec.opt_in
            else "not built",
            "cpu_tiers": ", ".join(spec.tiers),
            "summary": spec.summary,
        }
        for spec in locate(unlisted=True)
        if fnmatch(spec.name, pattern) and (spec.listed or spec.name == pattern)
    ]


def _operations(pattern: str) -> list[Row]:
    """What the runners that are built say they have; a row per runner, algorithm and operation."""
    from perbyte.catalogue import parse_selector
    from perbyte.catalogue import pattern as globs
    from perbyte.measure import survey
    from perbyte.measure.plan import left_out
    from perbyte.runners import find, locate, not_built

    known = {spec.name: spec for spec in locate(unlisted=True)}
    selector = parse_selector(f"{pattern}/*" if pattern in known or pattern == "*" else pattern)
    if not globs.is_pattern(selector.runner):
        known = {selector.runner: find(selector.runner)}
    asked = [
        spec
        for spec in known.values()
        if globs.matches(spec.name, selector.runner)
        and not left_out(selector.runner, spec)
        and (spec.listed or spec.name == selector.runner)
    ]
    specs = [spec for spec in asked if not spec.built or spec.out().is_dir()]
    if not specs:
        raise not_built(*(spec.name for spec in asked[:1] if len(asked) == 1))
    found = survey(specs, ["full"])
    for failure in found.failures:
        note(f"{failure.runner}: {failure.message}")
    rows: dict[str, Row] = {}
    for (runner, _), hello in found.hellos.items():
        for operation in hello.operations:
            fits = selector.matches_operation(runner, operation.algorithm, operation.operation)
            wanted = selector.contracts or ("*",)
            if not fits or not any(globs.matches(operation.contract, glob) for glob in wanted):
                continue
            name = f"{runner}/{operation.algorithm}/{operation.operation}"
            row = rows.setdefault(
                name, {"operation": name, "contracts": [], "cpu_tiers": ", ".join(found.specs[runner].tiers)}
            )
            row["contracts"].append(operation.contract)
    if not rows:
        selector.algorithms()  # raises, with near names, when the catalogue has none
    return [row | {"contracts": ", ".join(row["contracts"])} for row in rows.values()]


def _studies(pattern: str) -> list[Row]:
    from perbyte.studies import studies

    rows = [
        {
            "study": study.name,
            "year": study.year,
            "title": study.title,
            "published_figures": len(study.published),
        }
        for study in studies()
    ]
    return _named(rows, pattern)


def _contracts(pattern: str) -> list[Row]:
    from perbyte.catalogue import load

    rows = [
        {
            "contract": contract.id,
            "default_for": ", ".join(contract.default_for),
            "one timed call is": contract.meaning,
        }
        for contract in load().contracts.values()
    ]
    return _named(rows, pattern)


def _runs(pattern: str) -> list[Row]:
    from perbyte import places
    from perbyte.store import runs
    from perbyte.store.leaks import leak_summaries

    home = places.runs_home()
    there = sorted([*runs(home), *leak_summaries(home)], key=lambda one: one.started_at, reverse=True)
    found = [dataclasses.asdict(summary) for summary in there]
    return [row for row in found if fnmatch(str(row["path"]), pattern) or fnmatch(row["path"].name, pattern)]


def _run_in_short(row: Row) -> Row:
    """The row of a run for the table: what one chooses by. JSON has the rest."""
    state = "complete" if row["complete"] else f"{row['cells']} of {row['planned']} cells: interrupted"
    return {
        "run": row["path"].name,
        "started": str(row["started_at"])[:16].replace("T", " "),
        "measured": row["measured"],
        "cells": row["cells"],
        "seconds": f"{row['measuring_s']:.0f}" if row["measuring_s"] else "",
        "machine": row["cpu_model"],
        "origin": row["study"] or row["origin"],
        "state": row["problem"] or state,
    }


_ROWS: dict[str, Callable[[str], list[Row]]] = {
    "algorithms": _algorithms,
    "providers": _providers,
    "runners": _runners,
    "suites": _suites,
    "operations": _operations,
    "studies": _studies,
    "contracts": _contracts,
    "runs": _runs,
}
# the column whose text is wrapped, and those that are left out where there is no room, first the one to go first
_LAYOUT: dict[str, tuple[str, tuple[str, ...]]] = {
    "algorithms": ("aliases", ("block_bits", "year")),
    "providers": ("how", ("library",)),
    "suites": ("answers", ("cells", "title")),
    "runners": ("summary", ("library", "cpu_tiers")),
    "operations": ("contracts", ("cpu_tiers",)),
    "studies": ("title", ()),
    "contracts": ("one timed call is", ()),
    "runs": ("measured", ("machine", "seconds", "origin", "state")),
}
