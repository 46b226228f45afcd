"""Reads an atlas: SQL over all of it, single runs out of it.

A query sees the views `runs`, `cells` and `samples` and no file but those the index names. What is taken out of an
atlas passes the same checks as a run directory that came by mail.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from perbyte.atlas.index import TABLES, Atlas, FileRow, RunRow, Segment
from perbyte.errors import StoreError, UsageError
from perbyte.model import CellFigure, Run, StoredRun
from perbyte.store.files import FIGURES_FILE, RUN_FILE, damaged, disk_error

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

    from perbyte.store.state import RunState

Rows = dict[str, dict[str, "pa.Table"]]
"""Rows of runs, by table and key."""

_SAMPLES_FILE = "samples-00000001.npz"
_READING = ("SELECT", "EXPLAIN")
_SPARED = 4  # a query may use a quarter of the memory


def query(
    atlas: Atlas, sql: str, parameters: Sequence[Any] = ()
) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
    """Run one SQL statement that reads, `parameters` in the place of its `?`; return (column names, rows).

    Raises UsageError when it fails or would change anything, StoreError when a file is not what the index says.
    """
    from perbyte.store.sql import fetched

    with database(atlas, sql) as connection:
        statements = connection.extract_statements(sql)
        if len(statements) != 1 or statements[0].type.name not in _READING:
            raise UsageError("a query of an atlas is a single SELECT", hint="or DESCRIBE cells")
        return fetched(connection.execute(statements[0], list(parameters)))


@contextlib.contextmanager
def database(atlas: Atlas, sql: str) -> Iterator[duckdb.DuckDBPyConnection]:
    """A database with the views of an atlas that `sql` names; it reaches nothing else. Raises what `query` raises."""
    from perbyte.store.sql import PER_BYTE, closed_database

    more = ". Was the atlas packed meanwhile? Try again"
    with closed_database("the rows cannot be laid out", "ask for fewer", more) as connection:
        named = [name for name in TABLES[:2] if name in sql.lower()]
        places = {
            (segment.token, file): str(atlas.place.opened(file.name(segment.token), file.bytes, file.sha256))
            for segment in atlas.segments
            for file in segment.files
            if file.table in named
        }
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // _SPARED
        connection.execute(f"SET memory_limit = '{memory >> 20}MiB'")
        connection.execute(f"SET allowed_paths = {_listed(places.values())}")
        connection.execute("SET enable_external_access = false")
        if "runs" in sql.lower():
            connection.register("runs", _runs_table(atlas))
        for name in named:
            rows = _view(atlas, name, places)
            if not rows:
                from perbyte.atlas.adding import SCHEMAS

                rows = f"SELECT * FROM no_{name}"
                connection.register(f"no_{name}", SCHEMAS[name].empty_table())
            per_byte = f", {PER_BYTE}" if name == "cells" else ""
            connection.execute(f"CREATE VIEW {name} AS SELECT *{per_byte} FROM ({rows})")
        connection.execute("SET lock_configuration = true")
        yield connection


def read_state(atlas: Atlas, key: str) -> RunState:
    """The state of a run. Raises StoreError."""
    from perbyte.atlas.adding import STATE_LIMIT
    from perbyte.store.state import decode_state

    segment, row = atlas.homes[key], atlas.runs[key]
    for place in _places(atlas, segment, "states", row.machine):
        column = _column(place, key)
        if not column:
            continue
        content = column[0]
        if len(column) > 1 or not isinstance(content, bytes) or len(content) > STATE_LIMIT:
            raise damaged(place, f"the state of {key} is not one text")
        state = decode_state(content, Path(f"{place}#{key}"))
        if state.conditions.run_id != row.run:
            raise damaged(place, f"{key} calls itself {state.conditions.run_id[:80]!r}")
        return state
    raise StoreError(f"the atlas has no state of {key}", hint="perbyte atlas verify")


def read_figures(atlas: Atlas, key: str, rows: Rows | None = None) -> tuple[CellFigure, ...]:
    """The figures of a run. Raises StoreError."""
    from perbyte.store.tables import figures_of

    try:
        return figures_of((rows or read_rows(atlas, [key], ["cells"]))["cells"][key])
    except (ValueError, TypeError) as error:
        raise damaged(Path(key), error) from error


def read_run(atlas: Atlas, key: str) -> Run:
    """A run with its figures, as `store.open_run` gives one back. Raises StoreError."""
    return read_state(atlas, key).run(None, read_figures(atlas, key))


def read_stored(atlas: Atlas, key: str, rows: Rows | None = None) -> StoredRun:
    """All that a run measured, as `store.stored_run` gives it back. Raises StoreError."""
    from perbyte.store.tables import bursts_of

    state = read_state(atlas, key)
    samples = (rows or read_rows(atlas, [key], ["samples"]))["samples"][key]
    return state.stored(burst for _, burst in bursts_of(samples))


def pull(
    atlas: Atlas, keys: Sequence[str], out: Path, watch: Callable[[str], None] = lambda text: None
) -> list[Path]:
    """Write runs of an atlas as run directories below `out`, each named by its key; return them.

    Raises StoreError where a run is damaged or a directory is there already.
    """
    made: list[Path] = []
    for key in keys:
        state = read_state(atlas, key)
        rows = read_rows(atlas, [key])
        directory = out / key
        try:
            directory.mkdir(parents=True)
        except FileExistsError:
            raise StoreError(
                f"{directory} is there already", hint="pull into another place with --out"
            ) from None
        except OSError as error:
            raise disk_error(error, directory) from error
        write_run(directory, state, rows["cells"][key], rows["samples"][key])
        made.append(directory)
        watch(key)
    return made


def write_run(directory: Path, state: RunState, cells: pa.Table, samples: pa.Table | None) -> None:
    """Write a run into an empty directory, as the store would have. Raises StoreError."""
    from perbyte.store.figures import StoredFigures, samples_digest, write_figures
    from perbyte.store.journal import encode
    from perbyte.store.manifest import Manifest, ManifestEntry, entry_of, entry_of_file, write_manifest
    from perbyte.store.samples import write_samples
    from perbyte.store.state import state_text, write_state
    from perbyte.store.tables import bursts_of, figures_of

    state = replace(state, figures=cells.num_rows, figures_seq=state.seq)
    files: dict[str, ManifestEntry] = {}
    if samples is not None and samples.num_rows:
        write_samples(directory / _SAMPLES_FILE, list(bursts_of(samples)), state.seq, encode(state))
        files[_SAMPLES_FILE] = entry_of_file(directory / _SAMPLES_FILE)
    write_figures(
        directory,
        StoredFigures(
            run_id=state.conditions.run_id,
            seq=state.seq,
            samples=samples_digest(files),
            rules=state.rules,
            cells=figures_of(cells),
        ),
    )
    content = state_text(state)
    files |= {FIGURES_FILE: entry_of_file(directory / FIGURES_FILE), RUN_FILE: entry_of(content)}
    write_manifest(directory, Manifest(state.conditions.run_id, state.seq, state.complete, files, whole=True))
    write_state(directory, content)


def verify(atlas: Atlas) -> list[str]:
    """What is wrong with an atlas, a line each: files that are missing, changed or not what they should be."""
    wrong = list(atlas.problems)
    for segment in atlas.segments:
        for file in segment.files:
            try:
                atlas.place.opened(file.name(segment.token), file.bytes, file.sha256, check=True)
            except (StoreError, OSError) as error:
                wrong.append(str(error))
    for key in sorted(atlas.runs):
        try:
            read_state(atlas, key)
        except StoreError as error:
            wrong.append(str(error))
    return wrong


def read_rows(atlas: Atlas, keys: Sequence[str], tables: Sequence[str] = TABLES[:2]) -> Rows:
    """The rows of runs by table and key, as the store lays them out, samples in the order in which they were taken.

    A file is read once for all `keys`. Raises StoreError.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    from perbyte.store.tables import CELLS, SAMPLES, read_table

    homes: dict[tuple[str, str], list[str]] = {}
    for key in keys:
        homes.setdefault((atlas.homes[key].token, atlas.runs[key].machine), []).append(key)
    rows: Rows = {}
    for table in tables:
        schema = CELLS if table == "cells" else SAMPLES
        parts_of: dict[str, list[pa.Table]] = {key: [] for key in keys}
        for (_, machine), here in homes.items():
            for place in _places(atlas, atlas.homes[here[0]], table, machine):
                whole = read_table(place, table, filters=[("run", "in", here)], by="run")
                runs = whole.column("run").cast(pa.string())
                for key in here:
                    own = whole if len(here) == 1 else whole.filter(pc.equal(runs, key))
                    parts_of[key].append(own.select(schema.names))
        rows[table] = {key: _in_order(parts, schema) for key, parts in parts_of.items()}
    return rows


