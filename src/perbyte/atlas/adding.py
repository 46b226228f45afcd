"""Puts runs into an atlas, and packs what many additions left into few files.

A run is written as rows: figures and samples by machine and library, its state beside them. What is held in memory is
bounded: rows go to disk as soon as there are enough for a row group, whatever the number of runs. Few files are open at
once, whatever the number of machines: those of many small runs are written one after the other when a batch ends.
"""

from __future__ import annotations

import contextlib
import hashlib
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from perbyte.atlas.identity import without_identities
from perbyte.atlas.index import (
    FEATURES,
    FileRow,
    RunRow,
    Segment,
    new_token,
    open_atlas,
    remove_segment,
    write_segment,
)
from perbyte.atlas.place import AtlasPlace
from perbyte.errors import PerbyteError, StoreError, UsageError
from perbyte.model.naming import machine_name, slug
from perbyte.store.journal import encode
from perbyte.store.opening import run_directory
from perbyte.store.reader import figures_of_known, read_known, samples_tables
from perbyte.store.state import RunState
from perbyte.store.tables import CELLS, SAMPLES, WORD, behind, figures_table

_HEAD = (pa.field("run", WORD), pa.field("machine", WORD))
SCHEMAS = {
    "cells": pa.schema([*_HEAD, *CELLS]),
    "samples": pa.schema([*_HEAD, *SAMPLES]),
    "states": pa.schema([*_HEAD, pa.field("state", pa.binary())]),
}
STATE_LIMIT = 64 << 20
_GROUP_ROWS = {"cells": 60_000, "samples": 250_000, "states": 64}
_HELD_BYTES = 256 << 20
_PARTITIONS = 200  # files that one batch keeps open
_RUNS = 1000


@dataclass(frozen=True, slots=True)
class Incoming:
    """A run on its way into an atlas: its row, its state as JSON, figures and samples as the store lays them out."""

    row: RunRow
    state: bytes
    cells: pa.Table
    samples: Iterable[pa.Table]
    libraries: dict[str, str]


@dataclass(frozen=True, slots=True)
class Added:
    """What `add` did: keys that are new, keys that were there already, and runs that could not be read (with why)."""

    new: tuple[str, ...]
    known: tuple[str, ...]
    refused: tuple[tuple[Path, PerbyteError], ...]


def add(
    url: str,
    paths: Sequence[Path],
    *,
    machine: str = "",
    keep_identities: bool = False,
    with_samples: bool = True,
    watch: Callable[[str], None] = lambda text: None,
) -> Added:
    """Add runs to the atlas at `url`, which is made where there is none.

    `machine` names the machine of all of them; by default each has the name that its run says. `with_samples` is that
    of `read_incoming`. A run that cannot be read costs itself only. Raises StoreError where the atlas cannot be
    written, UsageError for a name that is none.
    """
    if machine and slug(machine) != machine:
        raise UsageError(
            f"'{machine[:80]}' is not a valid name of a machine", hint=f"for example: {slug(machine)}"
        )
    atlas = open_atlas(url, create=True)
    known: list[str] = []
    refused: list[tuple[Path, PerbyteError]] = []

    def incoming() -> Iterator[Incoming]:
        for path in paths:
            try:
                run = read_incoming(
                    path, machine=machine, keep_identities=keep_identities, with_samples=with_samples
                )
            except PerbyteError as error:
                refused.append((path, error))
                continue
            there = atlas.runs.get(run.row.key)
            if there and _has_all(there, run.row, with_samples=with_samples):
                known.append(run.row.key)
                continue
            watch(run.row.key)
            yield run

    return Added(tuple(bring(atlas.place, incoming())), tuple(known), tuple(refused))


def read_incoming(
    path: Path, *, machine: str = "", keep_identities: bool = False, with_samples: bool = True
) -> Incoming:
    """Read a run directory as an atlas takes it; without samples also without the audits' readings. Raises StoreError.

    What audits decided is in the figures and failures. They and the samples are nine tenths of a run.
    """
    directory = run_directory(path)
    read = read_known(directory)
    cells = figures_of_known(directory, read)
    seq = max([read.state.seq, *(number for number, _ in read.pending)])
    state = replace(
        read.state,
        seq=seq,
        figures_seq=seq,
        figures=len(cells),
    )
    if not keep_identities:
        state = without_identities(state)
    if not with_samples:
        state = replace(state, audits=[])
    named = machine or machine_name(state.conditions)
    libraries = {identity.runner: slug(identity.library) for identity in state.conditions.identities}
    libraries |= {figure.cell.runner: slug(figure.library) for figure in cells if figure.library}
    samples = list(samples_tables(read)) if with_samples else []
    content = encode(state)
    row = row_of(state, named, content, sum(table.num_rows for table in samples))
    return Incoming(row, content, figures_table(cells), samples, libraries)


