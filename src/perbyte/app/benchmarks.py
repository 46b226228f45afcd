"""Benchmark files of a project, built and measured as they are, or beside the programs that were kept of them."""

from __future__ import annotations

import itertools
import os
import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from perbyte.app.conducting import conduct_plan
from perbyte.app.listener import NOBODY, Listener
from perbyte.app.trying.clock import CELL_S, MOST_S, PAIR_S
from perbyte.errors import UsageError
from perbyte.measure import Plan, choose_cores, foresee, recall_pace, survey
from perbyte.measure.plan import choose_twins
from perbyte.model import Cell, Failure, Policy, Run, parse_address
from perbyte.model.text import counted
from perbyte.runners import locate
from perbyte.stats.trials import BaselineChange, changes, gaps
from perbyte.trial import kept
from perbyte.trial.benchmark_file import (
    PROGRAM,
    BenchmarkProgram,
    BuiltBenchmarks,
    describe_routines,
    places_of,
    put_in_place,
    suite_in,
)
from perbyte.trial.cargo_bench import already_built, build_cargo
from perbyte.trial.go_bench import ENVIRONMENT, build_go
from perbyte.trial.kept import in_turn_policy
from perbyte.trial.program import DoesNotBuild

LEAST_S = 5.0
MOST_HALF_WIDTH = 1.0  # of an interval, over the figure: a wider one says nothing of it
Parts = list[tuple["BenchmarkProgram", Sequence[Cell]]]


@dataclass(frozen=True, slots=True)
class ChangedBenchmarks:
    """What became of benchmarks since their programs were kept, with their names.

    `gaps`: addresses without a figure on one side. `new`: algorithms that the kept programs do not have.
    """

    changes: Sequence[tuple[str, BaselineChange]]
    gaps: Sequence[str]
    new: Sequence[str]


