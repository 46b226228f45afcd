"""Locks on files, by flock: they end with the process that holds them, however it ends, and say who that is."""

from __future__ import annotations

import contextlib
import datetime
import errno
import fcntl
import getpass
import json
import os
import stat
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from time import sleep

from perbyte import places

_TEXT_LIMIT = 4096
_POLL_S = 0.2


class Lock:
    """One lock. The file stays; what it says counts only while somebody holds it."""

    def __init__(self, place: Path, *, shared: bool = False) -> None:
        """Open the file, making it where it is missing; `shared`: other users may write their words to it.

        Raises OSError, also when it is a link or no file.
        """
        flags = os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
        try:
            # first without O_CREAT, which Linux refuses for another user's file in a shared directory
            self._handle = os.open(place, flags)
        except FileNotFoundError:
            self._handle = os.open(place, flags | os.O_CREAT, 0o666)
            if shared:
                os.fchmod(self._handle, 0o666)
        except OSError as error:
            if error.errno not in (errno.EACCES, errno.EPERM, errno.EROFS):
                raise
            self._handle = os.open(place, flags & ~os.O_RDWR)
        self._taken = False
        if not stat.S_ISREG(os.fstat(self._handle).st_mode):
            os.close(self._handle)
            raise OSError(f"{place} is not a regular file")

    def take(self, what: str) -> bool:
        """Take the lock and note `what` it is for; False when another process has it."""
        try:
            fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        self._taken = True
        record = {
            "pid": os.getpid(),
            "user": _user(),
            "since": f"{datetime.datetime.now(datetime.UTC):%Y-%m-%d %H:%M:%S} UTC",
            "what": what[:1000],
        }
        with contextlib.suppress(OSError):  # another user's file: the lock holds without a word
            os.ftruncate(self._handle, 0)
            os.pwrite(self._handle, json.dumps(record).encode(), 0)
        return True

    def wait(self, what: str, waiting: Callable[[str], None]) -> None:
        """Take the lock for `what` when nobody else has it; `waiting` is told once who has it."""
        told = False
        while not self.take(what):
            if not told:
                waiting(self.holder())
            told = True
            sleep(_POLL_S)

    def holder(self) -> str:
        """Say who has the lock, as far as that can be known: `process 12 of ann, since ...: what`."""
        try:
            record = json.loads(os.pread(self._handle, _TEXT_LIMIT, 0))
            pid, user, since, what = (str(record[key]) for key in ("pid", "user", "since", "what"))
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return "another process"
        if not pid.isdecimal() or not Path(f"/proc/{pid}").exists():
            return "another process"  # these are the words of somebody who is gone
        return f"process {pid} of {user}, since {since}: {what}"

    def release(self) -> None:
        """Give the lock back; harmless when done twice."""
        if self._handle >= 0:
            with contextlib.suppress(OSError):
                if self._taken:
                    os.ftruncate(self._handle, 0)  # nobody's name travels with a run
            os.close(self._handle)
            self._handle = -1


def held_by(place: Path) -> str:
    """Say who holds the lock `place` now; empty when nobody does. Makes no file."""
    if not place.is_file() or place.is_symlink():
        return ""
    lock = Lock(place)
    try:
        fcntl.flock(lock._handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return lock.holder()
    finally:
        lock.release()
    return ""


def waiting_text(core: int, holder: str) -> str:
    """What is said to whoever waits for a core."""
    return (
        f"waiting: core {core} is being measured on by {holder}. Both would be noisy; Ctrl-C ends the waiting, "
        "--cores chooses others"
    )


def held_cores(cores: Sequence[int]) -> list[str]:
    """Who has to be waited for, a line for each other process that measures on one of `cores`. Waits for nobody."""
    lines: dict[str, str] = {}
    for core in sorted(set(cores)):
        if (holder := held_by(_place_of(core))) and not holder.startswith(f"process {os.getpid()} "):
            lines.setdefault(_process_of(holder), waiting_text(core, holder))
    return list(lines.values())


def _process_of(holder: str) -> str:
    return holder.partition(",")[0]


@contextlib.contextmanager
def cores_held(
    cores: Sequence[int], what: str, *, waiting: Callable[[int, str], None] | None = None
) -> Iterator[None]:
    """Hold the right to measure on `cores` of this machine, waiting for each until nobody else has it.

    All users of a machine share these locks, whatever their `PERBYTE_HOME`. `waiting` is told once of each process that
    is waited for: the number of a core that it holds, and who it is. Every holder takes its cores in the order of their
    numbers, so no two wait for each other. Where no lock can be made, nobody is kept away.
    """
    told = set[str]()

    def say_once(core: int, holder: str) -> None:
        if waiting and _process_of(holder) not in told:
            waiting(core, holder)
        told.add(_process_of(holder))

    with contextlib.ExitStack() as held:
        for core in sorted(set(cores)):
            home = places.locks_home()
            try:
                home.mkdir(parents=True, exist_ok=True)
                lock = Lock(_place_of(core), shared=True)
            except OSError:
                continue
            held.callback(lock.release)
            lock.wait(what, partial(say_once, core))
        yield


def _place_of(core: int) -> Path:
    return places.locks_home() / f"perbyte-core-{core}.lock"


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return str(os.getuid())
