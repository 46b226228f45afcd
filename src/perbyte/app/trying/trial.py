"""One `perbyte try`: the user's files built, checked, measured beside the libraries or another program of theirs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from perbyte.app.gate import Gate
from perbyte.app.listener import NOBODY, Listener
from perbyte.app.placing import place_run
from perbyte.app.trying.bench import Bench, libraries_beside
from perbyte.app.trying.clock import CALL_S, Clock
from perbyte.app.trying.offsets import OffsetCost
from perbyte.app.trying.stored import Stored
from perbyte.app.verdicts import exit_code, gravest
from perbyte.errors import EXIT_INCORRECT, UsageError
from perbyte.measure import survey
from perbyte.measure.behaviour import count_cells
from perbyte.model import NOT_REACHED, Cell, CellFigure, Failure, Policy, Run
from perbyte.runners import RunnerSpec, find
from perbyte.stats.pairing import Regressions
from perbyte.stats.trials import (
    BaselineChange,
    BesideTheBest,
    CountChange,
    beside_the_best,
    changes,
    count_changes,
    gaps,
)
from perbyte.trial import kept
from perbyte.trial.bench import failed, measured, sizes_for
from perbyte.trial.kept import in_turn_policy
from perbyte.trial.program import DoesNotBuild, describe
from perbyte.trial.roles import Call
from perbyte.trial.roles import understood as in_words
from perbyte.trial.subject import TrialRequest, build_row, managed, read_calls, read_files

if TYPE_CHECKING:
    from perbyte.measure.leaks import LeakCase
    from perbyte.model.run import LeakRun

LEAK_BYTES = (64,)


class NoFigure(Exception):
    """A program has none: its faults before measuring, or the run in which it failed. `code` is the exit code."""

    def __init__(self, code: int, faults: Sequence[Failure] = (), run: Run | None = None) -> None:
        failures = [*faults, *(run.failures if run else ())]
        super().__init__(failures[0].message if failures else "it gave no figure")
        self.code, self.faults, self.run = code, faults, run


@dataclass(frozen=True, slots=True)
class BesideLibraries:
    """The rows `names` of the user's in a run with libraries.

    `faults`: programs that were left out. `stored`: figures of libraries that were not measured again. `offsets`: what
    data that do not begin at a line cost, where that was asked for.
    """

    run: Run
    names: tuple[str, ...]
    bests: Sequence[BesideTheBest]
    faults: Sequence[Failure]
    stored: Stored | None
    offsets: Sequence[OffsetCost] = ()

    @property
    def code(self) -> int:
        """The exit code."""
        return exit_code(
            wrong=bool(self.faults) or bool(failed(self.run, self.names)),
            empty=not measured(self.run, self.names),
            missing=any(failure.kind == NOT_REACHED for failure in self.run.failures),
        )


@dataclass(frozen=True, slots=True)
class InTurn:
    """What became of the rows of the program `name` since the program of `before`, measured in turn in `run`.

    `flags_then`: flags of the program of before, None where they are not known. `gaps`: addresses without a figure.
    """

    name: str
    before: str
    run: Run
    changes: Sequence[BaselineChange]
    instructions: Sequence[CountChange]
    gaps: Sequence[str]
    flags_then: str | None = None

    def judge(self, gate: Gate) -> tuple[int, Regressions, str]:
        """The exit code, what is slower, and what the limit on instructions says."""
        rows = [(f"{change.operation}@{change.size_bytes}", change.comparison) for change in self.changes]
        code, regressions = gate.judge(rows, self.run.measuring_s, missing=bool(self.gaps))
        known = {change.address for change in self.instructions}
        counted = [behaviour.cell for behaviour in self.run.behaviours if behaviour.cell.runner == self.name]
        lost = [cell.address for cell in counted if cell.address not in known]
        of_counts, reason = gate.judge_counts(self.instructions, lost)
        return gravest([code, of_counts]), regressions, reason


@dataclass(frozen=True, slots=True)
class Kept:
    """The program `name` was kept as the baseline; its figures are in `run`."""

    name: str
    run: Run


@dataclass
class Trial:
    """A request, built as often as it has flags.

    `hear_faults` and `hear_first` take what is wrong and the first figures with the seconds since the beginning, before
    anything is measured; without `hear_first` there is no first look.
    """

    request: TrialRequest
    sizes: tuple[int, ...] | None = None
    beside: str = "*"
    clock: Clock = field(default_factory=Clock)
    count: bool = False
    places: bool = False
    offsets: bool = False
    gentle: bool = False
    patience_s: float = CALL_S
    fresh: bool = False
    listener: Listener = NOBODY
    hear_faults: Callable[[Sequence[Failure]], None] = lambda _faults: None
    hear_first: Callable[[Sequence[CellFigure], float], None] | None = None
    calls: dict[str, Call] = field(default_factory=dict)  # as they were understood by the last build

    @property
    def understood(self) -> str:
        """Each function with what its parameters were taken for."""
        calls = "; ".join(f"{step}: {in_words(call)}" for step, call in self.calls.items())
        return f"understood as: {calls}"

    def beside_libraries(self) -> BesideLibraries:
        """Measure beside the libraries. Raises NoFigure where no program is right."""
        specs = self.build()
        names = [spec.name for spec in specs]
        libraries = libraries_beside(self.beside, names, self.listener.urgent)
        policy = Policy(gentle=self.gentle)
        bench = self.bench(specs, libraries, sizes_for(self.request.algorithm, self.sizes), policy)
        if faults := bench.check():
            if len(faults) == len(names):
                raise NoFigure(EXIT_INCORRECT, faults)
            self.hear_faults(faults)
            bench.leave_out({fault.runner for fault in faults})
        self._look_first(bench)
        run, stored = bench.measure(fresh=self.fresh)
        bests = beside_the_best(run, names, [figure for _, figure in stored.kept(run)] if stored else [])
        counted = self._counted(specs, run, policy.seed, [best.best.cell for best in bests])
        if self.places:
            own_cells = [
                figure.cell for figure in run.cells if figure.cell.runner in names and figure.cell.usual
            ]
            counted = place_run(counted, own_cells, runners=specs, listener=self.listener)
        offsets = bench.look_at_offsets() if self.offsets else ()
        return BesideLibraries(counted, tuple(names), bests, faults, stored, offsets)

    def against_baseline(self, *, keep: bool) -> InTurn | Kept:
        """Measure the present program beside the kept one, in turn; keep it where none is, or where it is wished.

        Raises NoFigure.
        """
        now, old = _places_of(self.request, 0)
        spec, note = self.build()[0], None if keep else kept.read_note(old)
        if note:
            before = describe(f"{spec.name}-before", old, self.request.files)
            what = f"baseline of {note.kept_at}, {note.digest}"
            return self.changed(self.in_turn(spec, before), spec, before, what, note.flags)
        run = self.in_turn(spec, None)
        kept.keep(now, old, " ".join(self.request.flags[0]), self.request.files)
        return Kept(spec.name, run)

    def in_turn(self, spec: RunnerSpec, before: RunnerSpec | None) -> Run:
        """Measure the program beside another one of its own, in turn. Raises NoFigure."""
        policy = in_turn_policy(gentle=self.gentle)
        sizes = sizes_for(self.request.algorithm, self.sizes, quick=True)
        bench = self.bench([spec, before] if before else [spec], [], sizes, policy)
        bench.fewest_epochs = policy.epochs  # fewer tell no change of a per cent
        if faults := [fault for fault in bench.check() if fault.runner == spec.name]:
            raise NoFigure(EXIT_INCORRECT, faults)
        self._look_first(bench)
        run, _ = bench.measure()
        wrong = bool(failed(run, [spec.name]))
        if code := exit_code(wrong=wrong, empty=not measured(run, [spec.name])):
            raise NoFigure(code, run=run)
        return run

    def changed(
        self, run: Run, spec: RunnerSpec, before: RunnerSpec, what: str, flags_then: str | None = None
    ) -> InTurn:
        """What became of each row since `before`, which `what` describes; instructions too where they are counted."""
        changed = changes(run, spec.name, before.name)
        counted = self._counted([spec, before], run, run.conditions.policy.seed)
        instructions = count_changes(counted, spec.name, before.name, changed)
        return InTurn(spec.name, what, counted, changed, instructions, gaps(run, changed), flags_then)

    def bench(
        self,
        specs: Sequence[RunnerSpec],
        libraries: Sequence[RunnerSpec],
        sizes: tuple[int, ...],
        policy: Policy,
    ) -> Bench:
        """Programs and libraries, to be checked and measured."""
        how = (policy, self.patience_s, self.clock, self.listener)
        return Bench(specs, libraries, self.request.algorithm, sizes, *how)

    def _look_first(self, bench: Bench) -> None:
        if self.hear_first:
            self.hear_first(bench.look_first(bench.own_names[0]), self.clock.elapsed_s)

    def build(self) -> list[RunnerSpec]:
        """The programs, one for each set of flags. Raises UsageError with the compiler's words."""
        request = replace(self.request, files=read_files(self.request.files))
        calls = self.calls = read_calls(request)
        specs = []
        for index, flags in enumerate(request.flags):
            try:
                specs.append(build_row(request, calls, flags, _places_of(request, index)[0]))
            except DoesNotBuild as error:
                self.listener.urgent(str(error))
                hint = None
                if "undefined reference" in error.first:
                    hint = "name the file that defines it, or the library: --link NAME"
                raise UsageError(f"it does not build: {error.first}", hint=hint) from None
        return specs

    def _counted(self, specs: Sequence[RunnerSpec], run: Run, seed: int, others: Sequence[Cell] = ()) -> Run:
        if not self.count:
            return run
        own = {spec.name: spec for spec in specs}
        own_cells = [figure.cell for figure in run.cells if figure.cell.runner in own and figure.cell.usual]
        cells = dict.fromkeys((*own_cells, *others))
        known = {name: own.get(name) or find(name) for name in {cell.runner for cell in cells}}
        return replace(run, behaviours=count_cells(known, cells, seed))


