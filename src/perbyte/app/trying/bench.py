"""What `perbyte try` measures: the user's programs, checked first, and the libraries that do the same.

Each program goes through the validation of a run, cell by cell, with seconds where a run allows a minute, and is left
out at its first fault: what fails for 64 bytes need not fail for 16 KiB as well. That libraries agree at every size is
seen by the validation of the run itself. Then comes a first figure, of two fresh processes, stored nowhere: it says
where the function stands before anything is refined, without an interval and without an audit.
"""

from __future__ import annotations

import contextlib
import math
import secrets
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from perbyte.app.building import build_needed
from perbyte.app.conducting import conduct_plan, of_today
from perbyte.app.listener import NOBODY, Listener, Say
from perbyte.app.requests import busy_text
from perbyte.app.trying.clock import Clock
from perbyte.app.trying.offsets import OffsetCost, look_at_offsets
from perbyte.app.trying.stored import Stored, find_stored, last_costs
from perbyte.catalogue import load, pattern
from perbyte.errors import RunnerError, RunnerRefused, UsageError
from perbyte.locks import cores_held
from perbyte.measure import Forecast, Plan, Survey, choose_cores, foresee, recall_pace, survey
from perbyte.measure.forecast import Pace
from perbyte.measure.looks import problem
from perbyte.measure.machine import require_linux, step_aside
from perbyte.measure.plan import choose_twins, left_out
from perbyte.measure.referees import Referees, own_runners
from perbyte.measure.run import Measurement
from perbyte.measure.sessions import STARTING_FAILS, Sessions, failure_of, incorrect
from perbyte.measure.validation import Validation
from perbyte.model import Algorithm, Cell, CellFigure, Failure, Policy, Run
from perbyte.model.text import counted
from perbyte.runners import RunnerSpec, TimeLimits, locate
from perbyte.trial.bench import draw_cells
from perbyte.trial.looking import look_at

RUN_TIMES = 5.0  # more, where the machine is busy with a run as well
FIRST_EPOCHS, FIRST_S = 2, 0.3
QUICK_S, LINKS = (
    0.3,
    64,
)  # a cell whose checks took no longer is audited by so many calls, one in eight a forgery
SLOW_TO_START = ("java", "kotlin")  # a process of these is warm after half a second: one does


def libraries_beside(glob: str, own: Sequence[str], say: Say) -> list[RunnerSpec]:
    """The built runners that `glob` means; `*` means all but the opt-in ones. Raises UsageError for a name taken."""
    build_needed([glob], say)
    every = [spec for spec in locate() if not spec.built or spec.out().is_dir()]
    if taken := {spec.name for spec in locate()} & set(own):
        raise UsageError(f"there is already a runner '{sorted(taken)[0]}'", hint="--name another-name")
    return [spec for spec in every if pattern.matches(spec.name, glob) and not left_out(glob, spec)]


