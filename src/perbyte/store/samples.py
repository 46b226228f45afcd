"""Samples as columns of small integers: `samples-NNNNNNNN.npz`, a file that `numpy.load` opens.

A zip archive of `.npy` arrays, compressed, with a CRC-32 for each. A column has the smallest integers that hold its
values; `start` is kept as the differences from sample to sample (`start_steps`). Arrays that begin with `burst_` have
an entry for each burst, the others one for each sample, except `cycles` and `core`: those have one for each sample of
the bursts whose `burst_has_cycles` or `burst_has_core` is set. `head.json` has the cells that `burst_cell` counts,
`run.json` a copy of the run's conditions. Older runs have `samples-NNNNNNNN.parquet` (`store.tables`).
"""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from perbyte.errors import StoreError
from perbyte.model import Burst, Cell
from perbyte.model.sample import COUNTERS, OPTIONAL
from perbyte.store.files import MEBIBYTE, check_regular, damaged, other_schema, replace_atomically

SCHEMA = 1
_FILE_LIMIT = 4096 * MEBIBYTE
_UNPACKED_LIMIT = 4096 * MEBIBYTE
_LEAST_UNPACKED, _MOST_PACKED = (
    64 * MEBIBYTE,
    100,
)  # columns of samples are packed to a seventh, never to a hundredth
_HEAD, _COPY = "head.json", "run.json"
_OF_BURST = ("number", "cell", "epoch", "round", "calls", "waits", "piece_bytes", "forked", "samples")
_HAS = tuple(f"has_{name}" for name in OPTIONAL)
_SIZES = tuple(np.dtype(name) for name in ("i1", "i2", "i4", "i8"))
_UNREADABLE = (
    *(OSError, ValueError, KeyError, EOFError, MemoryError, RuntimeError, NotImplementedError),
    *(RecursionError, OverflowError, struct.error, zlib.error, zipfile.BadZipFile, msgspec.MsgspecError),
)


class _SamplesHead(msgspec.Struct, frozen=True):
    last_seq: int
    cells: tuple[Cell, ...]
    schema: int = SCHEMA


@dataclass(frozen=True, slots=True)
class SampleColumns:
    """Samples as arrays of 64-bit integers. `heads` have an entry for each burst, `columns` one for each sample.

    `heads["cell"]` counts in `cells`. Optional columns have entries for the bursts only whose `has_...` is set.
    """

    cells: tuple[Cell, ...]
    heads: dict[str, np.ndarray]
    columns: dict[str, np.ndarray]

    def bursts(self) -> Iterator[tuple[int, Burst]]:
        """Give back the bursts in their order, each with its number."""
        heads = {name: column.tolist() for name, column in self.heads.items()}
        columns = {name: column.tolist() for name, column in self.columns.items()}
        start, starts = 0, dict.fromkeys(OPTIONAL, 0)
        for k, count in enumerate(heads["samples"]):
            values: dict[str, Any] = {name: columns[name][start : start + count] for name in COUNTERS}
            for name in OPTIONAL:
                has = count if heads[f"has_{name}"][k] else 0
                values[name] = columns[name][starts[name] : starts[name] + has]
                starts[name] += has
            values |= {name: heads[name][k] for name in ("epoch", "round", "calls", "waits", "piece_bytes")}
            yield (
                heads["number"][k],
                Burst(cell=self.cells[heads["cell"][k]], forked=bool(heads["forked"][k]), **values),
            )
            start += count

    def of(self, address: str) -> SampleColumns:
        """Those of the cells with this address."""
        wanted = np.array([cell.address == address for cell in self.cells], dtype=bool)
        kept = wanted[self.heads["cell"]]
        counts = self.heads["samples"]
        columns = {name: self.columns[name][np.repeat(kept, counts)] for name in COUNTERS}
        for name in OPTIONAL:
            has = self.heads[f"has_{name}"] > 0
            columns[name] = self.columns[name][np.repeat(kept[has], counts[has])]
        return SampleColumns(self.cells, {name: column[kept] for name, column in self.heads.items()}, columns)


def columns_of(numbered: Sequence[tuple[int, Burst]]) -> SampleColumns:
    """Lay (burst number, burst) pairs out as columns."""
    bursts = [burst for _, burst in numbered]
    cells = {burst.cell: None for burst in bursts}
    places = {cell: place for place, cell in enumerate(cells)}
    heads: dict[str, list[int]] = {
        "number": [number for number, _ in numbered],
        "cell": [places[burst.cell] for burst in bursts],
        "samples": [len(burst) for burst in bursts],
        **{
            name: [int(getattr(burst, name)) for burst in bursts]
            for name in ("epoch", "round", "calls", "waits", "piece_bytes", "forked")
        },
        **{f"has_{name}": [int(bool(getattr(burst, name))) for burst in bursts] for name in OPTIONAL},
    }
    columns = {
        name: [value for burst in bursts for value in getattr(burst, name)] for name in (*COUNTERS, *OPTIONAL)
    }
    return SampleColumns(tuple(cells), _arrays(heads), _arrays(columns))