@dataclass
class Benchmarks:
    """The programs in `places`, packages of Rust and Go, or one program that is built already.

    `only`: words of which a benchmark's name holds one. `in_turn`: measured beside kept programs.
    """

    places: Sequence[Path]
    flags: str = ""
    only: tuple[str, ...] = ()
    budget_s: float | None = None
    gentle: bool = False
    in_turn: bool = False
    listener: Listener = NOBODY
    built: list[BuiltBenchmarks] = field(default_factory=list)
    programs: list[BenchmarkProgram] = field(default_factory=list)

    def build(self) -> None:
        """Build all programs and describe their routines.

        Raises UsageError for a place that has no benchmarks, and with the compiler's words.
        """
        taken = {spec.name for spec in locate()}
        for built in [each for place in self.places or (Path(),) for each in self._built_at(place)]:
            stem = re.sub(r"[/@+\s]", "-", built.name)
            names = itertools.chain(
                (stem, f"{stem}-bench"), (f"{stem}-bench-{number}" for number in itertools.count(2))
            )
            name = next(name for name in names if name not in taken)
            taken.add(name)
            self.built.append(replace(built, name=name))
        self.programs = [
            put_in_place(built, ENVIRONMENT if built.language == "go" else {}) for built in self.built
        ]
        describe_routines(self.programs, os.pathsep.join(sorted(built.key for built in self.built)))

    def _built_at(self, place: Path) -> list[BuiltBenchmarks]:
        where, flags = place.resolve(), shlex.split(self.flags)
        if where.is_file() and os.access(where, os.X_OK):
            return [already_built(where)]
        rust = (where / "Cargo.toml").is_file()
        if not (rust or any(where.glob("*_test.go"))):
            lacks = "no Cargo.toml and no *_test.go there" if where.is_dir() else "no such directory"
            lacks = "a file that cannot be run" if where.is_file() else lacks
            way_out = "name the directory of a package; C and the rest: perbyte try"
            raise UsageError(f"{place}: {lacks}", hint=way_out)
        self.listener.say(f"building {place}")
        try:
            return list(build_cargo(where, flags)) if rust else [build_go(where, flags)]
        except DoesNotBuild as error:
            self.listener.urgent(str(error))
            hint = _features_of(str(error))
            raise UsageError(f"{place} does not build: {error.first}", hint=hint) from None

    def left_out(self) -> list[str]:
        """What cannot be measured, with the reason."""
        return [
            f"{benchmark.name}: not measured: {benchmark.why}"
            for program in self.programs
            for benchmark in program.benchmarks
            if benchmark.why and (not self.only or any(word in benchmark.name for word in self.only))
        ]

    def require_any(self) -> None:
        """Raise UsageError where nothing can be measured."""
        if not any(program.cells(self.only) for program in self.programs):
            words = " or ".join(self.only)
            message = f"no benchmark's name holds {words}" if words else "none can be measured"
            raise UsageError(message, hint="perbyte bench --list")

    def measure(self, parts: Parts | None = None) -> Run:
        """Measure cells of programs in turn, in one run; all cells without `parts`.

        Raises UsageError where no program answers.
        """
        parts = parts or [(program, program.cells(self.only)) for program in self.programs]
        surveyed = survey([program.spec for program, _ in parts], ["full"])
        cells = [
            cell for program, them in parts for cell in them if (program.spec.name, "full") in surveyed.hellos
        ]
        for failure in surveyed.failures:
            self.listener.urgent(f"{failure.runner}: {failure.message}")
        if not cells:
            raise UsageError("no program of the benchmarks answers", hint="its output is printed above")
        policy = in_turn_policy(gentle=self.gentle) if self.in_turn else Policy(gentle=self.gentle)
        each = PAIR_S / 2 if self.in_turn else CELL_S
        budget_s = self.budget_s or min(MOST_S, max(LEAST_S, each * len(cells)))
        policy = replace(policy, budget_s=budget_s, cores=choose_cores(policy.cores))
        plan = Plan(tuple(cells), choose_twins(cells))
        ahead = foresee(plan, policy, surveyed.specs, recall_pace(policy.cores[0]))
        self.listener.say(f"{counted(len(cells))}: {ahead}")
        done = conduct_plan(plan, replace(surveyed, failures=()), policy, cut=True, listener=self.listener)
        return without_empty(done.whole().run)

    def beside_kept(self, *, keep: bool) -> tuple[Run, ChangedBenchmarks | None]:
        """Measure the present programs beside the kept ones, in turn; keep them where none are, or with `keep`.

        None where nothing was kept before.
        """
        parts: Parts = []
        pairs, fresh, new = [], [], []
        for built, program in zip(self.built, self.programs, strict=True):
            old, cells = places_of(built)[1], program.cells(self.only)
            if keep or not kept.read_note(old):
                fresh.append(built)
                parts.append((program, cells))
                continue
            before = suite_in(old, built, f"{built.name}-before")
            rows = {(cell.algorithm, cell.size_bytes, cell.contract) for cell in before.cells()}
            both = [cell for cell in cells if (cell.algorithm, cell.size_bytes, cell.contract) in rows]
            new += [cell.algorithm for cell in cells if cell not in both]
            parts += [(program, both), (before, [replace(cell, runner=before.spec.name) for cell in both])]
            pairs.append((program, before))
        run = self.measure(parts)
        for built in fresh:
            now, old = places_of(built)
            kept.keep(now, old, self.flags, [now / PROGRAM])
            self.listener.say(f"{built.name}: kept as the baseline; change something and run this again")
        if not pairs:
            return run, None
        named: list[tuple[str, BaselineChange]] = []
        lost: list[str] = []
        for program, before in pairs:
            runners = (program.spec.name, before.spec.name)
            changed = changes(run, *runners)
            titles = {benchmark.id: benchmark.name for benchmark in program.benchmarks}
            named += [(titles.get(change.algorithm, change.algorithm), change) for change in changed]
            lost += [gap for gap in gaps(run, changed) if parse_address(gap).runner in runners]
        return run, ChangedBenchmarks(named, lost, new)


def without_empty(run: Run) -> Run:
    """The run without figures that cannot be a cost, or whose interval is wider than they are: they are failures."""
    kept_cells, failures = [], list(run.failures)
    for figure in run.cells:
        if figure.per_call > 0 and figure.relative_half_width < MOST_HALF_WIDTH:
            kept_cells.append(figure)
            continue
        text = f"no figure: {figure.clean_samples} of {figure.samples} samples were clean, and those lie too far apart"
        if figure.clean_samples == 0:
            text = f"no figure: 0 of {figure.samples} samples were clean"
        failures.append(Failure("refused", figure.cell.runner, text, figure.cell.address))
    return replace(run, cells=tuple(kept_cells), failures=tuple(failures))


def _features_of(words: str) -> str | None:
    match = re.search(r"requires the features: (.+)", words)
    if not match:
        return None
    return f"--flags '--features {','.join(re.findall(r'`([^`]+)`', match[1])) or 'NAME'}'"
