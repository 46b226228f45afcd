"""Files that survive: written whole or not at all, read only when they are what they claim to be.

A run may come from anywhere, so links, pipes and files of absurd size are refused before they are opened.
"""

from __future__ import annotations

import contextlib
import errno
import signal
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

from perbyte.atomic import new_file
from perbyte.errors import NoSuchRun, StoreError
from perbyte.locks import Lock, held_by

RUN_FILE = "run.json"
BEHAVIOUR_FILE = "behaviour.json"
LEAK_FILE = "leak.json"
PAIRS_FILE = "pairs.parquet"
PLACES_FILE = "places.json"
BESIDE = (BEHAVIOUR_FILE, LEAK_FILE, PAIRS_FILE, PLACES_FILE)  # no figure depends on them
FIGURES_FILE = "figures.json"
CELLS_FILE = "cells.parquet"  # figures of runs that an older version wrote
JOURNAL_FILE = "journal.jsonl"
LOCK_FILE = ".lock"
SAMPLES_GLOB = "samples-*.npz"
OLDER_SAMPLES_GLOB = "samples-*.parquet"

MEBIBYTE = 1 << 20


def replace_atomically(place: Path, write: Callable[[Path], object]) -> None:
    """Let `write` fill a new file, force it to the disk and give it the name `place` in one step.

    Raises StoreError when the disk does not take it; what stood at `place` before then still stands there.
    """
    try:
        with new_file(place, durable=True) as temporary:
            write(temporary)
    except OSError as error:
        raise disk_error(error, place.parent) from error


def disk_error(error: OSError, directory: Path) -> StoreError:
    """Turn a failed write into words: what is safe, and how to go on."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return StoreError(
            f"there is no room left to write {directory}: {error.strerror}. Everything up to the last finished "
            "burst is kept",
            hint=f"free some space, then continue with: perbyte measure --resume {directory}",
        )
    hint = "check the permissions and the disk, or choose another place with --out"
    if error.errno in (errno.EEXIST, errno.ENOTDIR):
        hint = "it is a file: name a new directory with --out"
    return StoreError(f"cannot write {directory}: {error.strerror or error}", hint=hint)


def check_directory(directory: Path) -> None:
    """Raise NoSuchRun when `directory` is none."""
    try:
        is_directory = directory.is_dir()
    except (OSError, ValueError):
        is_directory = False
    if not is_directory:
        raise NoSuchRun(
            f"there is no run at {str(directory)[:200]!r}", hint="perbyte list runs shows where runs are"
        )


def has_leaks_only(directory: Path) -> bool:
    """True for the directory of a run that looked for leaks and measured nothing else."""
    return (directory / LEAK_FILE).is_file() and not (directory / RUN_FILE).exists()


def refuse_leak_run(directory: Path) -> None:
    """Raise StoreError where `directory` is of a run that looked for leaks and has no figures."""
    if has_leaks_only(directory):
        raise StoreError(
            f"{directory} has verdicts on leaks only, and no figures",
            hint=f"perbyte show {directory} (--json, --csv) has them; measure SELECTOR --leak makes a run with both",
        )


def check_regular(place: Path, limit_bytes: int) -> int:
    """Return the size of the regular file `place`.

    Raises StoreError when it is missing, a link, no file at all, or larger than `limit_bytes`.
    """
    try:
        status = place.lstat()
    except FileNotFoundError as error:
        if place.name == RUN_FILE:
            refuse_leak_run(place.parent)
        raise StoreError(
            f"{place.parent} holds no {place.name}",
            hint="give the directory of a run (perbyte list runs shows them)",
        ) from error
    except (OSError, ValueError) as error:
        raise StoreError(
            f"cannot read {place}: {error}", hint="check the path and its permissions"
        ) from error
    if not stat.S_ISREG(status.st_mode):
        raise StoreError(
            f"{place} is not a regular file", hint="copy the run with the files themselves, not with links"
        )
    if status.st_size > limit_bytes:
        raise StoreError(
            f"{place} has {status.st_size} bytes, more than the {limit_bytes} a run can have there",
            hint="this is not a run of Perbyte, or it is damaged: measure again",
        )
    return status.st_size


def read_whole(place: Path, limit_bytes: int) -> bytes:
    """Read the regular file `place`. Raises StoreError as `check_regular` does."""
    check_regular(place, limit_bytes)
    try:
        return place.read_bytes()
    except OSError as error:
        raise StoreError(f"cannot read {place}: {error.strerror}", hint="check the permissions") from error


def damaged(place: Path, why: object) -> StoreError:
    """Return the error for a file of a run that cannot be what it should be."""
    text = " ".join(str(why).split())
    return StoreError(
        f"{place} is damaged: {text[:300]}",
        hint=f"save the readable part with: perbyte recover {place.parent}",
    )


def other_schema(place: Path, schema: object, known: int) -> StoreError:
    """Return the error for what a newer version wrote."""
    return StoreError(
        f"{place} was written in schema {schema}, this Perbyte reads schema {known}",
        hint="update Perbyte and read the run with the new version",
    )


@contextlib.contextmanager
def undisturbed() -> Iterator[None]:
    """Hold back Ctrl-C and termination until a step that must be whole is done (of this thread)."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def require_free(directory: Path) -> None:
    """Raise StoreError when another process is writing the run in `directory`."""
    if holder := held_by(directory / LOCK_FILE):
        raise StoreError(
            f"another process is writing {directory}: {holder}",
            hint="wait until it has ended, or choose another --out",
        )


class RunLock:
    """The right to write one run, held by one process at a time; it ends with the process."""

    def __init__(self, directory: Path) -> None:
        """Take the lock. Raises StoreError when another process has it."""
        try:
            self._lock = Lock(directory / LOCK_FILE)
        except OSError as error:
            raise disk_error(error, directory) from error
        if not self._lock.take("writes it"):
            self._lock.release()
            require_free(directory)
            raise StoreError(f"another process is writing {directory}", hint="try again")

    def release(self) -> None:
        """Give the lock back; harmless when done twice."""
        self._lock.release()