def row_of(state: RunState, machine: str, content: bytes, samples: int) -> RunRow:
    """The index's row of a run, `content` being its state as JSON. Raises StoreError for an id that is none."""
    conditions, profile = state.conditions, state.conditions.machine
    libraries = sorted(
        {f"{identity.library} {identity.library_version}".strip()[:300] for identity in conditions.identities}
    )
    texts = ("cpu_model", "cpu_vendor", "microcode", "architecture", "kernel", "distribution")
    if len(content) > STATE_LIMIT:
        raise StoreError(
            f"run {conditions.run_id[:80]} has {len(content)} bytes beside its samples: too many"
        )
    row = dict(
        run=conditions.run_id,
        machine=machine,
        digest=hashlib.sha256(content).hexdigest(),
        **{name: getattr(profile, name)[:300] for name in texts},
        features=tuple(name for name in FEATURES if name in profile.cpu_flags),
        cores=max(profile.cores, 0),
        provider=profile.virtualisation[:300],
        started_at=conditions.started_at[:300],
        perbyte_version=conditions.perbyte_version[:300],
        study=conditions.study[:300],
        origin=conditions.origin[:300],
        libraries=tuple(libraries),
        cells=state.figures,
        samples=samples,
        failures=len(state.failures),
        complete=state.complete,
        measuring_s=state.measuring_s,
        noise_floor=state.noise_floor.relative if state.noise_floor else None,
    )
    try:
        return msgspec.json.decode(msgspec.json.encode(row), type=RunRow)  # as a reader would take it
    except msgspec.MsgspecError as error:
        raise StoreError(
            f"run {conditions.run_id[:80]!r} cannot be stored in an atlas: {error}",
            hint="its run.json was not written by Perbyte",
        ) from error


def _has_all(there: RunRow, row: RunRow, *, with_samples: bool) -> bool:
    """Whether what an atlas has of a run is all that would be added; samples never make way for none."""
    if not with_samples and there.samples:
        return True
    return (there.digest, there.samples) == (row.digest, row.samples)


def bring(place: AtlasPlace, runs: Iterable[Incoming]) -> list[str]:
    """Write runs into an atlas, a segment for every thousand; return their keys. Raises StoreError."""
    keys: list[str] = []
    batch: _Batch | None = None
    with contextlib.ExitStack() as stack:
        for run in runs:
            batch = batch or stack.enter_context(_Batch(place))
            batch.take(run)
            keys.append(run.row.key)
            if batch.full:
                batch.end()
                batch = None
        if batch:
            batch.end()
    return keys


def pack(url: str) -> tuple[int, int]:
    """Write all runs into one file per table, machine and library; return how many files there were and are.

    Nobody needs to wait: readers that began before are told to begin again, and what is added meanwhile stays. Raises
    StoreError.
    """
    atlas = open_atlas(url)
    if atlas.problems:
        raise StoreError(
            f"the atlas cannot be packed: {atlas.problems[0]}", hint="remove that file, or fetch it again"
        )
    files: dict[tuple[str, str, str], list[tuple[Segment, FileRow]]] = defaultdict(list)
    for segment in sorted(atlas.segments, key=lambda segment: segment.token):
        for file in segment.files:
            files[file.table, file.machine, file.library].append((segment, file))
    before = sum(map(len, files.values()))
    with _Batch(atlas.place) as batch:
        for (table, machine, library), parts in sorted(files.items()):
            for segment, file in parts:
                place = atlas.place.opened(file.name(segment.token), file.bytes, file.sha256, check=True)
                hidden = pa.array(sorted(atlas.hidden[segment.token]), pa.string())
                for rows in _groups(place):
                    keep = pc.invert(pc.is_in(rows.column("run").cast(pa.string()), hidden))
                    batch.put(table, machine, library, rows.filter(keep))
            batch.finish((table, machine, library))
        batch.runs = [atlas.runs[key] for key in sorted(atlas.runs)]
        batch.end(replaces=[segment.token for segment in atlas.segments])
        after = len(batch.files)
    for segment in atlas.segments:
        remove_segment(atlas.place, segment)
    return before, after


def _groups(place: Path) -> Iterator[pa.Table]:
    try:
        file = pq.ParquetFile(place)
        for k in range(file.num_row_groups):
            rows = file.read_row_group(k)
            rows.validate(full=True)
            yield rows
    except (pa.ArrowException, OSError) as error:
        raise StoreError(f"{place} is damaged: {error}", hint="perbyte atlas verify") from error


