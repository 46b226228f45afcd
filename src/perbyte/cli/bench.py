"""`perbyte bench`: benchmark files of a project, written for criterion or for Go's testing.B, measured as they are."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from perbyte.app.benchmarks import CELL_S, MOST_S, PAIR_S
from perbyte.cli.declared import Options, argument, flag, group, option, takes
from perbyte.cli.options import BaselineOptions, Duration, GentleOption, TimeGateOptions, note
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


class _BenchOptions(Options):
    places: tuple[Path, ...] = argument(nargs=-1, metavar="[DIR...]")
    only: tuple[str, ...] = option("--only", metavar="WORD", help="Only benchmarks whose name contains WORD.")
    flags: str = option("--flags", default="", help="Further arguments of cargo bench, or of go build.")
    show: bool = flag("--list", help="List the benchmarks, and measure nothing.")
    line: bool = flag("--line", help="Print the line for Cargo.toml that makes `cargo bench` do the same.")
    budget: Duration | None = option(
        "--budget",
        help=f"Measuring time.  [{CELL_S:g}s for each, at most {MOST_S:g}s; with --baseline {PAIR_S:g}s]",
    )
    how: GentleOption = group(GentleOption)
    before: BaselineOptions = group(BaselineOptions)
    limits: TimeGateOptions = group(TimeGateOptions)

    def __post_init__(self) -> None:
        """Raise UsageError for options that need each other."""
        if self.limits.fail_above is not None and not self.before.baseline:
            raise UsageError("--fail-above belongs to --baseline")


@takes("bench", _BenchOptions, epilog=EPILOG)
def command(asked: _BenchOptions) -> int:
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
    before = asked.before
    in_turn, conduct = before.baseline or before.keep, partial(conduct_plan, quiet=before.quiet)
    of_files = (asked.places, asked.flags, asked.only, asked.budget, asked.how.gentle)
    project = Benchmarks(*of_files, in_turn, conduct, before.listener)
    project.build()
    for line in project.left_out():
        note(line)
    for program in project.programs:
        if program.unheeded:
            before.note(
                f"{program.spec.name}: set in the file and not followed: {', '.join(program.unheeded)}"
            )
    programs = {program.spec.name: program.benchmarks for program in project.programs}
    if asked.show:
        document = {"benchmarks": benchmarks.benchmarks_json(programs, named=True)}
        before.tell(document, benchmarks.benchmarks_lines(programs))
        return EXIT_FINE
    project.require_any()
    require_linux()
    run, changed = project.beside_kept(keep=before.keep) if in_turn else (project.measure(), None)
    if changed:
        return _tell_changed(asked, run, changed)
    document = to_json(run) | {"benchmarks": benchmarks.benchmarks_json(programs, named=False)}
    before.tell(document, benchmarks.figures_lines(run, programs, as_markdown=before.markdown))
    return EXIT_FINE if run.cells else EXIT_ENVIRONMENT


def _tell_changed(asked: _BenchOptions, run: Run, changed: ChangedBenchmarks) -> int:
    """Print what became of each benchmark since its program was kept; the exit code of the gate."""
    from perbyte.cli.ending import note_gaps, note_regressions
    from perbyte.report.benchmarks import changes_json, changes_lines

    before, gate = asked.before, asked.limits.gate
    texts = changes_lines(run, changed.changes, as_markdown=before.markdown)
    before.tell({"changes": changes_json(changed.changes)}, texts, indent=None)
    if changed.new:
        before.note(f"not in the kept programs: {', '.join(changed.new)} (--keep keeps these)")
    note_gaps(changed.gaps)
    rows = [(change.algorithm, change.comparison) for _, change in changed.changes]
    code, regressions = gate.judge(rows, run.measuring_s, missing=bool(changed.gaps))
    if gate.fail_above is not None:
        note_regressions(regressions, one_run=True, quiet=before.quiet)
    return code
