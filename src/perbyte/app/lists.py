"""What there is to choose from: algorithms, runners, suites, studies, runs and others, as rows."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from fnmatch import fnmatch
from typing import TYPE_CHECKING, Any

from perbyte.app.listener import Say, silent

if TYPE_CHECKING:
    from perbyte.runners import RunnerSpec

Row = dict[str, Any]


def _named(rows: list[Row], pattern: str) -> list[Row]:
    return [row for row in rows if fnmatch(str(next(iter(row.values()))), pattern)]


def runners_by_library() -> dict[str, str]:
    """The runner that calls each library, built or not, by the library's name and by its own.

    Of several the one with the shortest name counts: `openssl` before `openssl-lowlevel`.
    """
    from perbyte.runners import locate

    runners: dict[str, str] = {}
    for spec in sorted(locate(), key=lambda spec: (len(spec.name), spec.name)):
        runners.setdefault(spec.library, spec.name)
        runners.setdefault(spec.name, spec.name)
    return runners


def _algorithms(pattern: str, _say: Say) -> list[Row]:
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


def _providers(pattern: str, say: Say) -> list[Row]:
    from perbyte.catalogue import load
    from perbyte.measure import survey
    from perbyte.model.algorithm import no_instructions
    from perbyte.runners import lacking, locate
    from perbyte.runners.session import file_sha256

    catalogue = load()
    meant = catalogue.match(pattern) or (catalogue.find(pattern).id,)  # raises, with near names
    specs = locate()
    ready = [spec for spec in specs if not spec.built or spec.out().is_dir()]
    surveyed = survey(ready, ["full"])
    for failure in surveyed.failures:
        say(f"{failure.runner}: {failure.message}")
    rows = []
    for spec in specs:
        lacks: tuple[str, ...] = ()
        if hello := surveyed.hellos.get((spec.name, "full")):
            has, state = {row.algorithm for row in hello.operations}, "ready"
            version = f"{hello.library} {hello.library_version}"
            lacks = lacking(spec.language, hello.object, file_sha256(hello.object))
        else:
            has = set(spec.known_algorithms)
            version, state = spec.library, "opt-in" if spec.opt_in else "not built"
            state = "outdated" if spec.built and spec.out().is_dir() else state
        cost = f" ({spec.cost})" if spec.cost else ""
        way = "" if state == "ready" else f"perbyte build {spec.name}{cost}"
        for name in meant:
            unused = [flag for flag in catalogue.find(name).accelerated_by if flag in lacks]
            text = no_instructions(unused) if unused else way
            if name in has:
                rows.append(
                    {"algorithm": name, "runner": spec.name, "state": state, "library": version, "how": text}
                )
    return sorted(rows, key=lambda row: meant.index(row["algorithm"]))


def _suites(pattern: str, _say: Say) -> list[Row]:
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


def _runners(pattern: str, _say: Say) -> list[Row]:
    from perbyte.runners import locate

    return [
        {
            "runner": spec.name,
            "library": spec.library,
            "state": _state(spec),
            "cpu_tiers": ", ".join(spec.tiers),
            "summary": spec.summary,
        }
        for spec in locate(unlisted=True)
        if fnmatch(spec.name, pattern) and (spec.listed or spec.name == pattern)
    ]


def _state(spec: RunnerSpec) -> str:
    from perbyte.runners import stale

    if not spec.built or spec.out().is_dir():
        return "outdated" if stale(spec) else "ready"
    return "opt-in" if spec.opt_in else "not built"


def _operations(pattern: str, say: Say) -> list[Row]:
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
    surveyed = survey(specs, ["full"])
    for failure in surveyed.failures:
        say(f"{failure.runner}: {failure.message}")
    rows: dict[str, Row] = {}
    for (runner, _), hello in surveyed.hellos.items():
        for operation in hello.operations:
            fits = selector.matches_operation(runner, operation.algorithm, operation.operation)
            wanted = selector.contracts or ("*",)
            if not fits or not any(globs.matches(operation.contract, glob) for glob in wanted):
                continue
            name = f"{runner}/{operation.algorithm}/{operation.operation}"
            row = rows.setdefault(
                name,
                {"operation": name, "contracts": [], "cpu_tiers": ", ".join(surveyed.specs[runner].tiers)},
            )
            row["contracts"].append(operation.contract)
    if not rows:
        selector.algorithms()  # raises, with near names, when the catalogue has none
    return [row | {"contracts": ", ".join(row["contracts"])} for row in rows.values()]


def _studies(pattern: str, _say: Say) -> list[Row]:
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


def _contracts(pattern: str, _say: Say) -> list[Row]:
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


def _runs(pattern: str, _say: Say) -> list[Row]:
    from perbyte import places
    from perbyte.store import runs
    from perbyte.store.beside import leak_summaries
    from perbyte.store.opening import is_signed, tell_damage

    home = places.runs_home()
    there = sorted([*runs(home), *leak_summaries(home)], key=lambda summary: summary.started_at, reverse=True)
    rows = [dataclasses.asdict(summary) for summary in there]
    rows = [row for row in rows if fnmatch(str(row["path"]), pattern) or fnmatch(row["path"].name, pattern)]
    for place in (
        row["path"] for row in rows if is_signed(row["path"])
    ):  # of others only what is shown is read
        tell_damage(place)
    return rows


_ROWS: dict[str, Callable[[str, Say], list[Row]]] = {
    "algorithms": _algorithms,
    "providers": _providers,
    "runners": _runners,
    "suites": _suites,
    "operations": _operations,
    "studies": _studies,
    "contracts": _contracts,
    "runs": _runs,
}


def rows_of(what: str, pattern: str = "*", say: Say = silent) -> list[Row]:
    """The rows of one of `KINDS` whose name fits `pattern`, as JSON types but for paths.

    Providers are the runners that have the algorithm `pattern`, built or not; operations are those that runners
    report, and `pattern` is then a runner or a selector. Raises UsageError for what does not exist.
    """
    return _ROWS[what](pattern, say)


KINDS = tuple(_ROWS)
