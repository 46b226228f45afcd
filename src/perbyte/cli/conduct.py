"""Measure as `perbyte.app` does, with progress on standard error: what the commands that measure have in common."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import Any

from perbyte.app import conducting
from perbyte.app.conducting import Conducted
from perbyte.app.listener import Listener
from perbyte.cli.options import note
from perbyte.cli.terminal import ProgressLine
from perbyte.measure import Plan, Request, Survey
from perbyte.model import Policy


def conduct(request: Request, policy: Policy, *, quiet: bool = False, **more: Any) -> Conducted:
    """As `app.conducting.conduct`."""
    return followed(conducting.conduct, request, policy, quiet=quiet, **more)


def conduct_plan(
    plan: Plan, surveyed: Survey, policy: Policy, *, quiet: bool = False, **more: Any
) -> Conducted:
    """As `app.conducting.conduct_plan`."""
    return followed(conducting.conduct_plan, plan, surveyed, policy, quiet=quiet, **more)


def followed(conducted: Callable[..., Conducted], *what: Any, quiet: bool, **more: Any) -> Conducted:
    """Call a function of `app.conducting`, with the command and a listener that draws the progress."""
    progress = ProgressLine(quiet=quiet)

    def urgent(text: str) -> None:
        progress.close()
        note(text)

    listener = Listener(urgent, partial(note, quiet=quiet), progress)
    try:
        return conducted(*what, command=sys.argv[1:], listener=listener, **more)
    finally:
        progress.close()
