"""Take pairs, judge and keep them: what `leak` and `try --leak` have in common."""

from __future__ import annotations

import datetime
import secrets
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from perbyte import __version__, places
from perbyte.app.conducting import of_today
from perbyte.app.listener import NOBODY, Listener
from perbyte.app.verdicts import exit_code
from perbyte.catalogue import load
from perbyte.errors import UsageError
from perbyte.extras import require
from perbyte.locks import cores_held
from perbyte.model import Cell, Failure, Policy
from perbyte.model.run import LeakRun
from perbyte.model.text import counted, plain
from perbyte.stats.leak import ALPHA
from perbyte.store.beside import LeakWriter

if TYPE_CHECKING:
    from perbyte.app.conducting import Conducted
    from perbyte.measure import Request, Survey
    from perbyte.measure.leaks import LeakCase, Leaks

BUDGET_S = 10.0  # for each line, where nothing is said
ROLES = ("key", "data", "input")
USUAL_BYTES = (64, 32)  # of data, and of what goes with keys


def draw_cases(
    cells: Iterable[Cell], roles: Sequence[str] | None, colds: Sequence[bool]
) -> tuple[list[LeakCase], list[str]]:
    """The cases of all cells, and the cells that have no secret. Raises UsageError for a role that there is not."""
    from perbyte.measure.leaks import LeakCase, contrasts_of

    if unknown := sorted(set(roles or ()) - set(ROLES)):
        raise UsageError(f"there is no secret '{unknown[0]}'", hint=f"there are {', '.join(ROLES)}")
    catalogue = load()
    cases, without = [], []
    for cell in cells:
        there = contrasts_of(catalogue.algorithms[cell.algorithm], cell.operation)
        wanted = [contrast for contrast in there if not roles or contrast.role in roles]
        if not wanted:
            without.append(cell.address)
        cases += [LeakCase(cell, contrast, cold) for cold in colds for contrast in wanted]
    return cases, without


def cells_to_test(request: Request, *, sizes_named: bool) -> tuple[list[Cell], Survey]:
    """The cells of a request, and what runners answered. Without sizes: 64 bytes of data, or what keys go with."""
    from perbyte.measure import find_cells

    plan, survey = find_cells(request)
    known, survey = load().algorithms, replace(survey, failures=plan.failures)
    if sizes_named or any(selector.sizes for selector in request.selectors):
        return list(plan.cells), survey

    def usual(cell: Cell) -> bool:
        of_keys = known[cell.algorithm].kind in ("signature", "kem", "key-agreement")
        return cell.size_bytes == USUAL_BYTES[of_keys]

    return [cell for cell in plan.cells if usual(cell)], survey


def find_leaks(
    cases: Sequence[LeakCase],
    survey: Survey,
    policy: Policy,
    *,
    budget_s: float,
    target: float | None = None,
    above: float | None = None,
    out: Path | None = None,
    taint: Sequence[dict[str, Any]] = (),
    check: bool = True,
    beside: str = "",
    listener: Listener = NOBODY,
) -> tuple[LeakRun, Path]:
    """Take pairs of all cases for `budget_s` seconds; give the run and where it is kept.

    `check`: what computes anything wrong is left out first, by known answers, forgeries and comparison. `beside`: the
    id of the run in `out` whose cells these are.
    """
    from perbyte.measure.leaks import Leaks, leak_figures
    from perbyte.measure.machine import choose_cores, describe_machine, require_linux

    require_linux()
    cores = choose_cores(policy.cores)
    now = datetime.datetime.now(datetime.UTC)
    run_id = beside or f"leak-{now:%Y%m%d-%H%M%S}-{secrets.token_hex(2)}"
    seed = secrets.randbits(63)  # secrets and orders that no library can have been made for
    require("query", "keeping pairs")
    writer = LeakWriter(out or places.runs_home() / run_id, beside=bool(beside))

    if cases:
        listener.say(f"{counted(len(cases), 'line')}, {budget_s:.0f} s at the most")
    pinned, what = replace(policy, cores=cores), f"perbyte {' '.join(listener.command)}"
    with listener.watch(budget_s) as tell:
        leaks = Leaks(survey, cores, of_today(policy), seed, target, keep=_keeping(writer), say=tell)
        faults = _take(leaks, cases, survey, pinned, budget_s, what, listener, check=check)
    run = LeakRun(
        run_id=run_id,
        started_at=now.isoformat(timespec="milliseconds"),
        perbyte_version=__version__,
        command=listener.command,
        machine=describe_machine(),
        cores=cores,
        seed=seed,
        budget_s=budget_s,
        alpha=ALPHA,
        identities=tuple(leaks.identities.values()),
        figures=tuple(leak_figures(cases, seed, target=target, above=above)),
        failures=tuple(dict.fromkeys([*survey.failures, *faults, *leaks.failures])),
        taint=tuple(taint),
    )
    writer.finish(run)
    return run, writer.directory


