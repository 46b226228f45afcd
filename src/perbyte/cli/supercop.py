"""`perbyte supercop`: a whole tree in SUPERCOP's layout, each implementation measured or listed with one reason."""

from __future__ import annotations

import datetime
import fnmatch
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from perbyte.cli.options import Listed, Seconds, gentle_option, note
from perbyte.cli.supercop_build import BAD, MEASURED, Made, Way, build_group, judged, ways_of
from perbyte.errors import EXIT_FINE, EXIT_INCORRECT, PerbyteError, UsageError

if TYPE_CHECKING:
    from perbyte.model import Algorithm, Run
    from perbyte.trial.supercop import Implementation
    from perbyte.trial.supercop_record import Journal, VariantOutcome

BUDGET_S = 5.0
EPOCHS = 3
EPILOG = """\b
  perbyte supercop supercop-20260330 sha256 'crypto_stream/*'
  perbyte supercop supercop-20260330               # the whole tree; run it again to continue
  perbyte supercop supercop-20260330 --compilers all --out results
"""


@click.command("supercop", epilog=EPILOG)
@click.argument("tree", type=click.Path(path_type=Path), metavar="DIR")
@click.argument("primitives", nargs=-1, metavar="[PRIMITIVE...]")
@click.option(
    "--out", type=click.Path(path_type=Path), help="Directory of the results.  [named after the tree]"
)
@click.option(
    "--compilers",
    type=click.Choice(["usual", "all"]),
    default="usual",
    show_default=True,
    help="cc -O3 -march=native, or all installed compilers of the tree's list.",
)
@click.option("--size", "sizes", type=Listed(), default=None, help="Sizes: 16,1KiB.  [64,4KiB]")
@click.option(
    "--budget",
    type=Seconds(),
    default=BUDGET_S,
    show_default=True,
    help="Measuring time of a primitive, in seconds.",
)
@click.option("--again", is_flag=True, help="Repeat finished primitives.")
@gentle_option
@click.option("-q", "--quiet", is_flag=True, help="No progress and no notes.")
def command(
    tree: Path,
    primitives: tuple[str, ...],
    out: Path | None,
    compilers: str,
    sizes: tuple[str, ...] | None,
    budget: float,
    again: bool,
    gentle: bool,
    quiet: bool,
) -> int:
    """Measure a tree in SUPERCOP's layout. Every implementation gets a figure, or a reason why it has none.

    A failure does not end the run. The same command continues an interrupted run. Each primitive must match the tree's
    checksums, and the known answers of the catalogue. Results: `data` in SUPERCOP's format, and runs of Perbyte.
    """
    from perbyte import places
    from perbyte.catalogue import parse_sizes
    from perbyte.trial.supercop import FLAGS, find_implementations, primitives_of
    from perbyte.trial.supercop_own import describe_primitives
    from perbyte.trial.supercop_record import Journal

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
    place = out or places.runs_home().parent / "supercop" / version
    journal = Journal(place)
    ways = ways_of(root) if compilers == "all" else [Way(FLAGS)]
    if not ways:
        raise UsageError(f"{root} has no list of compilers that are here", hint="leave --compilers out")
    describe_primitives(find_implementations([tree]), place / "catalogue")
    groups: dict[tuple[str, str], list[Implementation]] = {}
    for one in chosen:
        groups.setdefault((one.operation, one.primitive), []).append(one)
    job = _Job(journal, version, ways, parse_sizes(",".join(sizes)) if sizes else None, budget, gentle, quiet)
    wrong = False
    for number, ((operation, primitive), group) in enumerate(groups.items(), start=1):
        if not again and job.done(group):
            continue
        outcomes = job.carry_out(group)
        wrong = wrong or any(outcome.word in BAD for outcome in outcomes)
        print(f"{number}/{len(groups)} crypto_{operation}/{primitive}: {_summary(outcomes)}", flush=True)
    _print_end(journal, primitives_of(root), primitives)
    return EXIT_INCORRECT if wrong else EXIT_FINE


