"""What `leak`, `try --leak` and `show` print of leaks, and what their options mean."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from perbyte.app.listener import Listener, Say
from perbyte.cli.options import Forms, note, print_json

if TYPE_CHECKING:
    from perbyte.model.run import LeakRun

FAILING = ("leak", "unknown")
LINE_EVERY_S = 10.0  # of progress, where there is no terminal


def heard(*, quiet: bool) -> dict[str, Any]:
    """What `app.leaking` is told: the command, and who hears of the work."""
    listener = Listener(note, partial(note, quiet=quiet))
    return {"command": sys.argv[1:], "listener": listener, "watch": partial(_watched, quiet=quiet)}


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


@contextlib.contextmanager
def _watched(budget_s: float, *, quiet: bool) -> Iterator[Say]:
    progress = LeakProgress(budget_s, quiet=quiet)
    try:
        yield progress.say
    finally:
        progress.close()


def print_leaks(run: LeakRun, forms: Forms) -> None:
    """Print what was found."""
    from perbyte.report.leaktext import leaks_csv, leaks_json, render_leaks

    if forms.as_json:
        print_json(leaks_json(run))
    else:
        print(leaks_csv(run.figures) if forms.as_csv else render_leaks(run), end="")
