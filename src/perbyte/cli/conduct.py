"""Measure into a run directory, with progress on stderr: what the commands that measure have in common."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from perbyte import places
from perbyte.cli.ending import exit_code
from perbyte.cli.options import note
from perbyte.cli.terminal import ProgressLine
from perbyte.locks import cores_held
from perbyte.measure import (
    Plan,
    Prepared,
    Request,
    Survey,
    carry_out,
    prepare,
    prepare_plan,
    prepare_resumed,
)
from perbyte.model import Policy, Run

if TYPE_CHECKING:
    from perbyte.store import RunWriter

AUDIT_VARIABLE = "PERBYTE_AUDIT"
FORKS_VARIABLE = "PERBYTE_FORKS"


@dataclass(frozen=True, slots=True)
class Conducted:
    """A run that was measured, where it lies, the exit code it asks for, and seconds by part."""

    run: Run
    path: Path
    code: int
    timing: Mapping[str, float] = field(default_factory=dict)


def conduct(
    request: Request,
    policy: Policy,
    *,
    out: Path | None = None,
    quiet: bool = False,
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
    prepared = prepare(request, _of_today(policy), command=sys.argv[1:], **more)
    if budget:
        prepared = budget(prepared)
    path = out or places.runs_home() / prepared.conditions.run_id
    return _carry_out(prepared, RunWriter.create, path, quiet, cut=cut and budget is not None)


def conduct_plan(
    plan: Plan,
    found: Survey,
    policy: Policy,
    *,
    out: Path | None = None,
    quiet: bool = False,
    cut: bool = False,
) -> Conducted:
    """Measure a plan that was drawn already, of what a later `--resume` would not find; `cut` as in `conduct`."""
    from perbyte.store.writer import RunWriter, require_room

    require_room(out or places.runs_home() / "new")
    prepared = prepare_plan(plan, found, _of_today(policy), command=sys.argv[1:])
    path = out or places.runs_home() / prepared.conditions.run_id
    return _carry_out(prepared, RunWriter.create, path, quiet, "interrupted", cut=cut)


def conduct_resumed(path: Path, *, quiet: bool = False, budget_s: float | None = None) -> Conducted:
    """Go on with the interrupted run in `path`; `budget_s` as in `measure.prepare_resumed`."""
    from perbyte.store import RunWriter, stored_run
    from perbyte.store.files import disk_error
    from perbyte.store.reader import run_directory

    path = run_directory(path)
    if error := places.refusal(path):
        raise disk_error(error, path)
    prepared = prepare_resumed(stored_run(path), command=sys.argv[1:], budget_s=budget_s)
    return _carry_out(prepared, RunWriter.resume, path, quiet)


def _of_today(policy: Policy) -> Policy:
    """The policy as runs are made today: audited from outside, and bursts taken in forks.

    PERBYTE_AUDIT=off and PERBYTE_FORKS=off in the environment leave these out.
    """
    return replace(
        policy,
        audit=os.environ.get(AUDIT_VARIABLE) != "off",
        forks=os.environ.get(FORKS_VARIABLE) != "off",
    )


def _carry_out(
    prepared: Prepared,
    opened: Callable[[Path], RunWriter],
    path: Path,
    quiet: bool,
    hint: str = "",
    *,
    cut: bool = False,
) -> Conducted:
    from perbyte.store import open_run
    from perbyte.store.files import require_free

    require_free(path)  # before the wait for cores, which the writer of the same run may hold

    def waiting(core: int, holder: str) -> None:
        note(
            f"waiting: core {core} is being measured on by {holder}. Both would be noisy; Ctrl-C ends the waiting, "
            "--cores chooses others"
        )

    what = f"perbyte {' '.join(sys.argv[1:])}"
    hint = hint or f"interrupted; what was measured is kept. Go on with: perbyte measure --resume {path}"
    with cores_held(prepared.conditions.policy.cores, what, waiting=waiting), opened(path) as writer:
        watcher = ProgressLine(quiet=quiet)
        try:
            outcome = carry_out(prepared, writer, watcher, cut=cut)
        except KeyboardInterrupt:  # once more, while the figures were made
            note(hint)
            raise
        finally:
            watcher.close()
    if not outcome.complete:
        note(hint)
    code = exit_code(outcome.failures, measured=bool(outcome.cells), complete=outcome.complete)
    return Conducted(open_run(path), path, code, outcome.timing)