def _places_of(request: TrialRequest, index: int) -> tuple[Path, Path]:
    told = [str(file) for file in request.files], [request.algorithm.id, *request.functions, request.name]
    return kept.places_for(told, f"-{index}")


def find_own_leaks(trial: Trial, how: str, budget_s: float | None) -> tuple[LeakRun, Path]:
    """Look whether the time depends on secrets, with `taint` where branches and addresses do; the run and its place.

    Raises NoFigure for a program that is wrong, UsageError where nothing is secret or the language is not one of C,
    C++, assembly and Rust.
    """
    from perbyte.app.leaking import BUDGET_S, draw_cases, find_leaks
    from perbyte.trial.taint import require_memcheck, taint_of

    if managed(trial.request.files):
        raise UsageError("--leak looks at C, C++, assembly and Rust only")
    if how == "taint":
        require_memcheck()
        debugged = tuple((*flags, "-g") for flags in trial.request.flags)  # the code stays as it is
        trial.request = replace(trial.request, flags=debugged)
    specs, algorithm, policy = trial.build(), trial.request.algorithm, Policy(gentle=trial.gentle)
    usual = sizes_for(algorithm, trial.sizes)
    bench = trial.bench(specs, [], usual if trial.sizes or len(usual) < 3 else LEAK_BYTES, policy)
    if faults := bench.check():
        raise NoFigure(EXIT_INCORRECT, faults)
    surveyed = survey(specs, ["full"])
    cells = _one_contract_each(bench.cells(surveyed))
    cases: list[LeakCase] = []
    taint = []
    if how == "taint":
        for spec in specs:
            for cell in (cell for cell in cells if cell.runner == spec.name):
                trial.listener.say(f"memcheck: {cell.address}")
                taint += taint_of(spec, cell, algorithm, trial.request.files)
    else:
        cases, _ = draw_cases(cells, None, (False, True))
    if not taint and not cases:
        raise UsageError(f"{algorithm.id}: no operation here works on a secret")
    budget_s = budget_s or BUDGET_S * len(cases)
    heard = trial.listener
    return find_leaks(cases, surveyed, policy, budget_s=budget_s, taint=taint, check=False, listener=heard)


def _one_contract_each(cells: Iterable[Cell]) -> list[Cell]:
    """Of an operation under several contracts the one that sets no key in the call, where there is one."""
    first: dict[Cell, Cell] = {}
    for cell in sorted(cells, key=lambda cell: cell.contract == "rekey/1"):
        first.setdefault(replace(cell, contract=""), cell)
    return list(first.values())
