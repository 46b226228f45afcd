"""What commands that measure have in common: progress on standard error, and what is said at the end."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING, Any

from perbyte.app.listener import Listener
from perbyte.cli.streams import note, notes

if TYPE_CHECKING:
    from perbyte.app.conducting import Conducted
    from perbyte.measure import Plan, Request, Survey
    from perbyte.model import Policy, Run
    from perbyte.stats.pairing import Regressions


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
        note(text)

    with closing(ProgressLine(quiet=quiet)) as progress:
        listener = Listener(urgent, partial(note, quiet=quiet), progress)
        return conducted(*what, command=sys.argv[1:], listener=listener, **more)


def note_losses(run: Run, *, quiet: bool) -> None:
    """Say on standard error which cells have no figure."""
    from perbyte.report.gate import losses

    if line := losses(run):
        note(line, quiet=quiet)


def note_gaps(addresses: Sequence[str]) -> None:
    """Say which rows of a comparison have no figure on one side."""
    if addresses:
        note(f"missing: {', '.join(addresses)}: nothing is known of what was to be compared there")


def note_regressions(regressions: Regressions, *, one_run: bool, quiet: bool = False) -> None:
    """Say what is slower than a limit allows. `one_run`: both sides were measured in turn."""
    from perbyte.report.gate import regression_lines

    notes(regression_lines(regressions, one_run=one_run), quiet=quiet)


def note_profile(timing: Mapping[str, float]) -> None:
    """Say where the time of a run went."""
    from perbyte.report.gate import profile_lines

    notes(profile_lines(timing))
