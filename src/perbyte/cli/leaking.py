"""What `leak`, `try --leak` and `show` print of leaks, and what their options mean."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from perbyte.app.listener import Listener
from perbyte.cli.options import note
from perbyte.errors import UsageError

if TYPE_CHECKING:
    from perbyte.model.leakrun import LeakRun

FAILING = ("leak", "unknown")


def heard(*, quiet: bool) -> dict[str, Any]:
    """What `app.leaking` is told: the command, and who hears of the work."""
    return {"command": sys.argv[1:], "listener": Listener(note, partial(note, quiet=quiet))}


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


def read_failing(words: Sequence[str] | None) -> tuple[str, ...]:
    """What `--fail-on` named. Raises UsageError for anything else."""
    if unknown := sorted(set(words or ()) - set(FAILING)):
        raise UsageError(f"--fail-on '{unknown[0]}' means nothing", hint=f"there are {', '.join(FAILING)}")
    return tuple(words or ())
