"""`perbyte bench`: benchmark files of a project, written for criterion or for Go's testing.B, measured as they are."""

from __future__ import annotations

import datetime
import os
import re
import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from perbyte.cli.bench_told import print_changed, print_figures, print_listed
from perbyte.cli.compare import gate_code
from perbyte.cli.declared import argument, flag, option, takes
from perbyte.cli.options import GENTLE, UNDECIDED, Percent, Seconds, note
from perbyte.errors import EXIT_ENVIRONMENT, EXIT_FINE, EXIT_INTERRUPTED, UsageError

if TYPE_CHECKING:
    from perbyte.model import Cell, Policy, Run
    from perbyte.trial.benchmark_file import BenchmarkProgram, BuiltBenchmarks
    from perbyte.trial.kept import BaselineChange

LEAST_S, MOST_S = 5.0, 60.0
CELL_S, PAIR_S = 2.0, 4.0  # of measuring for a benchmark, and for one beside its kept program
PRECISION = 0.0008  # of --baseline, at the level of `trial.kept`: 0.05 % at 95 %
EPOCHS = 8
EPILOG = """\b
  perbyte bench                            # this package: Cargo.toml with criterion, or *_test.go
  perbyte bench ./aead --only seal --only open
  perbyte bench --flags '--features asm'   # arguments of cargo bench, or of go build
  perbyte bench --baseline                 # keep the programs; after a change: faster or slower?
"""


@dataclass(frozen=True, slots=True)
class BenchOptions:
    """Which files, what of them, how long, and what is printed."""

    places: tuple[Path, ...] = argument(nargs=-1, type=click.Path(path_type=Path), metavar="[DIR...]")
    only: tuple[str, ...] = option(
        "--only", multiple=True, metavar="WORD", help="Only benchmarks whose name contains WORD."
    )
    flags: str = option("--flags", default="", help="Further arguments of cargo bench, or of go build.")
    show: bool = flag("--list", help="List the benchmarks, and measure nothing.")
    line: bool = flag("--line", help="Print the line for Cargo.toml that makes `cargo bench` do the same.")
    baseline: bool = flag("--baseline", help="Compare with the kept programs; keep the first ones.")
    keep: bool = flag("--keep", help="Make these programs the baseline.")
    budget: float | None = option(
        "--budget",
        type=Seconds(),
        default=None,
        help=f"Measuring time.  [{CELL_S:g}s for each, at most {MOST_S:g}s; with --baseline {PAIR_S:g}s]",
    )
    gentle: bool = flag("--gentle", help=GENTLE)
    fail_above: float | None = option(
        "--fail-above",
        type=Percent(),
        default=None,
        help="With --baseline: exit code 1 if slower by more, 5 if not known.  [any]",
    )
    undecided_is: str | None = option("--undecided-is", **UNDECIDED)
    markdown: bool = flag("--markdown", help="Print a table as Markdown.")
    as_json: bool = flag("--json", help="Print JSON.")
    quiet: bool = flag("-q", "--quiet", help="No progress and no notes.")

    def __post_init__(self) -> None:
        """Raise UsageError for options that exclude or need each other."""
        if self.markdown and self.as_json:
            raise UsageError("--markdown and --json exclude each other")
        if self.fail_above is not None and not self.baseline:
            raise UsageError("--fail-above belongs to --baseline")
        if self.undecided_is and self.fail_above is None:
            raise UsageError("--undecided-is belongs to --fail-above")


