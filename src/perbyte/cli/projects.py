"""`perbyte bench` and `perbyte supercop`: programs of others, measured as they are."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from perbyte.app.quantities import read_sizes
from perbyte.app.trying.clock import CELL_S, MOST_S, PAIR_S
from perbyte.app.verdicts import exit_code
from perbyte.cli.declared import Options, argument, flag, group, option, takes
from perbyte.cli.options import BaselineOptions, GentleOption, QuietOption, Time, TimeGateOptions, Words
from perbyte.cli.streams import note, note_once, notes, print_lines
from perbyte.errors import EXIT_FINE, UsageError
from perbyte.model import Run

if TYPE_CHECKING:
    from perbyte.app.benchmarks import ChangedBenchmarks

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
    budget: Time | None = option(
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
def bench_command(asked: _BenchOptions) -> int:
    """Measure the benchmark files of a project: those of criterion in Rust, and of testing.B in Go.

    DIR is a package; its files are not changed. The output of such a benchmark is not checked, so its id begins with
    `unverified-`.
    """
    from perbyte.app.benchmarks import Benchmarks
    from perbyte.app.conducting import held_said_soon
    from perbyte.measure.machine import require_linux
    from perbyte.model import Policy
    from perbyte.report import trials
    from perbyte.report.export import to_json
    from perbyte.trial.cargo_bench import line_for_cargo

    if asked.line:
        print(line_for_cargo())
        return EXIT_FINE
    before = asked.before
    in_turn = before.baseline or before.keep
    of_files = (asked.places, asked.flags, asked.only, asked.budget, asked.how.gentle)
    project = Benchmarks(*of_files, in_turn, before.listener)
    with nullcontext() if asked.show else held_said_soon(Policy(), note_once):
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
        document = {"benchmarks": trials.benchmarks_json(programs, named=True)}
        before.tell(document, trials.benchmarks_lines(programs))
        return EXIT_FINE
    project.require_any()
    require_linux()
    run, changed = project.beside_kept(keep=before.keep) if in_turn else (project.measure(), None)
    if changed:
        return _tell_changed(asked, run, changed)
    document = to_json(run) | {"benchmarks": trials.benchmarks_json(programs, named=False)}
    before.tell(document, trials.lines_of(trials.figures_parts(run, programs), as_markdown=before.markdown))
    return exit_code(empty=not run.cells, missing=any(failure.address for failure in run.failures))


def _tell_changed(asked: _BenchOptions, run: Run, changed: ChangedBenchmarks) -> int:

    from perbyte.report.gate import gap_lines, regression_lines
    from perbyte.report.trials import benchmark_changes_json, benchmark_changes_parts, lines_of

    before, gate = asked.before, asked.limits.gate
    texts = lines_of(benchmark_changes_parts(run, changed.changes), as_markdown=before.markdown)
    before.tell({"changes": benchmark_changes_json(changed.changes)}, texts, indent=None)
    if changed.new:
        before.note(f"not in the kept programs: {', '.join(changed.new)} (--keep keeps these)")
    notes(gap_lines(changed.gaps))
    rows = [(change.algorithm, change.comparison) for _, change in changed.changes]
    code, regressions = gate.judge(rows, run.measuring_s, missing=bool(changed.gaps))
    if gate.fail_above is not None:
        notes(regression_lines(regressions, one_run=True), quiet=before.quiet)
    return code


BUDGET_S = 5.0
EPILOG = """\b
  perbyte supercop supercop-20260330 sha256 'crypto_stream/*'
  perbyte supercop supercop-20260330               # the whole tree; run it again to continue
  perbyte supercop supercop-20260330 --compilers all --out results
"""


class _SupercopOptions(Options):
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
    budget: Time = option(
        "--budget", default=BUDGET_S, help=f"Measuring time of a primitive.  [{BUDGET_S:g}s]"
    )
    again: bool = flag("--again", help="Repeat finished primitives.")
    how: GentleOption = group(GentleOption)
    notes: QuietOption = group(QuietOption)


@takes("supercop", _SupercopOptions, epilog=EPILOG)
def supercop_command(options: _SupercopOptions) -> int:
    """Measure a tree in SUPERCOP's layout. Every implementation gets a figure, or a reason why it has none.

    A failure does not end the run. The same command continues an interrupted run. Each primitive must match the tree's
    checksums, and the known answers of the catalogue. Results: `data` in SUPERCOP's format, and runs of Perbyte.
    """
    from perbyte.app.supercop import BAD, MEASURED
    from perbyte.app.supercop_tree import open_tree
    from perbyte.report.trials import primitive_line, tree_end

    tree = open_tree(
        options.tree,
        options.primitives,
        options.out,
        every_compiler=options.compilers == "all",
        sizes=read_sizes(options.sizes),
        budget_s=options.budget,
        gentle=options.how.gentle,
        listener=options.notes.listener.hushed(),
    )
    wrong = False
    for number, ((operation, primitive), variants) in enumerate(tree.groups.items(), start=1):
        if not options.again and tree.done(variants):
            continue
        outcomes = tree.carry_out(variants)
        wrong = wrong or any(outcome.word in BAD for outcome in outcomes)
        told = primitive_line(outcomes, MEASURED)
        print(f"{number}/{len(tree.groups)} crypto_{operation}/{primitive}: {told}", flush=True)
    print_lines(tree_end(tree.journal))
    if tree.left and not options.primitives:
        told = ", ".join(f"{count} of crypto_{name}" for name, count in tree.left.items())
        note(f"primitives of operations that are not measured here: {told}")
    return exit_code(wrong=wrong)
