"""Take pairs, judge and keep them: what `leak` and `try --leak` have in common."""

from __future__ import annotations

import datetime
import json
import secrets
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from perbyte import __version__, places
from perbyte.cli.options import note
from perbyte.errors import EXIT_ENVIRONMENT, EXIT_FINE, EXIT_FOUND, EXIT_UNDECIDED, UsageError
from perbyte.extras import require

if TYPE_CHECKING:
    from perbyte.app.conducting import Conducted
    from perbyte.measure import Survey
    from perbyte.measure.leaks import LeakCase, Leaks
    from perbyte.model import Cell, Failure, Policy
    from perbyte.model.leakrun import LeakRun
    from perbyte.store.leaks import LeakWriter

BUDGET_S = 10.0  # for each line, where nothing is said
LINE_EVERY_S = 10.0  # of progress, where there is no terminal
ROLES = ("key", "data", "input")
FAILING = ("leak", "unknown")


def draw_cases(
    cells: Iterable[Cell], roles: Sequence[str] | None, colds: Sequence[bool]
) -> tuple[list[LeakCase], list[str]]:
    """The cases of all cells, and the cells that have no secret. Raises UsageError for a role that there is not."""
    from perbyte.catalogue import load
    from perbyte.measure.contrasts import contrasts_of
    from perbyte.measure.leaks import LeakCase

    if unknown := sorted(set(roles or ()) - set(ROLES)):
        raise UsageError(f"no secret is called '{unknown[0]}'", hint=f"there are {', '.join(ROLES)}")
    catalogue = load()
    cases, without = [], []
    for cell in cells:
        there = contrasts_of(catalogue.algorithms[cell.algorithm], cell.operation)
        wanted = [one for one in there if not roles or one.role in roles]
        if not wanted:
            without.append(cell.address)
        cases += [LeakCase(cell, contrast, cold) for cold in colds for contrast in wanted]
    return cases, without


def find_leaks(
    cases: Sequence[LeakCase],
    survey: Survey,
    policy: Policy,
    *,
    budget_s: float,
    target: float | None = None,
    out: Path | None = None,
    taint: Sequence[dict[str, Any]] = (),
    check: bool = True,
    beside: str = "",
    quiet: bool = False,
) -> tuple[LeakRun, Path]:
    """Take pairs of all cases for `budget_s` seconds; give the run and where it is kept.

    `check`: what computes anything wrong is left out first, by known answers, forgeries and comparison. `beside`: the
    id of the run in `out` whose cells these are.
    """
    from perbyte.measure.leaks import Leaks, leak_figures
    from perbyte.measure.machine import choose_cores, describe_machine, require_linux
    from perbyte.model.leakrun import LeakRun
    from perbyte.stats.leak import ALPHA
    from perbyte.store.leaks import LeakWriter

    require_linux()
    cores = choose_cores(policy.cores)
    now = datetime.datetime.now(datetime.UTC)
    run_id = beside or f"leak-{now:%Y%m%d-%H%M%S}-{secrets.token_hex(2)}"
    seed = secrets.randbits(63)  # secrets and orders that no library can have been made for
    require("query", "keeping pairs")
    writer = LeakWriter(out or places.runs_home() / run_id, beside=bool(beside))

    progress = LeakProgress(budget_s, quiet=quiet)
    leaks = Leaks(survey, cores, policy, seed, target, keep=_keeping(writer), say=progress.say)
    lines = f"{len(cases)} line{'s' * (len(cases) != 1)}"
    note(f"{lines}, {budget_s:.0f} s at the most", quiet=quiet or not cases)
    try:
        faults = _take(leaks, cases, survey, replace(policy, cores=cores), budget_s, check=check)
    finally:
        progress.close()
    run = LeakRun(
        run_id=run_id,
        started_at=now.isoformat(timespec="milliseconds"),
        perbyte_version=__version__,
        command=tuple(sys.argv[1:]),
        machine=describe_machine(),
        cores=cores,
        seed=seed,
        budget_s=budget_s,
        alpha=ALPHA,
        identities=tuple(leaks.identities.values()),
        figures=tuple(leak_figures(cases, seed, target=target)),
        failures=tuple(dict.fromkeys([*survey.failures, *faults, *leaks.failures])),
        taint=tuple(taint),
    )
    writer.finish(run)
    return run, writer.directory