@dataclass
class Bench:
    """Programs of the user's and libraries at some sizes of an algorithm. `check` comes before `measure`.

    `unreached`, once measured: libraries for which the promised time did not suffice. `fewest_epochs`: below it the
    promised time is not kept.
    """

    programs: Sequence[RunnerSpec]
    libraries: Sequence[RunnerSpec]
    algorithm: Algorithm
    sizes: Sequence[int]
    policy: Policy
    patience_s: float
    clock: Clock = field(default_factory=Clock)
    listener: Listener = NOBODY
    unreached: tuple[str, ...] = ()
    fewest_epochs: int = 3
    _left: set[str] = field(default_factory=set)
    _asked: dict[str, Survey] = field(default_factory=dict)
    _twins_of: Sequence[str] = ()

    def check(self) -> list[Failure]:
        """The first fault of each program, within seconds, before anything is measured."""
        require_linux()
        survey = self._survey(self.programs)
        policy = replace(self.policy, cores=choose_cores(self.policy.cores))
        faults = [fault for spec in self.programs if (fault := look_at(spec, self.algorithm))]
        cells = [cell for cell in self.cells(survey) if cell.runner not in {fault.runner for fault in faults}]
        return [*faults, *first_faults(survey, cells, policy, self.patience_s)]

    def look_first(self, name: str) -> tuple[CellFigure, ...]:
        """A first figure of the program `name`, of the largest size, within a second; stored nowhere."""
        survey = self._survey([spec for spec in self.programs if spec.name == name])
        largest: dict[tuple[str, str], Cell] = {}
        for cell in self.cells(survey):
            key = (cell.runner, cell.operation)
            if key not in largest or cell.size_bytes > largest[key].size_bytes:
                largest[key] = cell
        policy = replace(self.policy, cores=choose_cores(self.policy.cores))
        within, held = limits(self.patience_s, RUN_TIMES), partial(self._held, policy.cores)
        figures = first_figures(survey, tuple(largest.values()), policy, within, held)
        if figures:
            samples = sum(figure.samples for figure in figures)
            self.clock.note_clean(sum(figure.clean_samples for figure in figures) / max(1, samples))
        return figures

    def look_at_offsets(self) -> list[OffsetCost]:
        """What the programs cost on data that do not begin at a cache line."""
        survey = self._survey([spec for spec in self.programs if spec.name in self.own_names])
        policy = replace(self.policy, cores=choose_cores(self.policy.cores))
        with self._held(policy.cores):
            step_aside(policy.cores)
            own = [cell for cell in self.cells(survey) if cell.runner in self.own_names]
            return look_at_offsets(survey, own, policy, limits(self.patience_s, RUN_TIMES))

    @contextlib.contextmanager
    def _held(self, cores: Sequence[int]) -> Iterator[None]:
        """Hold the cores; who has to be waited for is said, and the wait does not count as the user's time."""
        began = time.monotonic()

        with cores_held(cores, "perbyte try, a first look", waiting=self.listener.waiting):
            self.clock.waited_s += time.monotonic() - began
            yield

    def leave_out(self, names: Collection[str]) -> None:
        """Measure without these programs."""
        self._left.update(names)

    @property
    def own_names(self) -> list[str]:
        """The names of the programs that are measured."""
        return [spec.name for spec in self.programs if spec.name not in self._left]

    def measure(self, *, fresh: bool = False) -> tuple[Run, Stored | None]:
        """Measure, and say from which run the libraries' figures are that were not measured again.

        `fresh`: all are measured.
        """
        survey = self._survey(
            [*(spec for spec in self.programs if spec.name in self.own_names), *self.libraries]
        )
        cells = self.cells(survey)
        theirs = [cell for cell in cells if cell.runner not in self.own_names]
        policy = replace(of_today(self.policy), cores=choose_cores(self.policy.cores))
        stored = None if fresh else find_stored(theirs, survey, policy)
        if stored:
            again = {*stored.anchors, *stored.lacking(theirs)}
            run = self._carry_out(survey, [cell for cell in cells if cell in again or cell not in theirs])
            if not (untrue := stored.untrue(run)):
                return run, stored
            self.listener.say(f"{untrue}; all libraries are measured")
        return self._carry_out(survey, cells), None

    def _in_time(self, surveyed: Survey, cells: Sequence[Cell], pace: Pace) -> tuple[Sequence[Cell], Policy]:
        """The cells that fit into the promised time, and the policy with what is left of it as budget.

        Libraries come as they cost, by the last look at them; those of which nothing is known come last. One at the
        least stays, since a function is set against something. Where that one does not fit either, its processes are
        those that are compared with each other, and then epochs go: one of Java takes a second until it is warm.
        """
        policy, self._twins_of = self.policy, ()

        def ahead(chosen: Sequence[Cell]) -> Forecast:
            return foresee(Plan(tuple(chosen), self._twins(chosen)), policy, surveyed.specs, pace)

        if self.clock.budget_s:
            return cells, replace(self.policy, budget_s=self.clock.budget_s)
        theirs = list(dict.fromkeys(cell.runner for cell in cells if cell.runner not in self.own_names))
        known = last_costs(theirs, self.algorithm.id) if len(theirs) > 1 else {}
        theirs.sort(key=lambda name: (known.get(name, math.inf), pace.starts_s.get(name, 0.0)))
        kept = len(theirs)
        seen = ahead(cells)
        while kept > 1 and seen.starts_s + seen.least_s > self.clock.left_s:
            kept -= 1
            seen = ahead([cell for cell in cells if cell.runner in {*self.own_names, *theirs[:kept]}])
        self.unreached = tuple(theirs[kept:])
        chosen = [cell for cell in cells if cell.runner not in self.unreached]
        if theirs and seen.starts_s + seen.least_s > self.clock.left_s:
            self._twins_of = theirs[:1]
            seen = ahead(chosen)
        while policy.epochs > self.fewest_epochs and seen.starts_s + seen.least_s > self.clock.left_s:
            policy = replace(policy, epochs=policy.epochs - 1)
            seen = ahead(chosen)
        return chosen, replace(policy, budget_s=self.clock.measuring_s(seen.starts_s))

    def _survey(self, specs: Sequence[RunnerSpec]) -> Survey:
        if new := [spec for spec in specs if spec.name not in self._asked]:
            fresh = survey(new, ["full"])
            for spec in new:
                hellos = {key: hello for key, hello in fresh.hellos.items() if key[0] == spec.name}
                failures = tuple(failure for failure in fresh.failures if failure.runner == spec.name)
                self._asked[spec.name] = Survey({spec.name: spec}, hellos, failures)
        each = [self._asked[spec.name] for spec in specs]
        hellos = {key: hello for part in each for key, hello in part.hellos.items()}
        failures = tuple(failure for part in each for failure in part.failures)
        return Survey({spec.name: spec for spec in specs}, hellos, failures)

    def _twins(self, cells: Sequence[Cell]) -> tuple[Cell, ...]:
        """The A/A cells: of the process with most cells, or of a library that starts fast where time is short."""
        return choose_twins([cell for cell in cells if not self._twins_of or cell.runner in self._twins_of])

    def cells(self, surveyed: Survey) -> tuple[Cell, ...]:
        """All cells of what the programs offer. Raises UsageError when there is none."""
        own = self.own_names
        if cells := draw_cells(self.algorithm, dict(surveyed.hellos), own, self.sizes):
            return cells
        why = "; ".join(failure.message for failure in surveyed.failures if failure.runner in own)
        text = why or f"no size is a multiple of {self.algorithm.data_multiple_bytes} bytes"
        raise UsageError(f"nothing can be measured: {text}")

    def _carry_out(self, surveyed: Survey, cells: Sequence[Cell]) -> Run:
        pace = recall_pace(choose_cores(self.policy.cores)[0])
        cells, policy = self._in_time(surveyed, cells, pace)
        plan = Plan(tuple(cells), self._twins(cells), wanted=tuple(self.own_names))
        ahead = foresee(plan, policy, surveyed.specs, pace)
        self.listener.say(f"{counted(len(cells))}: {ahead}{busy_text(choose_cores(policy.cores))}")
        if self.unreached:
            self.listener.say(
                f"not measured, since {self.clock.promised_s:g} s were promised: {', '.join(self.unreached)} "
                "(--budget 60s: all)"
            )
        done = conduct_plan(
            plan,
            replace(surveyed, failures=()),
            policy,
            cut=True,
            limits=limits(self.patience_s, RUN_TIMES),
            listener=self.listener,
        )
        return done.whole().run


