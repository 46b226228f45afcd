"""Measure as `perbyte.app` does, with progress on standard error: what the commands that measure have in common."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

from perbyte.app import budget, building, conducting
from perbyte.app.conducting import Conducted
from perbyte.app.listener import Listener
from perbyte.cli.options import note
from perbyte.cli.terminal import ProgressLine
from perbyte.measure import Plan, Prepared, Request, Survey
from perbyte.model import Policy


def conduct(request: Request, policy: Policy, *, quiet: bool = False, **more: Any) -> Conducted:
    """As `app.conducting.conduct`."""
    return _listening(conducting.conduct, request, policy, quiet=quiet, **more)


def conduct_plan(
    plan: Plan, surveyed: Survey, policy: Policy, *, quiet: bool = False, **more: Any
) -> Conducted:
    """As `app.conducting.conduct_plan`."""
    return _listening(conducting.conduct_plan, plan, surveyed, policy, quiet=quiet, **more)


def conduct_resumed(path: Path, *, quiet: bool = False, budget_s: float | None = None) -> Conducted:
    """As `app.conducting.conduct_resumed`."""
    return _listening(conducting.conduct_resumed, path, quiet=quiet, budget_s=budget_s)


def with_behaviours(done: Conducted, *, quiet: bool = False, **more: Any) -> Conducted:
    """As `app.conducting.with_behaviours`."""
    return conducting.with_behaviours(done, listener=Listener(say=partial(note, quiet=quiet)), **more)


def build_needed(globs: Iterable[str], *, quiet: bool = False) -> None:
    """As `app.building.build_needed`."""
    building.build_needed(globs, partial(note, quiet=quiet))


def budgeted(prepared: Prepared, *, raised: bool, quiet: bool) -> Prepared:
    """As `app.budget.budgeted`."""
    return budget.budgeted(prepared, partial(note, quiet=quiet), raised=raised)


def _listening(conducted: Callable[..., Conducted], *what: Any, quiet: bool, **more: Any) -> Conducted:
    progress = ProgressLine(quiet=quiet)

    def urgent(text: str) -> None:
        progress.close()
        note(text)

    try:
        return conducted(
            *what,
            command=sys.argv[1:],
            listener=Listener(urgent, partial(note, quiet=quiet), progress),
            **more,
        )
    finally:
        progress.close()
