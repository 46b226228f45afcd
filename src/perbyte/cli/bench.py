"""`perbyte bench`: benchmark files of a project, written for criterion or for Go's testing.B, measured as they are."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from perbyte.app.benchmarks import CELL_S, MOST_S, PAIR_S
from perbyte.app.gate import Gate
from perbyte.app.listener import Listener
from perbyte.cli.declared import argument, flag, option, takes
from perbyte.cli.options import GENTLE, UNDECIDED, Percent, Seconds, note
from perbyte.errors import EXIT_ENVIRONMENT, EXIT_FINE, UsageError

if TYPE_CHECKING:
    from perbyte.app.benchmarks import ChangedBenchmarks
    from perbyte.model import Run

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
    from perbyte.app.benchmarks import Benchmarks
    from perbyte.cli.conduct import conduct_plan
    from perbyte.measure.machine import require_linux
    from perbyte.report import benchmarks
    from perbyte.report.export import to_json
    from perbyte.trial.cargo_bench import line_for_cargo

    if asked.line:
        print(line_for_cargo())
        return EXIT_FINE
    say, in_turn = partial(note, quiet=asked.quiet), asked.baseline or asked.keep
    conduct = partial(conduct_plan, quiet=asked.quiet)
    of_files = (asked.places, asked.flags, asked.only, asked.budget, asked.gentle)
    project = Benchmarks(*of_files, in_turn, conduct, Listener(note, say))
    project.build()
    for line in project.left_out():
        note(line)
    for program in project.programs:
        if program.unheeded:
            say(f"{program.spec.name}: set in the file and not followed: {', '.join(program.unheeded)}")
    programs = {program.spec.name: program.benchmarks for program in project.programs}
    if asked.show:
        document = {"benchmarks": benchmarks.benchmarks_json(programs, named=True)}
        _print(asked, document, benchmarks.benchmarks_lines(programs), indent=1)
        return EXIT_FINE
    project.require_any()
    require_linux()
    run, changed = project.beside_kept(keep=asked.keep) if in_turn else (project.measure(), None)
    if changed:
        return _tell_changed(asked, run, changed)
    document = to_json(run) | {"benchmarks": benchmarks.benchmarks_json(programs, named=False)}
    _print(asked, document, benchmarks.figures_lines(run, programs, as_markdown=asked.markdown), indent=1)
    return EXIT_FINE if run.cells else EXIT_ENVIRONMENT


def _tell_changed(asked: BenchOptions, run: Run, changed: ChangedBenchmarks) -> int:
    """Print what became of each benchmark since its program was kept; the exit code of the gate."""
    from perbyte.cli.ending import note_gaps, note_regressions
    from perbyte.report.benchmarks import changes_json, changes_lines

    texts = changes_lines(run, changed.changes, as_markdown=asked.markdown)
    _print(asked, {"changes": changes_json(changed.changes)}, texts)
    if changed.new:
        names = ", ".join(changed.new)
        note(f"not in the kept programs: {names} (--keep keeps these)", quiet=asked.quiet)
    note_gaps(changed.gaps)
    gate = Gate(asked.fail_above, undecided_is=asked.undecided_is)
    rows = [(change.algorithm, change.comparison) for _, change in changed.changes]
    code, regressions = gate.judge(rows, run.measuring_s, missing=bool(changed.gaps))
    if asked.fail_above is not None:
        note_regressions(regressions, one_run=True, quiet=asked.quiet)
    return code


def _print(
    asked: BenchOptions, document: Mapping[str, Any], texts: Iterable[str], indent: int | None = None
) -> None:
    if asked.as_json:
        print(json.dumps(document, indent=indent))
        return
    for line in texts:
        print(line)
