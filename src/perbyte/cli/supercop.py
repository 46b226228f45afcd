"""`perbyte supercop`: a whole tree in SUPERCOP's layout, each implementation measured or listed with one reason."""

from __future__ import annotations

import fnmatch
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from perbyte.app.supercop import BAD, MEASURED, Way, ways_of
from perbyte.app.supercop_tree import TreeJob
from perbyte.cli.conduct import conduct_plan
from perbyte.cli.declared import argument, flag, group, option, takes
from perbyte.cli.options import Duration, GentleOption, QuietOption, Words, note, read_sizes
from perbyte.errors import EXIT_FINE, EXIT_INCORRECT, UsageError

if TYPE_CHECKING:
    from perbyte.trial.supercop import Implementation
    from perbyte.trial.supercop_record import Journal, VariantOutcome

BUDGET_S = 5.0
EPILOG = """\b
  perbyte supercop supercop-20260330 sha256 'crypto_stream/*'
  perbyte supercop supercop-20260330               # the whole tree; run it again to continue
  perbyte supercop supercop-20260330 --compilers all --out results
"""


@dataclass(frozen=True, slots=True)
class SupercopOptions:
    """Which tree, what of it, how it is built and measured, and where the results go."""

    tree: Path = argument(metavar="DIR")
    primitives: tuple[str, ...] = argument(nargs=-1, metavar="[PRIMITIVE...]")
    out: Path | None = option("--out", help="Directory of the results.  [named after the tree]")
    compilers: Literal["usual", "all"] = option(
        "--compilers",
        default="usual",
        show_default=True,
        help="cc -O3 -march=native, or all installed compilers of the tree's list.",
    )
    sizes: Words | None = option("--size", help="Sizes: 16,1KiB.  [64,4KiB]")
    budget: Duration = option(
        "--budget", default=BUDGET_S, help=f"Measuring time of a primitive.  [{BUDGET_S:g}s]"
    )
    again: bool = flag("--again", help="Repeat finished primitives.")
    how: GentleOption = group(GentleOption)
    notes: QuietOption = group(QuietOption)


@click.command("supercop", epilog=EPILOG)
@takes(SupercopOptions)
def command(options: SupercopOptions) -> int:
    """Measure a tree in SUPERCOP's layout. Every implementation gets a figure, or a reason why it has none.

    A failure does not end the run. The same command continues an interrupted run. Each primitive must match the tree's
    checksums, and the known answers of the catalogue. Results: `data` in SUPERCOP's format, and runs of Perbyte.
    """
    from perbyte import places
    from perbyte.trial.supercop import FLAGS, find_implementations, primitives_of
    from perbyte.trial.supercop_own import describe_primitives
    from perbyte.trial.supercop_record import Journal

    tree, primitives = options.tree, options.primitives
    chosen = [
        implementation
        for implementation in find_implementations([tree])
        if _meant(implementation.operation, implementation.primitive, primitives)
    ]
    if not chosen:
        raise UsageError(
            f"{tree}: no primitive is called {', '.join(primitives)}",
            hint="sha256, crypto_hash/sha256 or 'crypto_hash/*'",
        )
    root = chosen[0].tree
    version = _version(root)
    place = options.out or places.runs_home().parent / "supercop" / version
    journal = Journal(place)
    ways = ways_of(root) if options.compilers == "all" else [Way(FLAGS)]
    if not ways:
        raise UsageError(f"{root} has no list of compilers that are here", hint="leave --compilers out")
    describe_primitives(find_implementations([tree]), place / "catalogue")
    groups: dict[tuple[str, str], list[Implementation]] = {}
    for implementation in chosen:
        groups.setdefault((implementation.operation, implementation.primitive), []).append(implementation)
    how = (read_sizes(options.sizes), options.budget, options.how.gentle)
    job = TreeJob(journal, version, ways, *how, partial(conduct_plan, quiet=True))
    wrong = False
    for number, ((operation, primitive), variants) in enumerate(groups.items(), start=1):
        if not options.again and job.done(variants):
            continue
        outcomes = job.carry_out(variants)
        wrong = wrong or any(outcome.word in BAD for outcome in outcomes)
        print(f"{number}/{len(groups)} crypto_{operation}/{primitive}: {_summary(outcomes)}", flush=True)
    _print_end(journal, primitives_of(root), primitives)
    return EXIT_INCORRECT if wrong else EXIT_FINE


def _meant(operation: str, primitive: str, patterns: Sequence[str]) -> bool:
    """True where one of `patterns` is the primitive's name, its operation, or both with a slash; globs too."""
    names = (primitive, f"crypto_{operation}", f"crypto_{operation}/{primitive}")
    return not patterns or any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns for name in names)


def _version(root: Path) -> str:
    file = root / "version"
    text = file.read_text(encoding="utf-8", errors="replace").strip() if file.is_file() else ""
    return text if text.isalnum() else root.name


def _summary(outcomes: Sequence[VariantOutcome]) -> str:
    """What became of a primitive, in a line: how many, and the best."""
    words = [outcome.word for outcome in outcomes]
    told = ", ".join(f"{words.count(word)} {word}" for word in dict.fromkeys([MEASURED, *words]))
    best: dict[str, tuple[float, str]] = {}
    for outcome in outcomes:
        for where, values in outcome.figures.items():
            if values[0] and (where not in best or values[0] < best[where][0]):
                best[where] = (values[0], outcome.implementation)
    named = [f"{where.split()[0]} {cycles:,.0f} cycles ({name})" for where, (cycles, name) in best.items()]
    return f"{told}" + (f"; best: {', '.join(named[:4])}" if named else "")


def _print_end(journal: Journal, every: dict[str, int], asked: Sequence[str]) -> None:
    """Say what there is of the whole tree, the operations that nothing here can call among it."""
    from perbyte.trial.supercop import OPERATIONS

    outcomes = journal.outcomes.values()
    counts = ", ".join(f"{count} {word}" for word, count in journal.counts().items())
    done = len({(outcome.operation, outcome.primitive) for outcome in outcomes})
    print(f"{done} primitives, {len(outcomes)} programs: {counts}")
    print(
        f"{journal.place / 'data'}: in SUPERCOP's form; {journal.place / 'state.jsonl'}: each with its reason"
    )
    left = {name: count for name, count in every.items() if name not in OPERATIONS}
    if left and not asked:
        told = ", ".join(f"{count} of crypto_{name}" for name, count in left.items())
        note(f"primitives of operations that are not measured here: {told}")
