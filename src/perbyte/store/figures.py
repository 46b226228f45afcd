"""figures.json: the figures of a run, computed once, with what they were computed from.

It names the digest of the samples and the version of the rules (`perbyte.stats.run_figures.RULES`). Figures whose
digest is not that of the samples in the directory, or that run.json does not speak of, are not believed: they are
computed again. Whether they are what the samples give, only computing tells: `store.verify` compares.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec

from perbyte.model import CellFigure, Doubt
from perbyte.store.files import (
    FIGURES_FILE,
    MEBIBYTE,
    damaged,
    other_schema,
    read_whole,
    replace_atomically,
)
from perbyte.store.journal import encode
from perbyte.store.manifest import SAMPLES_NAME, ManifestEntry, entry_of_file

SCHEMA = 1
_LIMIT = 512 * MEBIBYTE
_SAME = 1e-9  # relative: another processor may add in another order


class StoredFigures(msgspec.Struct, frozen=True, kw_only=True):
    """The content of figures.json.

    `seq`: the last event of the run that they know; `samples`: the digest of the files of samples; `rules`: by which
    version of the rules they were computed.
    """

    run_id: str
    seq: int
    samples: str
    rules: int
    cells: tuple[CellFigure, ...]
    schema: int = SCHEMA


class _FiguresHead(msgspec.Struct):
    schema: int


def samples_digest(listed: Mapping[str, ManifestEntry]) -> str:
    """The digest of the files of samples among `listed`: SHA-256 of their names and digests, a line each."""
    lines = [
        f"{name} {entry.sha256}\n" for name, entry in sorted(listed.items()) if SAMPLES_NAME.fullmatch(name)
    ]
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def digest_of(stored: Iterable[Path]) -> str:
    """The digest of these files of samples as they lie there. Raises StoreError where one cannot be read."""
    return samples_digest({place.name: entry_of_file(place) for place in stored})


def write_figures(directory: Path, figures: StoredFigures) -> None:
    """Put figures.json in place in one step. Raises StoreError."""
    content = encode(figures)
    replace_atomically(directory / FIGURES_FILE, lambda temporary: temporary.write_bytes(content))


def read_figures(directory: Path) -> StoredFigures:
    """Read figures.json. Raises StoreError where it is missing, damaged or of a newer version."""
    place = directory / FIGURES_FILE
    content = read_whole(place, _LIMIT)
    try:
        schema = msgspec.json.decode(content, type=_FiguresHead).schema
        if schema != SCHEMA:
            raise other_schema(place, schema, SCHEMA)
        return msgspec.json.decode(content, type=StoredFigures, strict=False)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise damaged(place, error) from error


def unlike(stored: Iterable[CellFigure], computed: Iterable[CellFigure]) -> list[str]:
    """Say in what figures are not those that were computed, a text for each cell."""
    ours, theirs = ({figure.cell: figure for figure in figures} for figures in (stored, computed))
    texts = []
    for cell in ours | theirs:
        figure, other = ours.get(cell), theirs.get(cell)
        if figure is None or other is None:
            texts.append(f"{cell.address}: {'not stored' if figure is None else 'its samples give none'}")
        elif name := _differing(_comparable(figure), _comparable(other)):
            texts.append(f"{cell.address}: {name} is not what its samples give")
    return texts


def _comparable(figure: CellFigure) -> dict[str, Any]:
    """All of a figure but sentences, which a newer version may word otherwise, and what the catalogue says of it."""
    kinds = sorted(warning.kind for warning in figure.warnings if warning.kind is not Doubt.PLAIN_CODE)
    parts: dict[str, Any] = msgspec.to_builtins(replace(figure, warnings=()))
    return parts | {"warnings": kinds}


def _differing(stored: Any, computed: Any, name: str = "") -> str:
    """The name of the first part that differs; empty where none does."""
    if isinstance(stored, dict):
        names = (_differing(stored[key], computed.get(key), f"{name} {key}".strip()) for key in stored)
        return next(filter(None, names), "")
    if (
        isinstance(stored, list | tuple)
        and isinstance(computed, list | tuple)
        and len(stored) == len(computed)
    ):
        return next(filter(None, (_differing(a, b, name) for a, b in zip(stored, computed, strict=True))), "")
    if isinstance(stored, float) and isinstance(computed, float):
        same = math.isclose(stored, computed, rel_tol=_SAME) or (math.isnan(stored) and math.isnan(computed))
        return "" if same else name
    return "" if stored == computed else name
