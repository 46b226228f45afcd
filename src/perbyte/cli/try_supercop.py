"""`perbyte try --supercop`: all implementations of a primitive against each other and against the libraries."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from perbyte.cli.options import note
from perbyte.cli.try_command import libraries_beside, measure_specs
from perbyte.errors import EXIT_ENVIRONMENT, EXIT_FINE, EXIT_INCORRECT, UsageError

if TYPE_CHECKING:
    from perbyte.model import Algorithm, Run
    from perbyte.runners import RunnerSpec
    from perbyte.trial.supercop import Implementation

BUDGET_S = 30.0
SIZES = (64, 4096)
MEASURED = "measured"
_OF_KIND = {"incorrect": "wrong", "crashed": "crashes", "timed-out": "hangs"}


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one implementation: `word` is `measured`, or why there is no figure, `detail` in a sentence."""

    name: str
    place: Path
    word: str
    detail: str = ""


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
    """Build, look at and measure every implementation below `places`; account for each one."""
    from perbyte.model import Policy
    from perbyte.trial.bench import sizes_for
    from perbyte.trial.subject import find_algorithm
    from perbyte.trial.supercop import FLAGS, algorithm_of, find_implementations

    asked = find_algorithm(algorithm_name) if algorithm_name else None
    each = [tuple(shlex.split(one)) for one in flags] or [FLAGS]
    groups: dict[Algorithm, list[Implementation]] = {}
    for one in find_implementations(places):
        groups.setdefault(algorithm_of(one, asked), []).append(one)
    answers: list[int] = []
    for algorithm, group in groups.items():
        wanted = sizes or (SIZES if sizes_for(algorithm, None)[0] == 64 else sizes_for(algorithm, None))
        specs, outcomes = _build(group, algorithm, each, wanted[0], quiet)
        run = None
        if specs:
            names = [spec.name for spec in specs]
            policy = Policy(budget_s=budget_s or BUDGET_S, epochs=3, gentle=gentle)
            run = measure_specs(
                specs, libraries_beside(beside, names), algorithm, names, wanted, policy, quiet
            )
            outcomes = [_judged(one, run) for one in outcomes]
        _print(algorithm, run, outcomes, as_json=as_json)
        measured = any(one.word == MEASURED for one in outcomes)
        wrong = any(one.word in _OF_KIND.values() for one in outcomes)
        answers.append(EXIT_INCORRECT if wrong else EXIT_FINE if measured else EXIT_ENVIRONMENT)
    return max(answers)


def _build(
    group: Sequence[Implementation],
    algorithm: Algorithm,
    flags: Sequence[tuple[str, ...]],
    size: int,
    quiet: bool,
) -> tuple[list[RunnerSpec], list[Outcome]]:
    """Every implementation with each set of flags: programs that answer, and what became of all of them."""
    from perbyte.trial.alive import look
    from perbyte.trial.checksum import compare_checksums
    from perbyte.trial.program import DoesNotBuild, build_program, home
    from perbyte.trial.supercop import Unusable, make_implementation, reason

    several = len({one.primitive for one in group}) > 1
    jobs = []
    for one in group:
        for index, words in enumerate(flags):
            name = f"{one.primitive}-{one.name}" if several else one.name
            if len(flags) > 1:
                name += "-" + re.sub(r"[^A-Za-z0-9.]+", "-", " ".join(words)).strip("-")
            jobs.append((one, name, words, home() / "supercop" / f"{algorithm.id}-{name}-{index}"))
    if len({name for _, name, _, _ in jobs}) < len(jobs):
        raise UsageError("two implementations have one name", hint="try them in two commands")

    def make(job: tuple[Implementation, str, tuple[str, ...], Path]) -> tuple[RunnerSpec | None, Outcome]:
        one, name, words, place = job
        try:
            source = make_implementation(one, algorithm, words, name, place.with_name(f"{place.name}.made"))
            spec = build_program(source, place)
        except Unusable as error:
            return None, Outcome(name, one.place, "cannot be built", reason(error))
        except DoesNotBuild as error:
            return None, Outcome(name, one.place, "does not compile", error.first)
        except UsageError as error:
            return None, Outcome(name, one.place, "cannot be built", reason(error))
        word, why = look(spec, size)
        if not word:
            fits, why = compare_checksums(one, source, place.with_name(f"{place.name}.checksum"))
            word = "" if fits else "wrong"
        return (None if word else spec), Outcome(name, one.place, word or MEASURED, why)

    note(f"building {len(jobs)} programs", quiet=quiet)
    from perbyte.trial.program import sdk_archive

    sdk_archive()
    with ThreadPoolExecutor(max_workers=2) as pool:
        found = list(pool.map(make, jobs))
    return [spec for spec, _ in found if spec], [outcome for _, outcome in found]


def _judged(one: Outcome, run: Run) -> Outcome:
    """What the run says of an implementation that was to be measured."""
    failure = next((failure for failure in run.failures if failure.runner == one.name), None)
    if one.word != MEASURED or not failure:
        return one
    detail = failure.message
    if failure.expected or failure.got:
        detail += f"; expected {failure.expected[:64]}, got {failure.got[:64]}"
    return replace(one, word=_OF_KIND.get(failure.kind, failure.kind), detail=detail)


def _print(algorithm: Algorithm, run: Run | None, outcomes: Sequence[Outcome], *, as_json: bool) -> None:
    if as_json:
        from perbyte.report.export import to_json

        told = [
            {"name": one.name, "directory": str(one.place), "outcome": one.word, "detail": one.detail}
            for one in outcomes
        ]
        found = to_json(run) if run else {}
        print(json.dumps(found | {"algorithm": algorithm.id, "implementations": told}, indent=1))
        return
    from perbyte.model.text import plain
    from perbyte.report.text import render_table

    if run:
        print(render_table(run), end="")
        print()
    counts = ", ".join(
        f"{sum(one.word == word for one in outcomes)} {word}"
        for word in dict.fromkeys([MEASURED, *(one.word for one in outcomes)])
    )
    fitting = sum(one.word == MEASURED and "fits" in one.detail for one in outcomes)
    sums = f"; {fitting} give the checksums of the tree" if fitting else ""
    print(f"{algorithm.id}: {len(outcomes)} implementations: {counts}{sums}")
    for one in outcomes:
        if one.word != MEASURED:
            print(f"  {plain(one.name, 60)}: {one.word}: {plain(one.detail, 400)}")
