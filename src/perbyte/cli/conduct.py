"""Who hears of a command's work: progress and notes on standard error."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import partial
from typing import TYPE_CHECKING

from perbyte.app.listener import Listener, Say
from perbyte.cli.streams import note, note_once

if TYPE_CHECKING:
    from perbyte.model import Run


def listener_of(*, quiet: bool = False) -> Listener:
    """The listener of this command; `quiet`: only what is urgent is printed."""
    return Listener(
        note_once,
        partial(note, quiet=quiet),
        follow=partial(followed, quiet=quiet),
        watch=partial(watched, quiet=quiet),
        command=tuple(sys.argv[1:]),
    )


@contextmanager
def followed(*, quiet: bool = False) -> Iterator[Listener]:
    """A listener of one run, which draws its progress."""
    from perbyte.cli.terminal import ProgressLine

    def urgent(text: str) -> None:
        progress.close()
        note_once(text)

    with closing(ProgressLine(quiet=quiet)) as progress:
        yield Listener(urgent, partial(note, quiet=quiet), progress)


@contextmanager
def watched(budget_s: float, *, quiet: bool = False) -> Iterator[Say]:
    """What shows how far the taking of pairs is, from the first pair on."""
    from perbyte.cli.terminal import LiveLine

    began = 0.0

    def say(name: str) -> None:
        nonlocal began
        began = began or time.monotonic()
        spent = time.monotonic() - began
        line.show(f"{spent:.0f} s, at most {max(budget_s - spent, 0):.0f} s left · {name}")

    with closing(LiveLine(quiet=quiet, last=time.monotonic())) as line:
        yield say


def note_losses(run: Run, *, quiet: bool) -> None:
    """Say on standard error which cells have no figure."""
    from perbyte.report.gate import losses

    if line := losses(run):
        note(line, quiet=quiet)
