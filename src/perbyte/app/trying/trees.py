"""All implementations in a tree against each other and against the libraries: SUPERCOP's layout, or a described one.

Every implementation is accounted for: with a figure, or with the reason why it has none.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path

from perbyte.app.listener import NOBODY, Listener
from perbyte.app.supercop import BAD, MEASURED, ImplementationOutcome, Way, build_group, judged, tree_sizes
from perbyte.app.trying.bench import Bench, libraries_beside
from perbyte.app.trying.clock import CALL_S, Clock
from perbyte.app.verdicts import exit_code
from perbyte.catalogue import load
from perbyte.errors import PerbyteError, UsageError
from perbyte.model import Algorithm, Policy, Run
from perbyte.runners import locate
from perbyte.trial.bench import look
from perbyte.trial.building import home
from perbyte.trial.layout import Member, find_layout, make_member, members
from perbyte.trial.program import DoesNotBuild, Unusable, build_program, sdk_archive
from perbyte.trial.supercop import FLAGS, Implementation, algorithm_of, find_implementations, reason

BUDGET_S = 30.0
Groups = Mapping[Algorithm, Sequence[ImplementationOutcome]]


def supercop_groups(
    places: Sequence[Path],
    algorithm_name: str | None,
    flags: Sequence[str],
    sizes: tuple[int, ...] | None,
    listener: Listener = NOBODY,
) -> Groups:
    """Build and look at every implementation below `places`, directories in SUPERCOP's layout.

    Raises UsageError where the catalogue has none of the primitives.
    """
    asked = load().find(algorithm_name) if algorithm_name else None
    ways = [Way(words) for words in [tuple(shlex.split(words)) for words in flags] or [FLAGS]]
    groups: dict[Algorithm, list[Implementation]] = {}
    unknown: dict[str, UsageError] = {}
    for implementation in find_implementations(places):
        try:
            groups.setdefault(algorithm_of(implementation, asked), []).append(implementation)
        except UsageError as error:
            unknown[f"crypto_{implementation.operation}/{implementation.primitive}"] = error
    if not groups:
        raise next(iter(unknown.values()))
    if unknown:
        hint = "perbyte supercop measures what has checksums"
        listener.say(f"left out, not in the catalogue: {', '.join(unknown)} ({hint})")
    taken = {spec.name for spec in locate()}
    built: dict[Algorithm, Sequence[ImplementationOutcome]] = {}
    for algorithm, group in groups.items():
        size = tree_sizes(algorithm, sizes)[0]
        built[algorithm] = build_group(group, algorithm, ways, size, taken, listener.say)
    return built


def layout_groups(
    layout_name: str,
    places: Sequence[Path],
    algorithm_name: str | None,
    sizes: tuple[int, ...] | None,
    listener: Listener = NOBODY,
) -> Groups:
    """Build and look at each implementation that a description in TOML finds below `places`.

    Raises UsageError for a layout or a tree that does not fit, and where `algorithm_name` is none of its algorithms.
    """
    layout = find_layout(layout_name)
    wanted = load().find(algorithm_name) if algorithm_name else None
    groups: dict[Algorithm, list[Member]] = {}
    unknown: dict[str, None] = {}
    for place in places:
        for member in members(layout, place):
            try:
                algorithm = load().find(member.algorithm)
            except UsageError:
                unknown[member.algorithm] = None
                continue
            if wanted in (None, algorithm):
                groups.setdefault(algorithm, []).append(member)
    if unknown:
        listener.say(f"left out, not in the catalogue: {', '.join(unknown)}")
    if not groups:
        raise UsageError(
            "the tree has no implementation of the requested algorithm", hint="see --as and the layout's 'as'"
        )
    listener.say(f"building {sum(map(len, groups.values()))} programs")
    sdk_archive()
    with ThreadPoolExecutor(max_workers=2) as pool:
        return {
            algorithm: list(pool.map(partial(_made, size=tree_sizes(algorithm, sizes)[0]), group))
            for algorithm, group in groups.items()
        }


def _made(member: Member, size: int) -> ImplementationOutcome:
    try:
        spec = build_program(make_member(member), home() / "layouts" / f"{member.algorithm}-{member.name}")
    except DoesNotBuild as error:
        return ImplementationOutcome(member.name, member.place, "does not compile", error.first)
    except (Unusable, PerbyteError, OSError) as error:
        return ImplementationOutcome(member.name, member.place, "cannot be built", reason(error))
    word, why = look(spec, size)
    return ImplementationOutcome(member.name, member.place, word or MEASURED, why, None if word else spec)


def measure_groups(
    groups: Groups,
    sizes: tuple[int, ...] | None,
    beside: str,
    budget_s: float | None,
    gentle: bool,
    listener: Listener = NOBODY,
) -> Iterator[tuple[Algorithm, Run | None, list[ImplementationOutcome]]]:
    """Measure what was built of each algorithm beside the libraries; the run is None where nothing could be built."""
    for algorithm, group in groups.items():
        run, outcomes = None, list(group)
        if specs := [outcome.spec for outcome in group if outcome.spec]:
            libraries = libraries_beside(beside, [spec.name for spec in specs], listener.urgent)
            policy, clock = Policy(epochs=3, gentle=gentle), Clock(budget_s or BUDGET_S)
            how = (policy, CALL_S, clock, listener)
            run, _ = Bench(specs, libraries, algorithm, tree_sizes(algorithm, sizes), *how).measure(
                fresh=True
            )
            verdicts = [judged(outcome, run) for outcome in group]
            outcomes = [
                replace(outcome, word=word, detail=detail)
                for outcome, (word, detail) in zip(group, verdicts, strict=True)
            ]
        yield algorithm, run, outcomes


def tree_code(outcomes: Sequence[ImplementationOutcome]) -> int:
    """The exit code for the implementations of an algorithm."""
    words = {outcome.word for outcome in outcomes}
    return exit_code(wrong=bool(words & BAD), empty=MEASURED not in words)