def first_faults(surveyed: Survey, cells: Sequence[Cell], policy: Policy, patience_s: float) -> list[Failure]:
    """The first fault of each of the programs of `cells`, whose outputs are held against those of libraries here."""
    faults: dict[tuple[str, str, int], Failure] = {}
    with (
        Sessions(surveyed, policy, limits=limits(patience_s)) as sessions,
        Referees(policy, own_runners) as referees,
    ):
        for cell in sorted(cells, key=lambda cell: cell.size_bytes):
            if cell.process in faults:
                continue
            try:
                if not sessions.runs(cell.process):
                    sessions.start(cell.process)
            except STARTING_FAILS as error:
                faults[cell.process] = Failure("crashed", cell.runner, str(error), address=cell.address)
                continue
            verdicts = Validation(load(), sessions, referees=referees).examine([cell])
            failures = verdicts.failures
            if not failures and cell.operation == "open" and verdicts.took_s[cell] < QUICK_S:
                failures = audited(sessions, cell)
            if failures:
                fault = failures[0]
                if fault.kind == "timed-out":
                    text = f"no answer within {patience_s:g} s: it hangs, or is slow (--patience 30s waits longer)"
                    fault = replace(fault, message=text)
                faults[cell.process] = fault
    return list(faults.values())


def audited(sessions: Sessions, cell: Cell) -> list[Failure]:
    """What is wrong with a chain on data and forgeries that nobody knew, as the audit of a run makes it."""
    try:
        chained = sessions.of(cell).audit(sessions.handle(cell), seed=secrets.randbits(64), calls=LINKS)
    except RunnerRefused:
        return []  # calls of its operation cannot be chained
    except RunnerError as error:
        return [failure_of(cell, error)]
    wrong = problem(chained)
    return [incorrect(cell, f"audited: {wrong}", "a refusal", "an acceptance")] if wrong else []


def limits(patience_s: float, times: float = 1.0) -> TimeLimits:
    """Time limits under which a call that takes longer than `patience_s` hangs."""
    each = times * patience_s
    return TimeLimits(hello=each, prepare=each, check=each, measure=each, release=each, quit=0.5)


class Nowhere:
    """A sink that keeps nothing."""

    def begin(self, *_what: Any, **_more: Any) -> None:
        """Keep nothing."""

    identified = calibrated = measured = failed = unproven = audited = spent = epoch_done = finish = begin


def first_figures(
    surveyed: Survey,
    cells: Sequence[Cell],
    policy: Policy,
    limits: TimeLimits,
    held: Callable[[], contextlib.AbstractContextManager[None]],
) -> tuple[CellFigure, ...]:
    """A figure of each of `cells` that can be had at once, while the cores are `held`; none where that fails."""
    slow = any(spec.language in SLOW_TO_START for spec in surveyed.specs.values())
    epochs = 1 if slow else FIRST_EPOCHS
    short = replace(of_today(policy), epochs=epochs, max_epochs=epochs, budget_s=FIRST_S, audit=False)
    plan = Plan(tuple(cells), ())
    with held():
        step_aside(short.cores)
        measurement = Measurement(plan, surveyed, load(), short, Nowhere(), limits=limits)
        return measurement.measure().cells
