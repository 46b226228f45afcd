"""One `perbyte try`: the user's files built, checked, measured beside the libraries or the program that was kept."""

from __future__ import annotations

import datetime
import json
import re
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING

from perbyte.cli.ending import note_losses
from perbyte.cli.options import note
from perbyte.cli.try_bench import Bench, libraries_beside
from perbyte.cli.try_check import CALL_S, fault_line
from perbyte.cli.try_first import first_line
from perbyte.cli.try_time import Clock
from perbyte.cli.try_told import (
    costs,
    instruction_changes,
    print_beside,
    print_changes,
    print_counts,
    print_failures,
    print_markdown,
)
from perbyte.errors import (
    EXIT_ENVIRONMENT,
    EXIT_FINE,
    EXIT_INCORRECT,
    EXIT_MISSING,
    UsageError,
)
from perbyte.model import NOT_REACHED, Failure

if TYPE_CHECKING:
    from perbyte.model import Cell, Policy, Run
    from perbyte.report.behaviour import CountChange
    from perbyte.runners import RunnerSpec
    from perbyte.trial.kept import BaselineChange
    from perbyte.trial.roles import Call
    from perbyte.trial.subject import TrialRequest

PRECISION = 0.0008
"""Of --baseline, at the level of `trial.kept`: 0.05 % at 95 %."""


