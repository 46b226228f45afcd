"""The journal: one line per event, each given to the kernel by a single write.

A killed process therefore loses at most the line it was writing, and that line is seen to be torn because
its line feed is missing. Power failure is met at the next compaction, which forces files to the disk: doing
so for each burst would cost more than the burst and disturb the next one.
"""

from __future__ import annotations

import json
import os
import re
import zlib
from pathlib import Path
from typing import Any

import msgspec

from perbyte.atomic import TEMPORARY
from perbyte.errors import StoreError
from perbyte.model import Audit, Burst, Calibration, Failure, RunnerIdentity, UnprovenTier
from perbyte.model.sample import COLUMNS
from perbyte.store.files import (
    JOURNAL_FILE,
    MEBIBYTE,
    check_regular,
    damaged,
    disk_error,
    read_whole,
)

JOURNAL_LIMIT = 4096 * MEBIBYTE


class JournalEvent(msgspec.Struct, tag_field="event", tag=str.lower, frozen=True):
    """A line of the journal. `seq` is its number within the run."""

    seq: int


class Identified(JournalEvent, frozen=True):
    """A runner said who it is."""

    identity: RunnerIdentity


class Calibrated(JournalEvent, frozen=True):
    """A process looked at its own clock."""

    calibration: Calibration


class Measured(JournalEvent, frozen=True):
    """A burst was taken."""

    burst: Burst


class Failed(JournalEvent, frozen=True):
    """A cell or runner gave no figure."""

    failure: Failure


class Unproven(JournalEvent, frozen=True):
    """A tier has to be proved by figures."""

    tier: UnprovenTier


class Audited(JournalEvent, frozen=True):
    """A cell was looked at from outside."""

    audit: Audit


class Spent(JournalEvent, frozen=True):
    """So many seconds of measuring are gone."""

    measuring_s: float


class EpochDone(JournalEvent, tag="epoch_done", frozen=True):
    """An epoch is over."""

    epoch: int


Event = Identified | Calibrated | Measured | Failed | Unproven | Audited | Spent | EpochDone


def encode(value: Any) -> bytes:
    """Encode as one line of JSON.

    Infinite and undefined numbers, which JSON lacks, become text; halves of surrogate pairs, which a runner's
    stray bytes may leave in a message, become question marks.
    """
    if isinstance(value, Measured):
        return msgspec.json.encode(value)
    built = msgspec.to_builtins(value)
    try:
        return json.dumps(built, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
    except ValueError:  # such numbers or such text are rare, and finding them takes ten times as long
        return msgspec.json.encode(_plain(built))


def read_journal(directory: Path) -> tuple[list[Event], int, str]:
    """The events in the journal of a run, how many bytes of it are whole lines, and what had to be dropped, or "".

    A missing journal is an empty one. A last line without its end is dropped: that is what a kill leaves behind.
    Anything else that cannot be read raises StoreError.
    """
    content, whole_bytes, note = _lines(directory)
    try:
        return [_event(line) for line in content], whole_bytes, note
    except _UNREADABLE as error:
        raise damaged(directory / JOURNAL_FILE, error) from error


def salvage_journal(directory: Path) -> tuple[list[Event], list[str], str]:
    """The events of all lines that can be read, in words which cannot, and the remark on a torn last line, or "".

    Raises StoreError when it is no regular file.
    """
    content, _, torn = _lines(directory)
    events: list[Event] = []
    problems = []
    for number, line in enumerate(content, 1):
        try:
            events.append(_event(line))
        except _UNREADABLE as error:
            problems.append(f"line {number} of {JOURNAL_FILE}: {' '.join(str(error).split())[:200]}")
    return events, problems, torn


def _lines(directory: Path) -> tuple[list[bytes], int, str]:
    """The whole lines of the journal, how many bytes they are, and a remark on a torn one."""
    place = directory / JOURNAL_FILE
    if not os.path.lexists(place):
        return [], 0, ""
    content = read_whole(place, JOURNAL_LIMIT)
    whole_bytes = content.rfind(b"\n") + 1
    torn = len(content) - whole_bytes
    note = f"the last line of {JOURNAL_FILE} was torn ({torn} bytes) and is dropped" if torn else ""
    return content[:whole_bytes].split(b"\n")[:-1], whole_bytes, note


_SUM = re.compile(rb',"crc32":"([0-9a-f]{8})"}$')
_UNREADABLE = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, StoreError)
_DECODER = msgspec.json.Decoder(Event, strict=False)


def _summed(line: bytes) -> bytes:
    """Return a line of JSON with a last field, the CRC-32 of the line before it was added."""
    return line[:-1] + b',"crc32":"%08x"}' % zlib.crc32(line)


def _event(line: bytes) -> Event:
    """Read one line. Lines without a sum are of older versions."""
    if match := _SUM.search(line):
        line = line[: match.start()] + b"}"
        if zlib.crc32(line) != int(match[1], 16):
            raise StoreError("it does not agree with its checksum")
    event: Event = _DECODER.decode(line)
    if isinstance(event, Measured):
        check_burst(event.burst)
    return event


class JournalWriter:
    """Appends events to the journal of a run directory; the caller holds the run's lock."""

    def __init__(self, directory: Path, whole_bytes: int) -> None:
        """Open the journal and cut it to its whole lines."""
        self._directory = directory
        place = directory / JOURNAL_FILE
        try:
            if os.path.lexists(place):
                check_regular(place, JOURNAL_LIMIT)
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
            self._handle = os.open(place, flags, 0o644)
            os.ftruncate(self._handle, whole_bytes)
        except OSError as error:
            raise disk_error(error, directory) from error

    def append(self, event: Event) -> None:
        """Write one event by one system call.

        Raises StoreError when it does not fit; the journal then ends with the event before it.
        """
        line = _summed(encode(event)) + b"\n"
        written, start = 0, os.lseek(self._handle, 0, os.SEEK_END)
        try:
            while written < len(line):  # a second round comes only when the disk is full, and says so
                written += os.write(self._handle, line[written:])
        except OSError as error:
            os.ftruncate(self._handle, start)
            raise disk_error(error, self._directory) from error

    def start_anew(self) -> None:
        """Put an empty journal in place of this one. Raises StoreError.

        A new file rather than a cut one, so that whoever reads the old one meanwhile sees all of it.
        """
        place = self._directory / JOURNAL_FILE
        fresh = place.with_name(TEMPORARY + JOURNAL_FILE)
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
        try:
            handle = os.open(fresh, flags, 0o644)
            try:
                fresh.replace(place)
            except OSError:
                os.close(handle)
                raise
        except OSError as error:
            raise disk_error(error, self._directory) from error
        os.close(self._handle)
        self._handle = handle

    def close(self) -> None:
        """Close the journal; harmless when done twice."""
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1


def check_burst(burst: Burst) -> None:
    """Raise StoreError when a burst has no calls, or numbers that no counter gives."""
    columns = [getattr(burst, name) for name in COLUMNS]
    numbers = (burst.calls, burst.waits, burst.round, burst.epoch, burst.cell.size_bytes, burst.cell.twin)
    extremes = [end(column) for column in columns if column for end in (min, max)]
    if burst.calls < 1 or not all(-(2**63) <= n < 2**63 for n in (*numbers, burst.piece_bytes, *extremes)):
        raise StoreError(
            f"a burst of {burst.cell.address} cannot be kept: it has no calls, or numbers beyond 64 bits",
            hint="the runner breaks the protocol (section 7); correct it and measure again",
        )


def _plain(value: Any) -> Any:
    if isinstance(value, float):
        return value if value - value == 0 else str(value)
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {_plain(key): _plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    return value
