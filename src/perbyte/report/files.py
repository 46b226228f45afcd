"""Files that are written whole or not at all."""

from __future__ import annotations

import errno
from collections.abc import Callable
from pathlib import Path

from perbyte.atomic import new_file
from perbyte.errors import EnvironmentLacking

Say = Callable[[str], object]


def silent(_text: str) -> None:
    """Say nothing."""


def written(path: Path, write: Callable[[Path], object], say: Say = silent) -> Path:
    """Let `write` make a file beside `path`, and give it that name when it is whole; returns `path`.

    A directory that is missing is made, which is said. Raises EnvironmentLacking when the file cannot be written; what
    was there before stays.
    """
    try:
        if not path.parent.is_dir():
            path.parent.mkdir(parents=True)
            say(f"directory made: {path.parent}")
        with new_file(path) as part:
            write(part)
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        raise EnvironmentLacking(
            f"{path} cannot be written: {error.strerror}",
            hint="free some space, or choose another place"
            if full
            else "look at the disk and the permissions",
        ) from None
    return path