class _Job:
    """What is the same for each primitive."""

    def __init__(
        self,
        journal: Journal,
        version: str,
        ways: Sequence[Way],
        sizes: tuple[int, ...] | None,
        budget_s: float,
        gentle: bool,
        quiet: bool,
    ) -> None:
        self.journal, self.version, self.ways = journal, version, ways
        self.sizes, self.budget_s, self.gentle, self.quiet = sizes, budget_s, gentle, quiet
        self.date = f"{datetime.datetime.now(datetime.UTC):%Y%m%d}"

    def done(self, group: Sequence[Implementation]) -> bool:
        """True where each implementation has an outcome in each way."""
        wanted = {
            (implementation.operation, implementation.primitive, implementation.name, way.word)
            for implementation in group
            for way in self.ways
        }
        return wanted <= set(self.journal.outcomes)

    def carry_out(self, group: Sequence[Implementation]) -> list[VariantOutcome]:
        """Build and measure a primitive; what goes wrong with it is its outcome."""
        from perbyte.trial.supercop import algorithm_of
        from perbyte.trial.supercop_record import failure_line, prefix, try_line

        run, algorithm = None, None
        try:
            algorithm = algorithm_of(group[0], None)
            made, run = self._measured(group, algorithm)
            if own := self._another(group, algorithm, made, run):
                made, run = self._measured(group, own)
                made = [
                    replace(
                        one, detail=f"{one.detail}; not the catalogue's {algorithm.id}, by its known answers"
                    )
                    if one.word == MEASURED
                    else one
                    for one in made
                ]
        except (PerbyteError, OSError) as error:
            word = "cannot be built" if algorithm else "not known"
            made = [
                Made(implementation, way, implementation.name, word, _line(str(error)))
                for implementation in group
                for way in self.ways
            ]
        start = prefix(self.version, self.date, group[0].operation, group[0].primitive)
        outcomes, lines = [], []
        for one in made:
            outcome = self._outcome(one, run)
            outcomes.append(outcome)
            if outcome.word != MEASURED:
                lines.append(failure_line(start, outcome))
                continue
            lines += [try_line(start, outcome), *self._figures(start, one, outcome, run)]
        self.journal.add(outcomes, lines)
        return outcomes

    @staticmethod
    def _another(
        group: Sequence[Implementation], algorithm: Algorithm, made: Sequence[Made], run: Run | None
    ) -> Algorithm | None:
        """The primitive by itself, where all that give the tree's checksums give other answers than the catalogue's.

        Primitives and standards may share a name: CAESAR's AEGIS is not that of the later draft.
        """
        from perbyte.catalogue import load
        from perbyte.trial.supercop import own_id

        fitting = [one for one in made if one.spec and "fits" in one.detail]
        own = load().algorithms.get(own_id(group[0]))
        if not run or not fitting or not own or own == algorithm:
            return None
        return own if all(judged(one, run)[0] == "wrong" for one in fitting) else None

    def _measured(
        self, group: Sequence[Implementation], algorithm: Algorithm
    ) -> tuple[list[Made], Run | None]:
        from perbyte.cli.try_bench import Bench
        from perbyte.cli.try_check import CALL_S
        from perbyte.cli.try_supercop import SIZES
        from perbyte.cli.try_time import Clock
        from perbyte.model import Policy
        from perbyte.runners import locate
        from perbyte.trial.bench import sizes_for

        usual = sizes_for(algorithm, None)
        sizes = self.sizes or (SIZES if usual[0] == SIZES[0] else usual)
        taken = {spec.name for spec in locate()}
        gated = algorithm.family == "supercop"
        made = build_group(group, algorithm, self.ways, sizes[0], taken, quiet=True, gated=gated)
        specs = [one.spec for one in made if one.spec]
        if not specs:
            return made, None
        policy, clock = Policy(epochs=EPOCHS, gentle=self.gentle), Clock(self.budget_s)
        run, _ = Bench(specs, [], algorithm, sizes, policy, True, CALL_S, clock).measure(fresh=True)
        return made, run

    def _outcome(self, one: Made, run: Run | None) -> VariantOutcome:
        from perbyte.trial.checksum import expected_checksums
        from perbyte.trial.supercop_record import VariantOutcome

        word, detail = judged(one, run) if run else (one.word, one.detail)
        figures: dict[str, Sequence[float]] = {}
        for figure in run.cells if run and word == MEASURED else ():
            if figure.cell.runner == one.name:
                where = f"{figure.cell.operation}@{figure.cell.size_bytes} {figure.cell.contract}"
                ends = (figure.interval.low, figure.interval.high)
                figures[where] = (figure.cycles_per_call or 0.0, figure.ns_per_call, *ends)
        if word == MEASURED and not figures:
            word, detail = "no figure", detail or "the run gave none"
        fitting = expected_checksums(one.one) if "fits" in one.detail else ""
        used = one.used or one.way
        asked = one.way.word if used != one.way else ""
        what = (one.one.operation, one.one.primitive, one.one.name, used.word)
        return VariantOutcome(*what, word, _line(detail), fitting, figures, asked)

    def _figures(self, start: str, one: Made, outcome: VariantOutcome, run: Run | None) -> list[str]:
        from perbyte.trial.supercop_record import data_lines

        assert run
        compiler = next(
            (identity.compiler for identity in run.conditions.identities if identity.runner == one.name), "-"
        )
        return data_lines(
            start, outcome, [each for each in run.cells if each.cell.runner == one.name], compiler
        )


def _meant(operation: str, primitive: str, patterns: Sequence[str]) -> bool:
    """True where one of `patterns` is the primitive's name, its operation, or both with a slash; globs too."""
    names = (primitive, f"crypto_{operation}", f"crypto_{operation}/{primitive}")
    return not patterns or any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns for name in names)


def _version(root: Path) -> str:
    file = root / "version"
    text = file.read_text(encoding="utf-8", errors="replace").strip() if file.is_file() else ""
    return text if text.isalnum() else root.name


def _line(text: str) -> str:
    return " ".join(text.split())[:400]


def _summary(outcomes: Sequence[VariantOutcome]) -> str:
    """What became of a primitive, in a line: how many, and the best."""
    words = [one.word for one in outcomes]
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