class LeakProgress:
    """How far the taking of pairs is: a line of a terminal that is rewritten, elsewhere a line now and then."""

    def __init__(self, budget_s: float, *, quiet: bool = False) -> None:
        from perbyte.cli.terminal import LiveLine

        self._line = LiveLine(quiet=quiet)
        self._quiet, self._budget_s = quiet, budget_s
        self._began = self._last = 0.0

    def say(self, name: str) -> None:
        """Pairs of `name` were taken just now."""
        now = time.monotonic()
        self._began = self._began or now
        self._last = self._last or now
        spent = now - self._began
        text = f"{spent:.0f} s, at most {max(self._budget_s - spent, 0):.0f} s left · {name}"
        if self._line.live:
            self._line.draw(text)
        elif not self._quiet and now - self._last >= LINE_EVERY_S:
            self._last = now
            note(text)

    def close(self) -> None:
        """Remove the line."""
        self._line.close()


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
    leaks: Leaks, cases: Sequence[LeakCase], survey: Survey, policy: Policy, budget_s: float, *, check: bool
) -> list[Failure]:
    """Take pairs while nobody else measures on these cores; give what computes anything wrong, which is left out."""
    from perbyte.locks import cores_held
    from perbyte.measure.leaks import unfit
    from perbyte.measure.machine import step_aside

    def waiting(core: int, holder: str) -> None:
        note(f"waiting: core {core} is being measured on by {holder}")

    with cores_held(policy.cores, f"perbyte {' '.join(sys.argv[1:])}", waiting=waiting):
        step_aside(policy.cores)
        cells = list(dict.fromkeys(case.cell for case in cases))
        faults = unfit(cells, survey, policy) if check else []
        wrong = {fault.address for fault in faults}
        try:
            leaks.take([case for case in cases if case.cell.address not in wrong], budget_s)
        except KeyboardInterrupt:
            note("interrupted: what was taken so far is judged")
    return faults


def with_leaks(done: Conducted, *, quiet: bool = False) -> Conducted:
    """The same with whether the time of its cells depends on secrets, written beside its figures."""
    from perbyte.measure import Survey
    from perbyte.model.text import plain
    from perbyte.runners import find

    cells = [figure.cell for figure in done.run.cells if figure.cell.usual]
    cases, without = draw_cases(cells, None, (False,))
    if without:
        note(f"no secret: {len(without)} cells, such as {without[0]}", quiet=quiet)
    specs = {name: find(name) for name in dict.fromkeys(case.cell.runner for case in cases)}
    run, _ = find_leaks(
        cases,
        Survey(specs, {}),
        done.run.conditions.policy,
        budget_s=BUDGET_S * len(cases),
        out=done.path,
        check=False,
        beside=done.run.conditions.run_id,
        quiet=quiet,
    )
    for failure in run.failures:
        note(f"no pairs: {failure.address or failure.runner}: {plain(failure.message, 300)}", quiet=quiet)
    return replace(done, run=replace(done.run, leaks=run.figures))


def print_leaks(run: LeakRun, *, as_json: bool, as_csv: bool = False) -> None:
    """Print what was found. Raises UsageError when two forms were asked for."""
    from perbyte.report.leaktext import leaks_csv, leaks_json, render_leaks

    if as_json and as_csv:
        raise UsageError("--json and --csv exclude each other")
    if as_csv:
        print(leaks_csv(run.figures), end="")
    elif as_json:
        print(json.dumps(leaks_json(run), indent=1, allow_nan=False))
    else:
        print(render_leaks(run), end="")


def leak_code(run: LeakRun, fail_on: Sequence[str]) -> int:
    """The exit code: 1 for a leak and 5 for what is not known, where asked for; 3 where nothing was measured."""
    verdicts = {leak.verdict for leak in run.figures}
    tainted = any(one.get("where") for one in run.taint)
    if "leak" in fail_on and ("leaks" in verdicts or tainted):
        return EXIT_FOUND
    if not run.figures and not run.taint:
        return EXIT_ENVIRONMENT
    if "unknown" in fail_on and verdicts & {"unknown", "harness"}:
        return EXIT_UNDECIDED
    return EXIT_FINE


def read_failing(words: Sequence[str] | None) -> tuple[str, ...]:
    """What `--fail-on` named. Raises UsageError for anything else."""
    if unknown := sorted(set(words or ()) - set(FAILING)):
        raise UsageError(f"--fail-on '{unknown[0]}' means nothing", hint=f"there are {', '.join(FAILING)}")
    return tuple(words or ())
