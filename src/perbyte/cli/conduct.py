"""What commands that measure have in common: progress on standard error, and what is said at the end."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING, Any

from perbyte.app.listener import Listener
from perbyte.cli.streams import note, note_once

if TYPE_CHECKING:
    from perbyte.app.conducting import Conducted
    from perbyte.measure import Plan, Request, Survey
    from perbyte.model import Policy, Run


def conduct(request: Request, policy: Policy, *, quiet: bool = False, **more: Any) -> Conducted:
    """As `app.conducting.conduct`."""
    from perbyte.app import conducting

    return followed(conducting.conduct, request, policy, quiet=quiet, **more)


def conduct_plan(
    plan: Plan, surveyed: Survey, policy: Policy, *, quiet: bool = False, **more: Any
) -> Conducted:
    """As `app.conducting.conduct_plan`."""
    from perbyte.app import conducting

    return followed(conducting.conduct_plan, plan, surveyed, policy, quiet=quiet, **more)


def followed(conducted: Callable[..., Conducted], *what: Any, quiet: bool, **more: Any) -> Conducted:
    """Call a function of `app.conducting`, with the command and a listener that draws the progress."""
    from perbyte.cli.terminal import ProgressLine

    def urgent(text: str) -> None:
        progress.close()
        note_once(text)

    with closing(ProgressLine(quiet=quiet)) as progress:
        listener = Listener(urgent, partial(note, quiet=quiet), progress)
        return conducted(*what, command=sys.argv[1:], listener=listener, **more)


def note_losses(run: Run, *, quiet: bool) -> None:
    """Say on standard error which cells have no figure."""
    from perbyte.report.gate import losses

    if line := losses(run):
        note(line, quiet=quiet)
