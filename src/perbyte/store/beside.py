"""What may lie beside the figures of a run: what its cells execute and use, whether their time depends on secrets, and
how their cost depends on places in memory.

`behaviour.json` has the first, `leak.json` the second, with every pair that was taken for it in `pairs.parquet`, and
`places.json` the third with every place. Without the file nobody asked. Leaks may lie in a directory of their own,
which has no cells and no figures in cycles a byte.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import msgspec

from perbyte.errors import StoreError
from perbyte.model import Behaviour
from perbyte.model.leak import LeakFigure
from perbyte.model.placement import Placement
from perbyte.model.run import LeakRun
from perbyte.store.files import (
    BEHAVIOUR_FILE,
    LEAK_FILE,
    MEBIBYTE,
    PAIRS_FILE,
    PLACES_FILE,
    damaged,
    has_leaks_only,
    other_schema,
    read_whole,
    replace_atomically,
)
from perbyte.store.manifest import list_files
from perbyte.store.opening import tell_damage
from perbyte.store.state import RunSummary, what_of

_BEHAVIOUR_LIMIT = 256 * MEBIBYTE
_LEAK_LIMIT = 64 * MEBIBYTE
SCHEMA = 1  # of any of these files


class _OfCells(msgspec.Struct, frozen=True, kw_only=True):
    schema: int = SCHEMA
    run_id: str


class _Behaviours(_OfCells, frozen=True, kw_only=True):
    cells: tuple[Behaviour, ...]


class _Placements(_OfCells, frozen=True, kw_only=True):
    cells: tuple[Placement, ...]


def write_behaviours(directory: Path, run_id: str, behaviours: Sequence[Behaviour]) -> None:
    """Put `behaviour.json` in place in one step; what was there is replaced. Raises StoreError."""
    _write(directory, BEHAVIOUR_FILE, _Behaviours(run_id=run_id, cells=tuple(behaviours)))


def write_placements(directory: Path, run_id: str, placements: Sequence[Placement]) -> None:
    """Put `places.json` in place in one step; what was there is replaced. Raises StoreError."""
    _write(directory, PLACES_FILE, _Placements(run_id=run_id, cells=tuple(placements)))


def read_behaviours(directory: Path, run_id: str) -> tuple[Behaviour, ...]:
    """Read what was counted for the run in `directory`; empty where nothing was. Raises StoreError."""
    return _read(directory / BEHAVIOUR_FILE, run_id, _Behaviours)


def read_placements(directory: Path, run_id: str) -> tuple[Placement, ...]:
    """Read what places told for the run in `directory`; empty where nobody asked. Raises StoreError."""
    return _read(directory / PLACES_FILE, run_id, _Placements)


def _write(directory: Path, name: str, content: _OfCells) -> None:
    text = msgspec.json.format(msgspec.json.encode(content), indent=1) + b"\n"
    replace_atomically(directory / name, lambda temporary: temporary.write_bytes(text))
    list_files(directory, [name])


def _read(place: Path, run_id: str, form: type[Any]) -> tuple[Any, ...]:
    if not place.exists() and not place.is_symlink():
        return ()
    try:
        content = msgspec.json.decode(read_whole(place, _BEHAVIOUR_LIMIT), type=form)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise damaged(place, error) from error
    if content.schema != SCHEMA:
        raise other_schema(place, content.schema, SCHEMA)
    if content.run_id != run_id:
        raise damaged(place, f"it is of the run {content.run_id[:80]!r}")
    cells: tuple[Any, ...] = content.cells
    return cells


class LeakWriter:
    """Collects pairs and writes them, with the run they belong to, into a new directory or beside a run's figures."""

    def __init__(self, directory: Path, *, beside: bool = False) -> None:
        """Make the directory, unless it is that of a run (`beside`). Raises StoreError where it is not to be had."""
        self.directory, self._beside = directory, beside
        try:
            if not beside:
                directory.mkdir(parents=True)
        except OSError as error:
            raise StoreError(
                f"cannot make {directory}: {error.strerror}", hint="choose another place with --out"
            ) from error
        self._columns: dict[str, list[Any]] = {
            name: [] for name in ("case", "null", "epoch", "burst", "order", "first", "second", "clean")
        }

    def add(
        self,
        case: str,
        *,
        null: bool,
        epoch: int,
        burst: int,
        order: str,
        first: Sequence[float],
        second: Sequence[float],
        clean: Sequence[bool],
    ) -> None:
        """Keep the pairs of a burst: values of both classes, and the class of each sample (`order`)."""
        count = len(clean)
        of_burst = {"case": case, "null": null, "epoch": epoch, "burst": burst}
        columns: dict[str, Sequence[Any]] = {name: [value] * count for name, value in of_burst.items()}
        columns |= {"order": order[: 2 * count : 2], "first": first, "second": second, "clean": clean}
        for name, values in columns.items():
            self._columns[name].extend(values)

    def finish(self, run: LeakRun) -> None:
        """Write both files, and list them in the manifest. Raises StoreError when the disk does not take them."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        names = ("case", "order")
        table = pa.table(
            {
                name: pa.array(values, pa.string()).dictionary_encode() if name in names else pa.array(values)
                for name, values in self._columns.items()
            }
        )
        replace_atomically(
            self.directory / PAIRS_FILE, lambda place: pq.write_table(table, place, compression="zstd")
        )
        content = msgspec.json.format(msgspec.json.encode({"format": SCHEMA, **asdict(run)}), indent=1)
        replace_atomically(self.directory / LEAK_FILE, lambda place: place.write_bytes(content))
        list_files(self.directory, [LEAK_FILE, PAIRS_FILE], "" if self._beside else run.run_id)


def is_leak_run(place: Path) -> bool:
    """True for the directory of a run that looked for leaks and measured nothing else, or for its file."""
    if place.name == LEAK_FILE and place.is_file():
        place = place.parent
    return has_leaks_only(place)


def leak_runs(home: Path) -> list[Path]:
    """The runs directly under `home` that looked for leaks and measured nothing else."""
    return sorted(place for place in home.iterdir() if is_leak_run(place)) if home.is_dir() else []


def leak_summaries(home: Path) -> list[RunSummary]:
    """A line about each of these runs, newest first; `problem` where one cannot be read."""
    return sorted(map(_summary, leak_runs(home)), key=lambda summary: summary.started_at, reverse=True)


def _summary(place: Path) -> RunSummary:
    try:
        run = decode_leaks(place)
    except StoreError as error:
        return RunSummary(path=place, problem=str(error))
    cells = dict.fromkeys(figure.cell.address for figure in run.figures)
    what = what_of([*cells, *(failure.address for failure in run.failures if failure.address)])
    what = what or ", ".join(dict.fromkeys(str(entry["what"]) for entry in run.taint))
    return RunSummary(
        path=place,
        run_id=run.run_id,
        started_at=run.started_at,
        origin="leaks",
        cpu_model=run.machine.cpu_model,
        cells=len(cells),
        planned=len(cells),
        failures=len(run.failures),
        complete=True,
        measuring_s=sum(figure.seconds for figure in run.figures),
        measured=what,
    )


def read_leaks(place: Path) -> LeakRun:
    """Read what a run found, and warn where it is not what was written. Raises StoreError as `decode_leaks` does."""
    tell_damage(place)
    return decode_leaks(place)


def decode_leaks(place: Path) -> LeakRun:
    """Read what a run found. Raises StoreError when it cannot be read or is none."""
    file = place if place.name == LEAK_FILE else place / LEAK_FILE
    content = read_whole(file, _LEAK_LIMIT)
    try:
        return msgspec.json.decode(content, type=LeakRun)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise StoreError(
            f"{file} cannot be read: {error}", hint="it is damaged, or of another version"
        ) from error


def leaks_beside(directory: Path, run_id: str) -> tuple[LeakFigure, ...]:
    """Read what was found about the cells of the run in `directory`; empty where nobody asked. Raises StoreError."""
    place = directory / LEAK_FILE
    if not place.exists() and not place.is_symlink():
        return ()
    run = decode_leaks(place)
    if run.run_id != run_id:
        raise damaged(place, f"it is of the run {run.run_id[:80]!r}")
    return run.figures
