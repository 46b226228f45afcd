"""Files and directories that appear whole or not at all, whoever else writes the same one meanwhile."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

TEMPORARY = ".writing-"  # how a name begins that belongs to nothing yet


def _beside(place: Path) -> Path:
    return place.with_name(f"{TEMPORARY}{secrets.token_hex(4)}-{place.name}")


@contextmanager
def new_file(place: Path, *, durable: bool = False) -> Iterator[Path]:
    """A name for a new file, which takes the place of `place` in one step when all went well.

    Else it is removed, and what stood there stays. `durable`: it is forced to the disk first. Raises OSError.
    """
    new = _beside(place)
    try:
        yield new
        if durable:
            with new.open("rb+") as file:
                os.fsync(file.fileno())
        new.replace(place)
        if durable:
            sync_directory(place.parent)
    finally:
        with contextlib.suppress(OSError):
            new.unlink(missing_ok=True)


@contextmanager
def new_directory(place: Path) -> Iterator[Path]:
    """A new directory, which takes the place of `place` when all went well and is removed otherwise. Raises OSError."""
    place.parent.mkdir(parents=True, exist_ok=True)
    new = _beside(place)
    new.mkdir()
    try:
        yield new
        shutil.rmtree(place, ignore_errors=True)
        new.rename(place)
    finally:
        shutil.rmtree(new, ignore_errors=True)


def sync_directory(directory: Path) -> None:
    """Force the names in `directory` to the disk. Raises OSError."""
    handle = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