@click.command("bench", epilog=EPILOG)
@takes(BenchOptions)
def command(asked: BenchOptions) -> int:
    """Measure the benchmark files of a project: those of criterion in Rust, and of testing.B in Go.

    DIR is a package; its files are not changed. The output of such a benchmark is not checked, so its id begins with
    `unverified-`.
    """
    from perbyte.measure.machine import require_linux
    from perbyte.trial.benchmark_file import describe_routines
    from perbyte.trial.cargo_bench import line_for_cargo

    if asked.line:
        print(line_for_cargo())
        return EXIT_FINE
    built = _build(asked)
    suites = [_in_place(built_suite) for built_suite in built]
    describe_routines(suites, os.pathsep.join(sorted(built_suite.key for built_suite in built)))
    _note_what_is_left_out(asked, suites)
    if asked.show:
        print_listed(suites, as_json=asked.as_json)
        return EXIT_FINE
    if not any(suite.cells(asked.only) for suite in suites):
        what = (
            f"no benchmark's name holds {' or '.join(asked.only)}" if asked.only else "none can be measured"
        )
        raise UsageError(what, hint="perbyte bench --list")
    require_linux()
    if asked.baseline or asked.keep:
        return _beside_kept(asked, built, suites)
    run = _measure(asked, [(suite, suite.cells(asked.only)) for suite in suites], _policy(asked))
    print_figures(run, suites, as_json=asked.as_json, markdown=asked.markdown)
    return EXIT_FINE if run.cells else EXIT_ENVIRONMENT


def _build(asked: BenchOptions) -> list[BuiltBenchmarks]:
    """All programs. Raises UsageError for a place that has no benchmarks, and with the compiler's words."""
    from perbyte.runners import locate
    from perbyte.trial.cargo_bench import already_built, build_cargo
    from perbyte.trial.go_bench import build_go
    from perbyte.trial.program import DoesNotBuild

    built: list[BuiltBenchmarks] = []
    flags = shlex.split(asked.flags)
    for place in asked.places or (Path(),):
        where = place.resolve()
        note(f"building {place}", quiet=asked.quiet or where.is_file())
        try:
            if where.is_file():
                built.append(already_built(where))
            elif (where / "Cargo.toml").is_file():
                built += build_cargo(where, flags)
            elif any(where.glob("*_test.go")):
                built.append(build_go(where, flags))
            else:
                raise UsageError(
                    f"{place}: no Cargo.toml and no *_test.go there",
                    hint="name the directory of a package; C and the rest: perbyte try",
                )
        except DoesNotBuild as error:
            print(error, file=sys.stderr)
            hint = "--flags '--features NAME'" if "requires the features" in str(error) else None
            raise UsageError(f"{place} does not build: {error.first}", hint=hint) from None
    taken = {spec.name for spec in locate()}
    named = []
    for built_suite in built:
        name = stem = re.sub(r"[/@+\s]", "-", built_suite.name)
        number = 1
        while name in taken:
            name = f"{stem}-bench" + (f"-{number}" if number > 1 else "")
            number += 1
        taken.add(name)
        named.append(replace(built_suite, name=name))
    return named


def _in_place(built: BuiltBenchmarks) -> BenchmarkProgram:
    from perbyte.trial.benchmark_file import put_in_place
    from perbyte.trial.go_bench import ENVIRONMENT

    return put_in_place(built, ENVIRONMENT if built.language == "go" else {})


def _note_what_is_left_out(asked: BenchOptions, suites: Sequence[BenchmarkProgram]) -> None:
    for suite in suites:
        for benchmark in suite.benchmarks:
            if benchmark.why and (not asked.only or any(word in benchmark.name for word in asked.only)):
                note(f"{benchmark.name}: not measured: {benchmark.why}")
        if suite.unheeded:
            note(
                f"{suite.spec.name}: set in the file and not followed: {', '.join(suite.unheeded)}",
                quiet=asked.quiet,
            )


def _policy(asked: BenchOptions) -> Policy:
    from perbyte.model import Policy
    from perbyte.trial.kept import LEVEL

    policy = replace(Policy(), gentle=asked.gentle)
    if asked.baseline or asked.keep:
        policy = replace(policy, precision=PRECISION, level=LEVEL, epochs=EPOCHS, max_epochs=5 * EPOCHS)
    return policy