class _Batch:
    """Files of one segment while they are written; nothing of it is seen before `end`."""

    def __init__(self, place: AtlasPlace) -> None:
        self.token = new_token()
        self.runs: list[RunRow] = []
        self.files: list[FileRow] = []
        self._place = place
        self._held: dict[tuple[str, str, str], list[pa.Table]] = {}
        self._held_bytes = 0
        self._writers: dict[tuple[str, str, str], pq.ParquetWriter] = {}
        self._rows: dict[tuple[str, str, str], int] = {}

    def __enter__(self) -> _Batch:
        root = self._place.root if self._place.local else None
        self._folder = tempfile.TemporaryDirectory(prefix=".adding-", dir=root)
        return self

    def __exit__(self, *_: object) -> None:
        for writer in self._writers.values():
            with contextlib.suppress(OSError, pa.ArrowException):
                writer.close()
        self._folder.cleanup()

    @property
    def full(self) -> bool:
        if len(self.runs) >= _RUNS or len(self._writers) >= _PARTITIONS:
            return True
        return self._many and len(self._held) >= _PARTITIONS

    @property
    def _many(self) -> bool:
        """Whether more is held in memory than may be."""
        return self._held_bytes > _HELD_BYTES

    def take(self, run: Incoming) -> None:
        """Add a run."""
        row = run.row
        for name, tables in (("cells", [run.cells]), ("samples", run.samples)):
            for table in tables:
                for library, part in _by_library(table, run.libraries):
                    self.put(name, row.machine, library, behind(part, run=row.key, machine=row.machine))
        state = pa.table({"state": pa.array([run.state], pa.binary())})
        self.put("states", row.machine, "", behind(state, run=row.key, machine=row.machine))
        self.runs.append(row)

    def put(self, name: str, machine: str, library: str, rows: pa.Table) -> None:
        """Add rows to a partition."""
        if not rows.num_rows:
            return
        partition = (name, machine, library)
        held = self._held.setdefault(partition, [])
        held.append(rows)
        self._held_bytes += rows.nbytes
        if sum(table.num_rows for table in held) >= _GROUP_ROWS[name]:
            self._flush(partition)
        if self._many and len(self._held) < _PARTITIONS:  # else the batch is full, and ends file by file
            for other in list(self._held):
                self._flush(other)

    def finish(self, partition: tuple[str, str, str]) -> None:
        """Give what is held of a partition to its file, and bring that to its place; nothing where it has no rows."""
        self._flush(partition)
        writer = self._writers.pop(partition, None)
        if writer is None:
            return
        writer.close()
        source = self._file(partition)
        with source.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        row = FileRow(*partition, self._rows.pop(partition), source.stat().st_size, digest)  # type: ignore[arg-type]
        self._place.bring(source, row.name(self.token))
        self.files.append(row)

    def end(self, replaces: Sequence[str] = ()) -> None:
        """Bring the files to their place, then the segment that names them."""
        for partition in list(dict.fromkeys((*self._writers, *self._held))):
            self.finish(partition)
        segment = Segment(
            schema=1, token=self.token, runs=self.runs, files=self.files, replaces=list(replaces)
        )
        write_segment(self._place, segment)

    def _flush(self, partition: tuple[str, str, str]) -> None:
        tables = self._held.pop(partition, [])
        self._held_bytes -= sum(table.nbytes for table in tables)
        if not tables:
            return
        schema = SCHEMAS[partition[0]]
        rows = pa.concat_tables(
            table.select(schema.names).cast(schema) for table in tables
        ).unify_dictionaries()
        if partition not in self._writers:
            self._writers[partition] = pq.ParquetWriter(
                self._file(partition), schema, compression="zstd", write_page_checksum=True
            )
            self._rows[partition] = 0
        self._writers[partition].write_table(rows, row_group_size=rows.num_rows)
        self._rows[partition] += rows.num_rows

    def _file(self, partition: tuple[str, str, str]) -> Path:
        return Path(self._folder.name) / "~".join(partition)


def _by_library(rows: pa.Table, libraries: dict[str, str]) -> Iterator[tuple[str, pa.Table]]:
    """The rows of each library, by its name; a runner whose library nobody knows stands for itself."""
    runners = rows.column("runner").cast(pa.string()).combine_chunks().dictionary_encode()
    words = runners.dictionary.to_pylist()
    named = {runner: libraries.get(runner) or slug(runner) for runner in sorted(words)}
    names = list(dict.fromkeys(named.values()))
    if len(names) == 1:
        yield names[0], rows
    if len(names) < 2:
        return
    numbers = np.array([names.index(named[word]) for word in words])[runners.indices.to_numpy()]
    order = np.argsort(numbers, kind="stable")
    ends = np.searchsorted(numbers[order], np.arange(len(names) + 1))
    whole = rows.take(pa.array(order)).combine_chunks()
    for name, first, last in zip(names, ends[:-1], ends[1:], strict=True):
        yield name, _with_own_words(whole.slice(first, last - first))


def _with_own_words(rows: pa.Table) -> pa.Table:
    """The rows with dictionaries of the words that are in them: a file has all words of a dictionary."""
    for place, column in enumerate(rows.schema):
        if isinstance(column.type, pa.DictionaryType) and rows.num_rows:
            words = rows.column(place).combine_chunks()
            words = words.chunk(0) if isinstance(words, pa.ChunkedArray) else words
            used = words.indices.dictionary_encode()
            own = pa.DictionaryArray.from_arrays(used.indices, words.dictionary.take(used.dictionary))
            rows = rows.set_column(place, column.name, own)
    return rows
