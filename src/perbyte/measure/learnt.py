"""What was learnt about this processor since the machine was started, so that no process learns it again.

A process that knows nothing of the core looks for its reorder-buffer probe for a tenth of a second; one that is told
checks it within a millisecond and looks anew where the check fails (another host after a migration, other microcode).
So the first process of a boot learns, and a small file tells the others. The file is no authority: a missing, broken or
outdated one costs the tenth of a second, and a wrong one fails the check.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from perbyte import __version__, places
from perbyte.atomic import new_file
from perbyte.measure.machine import cpu_facts
from perbyte.model import Calibration, KnownProbe
from perbyte.runners.session import Session

# how sure a process is of its window: the last word of its text (runners/sdk/c/window.h)
CERTAINTIES = ("none", "halved", "likely", "sure")
REORDER_BUFFER = "reorder-buffer"
LONGEST_TEXT, LARGEST_FILE, MOST_CYCLES = 64, 4096, 1e6


class Learnt:
    """The reorder-buffer probe of this processor, as far as it is known. Shared by all processes of a run.

    `learnt_by`: which program found it and when, in words; empty where nothing is known.
    """

    def __init__(self, core: int, *, file: Path | None) -> None:
        """`core`: one of those that are measured on; they are of one kind. Without a `file` nothing is kept."""
        self._file = file
        self._processor = describe_processor(core)
        self._failures = 0
        self.learnt_by = ""
        self.known = self._read()

    def calibrate(
        self, session: Session, milliseconds: float, *, epoch: int, cores: Sequence[int], patience_ms: float
    ) -> Calibration:
        """Let a process look at its clock, told what is known, and take over what it found out. Raises RunnerError."""
        calibration = session.calibrate(
            milliseconds, epoch=epoch, cores=cores, patience_ms=patience_ms, known=self.known
        )
        if session.spec.native:  # what others say of the reorder buffer is their own affair
            self.note(calibration)
        return calibration

    def note(self, calibration: Calibration) -> None:
        """Take over what a process found out, where that is more than was known."""
        probe = calibration.known
        if calibration.contention_probe != REORDER_BUFFER or not probe.window:
            return
        rank, before = certainty(probe.window), certainty(self.known.window)
        if place_of(probe.window) == place_of(self.known.window):
            if rank < before or (rank == before and (self.known.floor > 0 or not probe.floor)):
                return
        elif rank < before:
            self._failures += 1
            if self._failures == 1:  # two have to find that it does not hold: one may have been disturbed
                return
        self._failures = 0
        self.known = probe
        self._write()

    def _read(self) -> KnownProbe:
        if not self._file:
            return KnownProbe()
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError, RecursionError):
            with self._file.open("rb") as handle:
                content = json.loads(handle.read(LARGEST_FILE))
            if content["boot"] == _boot() and content["processor"] == self._processor:
                window = str(content["window"])
                floor, shared = float(content["floor"]), float(content["shared"])
                sane = len(window) <= LONGEST_TEXT and window.isascii() and window.isprintable()
                if sane and (floor == shared == 0 or 0 < floor < shared < MOST_CYCLES):
                    self.learnt_by = str(content.get("learnt", ""))[:LONGEST_TEXT]
                    return KnownProbe(window, floor, shared)
        return KnownProbe()

    def _write(self) -> None:
        known = self.known
        probe = {"window": known.window, "floor": known.floor, "shared": known.shared}
        at = datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
        self.learnt_by = f"Perbyte {__version__}, {at}"
        content = {"boot": _boot(), "processor": self._processor, **probe, "learnt": self.learnt_by}
        keep_json(self._file, content)


def keep_json(file: Path | None, content: Mapping[str, Any]) -> None:
    """Replace a small file at once; where that cannot be, or a number is not finite, nothing is remembered."""
    if not file:
        return
    with contextlib.suppress(OSError, ValueError):
        text = json.dumps(content, allow_nan=False)
        file.parent.mkdir(parents=True, exist_ok=True)
        with new_file(file) as new:
            new.write_text(text, encoding="ascii")


def recall(core: int) -> Learnt:
    """Return what this machine's file says of the processor that `core` belongs to."""
    return Learnt(core, file=places.learnt_file())


def probe_note(calibrations: Iterable[Calibration]) -> str:
    """Say what a run lacks where no process with our own SDK could tell who else is on a core; else nothing."""
    listed = list(calibrations)
    if not listed or any(
        calibration.contention_floor > 0
        for calibration in listed
        if calibration.contention_probe == REORDER_BUFFER
    ):
        return ""
    if any(calibration.contention_probe == REORDER_BUFFER for calibration in listed):
        return (
            "no process was alone on a core while it looked, so samples are judged by their clock only: "
            "what others take of the cores may be in the figures (perbyte doctor watches the cores)"
        )
    return (
        "the window probe finds nothing on this processor; the front-end probe serves, which sees less of others "
        "on the cores (perbyte doctor --report FILE writes what would help to add it)"
    )


def place_of(window: str) -> str:
    """Return the fillers, chain and length of a window as text, without what was seen of it."""
    return " ".join(window.split()[:3])


def certainty(window: str) -> int:
    """Return how sure the process was that wrote down a window: a place in CERTAINTIES, -1 without one."""
    words = window.split()
    return CERTAINTIES.index(words[-1]) if words and words[-1] in CERTAINTIES else -1


_KIND = ("vendor_id", "cpu family", "model", "model name", "stepping", "microcode", "cpu part", "cpu variant")


def describe_processor(core: int) -> str:
    """Return what tells the kind of a core from others: what Linux says of it in /proc/cpuinfo, clocks left out."""
    for facts in cpu_facts():
        if facts.get("processor") == str(core):
            return "; ".join(facts[name] for name in _KIND if facts.get(name))
    return ""


def _boot() -> str:
    with contextlib.suppress(OSError):
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    return ""
