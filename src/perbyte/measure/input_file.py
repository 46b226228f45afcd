"""The user's own file as input of a measurement: looked at, hashed, refused with a reason."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Collection, Mapping
from pathlib import Path

from perbyte.errors import EnvironmentLacking, UsageError

BLOCK_BYTES = 16
_SHARE_OF_MEMORY = 4  # input and output of several processes must fit beside each other


def require_size(facts: Mapping[str, str | int], sizes: Collection[int]) -> None:
    """Raise UsageError when a cell of one of `sizes` would need more bytes than the file has."""
    if max(sizes, default=0) > int(facts["size_bytes"]):
        raise UsageError(
            f"input '{facts['path']}' has {facts['size_bytes']} bytes, too few for a cell of {max(sizes)}",
            hint="leave --size out to measure on the whole file, or choose smaller sizes",
        )


def describe_input(path: Path) -> dict[str, str | int]:
    """Return path, size, SHA-256 and the usable size (whole blocks of 16 bytes) of `path`, which is only read.

    Raises UsageError when it is missing, unreadable, no regular file or too short, EnvironmentLacking when it is
    larger than memory allows.
    """
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise UsageError(f"input '{path}' is no regular file")
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        if status.st_size > memory // _SHARE_OF_MEMORY:
            raise EnvironmentLacking(
                f"input '{path}' has {status.st_size} bytes; with {memory} bytes of memory at most a quarter fits",
                hint="measure a part of it",
            )
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise UsageError(f"input '{path}' cannot be read: {error.strerror}") from None
    usable = status.st_size // BLOCK_BYTES * BLOCK_BYTES
    if not usable:
        raise UsageError(f"input '{path}' has {status.st_size} bytes, less than one block of {BLOCK_BYTES}")
    return {
        "path": str(path.resolve()),
        "size_bytes": status.st_size,
        "usable_bytes": usable,
        "sha256": digest,
    }