def _in_order(parts: list[pa.Table], schema: pa.Schema) -> pa.Table:
    """What the files of several libraries have of a run; the order of bursts is the run's."""
    import numpy as np
    import pyarrow as pa

    if not parts:
        return schema.empty_table()
    whole = pa.concat_tables(parts).unify_dictionaries().combine_chunks()
    if len(parts) > 1 and "burst" in schema.names:
        whole = whole.take(pa.array(np.argsort(whole.column("burst").to_numpy(), kind="stable")))
    return whole


def _places(atlas: Atlas, segment: Segment, table: str, machine: str) -> list[Path]:
    return [
        atlas.place.opened(file.name(segment.token), file.bytes, file.sha256)
        for file in segment.files
        if file.table == table and file.machine == machine
    ]


def _column(place: Path, key: str) -> list[Any]:
    """The states of `key` in a file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from perbyte.store.tables import check_file

    check_file(place, "atlas")
    try:
        table = pq.read_table(place, columns=["state"], filters=[("run", "=", key)], partitioning=None)
        table.validate(full=True)
        states: list[Any] = table.column("state").to_pylist()
        return states
    except (pa.ArrowException, OSError, ValueError, KeyError, MemoryError) as error:
        raise damaged(place, error) from error


def _view(atlas: Atlas, table: str, places: dict[tuple[str, FileRow], str]) -> str:
    """SQL of all rows of a table; rows of a segment whose run a newer segment has are left out."""
    whole, parts = [], []
    for segment in atlas.segments:
        own = [places[segment.token, file] for file in segment.files if file.table == table]
        hidden = atlas.hidden[segment.token]
        if not own:
            continue
        if hidden:
            keys = ", ".join(f"'{key}'" for key in sorted(hidden))
            parts.append(f"SELECT * FROM {_read(own)} WHERE run NOT IN ({keys})")
        else:
            whole += own
    if whole:
        parts.append(f"SELECT * FROM {_read(whole)}")
    if parts:
        # a column that segments of older versions do not have
        parts.append("SELECT 'loop' AS state WHERE false")
    return " UNION ALL BY NAME ".join(parts)


def _read(paths: Any) -> str:
    return f"read_parquet({_listed(paths)}, hive_partitioning = false, union_by_name = true)"


def _listed(paths: Any) -> str:
    quoted = []
    for path in paths:
        if any(letter in path for letter in "*?["):
            raise UsageError(
                f"{path}: a query takes *, ? and [ in a path for a pattern", hint="move the atlas"
            )
        quoted.append("'" + path.replace("'", "''") + "'")
    return "[" + ", ".join(quoted) + "]"


def _runs_table(atlas: Atlas) -> pa.Table:
    import pyarrow as pa

    kinds: dict[str, Any] = {"complete": pa.bool_(), "measuring_s": pa.float64(), "noise_floor": pa.float64()}
    kinds |= dict.fromkeys(("cores", "cells", "samples", "failures"), pa.int64())
    kinds |= dict.fromkeys(("features", "libraries"), pa.list_(pa.string()))
    rows = list(atlas.runs.values())
    columns = {"run": pa.array([row.key for row in rows], pa.string())}
    for name in (name for name in RunRow.__struct_fields__ if name != "digest"):
        values = [getattr(row, name) for row in rows]
        columns["run_id" if name == "run" else name] = pa.array(values, kinds.get(name, pa.string()))
    return pa.table(columns)
