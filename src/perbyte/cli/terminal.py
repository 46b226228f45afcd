"""What is laid out for a terminal: tables on stdout, progress on stderr.

In a table one column is wrapped, and some are left out where there is no room. Into a pipe or a file goes every
column, a row a line, for `grep` and `awk`; programs that want fields have `--json`.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import textwrap
import time
from typing import TYPE_CHECKING, TextIO

from perbyte.cli.streams import control
from perbyte.model.text import alike_together, plain
from perbyte.report.listing import Listing, lines

if TYPE_CHECKING:
    from perbyte.measure import Moment


def print_listing(listing: Listing) -> None:
    """Print a listing as wide as the terminal, or as wide as it is where no terminal is."""
    for line, _ in lines(listing, _room()) if listing.rows else [("none", True)]:
        print(line)


def print_wrapped(text: str) -> None:
    """Print text within the terminal's width, the lines after the first indented two more than that."""
    indent = " " * (len(text) - len(text.lstrip()))
    columns = max(shutil.get_terminal_size((100, 24)).columns, 40)
    wrapped = textwrap.fill(
        text, columns, subsequent_indent=f"{indent}  ", break_on_hyphens=False, replace_whitespace=False
    )
    print(wrapped)


def _room() -> int | None:
    if sys.stdout.isatty() or os.environ.get("COLUMNS"):
        return shutil.get_terminal_size().columns
    return None


def _columns(stream: TextIO) -> int:
    if not os.environ.get("COLUMNS"):
        with contextlib.suppress(OSError, ValueError):
            return os.get_terminal_size(stream.fileno()).columns
    return shutil.get_terminal_size().columns


_REDRAW_S = 0.1
_LINE_EVERY_S = 10.0


class LiveLine:
    """A line of a terminal that is rewritten. `close` removes it; `last` is when something was shown before."""

    def __init__(self, *, quiet: bool = False, last: float = 0.0) -> None:
        self._live = not quiet and sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
        self._quiet, self._last, self._drawn = quiet, last, False

    def draw(self, text: object) -> None:
        """Show `text` on a terminal, cut to its width, unless another one was shown just now."""
        if self._live and self._due(_REDRAW_S):
            self._drawn = True
            control("\r\033[2K")
            print(plain(str(text), 1000)[: _columns(sys.stderr) - 1], end="", file=sys.stderr, flush=True)

    def show(self, text: object, live: object = None) -> None:
        """Draw `live` or else `text`; where there is no terminal, print `text` now and then."""
        if self._live:
            self.draw(live or text)
        elif not self._quiet and self._due(_LINE_EVERY_S):
            print(text, file=sys.stderr, flush=True)

    def close(self) -> None:
        """Remove the line."""
        if self._drawn:
            control("\r\033[2K")
            sys.stderr.flush()
            self._drawn = False

    def _due(self, every_s: float) -> bool:
        now = time.monotonic()
        if now - self._last < every_s:
            return False
        self._last = now
        return True


class ProgressLine:
    """A Watcher. Draws between bursts only; `close` removes the line."""

    def __init__(self, *, quiet: bool = False) -> None:
        self._quiet = quiet
        self._line = LiveLine(quiet=quiet)
        self._notes: set[str] = set()
        self._waiting: list[str] = []

    def moment(self, moment: Moment) -> None:
        """Show where the run stands."""
        self._print_notes()
        self._line.show(moment, f"{moment.figure} · {moment}" if moment.figure else moment)

    def note(self, text: str) -> None:
        """Print a note once; those that say the same of several things in a row become one line."""
        if not self._quiet and text not in self._notes:
            self._notes.add(text)
            self._waiting.append(text)

    def close(self) -> None:
        """Remove the line, and print what was noted last."""
        self._print_notes()
        self._line.close()

    def _print_notes(self) -> None:
        if self._waiting:
            self._line.close()
        for line in alike_together(self._waiting):
            print(plain(line, 1000), file=sys.stderr, flush=True)
        self._waiting.clear()