def write_samples(place: Path, numbered: Sequence[tuple[int, Burst]], last_seq: int, copy: bytes) -> None:
    """Put a file of samples in place in one step; it keeps `last_seq` and `copy`, of run.json. Raises StoreError."""
    taken = columns_of(numbered)
    columns = dict(taken.columns)
    columns["start_steps"] = np.diff(columns.pop("start"), prepend=np.int64(0))  # wraps, and so does the sum
    columns |= {f"burst_{name}": column for name, column in taken.heads.items()}

    def write(temporary: Path) -> None:
        with zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
            for name, content in (
                (_HEAD, msgspec.json.encode(_SamplesHead(last_seq, taken.cells))),
                (_COPY, copy),
                *((f"{name}.npy", _npy(_smallest(column))) for name, column in columns.items()),
            ):
                member = zipfile.ZipInfo(name)  # no time of day: the same samples are the same bytes
                member.compress_type = zipfile.ZIP_DEFLATED
                archive.writestr(member, content)

    replace_atomically(place, write)


def read_columns(place: Path, address: str | None = None) -> SampleColumns:
    """Read a file of samples, all of it or one cell's. Raises StoreError for anything that is not such a file."""
    try:
        with _opened(place) as archive:
            head = _head(place, archive)
            heads = {name: _column(archive, f"burst_{name}") for name in (*_OF_BURST, *_HAS)}
            columns = {name: _column(archive, name) for name in (*COUNTERS[1:], *OPTIONAL)}
            columns["start"] = np.cumsum(_column(archive, "start_steps"), dtype=np.int64)
        _check(head.cells, heads, columns)
    except _UNREADABLE as error:
        raise damaged(place, error or type(error).__name__) from error
    taken = SampleColumns(head.cells, heads, columns)
    return taken if address is None else taken.of(address)


def last_seq(place: Path) -> int:
    """The last sequence number that a file of samples knows of. Raises StoreError when it is no such file."""
    try:
        with _opened(place) as archive:
            return _head(place, archive).last_seq
    except _UNREADABLE as error:
        raise damaged(place, error) from error


def copy_in(place: Path) -> bytes:
    """The copy of run.json in a file of samples; empty where there is none, or none that can be read."""
    try:
        with _opened(place) as archive:
            return archive.read(_COPY)
    except (*_UNREADABLE, StoreError):
        return b""


def _opened(place: Path) -> zipfile.ZipFile:
    """Open an archive that claims no more than a run can have. Raises StoreError, and what zipfile raises."""
    size = check_regular(place, _FILE_LIMIT)
    archive = zipfile.ZipFile(place)
    members = archive.infolist()
    unpacked = sum(member.file_size for member in members)
    limit = min(_UNPACKED_LIMIT, max(_LEAST_UNPACKED, _MOST_PACKED * size))
    if unpacked > limit or any(
        member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) for member in members
    ):
        archive.close()
        raise damaged(place, f"it claims {unpacked} bytes in {size}, or is packed in another way")
    return archive


def _head(place: Path, archive: zipfile.ZipFile) -> _SamplesHead:
    head = msgspec.json.decode(archive.read(_HEAD), type=_SamplesHead)
    if head.schema != SCHEMA:
        raise other_schema(place, head.schema, SCHEMA)
    return head


def _column(archive: zipfile.ZipFile, name: str) -> np.ndarray:
    """Read a column of integers. Raises ValueError for anything else."""
    content = archive.read(f"{name}.npy")
    stream = io.BytesIO(content)
    if np.lib.format.read_magic(stream) != (1, 0):
        raise ValueError(f"{name} is not a column of this version")
    shape, _, dtype = np.lib.format.read_array_header_1_0(stream)
    if dtype not in _SIZES or len(shape) != 1 or shape[0] * dtype.itemsize != len(content) - stream.tell():
        raise ValueError(f"{name} is not a column of integers")
    return np.frombuffer(content, dtype, offset=stream.tell()).astype(np.int64)


def _check(cells: Sequence[Cell], heads: dict[str, np.ndarray], columns: dict[str, np.ndarray]) -> None:
    """Raise ValueError where columns do not fit together."""
    counts = heads["samples"]
    if any(len(column) != len(counts) for column in heads.values()):
        raise ValueError("its bursts have columns of unequal length")
    if not len(counts):
        if any(map(len, columns.values())):
            raise ValueError("it has samples without bursts")
        return
    taken = len(columns["ticks"])
    if (
        counts.min() < 0
        or counts.max() > taken
        or heads["cell"].min() < 0
        or heads["cell"].max() >= len(cells)
    ):
        raise ValueError("a burst has samples or a cell that are not there")
    if heads["calls"].min() < 1:
        raise ValueError("a sample without calls")
    wanted = dict.fromkeys(COUNTERS, int(counts.sum()))
    wanted |= {name: int(counts[heads[f"has_{name}"] > 0].sum()) for name in OPTIONAL}
    if any(len(columns[name]) != count for name, count in wanted.items()):
        raise ValueError("its samples have columns of unequal length")


def _smallest(column: np.ndarray) -> np.ndarray:
    """The column in the smallest integers that hold its values."""
    low, high = (int(column.min()), int(column.max())) if len(column) else (0, 0)
    fitting = next(size for size in _SIZES if np.iinfo(size).min <= low and high <= np.iinfo(size).max)
    return column.astype(fitting)


def _npy(column: np.ndarray) -> bytes:
    stream = io.BytesIO()
    np.lib.format.write_array(stream, column, version=(1, 0), allow_pickle=False)
    return stream.getvalue()


def _arrays(columns: dict[str, list[Any]]) -> dict[str, np.ndarray]:
    return {name: np.array(values, dtype=np.int64) for name, values in columns.items()}
