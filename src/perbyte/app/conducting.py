"""Measure into a run directory: a request, a plan that was drawn, or a run that goes on. Values in, values out."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import filterfalse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from perbyte import places
from perbyte.app.building import build_needed, runners_meant
from perbyte.app.listener import NOBODY, Listener, Say
from perbyte.app.verdicts import run_code
from perbyte.catalogue import Selector, pattern
from perbyte.locks import cores_held, held_cores
from perbyte.measure import (
    Plan,
    Prepared,
    Request,
    RunOutcome,
    Survey,
    carry_out,
    choose_cores,
    prepare,
    prepare_plan,
    prepare_resumed,
)
from perbyte.model import Cell, Policy, Run

if TYPE_CHECKING:
    from perbyte.runners import TimeLimits
    from perbyte.store import RunWriter
    from perbyte.studies import Study

AUDIT_VARIABLE = "PERBYTE_AUDIT"
FORKS_VARIABLE = "PERBYTE_FORKS"
SOON_S = 0.5  # with the interpreter's start within a second


@dataclass(frozen=True, slots=True)
class Conducted:
    """A run that was measured, where it lies, and what came of it this time: its failures, its seconds by part."""

    run: Run
    path: Path
    outcome: RunOutcome

    @property
    def code(self) -> int:
        """The exit code that a command ends with."""
        ended = self.outcome
        return run_code(ended.failures, measured=bool(ended.cells), complete=ended.complete)

    def whole(self) -> Conducted:
        """Itself. Raises KeyboardInterrupt where it was interrupted: what a part of it says is not what was asked."""
        if not self.outcome.complete:
            raise KeyboardInterrupt
        return self


def conduct(
    request: Request,
    policy: Policy,
    *,
    out: Path | None = None,
    listener: Listener = NOBODY,
    budget: Callable[[Prepared], Prepared] | None = None,
    cut: bool = True,
    **more: Any,
) -> Conducted:
    """Measure what was asked for into a new run directory; `more` as in `measure.prepare`.

    `budget` looks at what was prepared before anything is measured: it refuses, or gives it back with a larger budget.
    Where it is given, and with `cut`, cells that do not fit into the budget are left out by name.
    """
    from perbyte.store.writer import RunWriter, require_room

    require_room(out or places.runs_home() / "new")  # all that needs no core comes before the wait for one
    with listener.following() as hearing:
        with held_said_soon(policy, hearing.urgent):
            build_needed(runners_meant(request.selectors), hearing.say)
            prepared = prepare(request, of_today(policy), command=hearing.command, **more)
            if not more.get("lenient"):  # else the plan's failures say it
                for line in named_without_cells(request.selectors, prepared.plan.cells):
                    hearing.urgent(line)
            if budget:
                prepared = budget(prepared)
        path = out or places.runs_home() / prepared.conditions.run_id
        return _carry_out(prepared, RunWriter.create, path, hearing, cut=cut and budget is not None)


def conduct_plan(
    plan: Plan,
    survey: Survey,
    policy: Policy,
    *,
    out: Path | None = None,
    listener: Listener = NOBODY,
    cut: bool = False,
    limits: TimeLimits | None = None,
) -> Conducted:
    """Measure a plan that was drawn already, of what a later `--resume` would not find; `cut` as in `conduct`."""
    from perbyte.store.writer import RunWriter, require_room

    require_room(out or places.runs_home() / "new")
    prepared = prepare_plan(plan, survey, of_today(policy), command=listener.command)
    path = out or places.runs_home() / prepared.conditions.run_id
    with listener.following() as hearing:
        return _carry_out(prepared, RunWriter.create, path, hearing, "interrupted", cut=cut, limits=limits)


def conduct_resumed(path: Path, *, listener: Listener = NOBODY, budget_s: float | None = None) -> Conducted:
    """Go on with the interrupted run in `path`; `budget_s` as in `measure.prepare_resumed`."""
    from perbyte.store import RunWriter, stored_run
    from perbyte.store.files import disk_error
    from perbyte.store.opening import run_directory

    path = run_directory(path)
    if error := places.refusal(path):
        raise disk_error(error, path)
    prepared = prepare_resumed(stored_run(path), command=listener.command, budget_s=budget_s)
    with listener.following() as hearing:
        return _carry_out(prepared, RunWriter.resume, path, hearing)


def named_without_cells(selectors: Sequence[Selector], cells: Sequence[Cell]) -> list[str]:
    """The runners and algorithms that selectors name among others and of which none of the cells is, a line each.

    A table of one where two were named looks like a slip of the pen.
    """
    from perbyte.runners import find

    there = {cell.runner for cell in cells}
    lines: list[str] = []
    for selector in (each for each in selectors if not each.versions):
        operation = f"/{selector.operation}" if selector.operation != "*" else ""
        for runner in filterfalse(pattern.is_pattern, pattern.expand_braces(selector.runner)):
            if runner not in there:
                lines.append(f"not: {find(runner).name} has no {selector.algorithm}{operation}")
        algorithms = pattern.expand_braces(selector.algorithm)
        for algorithm in filterfalse(pattern.is_pattern, algorithms if len(algorithms) > 1 else ()):
            alone = replace(selector, algorithm=algorithm)
            if not any(
                alone.matches_operation(cell.runner, cell.algorithm, cell.operation) for cell in cells
            ):
                lines.append(f"not: {selector.runner} has no {algorithm}{operation}")
    return list(dict.fromkeys(lines))


@contextlib.contextmanager
def held_said_soon(policy: Policy, urgent: Say) -> Iterator[None]:
    """Say who holds the cores once what happens within takes long; wrong names are told sooner."""

    def hear_held() -> None:
        for line in held_cores(choose_cores(policy.cores)):
            urgent(line)

    timer = threading.Timer(SOON_S, hear_held)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def of_today(policy: Policy) -> Policy:
    """The policy as runs are made today: audited from outside, and bursts taken in forks.

    PERBYTE_AUDIT=off and PERBYTE_FORKS=off in the environment leave these out.
    """
    return replace(
        policy, audit=os.environ.get(AUDIT_VARIABLE) != "off", forks=os.environ.get(FORKS_VARIABLE) != "off"
    )


def _carry_out(
    prepared: Prepared,
    opened: Callable[[Path], RunWriter],
    path: Path,
    listener: Listener,
    hint: str = "",
    *,
    cut: bool = False,
    limits: TimeLimits | None = None,
) -> Conducted:
    from perbyte.runners import TimeLimits
    from perbyte.store import open_run
    from perbyte.store.files import require_free

    require_free(path)  # before the wait for cores, which the writer of the same run may hold

    what = f"perbyte {' '.join(prepared.conditions.command)}"
    hint = hint or f"interrupted; what was measured is kept. Go on with: perbyte measure --resume {path}"
    with cores_held(prepared.conditions.policy.cores, what, waiting=listener.waiting), opened(path) as writer:
        try:
            limits = limits or TimeLimits.within(prepared.conditions.policy.budget_s)
            outcome = carry_out(prepared, writer, listener.watcher, cut=cut, limits=limits)
        except KeyboardInterrupt:  # once more, while the figures were made
            listener.urgent(hint)
            raise
    if not outcome.complete:
        listener.urgent(hint)
    return Conducted(open_run(path), path, outcome)


def with_behaviours(done: Conducted, *, traced: bool = True, listener: Listener = NOBODY) -> Conducted:
    """The same with what its cells execute and use, or, not `traced`, with what its handshakes send."""
    from perbyte.measure.behaviour import HANDSHAKE, count_cells
    from perbyte.runners import find
    from perbyte.store.beside import write_behaviours

    usual = (figure.cell for figure in done.run.cells if figure.cell.usual)
    cells = [cell for cell in usual if traced or cell.operation == HANDSHAKE]
    specs = {cell.runner: find(cell.runner) for cell in cells}
    behaviours = count_cells(specs, cells, done.run.conditions.policy.seed, traced)
    if behaviours:
        write_behaviours(done.path, done.run.conditions.run_id, behaviours)
    if traced:
        listener.say(f"counted: {sum(each.call is not None for each in behaviours)} of {len(cells)} cells")
    return replace(done, run=replace(done.run, behaviours=behaviours or done.run.behaviours))


def with_counts(done: Conducted, study: Study, listener: Listener = NOBODY) -> Conducted:
    """The same with counts of instructions and memory, where a claim of the study is about them."""
    from perbyte.studies.evidence import TIME

    timed = all(getattr(claim, "of", TIME) == TIME for claim in study.claims)
    return done if timed else with_behaviours(done, listener=listener)