def _measure(
    asked: BenchOptions, parts: Sequence[tuple[BenchmarkProgram, Sequence[Cell]]], policy: Policy
) -> Run:
    """Measure cells of programs in turn, in one run. Raises UsageError where no program answers."""
    from perbyte.cli.conduct import conduct_plan
    from perbyte.measure import Plan, choose_cores, foresee, recall_pace, survey
    from perbyte.measure.plan import choose_twins
    from perbyte.report.facts import counted

    surveyed = survey([suite.spec for suite, _ in parts], ["full"])
    cells = [cell for suite, them in parts for cell in them if (suite.spec.name, "full") in surveyed.hellos]
    for failure in surveyed.failures:
        note(f"{failure.runner}: {failure.message}")
    if not cells:
        raise UsageError("no program of the benchmarks answers", hint="its output is printed above")
    each = PAIR_S / 2 if asked.baseline else CELL_S
    budget_s = asked.budget or min(MOST_S, max(LEAST_S, each * len(cells)))
    policy = replace(policy, budget_s=budget_s, cores=choose_cores(policy.cores))
    plan = Plan(tuple(cells), choose_twins(cells))
    ahead = foresee(plan, policy, surveyed.specs, recall_pace(policy.cores[0]))
    note(f"{counted(len(cells))}: {ahead}", quiet=asked.quiet)
    done = conduct_plan(plan, replace(surveyed, failures=()), policy, quiet=asked.quiet, cut=True)
    if done.code == EXIT_INTERRUPTED:
        raise KeyboardInterrupt
    return done.run


def _beside_kept(
    asked: BenchOptions, built: Sequence[BuiltBenchmarks], suites: Sequence[BenchmarkProgram]
) -> int:
    """Measure the present programs beside the kept ones, in turn; keep them where none are, or where it is wished."""
    from perbyte.model import parse_address
    from perbyte.report.regressions import regression_lines
    from perbyte.stats.regressions import find_regressions
    from perbyte.trial import kept
    from perbyte.trial.benchmark_file import places_of, suite_in

    parts: list[tuple[BenchmarkProgram, Sequence[Cell]]] = []
    pairs, fresh, new = [], [], []
    for built_suite, suite in zip(built, suites, strict=True):
        old = places_of(built_suite)[1]
        cells = suite.cells(asked.only)
        if asked.keep or not kept.read_note(old):
            fresh.append(built_suite)
            parts.append((suite, cells))
            continue
        before = suite_in(old, built_suite, f"{built_suite.name}-before")
        rows = {(cell.algorithm, cell.size_bytes, cell.contract) for cell in before.cells()}
        both = [cell for cell in cells if (cell.algorithm, cell.size_bytes, cell.contract) in rows]
        new += [cell.algorithm for cell in cells if cell not in both]
        parts += [(suite, both), (before, [replace(cell, runner=before.spec.name) for cell in both])]
        pairs.append((suite, before))
    run = _measure(asked, parts, _policy(asked))
    for built_suite in fresh:
        now, old = places_of(built_suite)
        moment = datetime.datetime.now().astimezone().isoformat(timespec="seconds")
        kept.keep(now, old, kept.Note(asked.flags, _digest(now), moment))
        note(
            f"{built_suite.name}: kept as the baseline; change something and run this again",
            quiet=asked.quiet,
        )
    if not pairs:
        print_figures(run, suites, as_json=asked.as_json, markdown=asked.markdown)
        return EXIT_FINE if run.cells else EXIT_ENVIRONMENT
    changes: list[tuple[BenchmarkProgram, BaselineChange]] = []
    gaps: list[str] = []
    for suite, before in pairs:
        names = (suite.spec.name, before.spec.name)
        found_of = kept.changes(run, *names)
        changes += [(suite, change) for change in found_of]
        gaps += [gap for gap in kept.gaps(run, found_of) if parse_address(gap).runner in names]
    print_changed(run, changes, as_json=asked.as_json, markdown=asked.markdown)
    if new:
        note(f"not in the kept programs: {', '.join(new)} (--keep keeps these)", quiet=asked.quiet)
    if gaps:
        note(f"missing: {', '.join(gaps)}: nothing is known of what was to be compared there")
    rows_compared = [(change.algorithm, change.comparison) for _, change in changes]
    regressions = find_regressions(rows_compared, asked.fail_above or 0.0, run.measuring_s)
    if asked.fail_above is None:
        return gate_code(regressions, "ok", missing=bool(gaps))
    for line in regression_lines(regressions, one_run=True):
        note(line, quiet=asked.quiet)
    return gate_code(regressions, asked.undecided_is, missing=bool(gaps))


def _digest(place: Path) -> str:
    from perbyte.trial.benchmark_file import PROGRAM
    from perbyte.trial.program import digest_of

    return digest_of([place / PROGRAM])
