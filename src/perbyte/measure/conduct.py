"""Conduct a run: survey, plan, cores, conditions, signals; a new one or one that goes on.

`prepare` and `prepare_resumed` leave nothing behind when they raise, so that whoever calls them opens the run's
directory afterwards; `carry_out` measures what they prepared.
"""

from __future__ import annotations

import contextlib
import datetime
import hashlib
import math
import os
import secrets
import signal
import stat
import threading
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import FrameType
from typing import Any

from perbyte import __version__, places
from perbyte.catalogue import load
from perbyte.errors import EnvironmentLacking, UsageError
from perbyte.measure.forecast import kind_of, recall_pace
from perbyte.measure.history import RunHistory, RunOutcome, Watcher
from perbyte.measure.machine import choose_cores, describe_machine, require_linux, step_aside
from perbyte.measure.plan import Plan, Request, Survey, built_runners, choose_twins, find_cells, survey
from perbyte.measure.referees import own_runners
from perbyte.measure.run import Measurement
from perbyte.model import Conditions, Policy, Sink, StoredRun, parse_address
from perbyte.model.cell import FULL
from perbyte.protocol.messages import PROTOCOL_VERSION
from perbyte.runners import TimeLimits, not_built, stale


@dataclass(frozen=True, slots=True)
class Prepared:
    """A run that can begin, or go on: what `history` knows is measured already."""

    plan: Plan
    survey: Survey
    conditions: Conditions
    history: RunHistory


def prepare(
    request: Request,
    policy: Policy,
    *,
    command: Sequence[str] = (),
    study: str = "",
    input_facts: Mapping[str, Any] | None = None,
    lenient: bool = False,
) -> Prepared:
    """Survey the runners that the request can mean, draw the plan, and choose the cores.

    `command` is what the run notes as the command that made it, `input_facts` what `describe_input` says of the file
    to measure on. `lenient`: what nobody offers is a failure in the plan instead of an error. Raises UsageError or
    EnvironmentLacking.
    """
    require_linux()
    threading.Thread(target=places.commit, daemon=True).start()  # Git takes its time; asked for again below
    plan, surveyed = find_cells(request, lenient=lenient)
    return prepare_plan(plan, surveyed, policy, command=command, study=study, input_facts=input_facts)


def prepare_plan(
    plan: Plan,
    surveyed: Survey,
    policy: Policy,
    *,
    command: Sequence[str] = (),
    study: str = "",
    input_facts: Mapping[str, Any] | None = None,
) -> Prepared:
    """Prepare to measure a plan that was drawn already from what `surveyed` offers."""
    now = datetime.datetime.now(datetime.UTC)
    conditions = Conditions(
        run_id=f"{now:%Y%m%d-%H%M%S}-{secrets.token_hex(2)}",
        plan=tuple(cell.address for cell in plan.cells),
        study=study,
        **_present(command, replace(policy, cores=choose_cores(policy.cores)), input_facts),
    )
    return Prepared(plan, surveyed, conditions, RunHistory())


def prepare_resumed(
    stored: StoredRun, *, command: Sequence[str] = (), budget_s: float | None = None
) -> Prepared:
    """Prepare to go on with an interrupted run under its own plan and policy.

    What was spent of its budget stays spent, after a kill too; only the promised epochs are made all the same.
    `budget_s` is what it may spend from here on instead. Raises EnvironmentLacking where a runner is not what it was;
    the sink raises IncompatibleRuns when machine, input or Perbyte itself are not those the run began with.
    """
    require_linux()
    before = stored.conditions
    cells = tuple(parse_address(address) for address in before.plan)
    names = sorted({cell.runner for cell in cells})
    specs = built_runners(names)
    if lacking := sorted(set(names) - {spec.name for spec in specs}):
        raise not_built(*lacking)
    if outdated := [spec.name for spec in specs if stale(spec)]:
        raise EnvironmentLacking(
            f"runner '{outdated[0]}' was built from other sources than those that are here",
            hint=f"run: perbyte build {' '.join(outdated)}",
        )
    surveyed = survey(specs, sorted({cell.cpu for cell in cells} | {FULL}))
    policy = replace(before.policy, cores=choose_cores(before.policy.cores))
    if budget_s:
        policy = replace(policy, budget_s=stored.measuring_s + budget_s)
    path = before.input.get("path")
    conditions = replace(before, **_present(command, policy, describe_input(Path(path)) if path else None))
    return Prepared(Plan(cells, choose_twins(cells)), surveyed, conditions, RunHistory.of(stored))


