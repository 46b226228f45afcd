"""Waits until a user's files change."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

_EVERY_S = 0.3


def wait_for_change(files: Sequence[Path]) -> None:
    """Return when a file's content is another one. An editor may replace a file, so it may be gone for a moment."""

    def look() -> list[bytes]:
        return [file.read_bytes() if file.is_file() else b"" for file in files]

    seen = look()
    while True:
        time.sleep(_EVERY_S)
        if (now := look()) != seen and all(now):
            return