class NoFigure(Exception):
    """A program has none, and why has been told; `code` is the exit code."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


@dataclass
class Trial:
    """One command: what was asked, built as often as flags were given."""

    asked: TrialRequest
    flags: Sequence[tuple[str, ...]]
    sizes: tuple[int, ...] | None = None
    beside: str = "*"
    clock: Clock = field(default_factory=Clock)
    count: bool = False
    as_json: bool = False
    quiet: bool = False
    fail_above: float | None = None  # relative, of --baseline
    fail_above_instructions: float | None = None
    undecided_is: str | None = None
    markdown: bool = False
    gentle: bool = False
    patience_s: float = CALL_S
    fresh: bool = False
    calls: dict[str, Call] = field(default_factory=dict)  # as they were understood by the last build

    def beside_libraries(self) -> int:
        """Measure beside the libraries, and say how far off the best of them is."""
        from perbyte.model import Policy
        from perbyte.trial.bench import beside_the_best, failed, measured, sizes_for

        specs = self.build()
        names = [spec.name for spec in specs]
        libraries = libraries_beside(self.beside, names)
        sizes = sizes_for(self.asked.algorithm, self.sizes)
        policy = Policy(gentle=self.gentle)
        bench = self._bench(specs, libraries, sizes, policy)
        if faults := bench.check():
            self.tell_faults(faults)
            if len(faults) == len(names):
                return EXIT_INCORRECT
            bench.leave_out({fault.runner for fault in faults})
        self._tell_first(bench)
        run, stored = bench.measure(fresh=self.fresh)
        bests = beside_the_best(run, names, [figure for _, figure in stored.kept(run)] if stored else [])
        counted = self._counted(specs, run, policy.seed, [one.best.cell for one in bests])
        if self.as_json:
            from perbyte.report.behaviour import behaviours_json
            from perbyte.report.export import to_json

            ratios = [
                {
                    "address": one.mine.cell.address,
                    "best": one.best.cell.address,
                    "ratio": one.comparison.ratio.value,
                    "low": one.comparison.ratio.low,
                    "high": one.comparison.ratio.high,
                }
                for one in bests
            ]
            rows = [
                {"runner": identity.runner, "compiler": identity.compiler, "flags": identity.flags}
                for identity in run.conditions.identities
                if identity.runner in names
            ]
            told = {"rows": rows, "ratios": ratios, "behaviour": behaviours_json(counted)}
            told["understood"] = {step: list(call.roles) for step, call in self.calls.items()}
            told["faults"] = [asdict(fault) for fault in faults]
            told["stored"] = stored.as_json(run) if stored else None
            print(json.dumps(to_json(run) | {"trial": told}, indent=1))
        else:
            print_beside(run, names, bests)
            print_counts(counted)
            print(f"understood as: {self._understood()}")
            for line in stored.lines(run) if stored else ():
                print(line)
        note_losses(run, quiet=self.quiet)
        if faults or failed(run, names):
            return EXIT_INCORRECT
        if not measured(run, names):
            return EXIT_ENVIRONMENT
        return EXIT_MISSING if any(failure.kind == NOT_REACHED for failure in run.failures) else EXIT_FINE

    def against_baseline(self, *, keep: bool) -> int:
        """Measure the present program beside the kept one, in turn; keep it where none is, or where it is wished."""
        from perbyte.trial import kept
        from perbyte.trial.program import describe, digest_of

        words = [self.asked.algorithm.id, *self.asked.functions, self.asked.name]
        now, old = kept.places_of(self.asked.files, words, 0)
        spec = self.build()[0]
        before_note = kept.read_note(old)
        before = describe(f"{spec.name}-before", old, self.asked.files) if before_note and not keep else None
        try:
            run = self.in_turn(spec, before)
        except NoFigure as error:
            return error.code
        if not before:
            moment = datetime.datetime.now().astimezone().isoformat(timespec="seconds")
            kept.keep(now, old, kept.Note(" ".join(self.flags[0]), digest_of(self.asked.files), moment))
            print(f"{spec.name}: kept as the baseline, {costs(run, spec.name)}; change it and run this again")
            return EXIT_FINE
        assert before_note
        what = f"baseline of {before_note.kept_at}, {before_note.digest}"
        return self.tell_changes(run, spec, before, what, before_note.flags)

    def in_turn(self, spec: RunnerSpec, before: RunnerSpec | None) -> Run:
        """Measure the program beside another one of its own, in turn. Raises NoFigure, which has been told."""
        from perbyte.model import Policy
        from perbyte.trial import kept
        from perbyte.trial.bench import failed, measured, sizes_for

        policy = replace(
            Policy(), precision=PRECISION, level=kept.LEVEL, epochs=8, max_epochs=40, gentle=self.gentle
        )
        sizes = sizes_for(self.asked.algorithm, self.sizes, quick=True)
        bench = self._bench([spec, before] if before else [spec], [], sizes, policy)
        bench.fewest_epochs = policy.epochs  # fewer tell no change of a per cent
        if faults := [fault for fault in bench.check() if fault.runner == spec.name]:
            self.tell_faults(faults)
            raise NoFigure(EXIT_INCORRECT)
        self._tell_first(bench)
        run, _ = bench.measure()
        if failed(run, [spec.name]) or not measured(run, [spec.name]):
            print_failures(run)
            raise NoFigure(EXIT_INCORRECT if failed(run, [spec.name]) else EXIT_ENVIRONMENT)
        return run

    def tell_changes(
        self, run: Run, spec: RunnerSpec, before: RunnerSpec, what: str, flags: str | None = None
    ) -> int:
        """Print what became of each row since `before`, and return the exit code. `what` says which one it was."""
        from perbyte.cli.compare import GRAVEST, instructions_gate
        from perbyte.trial import kept

        changes = kept.changes(run, spec.name, before.name)
        counted = self._counted([spec, before], run, run.conditions.policy.seed)
        instructions = instruction_changes(counted, spec.name, before.name, changes)
        self._tell_changes(spec.name, counted, changes, instructions, what, flags)
        note_losses(run, quiet=self.quiet)
        gaps = kept.gaps(run, changes)
        if gaps:
            note(f"missing: {', '.join(gaps)}: nothing is known of what was to be compared there")
        codes = [self._gate(run, changes, missing=bool(gaps))]
        if self.fail_above_instructions is not None:
            there = {change.address for change in instructions}
            lost = [
                behaviour.cell.address
                for behaviour in counted.behaviours
                if behaviour.cell.runner == spec.name
            ]
            lost = [address for address in lost if address not in there]
            codes.append(instructions_gate(instructions, lost, self.fail_above_instructions, EXIT_MISSING))
        return next(code for code in GRAVEST if code in codes)

    def _tell_changes(
        self,
        name: str,
        counted: Run,
        found: Sequence[BaselineChange],
        instructions: Sequence[CountChange],
        what: str,
        flags: str | None,
    ) -> None:
        """Print what became of the rows since `what`, in the form that was asked for. `flags`: those of then."""
        from perbyte.report.behaviour import behaviours_json, change_lines, changes_json

        if self.as_json:
            told = [
                {
                    "operation": change.operation,
                    "size_bytes": change.size_bytes,
                    "verdict": change.word,
                    "answer": change.comparison.answer.value,
                    "ratio": change.comparison.ratio.value,
                    "low": change.comparison.ratio.low,
                    "high": change.comparison.ratio.high,
                }
                for change in found
            ]
            more = {"behaviour": behaviours_json(counted), "seconds": self.clock.elapsed_s}
            more |= {"instructions": changes_json(instructions)} if self.count else {}
            print(json.dumps({"changes": told} | more))
        elif self.markdown:
            print_markdown(name, found, instructions)
        else:
            now = " ".join(self.flags[0])
            print_changes(name, found, f"{what}; {self.clock.elapsed_s:.1f} s")
            if flags is not None and flags != now:
                print(f"flags then: {flags}; now: {now}")
            print_counts(counted)
            for line in change_lines(instructions):
                print(line)

    def _gate(self, run: Run, found: Sequence[BaselineChange], *, missing: bool) -> int:
        """The exit code, as of `perbyte compare --fail-above`; without a limit 1 where any row is slower."""
        from perbyte.cli.compare import gate_code
        from perbyte.report.regressions import regression_lines
        from perbyte.stats.regressions import find_regressions

        rows = [(f"{change.operation}@{change.size_bytes}", change.comparison) for change in found]
        regressions = find_regressions(rows, self.fail_above or 0.0, run.measuring_s)
        if self.fail_above is None:
            return gate_code(regressions, "ok", missing=missing)
        for line in regression_lines(regressions, one_run=True):
            note(line, quiet=self.quiet)
        return gate_code(regressions, self.undecided_is, missing=missing)

    def _bench(
        self,
        specs: Sequence[RunnerSpec],
        libraries: Sequence[RunnerSpec],
        sizes: tuple[int, ...],
        policy: Policy,
    ) -> Bench:
        algorithm = self.asked.algorithm
        return Bench(specs, libraries, algorithm, sizes, policy, self.quiet, self.patience_s, self.clock)

    def _tell_first(self, bench: Bench) -> None:
        """Say that the program is right and about what it costs, long before the figures."""
        if not self.quiet:
            note(first_line(bench.look_first(bench.mine[0]), self.clock.elapsed_s))

    def tell_faults(self, faults: Sequence[Failure]) -> None:
        """Say what is wrong with which program, each once. Of JSON it is all there is, where nothing is measured."""
        if self.as_json:
            if len(faults) == len(self.flags):
                print(
                    json.dumps(
                        {"cells": [], "trial": {"faults": [asdict(fault) for fault in faults]}}, indent=1
                    )
                )
            return
        for fault in faults:
            print(fault_line(fault))
        wrong = any(fault.kind in ("incorrect", "disputed") for fault in faults)
        if wrong and not self.asked.signatures:
            text = " ".join(f"--signature {step}={','.join(call.roles)}" for step, call in self.calls.items())
            note(f"understood as: {self._understood()}; where that is not so, say it: {text}")

    def _understood(self) -> str:
        """Each function with what its parameters were taken for."""
        from perbyte.trial.roles import understood

        return "; ".join(f"{step}: {understood(call)}" for step, call in self.calls.items())

    def build(self) -> list[RunnerSpec]:
        """The programs, one for each set of flags. Raises UsageError with the compiler's words."""
        from perbyte.trial.kept import places_of
        from perbyte.trial.language import Managed
        from perbyte.trial.managed import build_managed
        from perbyte.trial.program import DoesNotBuild, build_program
        from perbyte.trial.subject import make_source, managed, read_calls, read_files

        asked = replace(self.asked, files=read_files(self.asked.files))
        calls = self.calls = read_calls(asked)
        words = [asked.algorithm.id, *asked.functions, asked.name]
        specs = []
        for index, flags in enumerate(self.flags):
            name = _row_name(asked.title, flags, len(self.flags) > 1)
            place = places_of(asked.files, words, index)[0]
            try:
                if managed(asked.files):
                    subject = Managed(name, asked.files, asked.algorithm, calls)
                    specs.append(build_managed(subject, place, flags))
                else:
                    specs.append(build_program(make_source(asked, calls, flags, name), place))
            except DoesNotBuild as error:
                print(error, file=sys.stderr)
                hint = None
                if "undefined reference" in error.first:
                    hint = "name the file that defines it, or the library: --link NAME"
                raise UsageError(f"it does not build: {error.first}", hint=hint) from None
        return specs

    def _counted(self, specs: Sequence[RunnerSpec], run: Run, seed: int, others: Sequence[Cell] = ()) -> Run:
        """The run with what the user's rows and `others` execute and use, where that was asked for."""
        from perbyte.measure.behaviour import count_cells
        from perbyte.runners import find

        if not self.count:
            return run
        own = {spec.name: spec for spec in specs}
        mine = [figure.cell for figure in run.cells if figure.cell.runner in own and figure.cell.usual]
        cells = dict.fromkeys((*mine, *others))
        known = {name: own.get(name) or find(name) for name in {cell.runner for cell in cells}}
        return replace(run, behaviours=count_cells(known, cells, seed))


def _row_name(title: str, flags: Sequence[str], several: bool) -> str:
    told = re.sub(r"[^A-Za-z0-9.]+", "-", " ".join(flags)).strip("-")
    return f"{title}-{told or 'plain'}" if several else title
