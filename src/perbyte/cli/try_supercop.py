"""`perbyte try --supercop`: all implementations of a primitive against each other and against the libraries."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from perbyte.app.supercop import BAD, MEASURED, ImplementationOutcome, Way, build_group, judged
from perbyte.app.supercop_tree import SIZES
from perbyte.app.trying.bench import Bench, libraries_beside
from perbyte.app.trying.check import CALL_S
from perbyte.app.trying.clock import Clock
from perbyte.cli.conduct import hands
from perbyte.cli.options import note
from perbyte.errors import EXIT_ENVIRONMENT, EXIT_FINE, EXIT_INCORRECT, UsageError

if TYPE_CHECKING:
    from perbyte.model import Algorithm, Run
    from perbyte.trial.supercop import Implementation

BUDGET_S = 30.0


def try_directories(
    places: Sequence[Path],
    algorithm_name: str | None,
    flags: Sequence[str],
    sizes: tuple[int, ...] | None,
    beside: str,
    budget_s: float | None,
    *,
    gentle: bool,
    as_json: bool,
    quiet: bool,
) -> int:
    """Build, look at and measure every implementation below `places`; account for each one.

    Raises UsageError where the catalogue has none of the primitives.
    """
    from perbyte.runners import locate
    from perbyte.trial.subject import find_algorithm
    from perbyte.trial.supercop import FLAGS, algorithm_of, find_implementations

    asked = find_algorithm(algorithm_name) if algorithm_name else None
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
        note(f"left out, not in the catalogue: {', '.join(unknown)} ({hint})", quiet=quiet)
    taken = {spec.name for spec in locate()}
    built = {}
    for algorithm, group in groups.items():
        size = _sizes(algorithm, sizes)[0]
        made = build_group(group, algorithm, ways, size, taken, partial(note, quiet=quiet))
        built[algorithm] = [
            ImplementationOutcome(
                variant.name, variant.implementation.place, variant.word, variant.detail, variant.spec
            )
            for variant in made
        ]
    return measure_groups(built, sizes, beside, budget_s, gentle=gentle, as_json=as_json, quiet=quiet)


def measure_groups(
    groups: Mapping[Algorithm, Sequence[ImplementationOutcome]],
    sizes: tuple[int, ...] | None,
    beside: str,
    budget_s: float | None,
    *,
    gentle: bool,
    as_json: bool,
    quiet: bool,
) -> int:
    """Measure what was built of each algorithm beside the libraries, and print it; the exit code."""
    from perbyte.model import Policy

    answers: list[int] = []
    for algorithm, group in groups.items():
        run, outcomes = None, list(group)
        if specs := [outcome.spec for outcome in group if outcome.spec]:
            libraries = libraries_beside(beside, [spec.name for spec in specs], note)
            policy, clock = Policy(epochs=3, gentle=gentle), Clock(budget_s or BUDGET_S)
            every = _sizes(algorithm, sizes)
            bench = Bench(specs, libraries, algorithm, every, policy, CALL_S, clock, **hands(quiet=quiet))
            run, _ = bench.measure(fresh=True)
            outcomes = [
                ImplementationOutcome(outcome.name, outcome.place, *judged(outcome, run)) for outcome in group
            ]
        _print(algorithm, run, outcomes, as_json=as_json)
        measured = any(outcome.word == MEASURED for outcome in outcomes)
        wrong = any(outcome.word in BAD for outcome in outcomes)
        answers.append(EXIT_INCORRECT if wrong else EXIT_FINE if measured else EXIT_ENVIRONMENT)
    return max(answers)


def _sizes(algorithm: Algorithm, asked: tuple[int, ...] | None) -> tuple[int, ...]:
    """The sizes that were requested, or the usual ones of a tree."""
    from perbyte.trial.bench import sizes_for

    usual = sizes_for(algorithm, None)
    return asked or (SIZES if usual[0] == SIZES[0] else usual)


def _print(
    algorithm: Algorithm, run: Run | None, outcomes: Sequence[ImplementationOutcome], *, as_json: bool
) -> None:
    if as_json:
        from perbyte.report.export import to_json

        told = [
            {
                "name": outcome.name,
                "directory": str(outcome.place),
                "outcome": outcome.word,
                "detail": outcome.detail,
            }
            for outcome in outcomes
        ]
        document = to_json(run) if run else {}
        print(json.dumps(document | {"algorithm": algorithm.id, "implementations": told}, indent=1))
        return
    from perbyte.model.text import plain
    from perbyte.report.text import render_table

    if run:
        print(render_table(run), end="")
        print()
    counts = ", ".join(
        f"{sum(outcome.word == word for outcome in outcomes)} {word}"
        for word in dict.fromkeys([MEASURED, *(outcome.word for outcome in outcomes)])
    )
    fitting = sum(outcome.word == MEASURED and "fits" in outcome.detail for outcome in outcomes)
    sums = f"; {fitting} give the checksums of the tree" if fitting else ""
    print(f"{algorithm.id}: {len(outcomes)} implementations: {counts}{sums}")
    for outcome in outcomes:
        if outcome.word != MEASURED:
            print(f"  {plain(outcome.name, 60)}: {outcome.word}: {plain(outcome.detail, 400)}")
