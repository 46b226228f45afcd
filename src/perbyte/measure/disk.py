"""How fast a directory's disk is: a file that has no name is written and read back, bounded in bytes and in time.

Nothing that is there is touched: the file is new, is unlinked before the first byte is written, and takes at most a
twentieth of the free space. Direct I/O where the file system has it; otherwise the page cache helps, which is said.
"""

from __future__ import annotations

import errno
import mmap
import os
import random
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from perbyte.errors import EnvironmentLacking, UsageError

MOST_BYTES = 256 << 20
LEAST_BYTES = 8 << 20
PIECE = 4 << 20
MOST_S = 2.0  # of writing, and of reading


@dataclass(frozen=True, slots=True)
class DiskRates:
    """Bytes a second in large pieces, one after the other; `direct` is False where the page cache was in the way."""

    read: float
    write: float
    bytes: int
    direct: bool


def disk_rates(directory: Path) -> DiskRates:
    """Measure the disk of `directory`.

    Raises UsageError where it is none, EnvironmentLacking where nothing can be written there or too little is free.
    """
    if not directory.is_dir():
        raise UsageError(
            f"'{directory}' is not a directory", hint="--path names a directory on the disk to measure"
        )
    try:
        room = os.statvfs(directory)
        most = min(MOST_BYTES, room.f_bavail * room.f_frsize // 20) // PIECE * PIECE
        if most < LEAST_BYTES:
            raise EnvironmentLacking(
                f"too little is free in '{directory}': {room.f_bavail * room.f_frsize >> 20} MiB",
                hint="the rate needs 160 MiB of free space, of which it uses a twentieth",
            )
        file, direct = _nameless(directory)
    except OSError as error:
        raise EnvironmentLacking(
            f"nothing can be written in '{directory}': {error.strerror}", hint="name a directory of your own"
        ) from None
    try:
        # page-aligned, as direct I/O wants it, and not compressible
        with mmap.mmap(-1, PIECE) as piece:
            piece.write(random.Random(7).randbytes(PIECE))
            written = 0
            began = time.perf_counter()
            while written < most and time.perf_counter() - began < MOST_S:
                written += os.pwrite(file, piece, written)
            os.fsync(file)
            writing_s = time.perf_counter() - began
            if not direct:
                os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
            seen = 0
            began = time.perf_counter()
            while seen < written and time.perf_counter() - began < MOST_S:
                got = os.preadv(file, [piece], seen)
                if not got:
                    break
                seen += got
            reading_s = time.perf_counter() - began
    except OSError as error:
        raise EnvironmentLacking(f"the disk of '{directory}' cannot be measured: {error.strerror}") from None
    finally:
        os.close(file)
    return DiskRates(seen / reading_s, written / writing_s, written, direct)


def _nameless(directory: Path) -> tuple[int, bool]:
    """A new file without a name in `directory`, and whether its I/O is direct."""
    for flag in (os.O_DIRECT, 0):
        try:
            return os.open(directory, os.O_TMPFILE | os.O_RDWR | flag, 0o600), bool(flag)
        except OSError as error:
            if error.errno not in (errno.EINVAL, errno.EOPNOTSUPP, errno.EISDIR):
                raise
    number, name = tempfile.mkstemp(prefix=".perbyte-", dir=directory)
    Path(name).unlink()
    return number, False
