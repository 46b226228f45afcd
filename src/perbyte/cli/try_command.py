"""`perbyte try`: a user's own function, built, checked, measured beside the libraries."""

from __future__ import annotations

import datetime
import json
import shlex
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from perbyte.cli.ending import note_losses
from perbyte.cli.options import Listed, Percent, Seconds, gentle_option, note
from perbyte.errors import (
    EXIT_ENVIRONMENT,
    EXIT_FINE,
    EXIT_FOUND,
    EXIT_INCORRECT,
    EXIT_INTERRUPTED,
    EXIT_UNDECIDED,
    PerbyteError,
    UsageError,
)

if TYPE_CHECKING:
    from perbyte.model import Algorithm, Cell, Policy, Run
    from perbyte.runners import RunnerSpec
    from perbyte.trial.subject import Asked

BUDGET_S = 20.0
LOOP_BUDGET_S = 9.0
EPILOG = """\b
  perbyte try my_hash.c --as sha-256 --function my_sha256
  perbyte try aes.S aes.h --as aes-128-ctr --function key=aes_setup,encrypt=aes_ctr
  perbyte try my_hash.c --as sha-256 --flags -O2 --flags '-O3 -march=native'
  perbyte try my_hash.c --as sha-256 --baseline     # keeps it; after a change: faster, slower?
  perbyte try --supercop crypto_hash/sha256
"""


