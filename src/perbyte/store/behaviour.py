"""behaviour.json: what the cells of a run execute and use. A run without it is a run where nobody asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import msgspec

from perbyte.errors import StoreError
from perbyte.model import Behaviour
from perbyte.store.files import BEHAVIOUR_FILE, MEBIBYTE, damaged, read_whole, replace_atomically

LIMIT = 256 * MEBIBYTE
SCHEMA = 1


class _Content(msgspec.Struct, frozen=True):
    run_id: str
    cells: tuple[Behaviour, ...]
    schema: int = SCHEMA


def write_behaviours(directory: Path, run_id: str, behaviours: Sequence[Behaviour]) -> None:
    """Put the file in place in one step; what was there is replaced. Raises StoreError."""
    content = msgspec.json.format(
        msgspec.json.encode(
            {"schema": SCHEMA, "run_id": run_id, "cells": [asdict(behaviour) for behaviour in behaviours]}
        ),
        indent=1,
    )

    def write(temporary: Path) -> None:
        temporary.write_bytes(content + b"\n")

    replace_atomically(directory / BEHAVIOUR_FILE, write)


def read_behaviours(directory: Path, run_id: str) -> tuple[Behaviour, ...]:
    """Read what was counted for the run in `directory`; empty where nothing was. Raises StoreError."""
    place = directory / BEHAVIOUR_FILE
    if not place.exists() and not place.is_symlink():
        return ()
    try:
        content = msgspec.json.decode(read_whole(place, LIMIT), type=_Content)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise damaged(place, error) from error
    if content.schema != SCHEMA:
        raise StoreError(
            f"{place} was written in schema {content.schema}, this Perbyte reads schema {SCHEMA}",
            hint="update Perbyte and read the run with the new version",
        )
    if content.run_id != run_id:
        raise damaged(place, f"it is of the run {content.run_id[:80]!r}")
    return content.cells
