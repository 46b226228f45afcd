"""Conduct a run: the one place where measuring meets storing.

`measure` and `study run` both go through here: survey, plan, core, store, progress, signals, and what is said
at the end. How an interrupted run goes on is told in `resume`.
"""

from __future__ import annotations

import contextlib
import datetime
import os
import secrets
import signal
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import FrameType
from typing import Any

from perbyte import __version__, places
from perbyte.catalogue import load
from perbyte.cli.options import remark
from perbyte.cli.progress import ProgressLine
from perbyte.errors import (
    EXIT_ENVIRONMENT,
    EXIT_FINE,
    EXIT_INCORRECT,
    EXIT_INTERRUPTED,
    EnvironmentLacking,
    UsageError,
)
from perbyte.measure import (
    History,
    Measurement,
    Outcome,
    Plan,
    Request,
    Survey,
    choose_cores,
    describe_machine,
    draw_plan,
    require_linux,
    step_aside,
    survey,
    wanted_cpus,
)
from perbyte.measure.plan import left_out
from perbyte.model import Conditions, Policy, Run
from perbyte.protocol import PROTOCOL_VERSION
from perbyte.runners import RunnerSpec, find, locate


@dataclass(frozen=True, slots=True)
class Conducted:
    """A run that was conducted, and the exit code it asks for."""

    run: Run
    path: Path
    outcome: Outcome
    code: int


def built_runners(names: Sequence[str] = ()) -> list[RunnerSpec]:
    """The runners that can be started: all that are built, of `names` where given.

    Raises EnvironmentLacking when there is none, UsageError for an unknown name.
    """
    specs = [find(name) for name in names] if names else locate()
    ready = [spec for spec in specs if not spec.built or spec.out().is_dir()]
    if not ready:
        raise EnvironmentLacking("no runner is built", way_out="run: perbyte build")
    return ready


def draw(request: Request, *, lenient: bool = False) -> tuple[Plan, Survey]:
    """Survey the runners that the request can mean, and draw the plan.

    `lenient`: what nobody offers is a failure in the plan instead of an error.
    """
    specs = [
        spec
        for spec in built_runners()
        if any(_may_mean(selector.runner, spec) for selector in request.selectors)
    ]
    if not specs:
        _explain_runner(request)
    tiers = list(dict.fromkeys(tier for spec in specs for tier in spec.tiers))
    cpus = wanted_cpus(request, tiers)
    unknown = not lenient and [cpu for cpu in cpus if cpu not in tiers and "*" not in cpu]
    if unknown:
        raise UsageError(f"no CPU tier '{unknown[0]}'", way_out=f"there are: {', '.join(tiers)}")
    # `full` is asked as well: tiers are proved by comparison with it
    found = survey(specs, list(dict.fromkeys([*cpus, "full"])))
    return draw_plan(request, found, load(), lenient=lenient), found


def conduct(
    request: Request,
    policy: Policy,
    *,
    out: Path | None = None,
    command: Sequence[str] = (),
    quiet: bool = False,
    study: str = "",
    input_path: Path | None = None,
    input_facts: dict[str, Any] | None = None,
    lenient: bool = False,
) -> Conducted:
    """Measure what was asked for into a new run directory."""
    from perbyte.store import RunWriter

    require_linux()
    plan, found = draw(request, lenient=lenient)
    policy = replace(policy, cores=choose_cores(policy.cores))
    run_id = _new_id()
    path = out or places.runs_home() / run_id
    conditions = Conditions(
        run_id=run_id,
        perbyte_version=__version__,
        catalogue_version=load().version,
        protocol_version=PROTOCOL_VERSION,
        started_at=now(),
        command=tuple(command) or tuple(sys.argv[1:]),
        machine=describe_machine(),
        policy=policy,
        plan=tuple(cell.address for cell in plan.cells),
        load_before=os.getloadavg(),
        input=input_facts or {},
        study=study,
    )
    writer = RunWriter.create(path)
    writer.begin(conditions)
    return carry_out(plan, found, policy, writer, path, History(), quiet, input_path)


def carry_out(
    plan: Plan,
    found: Survey,
    policy: Policy,
    writer: Any,
    path: Path,
    history: History,
    quiet: bool,
    input_path: Path | None,
) -> Conducted:
    """Measure `plan` into `writer`, after what `history` knows, and say at the end what there is to say."""
    from perbyte.store import open_run

    watcher = ProgressLine(quiet=quiet)
    step_aside(policy.cores)
    hint = f"interrupted; what was measured is kept. Go on with: perbyte measure --resume {path}"
    measurement = Measurement(
        plan,
        found,
        load(),
        policy,
        writer,
        cores=policy.cores,
        watcher=watcher,
        history=history,
        input_path=input_path,
    )
    try:
        with contextlib.closing(writer), _interrupts():
            outcome = measurement.measure()
    except KeyboardInterrupt:  # once more, while the figures were made
        remark(hint)
        raise
    finally:
        watcher.close()
    code = EXIT_FINE if outcome.cells else EXIT_ENVIRONMENT
    if any(failure.kind == "incorrect" for failure in outcome.failures):
        code = EXIT_INCORRECT
    if not outcome.complete:
        code = EXIT_INTERRUPTED
        remark(hint)
    return Conducted(open_run(path), path, outcome, code)


@contextlib.contextmanager
def _interrupts() -> Iterator[None]:
    """Let SIGTERM and SIGHUP end a run in order, as Ctrl-C does.

    Whoever started it may have said that one of them is to be ignored, as nohup does; that stays so.
    """

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = {
        number: signal.signal(number, interrupt)
        for number in (signal.SIGTERM, signal.SIGHUP)
        if signal.getsignal(number) is not signal.SIG_IGN
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _may_mean(glob: str, spec: RunnerSpec) -> bool:
    from perbyte.catalogue import pattern

    return pattern.matches(spec.name, glob) and not left_out(glob, spec)


def _explain_runner(request: Request) -> None:
    known = {spec.name: spec for spec in locate(unlisted=True)}
    for selector in request.selectors:
        if selector.runner in known:
            spec = known[selector.runner]
            raise EnvironmentLacking(
                f"runner '{spec.name}' is not built", way_out=f"run: perbyte build {spec.name}"
            )
    asked = ", ".join(selector.runner for selector in request.selectors)
    names = ", ".join(sorted(name for name, spec in known.items() if spec.listed))
    raise UsageError(f"no runner is called '{asked}'", way_out=f"there are: {names}")


def now() -> str:
    """The time of day in UTC, ISO 8601, to the millisecond: runs of the same second are told apart by age."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds")


def _new_id() -> str:
    moment = datetime.datetime.now(datetime.UTC)
    return f"{moment:%Y%m%d-%H%M%S}-{secrets.token_hex(2)}"