def carry_out(
    prepared: Prepared,
    sink: Sink,
    watcher: Watcher | None = None,
    *,
    cut: bool = False,
    limits: TimeLimits | None = None,
) -> RunOutcome:
    """Measure what was prepared; with `cut`, some cells are not reached rather than the time overrun that was told.

    `limits`: seconds that runners have for their answers.

    SIGINT, SIGTERM and SIGHUP end it in order: the outcome is then not complete.

    Raises KeyboardInterrupt when one of them comes once more, while the figures are made; the sink has all samples.
    """
    conditions = prepared.conditions
    sink.begin(conditions)
    step_aside(conditions.policy.cores)
    path = conditions.input.get("path")
    pace = recall_pace(conditions.policy.cores[0])
    kind = kind_of(conditions.study, conditions.command)
    measurement = Measurement(
        prepared.plan,
        prepared.survey,
        load(),
        conditions.policy,
        sink,
        watcher=watcher,
        history=prepared.history,
        input_path=Path(path) if path else None,
        limits=limits,
        told_s=conditions.policy.budget_s if cut else None,
        pace=pace,
        after_s=pace.after_s.get(kind, 0.0),
        referees=own_runners,
    )
    with _interrupts():
        return measurement.measure()


def note_after(conditions: Conditions, outcome: RunOutcome) -> None:
    """Remember what the command took from the end of its last epoch until now, for the progress line of the next."""
    kind, took_s = kind_of(conditions.study, conditions.command), time.monotonic() - outcome.over_at
    if outcome.complete and outcome.cells and math.isfinite(took_s):
        recall_pace(conditions.policy.cores[0]).note_after(kind, took_s)


def _present(command: Sequence[str], policy: Policy, input_facts: Mapping[str, Any] | None) -> dict[str, Any]:
    return {
        "perbyte_version": __version__,
        "perbyte_commit": places.commit(),
        "catalogue_version": load().version,
        "protocol_version": PROTOCOL_VERSION,
        "started_at": datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds"),
        "command": tuple(command),
        "machine": describe_machine(),
        "policy": policy,
        "load_before": os.getloadavg(),
        "input": dict(input_facts or {}),
    }


@contextlib.contextmanager
def _interrupts() -> Iterator[None]:
    """Let SIGTERM and SIGHUP end a run in order, as Ctrl-C does.

    Whoever started it may have said that one of them is to be ignored, as nohup does; that stays so. Python lets only
    the main thread choose.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

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


BLOCK_BYTES = 16
_SHARE_OF_MEMORY = 4  # input and output of several processes must fit beside each other


def require_size(facts: Mapping[str, str | int], sizes: Collection[int]) -> None:
    """Raise UsageError when a cell of one of `sizes` would need more bytes than the file has."""
    if max(sizes, default=0) > int(facts["size_bytes"]):
        raise UsageError(
            f"input '{facts['path']}' has {facts['size_bytes']} bytes, too few for a cell of {max(sizes)}",
            hint="leave --size out to measure on the whole file, or choose smaller sizes",
        )


def describe_input(path: Path) -> dict[str, str | int]:
    """Return path, size, SHA-256 and the usable size (whole blocks of 16 bytes) of `path`, which is only read.

    Raises UsageError when it is missing, unreadable, no regular file or too short, EnvironmentLacking when it is
    larger than memory allows.
    """
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise UsageError(f"input '{path}' is not a regular file")
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        if status.st_size > memory // _SHARE_OF_MEMORY:
            raise EnvironmentLacking(
                f"input '{path}' has {status.st_size} bytes; with {memory} bytes of memory at most a quarter fits",
                hint="measure a part of it",
            )
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise UsageError(f"input '{path}' cannot be read: {error.strerror}") from None
    usable = status.st_size // BLOCK_BYTES * BLOCK_BYTES
    if not usable:
        raise UsageError(f"input '{path}' has {status.st_size} bytes, less than one block of {BLOCK_BYTES}")
    return {
        "path": str(path.resolve()),
        "size_bytes": status.st_size,
        "usable_bytes": usable,
        "sha256": digest,
    }
