"""Standard streams as the caller left them (of any encoding, or closed); notes, lines and JSON on them.

What an encoding cannot say is said in plain letters (`±` as `+-`), so that no table dies of a terminal. A closed
standard output refuses what is written to it, as a full disk does; a closed standard error swallows it. Closed
descriptors are taken by /dev/null first, lest a run's own files get their numbers. Nothing that is printed drives a
terminal: escape sequences and the like in it become visible, but for colours on a terminal. Only `control` sends
others.
"""

from __future__ import annotations

import codecs
import contextlib
import errno
import io
import json
import os
import sys
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from perbyte.errors import DamagedRunWarning, DataFileWarning
from perbyte.model.text import json_ready, plain_letters, visible, wants_colour

_DAMAGED: set[str] = set()  # what was said of damaged runs


class _Closed(io.TextIOBase):
    """Stands for a closed standard output: writing to it is an error that tells itself."""

    def write(self, text: str) -> int:
        """Refuse `text`. Raises OSError."""
        raise OSError(errno.EBADF, os.strerror(errno.EBADF), "standard output")

    def isatty(self) -> bool:
        """False: nobody looks at it."""
        return False


def _say(message: Warning | str, category: type[Warning], *_: object, **__: object) -> None:
    """Print what a library has to say beside its result, in a line; of a damaged run once, however often it is read."""
    if not issubclass(category, DamagedRunWarning):
        if sys.stderr:
            print(f"note: {message}", file=sys.stderr)
    elif str(message) not in _DAMAGED:
        _DAMAGED.add(str(message))
        print(message, file=sys.stderr)


def settle() -> None:
    """Make standard output and error safe to write to; called once, before anything is printed."""
    for descriptor in (0, 1, 2):
        try:
            os.fstat(descriptor)
        except OSError:  # the lowest free number is this one
            os.open(os.devnull, os.O_RDWR)
    warnings.simplefilter("once", DataFileWarning)
    warnings.simplefilter("always", DamagedRunWarning)
    _DAMAGED.clear()
    warnings.showwarning = _say
    codecs.register_error("plain-letters", plain_letters)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            with contextlib.suppress(ValueError):
                stream.reconfigure(errors="plain-letters")
            _tame(stream)
    if sys.stdout is None:
        sys.stdout = _Closed()
    if sys.stderr is None:
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115


def control(sequence: str) -> None:
    """Send a control sequence of our own to the terminal behind standard error."""
    getattr(sys.stderr, "untamed", sys.stderr.write)(sequence)


def _tame(stream: Any) -> None:
    if not hasattr(stream, "untamed"):
        stream.untamed, flush = stream.write, stream.flush
        colours = wants_colour(stream)
        stream.write = lambda text: _named(stream, lambda: stream.untamed(visible(text, colours=colours)))
        stream.flush = lambda: _named(stream, flush)


def _named(stream: Any, act: Callable[[], Any]) -> Any:
    try:
        return act()
    except OSError as error:
        error.filename = "standard output" if stream is sys.stdout else "standard error"
        raise


_TOLD: set[str] = set()


def note(text: str, *, quiet: bool = False) -> None:
    """Print a note on stderr."""
    if not quiet:
        print(text, file=sys.stderr)


def note_once(text: str) -> None:
    """Print a note that this process has not printed: who holds a core is said before and while it is waited for."""
    if text not in _TOLD:
        _TOLD.add(text)
        note(text)


def notes(texts: Iterable[str], *, quiet: bool = False) -> None:
    """Print notes on stderr."""
    for text in texts:
        note(text, quiet=quiet)


def print_json(document: Any, indent: int | None = 1) -> None:
    """Print what `json_ready` makes of a document."""
    print(json.dumps(json_ready(document), indent=indent))


def print_lines(lines: Iterable[str]) -> None:
    """Print lines, each when it is there."""
    for line in lines:
        print(line)