def _keeping(writer: LeakWriter) -> Callable[..., None]:
    """What writes each burst of pairs."""

    def keep(case: LeakCase, epoch: int, null: bool, taken: Any, pairs: Any) -> None:
        writer.add(
            case.name,
            null=null,
            epoch=epoch,
            burst=taken.burst.round,
            order=taken.order,
            first=pairs.first,
            second=pairs.second,
            clean=pairs.clean,
        )

    return keep


def _take(
    leaks: Leaks,
    cases: Sequence[LeakCase],
    survey: Survey,
    policy: Policy,
    budget_s: float,
    what: str,
    listener: Listener,
    *,
    check: bool,
) -> list[Failure]:
    """Take pairs while nobody else measures on these cores; give what computes anything wrong, which is left out."""
    from perbyte.measure.leaks import unfit
    from perbyte.measure.machine import step_aside

    with cores_held(policy.cores, what, waiting=listener.waiting):
        step_aside(policy.cores)
        cells = list(dict.fromkeys(case.cell for case in cases))
        faults = unfit(cells, survey, policy) if check else []
        wrong = {fault.address for fault in faults}
        try:
            leaks.take([case for case in cases if case.cell.address not in wrong], budget_s)
        except KeyboardInterrupt:
            listener.urgent("interrupted: what was taken so far is judged")
    return faults


def with_leaks(done: Conducted, *, listener: Listener = NOBODY) -> Conducted:
    """The same with whether the time of its cells depends on secrets, written beside its figures."""
    from perbyte.measure import Survey
    from perbyte.runners import find

    cells = [figure.cell for figure in done.run.cells if figure.cell.usual]
    cases, without = draw_cases(cells, None, (False,))
    if without:
        listener.say(f"no secret: {counted(len(without))}, such as {without[0]}")
    specs = {name: find(name) for name in dict.fromkeys(case.cell.runner for case in cases)}
    run, _ = find_leaks(
        cases,
        Survey(specs, {}),
        done.run.conditions.policy,
        budget_s=BUDGET_S * len(cases),
        out=done.path,
        check=False,
        beside=done.run.conditions.run_id,
        listener=listener,
    )
    for failure in run.failures:
        listener.say(f"no pairs: {failure.address or failure.runner}: {plain(failure.message, 300)}")
    return replace(done, run=replace(done.run, leaks=run.figures))


def leak_code(run: LeakRun, fail_on: Sequence[str]) -> int:
    """The exit code: 1 for a leak and 5 for what is not known, where asked for; 3 where nothing was measured."""
    verdicts = {leak.verdict for leak in run.figures}
    tainted = any(place.get("where") for place in run.taint)
    return exit_code(
        detected="leak" in fail_on and ("leaks" in verdicts or tainted),
        empty=not run.figures and not run.taint,
        undecided="unknown" in fail_on and bool(verdicts & {"unknown", "harness"}),
    )