@click.command("try", epilog=EPILOG)
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="FILE...")
@click.option("--as", "algorithm_name", metavar="ALGORITHM", help="What the function computes: sha-256.")
@click.option(
    "--function",
    "functions",
    multiple=True,
    metavar="NAME",
    help="The function; several: key=NAME,encrypt=NAME.",
)
@click.option(
    "--signature", "signatures", multiple=True, metavar="ROLES", help="What its parameters are: out,in,size."
)
@click.option(
    "--flags", "flags", multiple=True, help="Flags of the compiler; each time a row of its own.  [-O2]"
)
@click.option("--size", "sizes", type=Listed(), default=None, help="Sizes: 16,1KiB.  [64,1KiB,16KiB]")
@click.option(
    "--beside", default="*", show_default=True, metavar="RUNNERS", help="Libraries to measure with it."
)
@click.option("--name", default="", help="Name of the row.  [the file's]")
@click.option(
    "--baseline", is_flag=True, help="Compare with the program that was kept; the first one is kept."
)
@click.option("--keep", is_flag=True, help="Make this program the baseline.")
@click.option("--watch", is_flag=True, help="Repeat --baseline when a file changes.")
@click.option("--instructions", is_flag=True, help="Count instructions too, by callgrind.")
@click.option("--supercop", is_flag=True, help="FILEs are directories in SUPERCOP's layout.")
@click.option(
    "--budget", type=Seconds(), default=None, help=f"Measuring time.  [{BUDGET_S:g}s, {LOOP_BUDGET_S:g}s]"
)
@gentle_option
@click.option(
    "--fail-above",
    type=Percent(),
    default=None,
    help="Exit code 1 when slower by more than this.  [by anything]",
)
@click.option("--markdown", is_flag=True, help="Print what --baseline found as Markdown.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("-q", "--quiet", is_flag=True, help="No progress and no notes.")
def command(
    files: tuple[Path, ...],
    algorithm_name: str | None,
    functions: tuple[str, ...],
    signatures: tuple[str, ...],
    flags: tuple[str, ...],
    sizes: tuple[str, ...] | None,
    beside: str,
    name: str,
    baseline: bool,
    keep: bool,
    watch: bool,
    instructions: bool,
    supercop: bool,
    budget: float | None,
    gentle: bool,
    fail_above: float | None,
    markdown: bool,
    as_json: bool,
    quiet: bool,
) -> int:
    """Measure a function of your own: build it, check it against known answers and libraries, print the ratio.

    FILE is C, C++, assembly or Rust, a header, or what is built already (.o, .a, .so).
    """
    from perbyte.catalogue import parse_sizes
    from perbyte.trial.instructions import require_valgrind
    from perbyte.trial.subject import Asked, find_algorithm, read_files

    if instructions:
        require_valgrind()
    asked_sizes = parse_sizes(",".join(sizes)) if sizes else None
    if supercop:
        from perbyte.cli.try_supercop import try_directories

        if functions or signatures or baseline or keep or watch or instructions:
            raise UsageError(
                "--supercop knows the functions; of the other options it takes --as, --flags, --size"
            )
        return try_directories(
            files,
            algorithm_name,
            flags,
            asked_sizes,
            beside,
            budget,
            gentle=gentle,
            as_json=as_json,
            quiet=quiet,
        )
    if not algorithm_name:
        raise UsageError("what does it compute?", hint="--as sha-256; all: perbyte list algorithms")
    asked = Asked(read_files(files), find_algorithm(algorithm_name), functions, signatures, name)
    each = [tuple(shlex.split(one)) for one in flags] or [("-O2",)]
    if (baseline or keep or watch) and len(each) > 1:
        raise UsageError("a baseline is one program", hint="give --flags once")
    trial = Trial(asked, each, asked_sizes, beside, budget, instructions, as_json, quiet)
    trial.gentle = gentle
    if not (baseline or keep or watch):
        return trial.beside_libraries()
    trial.fail_above, trial.markdown = fail_above or 0.0, markdown
    code = trial.against_baseline(keep=keep)
    while watch:
        _wait_for_change(asked.files)
        try:
            code = trial.against_baseline(keep=False)
        except PerbyteError as error:
            note(f"{error}" + (f" ({error.hint})" if error.hint else ""))
    return code


class Trial:
    """One command: what was asked, built as often as flags were given."""

    def __init__(
        self,
        asked: Asked,
        flags: Sequence[tuple[str, ...]],
        sizes: tuple[int, ...] | None,
        beside: str,
        budget_s: float | None,
        instructions: bool,
        as_json: bool,
        quiet: bool,
    ) -> None:
        self.asked = asked
        self.flags = flags
        self.sizes = sizes
        self.beside = beside
        self.budget_s = budget_s
        self.instructions = instructions
        self.as_json = as_json
        self.quiet = quiet
        self.fail_above = 0.0  # relative, of --baseline
        self.markdown = False
        self.gentle = False

    def beside_libraries(self) -> int:
        """Measure beside the libraries, and say how far off the best of them is."""
        from perbyte.model import Policy
        from perbyte.trial.bench import beside_the_best, failed, measured, sizes_for

        specs = self._build()
        names = [spec.name for spec in specs]
        libraries = libraries_beside(self.beside, names)
        sizes = sizes_for(self.asked.algorithm, self.sizes)
        policy = Policy(budget_s=self.budget_s or BUDGET_S, gentle=self.gentle)
        run = measure_specs(specs, libraries, self.asked.algorithm, names, sizes, policy, self.quiet)
        found = beside_the_best(run, names)
        counts = self._count(specs, run, policy.seed)
        if self.as_json:
            from perbyte.report.export import to_json

            ratios = [
                {
                    "address": one.mine.cell.address,
                    "best": one.best.cell.address,
                    "ratio": one.comparison.ratio.value,
                    "low": one.comparison.ratio.low,
                    "high": one.comparison.ratio.high,
                }
                for one in found
            ]
            rows = [
                {"runner": one.runner, "compiler": one.compiler, "flags": one.flags}
                for one in run.conditions.identities
                if one.runner in names
            ]
            told = {"rows": rows, "ratios": ratios, "instructions": counts}
            print(json.dumps(to_json(run) | {"trial": told}, indent=1))
        else:
            _print_beside(run, names, found, counts)
        note_losses(run, quiet=self.quiet)
        if failed(run, names):
            return EXIT_INCORRECT
        return EXIT_FINE if measured(run, names) else EXIT_ENVIRONMENT

    def against_baseline(self, *, keep: bool) -> int:
        """Measure the present program beside the kept one, in turn; keep it where none is, or where it is wished."""
        from perbyte.model import Policy
        from perbyte.trial import kept
        from perbyte.trial.bench import failed, measured, sizes_for
        from perbyte.trial.program import describe, digest_of

        began = time.monotonic()
        words = [self.asked.algorithm.id, *self.asked.functions, self.asked.name]
        now, old = kept.places_of(self.asked.files, words, 0)
        spec = self._build()[0]
        name, before = spec.name, f"{spec.name}-before"
        note = kept.read_note(old)
        policy = replace(
            Policy(),
            budget_s=self.budget_s or LOOP_BUDGET_S,
            precision=0.0005,
            epochs=8,
            max_epochs=40,
            gentle=self.gentle,
        )
        specs = [spec] + ([describe(before, old, self.asked.files)] if note and not keep else [])
        sizes = sizes_for(self.asked.algorithm, self.sizes, quick=True)
        run = measure_specs(specs, [], self.asked.algorithm, [name, before], sizes, policy, self.quiet)
        if failed(run, [name]) or not measured(run, [name]):
            _print_failures(run)
            return EXIT_INCORRECT if failed(run, [name]) else EXIT_ENVIRONMENT
        if len(specs) == 1:
            moment = datetime.datetime.now().astimezone().isoformat(timespec="seconds")
            kept.keep(now, old, kept.Note(" ".join(self.flags[0]), digest_of(self.asked.files), moment))
            print(f"{name}: kept as the baseline, {_costs(run, name)}; change it and run this again")
            return EXIT_FINE
        found = kept.changes(run, name, before)
        counts = self._count(specs, run, policy.seed)
        if self.as_json:
            told = [
                {
                    "operation": one.operation,
                    "size_bytes": one.size_bytes,
                    "verdict": one.word,
                    "ratio": one.comparison.ratio.value,
                    "low": one.comparison.ratio.low,
                    "high": one.comparison.ratio.high,
                }
                for one in found
            ]
            print(json.dumps({"changes": told, "instructions": counts, "seconds": time.monotonic() - began}))
        elif self.markdown:
            _print_markdown(name, found)
        else:
            assert note
            _print_changes(name, found, note, " ".join(self.flags[0]), time.monotonic() - began)
            _print_counts(counts)
        note_losses(run, quiet=self.quiet)
        slower = (one for one in found if one.comparison.ratio.above(1 + self.fail_above))
        if any(slower):
            return EXIT_FOUND
        return EXIT_FINE if found else EXIT_UNDECIDED  # the kept program gave no figure

    def _build(self) -> list[RunnerSpec]:
        """The programs, one for each set of flags. Raises UsageError with the compiler's words."""
        from perbyte.trial.kept import places_of
        from perbyte.trial.program import DoesNotBuild, build_program
        from perbyte.trial.subject import make_source, read_calls, read_files

        asked = replace(self.asked, files=read_files(self.asked.files))
        calls = read_calls(asked)
        words = [asked.algorithm.id, *asked.functions, asked.name]
        specs = []
        for index, flags in enumerate(self.flags):
            name = _row_name(asked.title, flags, len(self.flags) > 1)
            source = make_source(asked, calls, flags, name)
            try:
                specs.append(build_program(source, places_of(asked.files, words, index)[0]))
            except DoesNotBuild as error:
                print(error, file=sys.stderr)
                hint = None
                if "undefined reference" in error.first:
                    hint = 'name the file that defines it; a function of C++ must be extern "C"'
                raise UsageError(f"it does not build: {error.first}", hint=hint) from None
        return specs

    def _count(self, specs: Sequence[RunnerSpec], run: Run, seed: int) -> list[dict[str, Any]]:
        """Instructions per call of each row of the user's, where they were asked for."""
        from perbyte.trial.instructions import count_instructions

        found: list[dict[str, Any]] = []
        for spec in specs if self.instructions else ():
            for cell in (one.cell for one in run.cells if one.cell.runner == spec.name):
                try:
                    found.append(
                        {"address": cell.address, "instructions": count_instructions(spec, cell, seed)}
                    )
                except PerbyteError as error:
                    note(str(error), quiet=self.quiet)
                    break
        return found


def _row_name(title: str, flags: Sequence[str], several: bool) -> str:
    import re

    told = re.sub(r"[^A-Za-z0-9.]+", "-", " ".join(flags)).strip("-")
    return f"{title}-{told or 'plain'}" if several else title


def libraries_beside(glob: str, mine: Sequence[str]) -> list[RunnerSpec]:
    """The built runners that `glob` means; `*` means all but the opt-in ones. Raises UsageError for a name taken."""
    from perbyte.catalogue import pattern
    from perbyte.measure.plan import left_out
    from perbyte.runners import locate

    every = [spec for spec in locate() if not spec.built or spec.out().is_dir()]
    if taken := {spec.name for spec in locate()} & set(mine):
        raise UsageError(f"there is a runner '{sorted(taken)[0]}' already", hint="--name another-name")
    return [spec for spec in every if pattern.matches(spec.name, glob) and not left_out(glob, spec)]


def measure_specs(
    specs: Sequence[RunnerSpec],
    libraries: Sequence[RunnerSpec],
    algorithm: Algorithm,
    mine: Sequence[str],
    sizes: Sequence[int],
    policy: Policy,
    quiet: bool,
) -> Run:
    """Measure what `mine` offer of `algorithm`, and the same of `libraries`, into a new run directory."""
    from perbyte.cli.conduct import conduct_plan
    from perbyte.measure import Plan, survey
    from perbyte.measure.machine import require_linux
    from perbyte.measure.plan import choose_twins
    from perbyte.trial.bench import draw_cells

    require_linux()
    found = survey([*specs, *libraries], ["full"])
    cells: tuple[Cell, ...] = draw_cells(algorithm, dict(found.hellos), mine, sizes)
    if not cells:
        why = "; ".join(failure.message for failure in found.failures if failure.runner in mine)
        said = why or f"no size is a multiple of {algorithm.data_multiple_bytes} bytes"
        raise UsageError(f"nothing can be measured: {said}")
    plan = Plan(cells, choose_twins(cells))
    done = conduct_plan(plan, replace(found, failures=()), policy, quiet=quiet)
    if done.code == EXIT_INTERRUPTED:
        raise KeyboardInterrupt
    return done.run


def _print_beside(
    run: Run, mine: Sequence[str], found: Sequence[Any], counts: Sequence[dict[str, Any]]
) -> None:
    from perbyte.report.text import render_table
    from perbyte.report.wording import claim_text, interval_text, ratio_text, size_label

    print(render_table(run), end="")
    print()
    for one in sorted(run.conditions.identities, key=lambda one: one.runner):
        if one.runner in mine:
            print(f"{one.runner}: {one.library}, {one.compiler}, {one.flags or 'no flags'}")
    for one in found:
        cell, ratio = one.mine.cell, one.comparison.ratio
        where = f"{cell.operation} {size_label(cell.size_bytes)}"
        best = f"{one.best.cell.runner}, the best of {one.others}" if one.others > 1 else one.best.cell.runner
        if said := claim_text(one.comparison):
            print(f"{cell.runner}, {where}, against {best}: {said}")
        else:
            print(
                f"{cell.runner}, {where}: {ratio_text(ratio)} times the cost of {best} ({interval_text(ratio)})"
            )
    if not found and any(one.cell.runner in mine for one in run.cells):
        print("no library here does the same under this contract: nothing to compare with")
    _print_counts(counts)


def _print_counts(counts: Sequence[dict[str, Any]]) -> None:
    for one in counts:
        print(f"{one['address']}: {one['instructions']:,.1f} instructions per call (callgrind; no speed)")


def _print_failures(run: Run) -> None:
    from perbyte.report.facts import failure_lines

    for line in failure_lines(run):
        print(line)


def _print_markdown(name: str, found: Sequence[Any]) -> None:
    """A table for a comment: what it is, the verdict, the change with its interval."""
    from perbyte.report.wording import size_label

    print("| function | operation | size | verdict | change | 99.8 % interval |")
    print("|---|---|---|---|---|---|")
    for one in found:
        by, low, high = (
            f"{100 * (end - 1):+.2f} %"
            for end in (one.comparison.ratio.value, one.comparison.ratio.low, one.comparison.ratio.high)
        )
        size = size_label(one.size_bytes)
        print(f"| {name} | {one.operation} | {size} | {one.word} | {by} | {low} to {high} |")


def _print_changes(name: str, found: Sequence[Any], note: Any, flags: str, seconds: float) -> None:
    from perbyte.report.wording import size_label

    for one in found:
        low, high = (100 * (end - 1) for end in (one.comparison.ratio.low, one.comparison.ratio.high))
        where = f"{name}, {one.operation} {size_label(one.size_bytes)}"
        by = 100 * (one.comparison.ratio.value - 1)
        if one.word in ("slower", "faster"):
            ends = sorted((abs(low), abs(high)))
            print(f"{where}: {one.word.upper()} by {abs(by):.2f} % ({ends[0]:.2f} to {ends[1]:.2f} %)")
        elif one.word == "the same":
            print(f"{where}: the same ({low:+.2f} to {high:+.2f} %)")
        else:
            print(
                f"{where}: not known, {low:+.2f} to {high:+.2f} %; try again, or give it more: --budget 30s"
            )
    if note.flags != flags:
        print(f"flags then: {note.flags}; now: {flags}")
    print(f"baseline of {note.kept_at}, {note.digest}; {seconds:.1f} s")


def _costs(run: Run, name: str) -> str:
    from perbyte.report.wording import number, size_label

    told = []
    for one in run.cells:
        if one.cell.runner == name:
            size = one.cell.size_bytes or 1
            unit = "cycles/byte" if one.cycles_per_call is not None else "ns/byte"
            value = number(one.per_call / size, one.interval.half_width / size)
            told.append(f"{value} {unit} at {size_label(one.cell.size_bytes)}")
    return ", ".join(told)


def _wait_for_change(files: Sequence[Path]) -> None:
    """Return when a file's content is another one. An editor may replace a file, so it may be gone for a moment."""

    def look() -> list[bytes]:
        return [file.read_bytes() if file.is_file() else b"" for file in files]

    note("waiting for a change; Ctrl-C ends it")
    seen = look()
    while True:
        time.sleep(0.3)
        if (now := look()) != seen and all(now):
            return
