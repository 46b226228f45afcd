"""Samples and figures as Arrow tables, for queries and atlases, and the Parquet files of runs of older versions.

One row per sample, one row per figure; an address stands beside its parts, so that SQL needs no parsing.
Arrow is loaded with this module, so whoever needs it imports this module late.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from perbyte.model import Burst, Cell, CellFigure, Doubt, Estimate, Interval, Quality, Quantile, Warning
from perbyte.model.cell import LOOP
from perbyte.model.sample import COUNTERS, OPTIONAL
from perbyte.store.files import MEBIBYTE, check_regular, damaged
from perbyte.store.samples import SampleColumns

_FILE_LIMIT = 16384 * MEBIBYTE
_UNPACKED_LIMIT = {"samples": 16384 * MEBIBYTE, "cells": 512 * MEBIBYTE, "atlas": 16384 * MEBIBYTE}
_ROWS_LIMIT = {"samples": 500_000_000, "cells": 1_000_000, "atlas": 500_000_000}
_LAST_SEQ = b"perbyte_last_seq"
_COPY = b"perbyte_run"

WORD = pa.dictionary(pa.int32(), pa.string())
_CELL_FIELDS = [
    ("address", WORD),
    ("runner", WORD),
    ("algorithm", WORD),
    ("operation", WORD),
    ("size_bytes", pa.int64()),
    ("contract", WORD),
    ("cpu", WORD),
    ("twin", pa.int64()),
    ("state", WORD),
]
SAMPLES = pa.schema(
    [
        *_CELL_FIELDS,
        ("epoch", pa.int64()),
        ("round", pa.int64()),
        ("burst", pa.int64()),
        ("calls", pa.int64()),
        *((name, pa.int64()) for name in COUNTERS),
        ("cycles", pa.int64()),
        ("waits", pa.int64()),
        ("core", pa.int64()),
        ("piece_bytes", pa.int64()),
        ("forked", pa.bool_()),
    ]
)
CELLS = pa.schema(
    [
        *_CELL_FIELDS,
        ("library", pa.string()),
        ("library_version", pa.string()),
        ("cycles_per_call", pa.float64()),
        ("ns_per_call", pa.float64()),
        ("interval_low", pa.float64()),
        ("interval_high", pa.float64()),
        ("interval_level", pa.float64()),
        ("interval_dominated_by", pa.string()),
        ("samples", pa.int64()),
        ("clean_samples", pa.int64()),
        ("epochs", pa.int64()),
        ("epoch_cycles", pa.list_(pa.float64())),
        ("epoch_ns", pa.list_(pa.float64())),
        ("epoch_numbers", pa.list_(pa.int64())),
        ("quantile_shares", pa.list_(pa.float64())),
        ("quantile_values", pa.list_(pa.float64())),
        ("quantile_lows", pa.list_(pa.float64())),
        ("quantile_highs", pa.list_(pa.float64())),
        ("calls_per_sample", pa.int64()),
        ("quality", pa.string()),
        ("cycle_source", pa.string()),
        ("warnings", pa.list_(pa.string())),
        ("warning_kinds", pa.list_(pa.string())),
        ("warning_numbers", pa.list_(pa.list_(pa.float64()))),
        ("forks", pa.int64()),
    ]
)
# columns that older files do not have, and what stands for them; of warnings once for each
_NEWER: dict[str, Any] = {
    "state": LOOP,
    "core": None,
    "piece_bytes": 0,
    "forked": False,
    "forks": 0,
    "warning_kinds": [Doubt.OTHER.value],
    "warning_numbers": [[]],
    "epoch_numbers": [],
    **{f"quantile_{part}": [] for part in ("shares", "values", "lows", "highs")},
}
_MAY_BE_NULL = {"cycles", "cycles_per_call", "core"}


def samples_table(taken: SampleColumns) -> pa.Table:
    """Lay samples out as rows; a burst without samples has none."""
    counts = taken.heads["samples"]
    heads = {name: np.repeat(column, counts) for name, column in taken.heads.items()}
    columns: dict[str, pa.Array] = {}
    codes = pa.array(heads["cell"], pa.int32())
    for name, kind in _CELL_FIELDS:
        values = [getattr(cell, name) for cell in taken.cells]
        if kind is WORD:
            words = {word: code for code, word in enumerate(dict.fromkeys(values))}
            of_cells = pa.array([words[word] for word in values], pa.int32())
            columns[name] = pa.DictionaryArray.from_arrays(
                of_cells.take(codes), pa.array([*words], pa.string())
            )
        else:
            columns[name] = pa.array(values, kind).take(codes)
    for name in ("epoch", "round", "calls", "waits", "piece_bytes"):
        columns[name] = pa.array(heads[name])
    columns |= {"burst": pa.array(heads["number"]), "forked": pa.array(heads["forked"] != 0)}
    columns |= {name: pa.array(taken.columns[name]) for name in COUNTERS}
    for name in OPTIONAL:
        there = heads[f"has_{name}"] != 0
        whole = np.zeros(len(there), dtype=np.int64)
        whole[there] = taken.columns[name]
        columns[name] = pa.array(whole, mask=~there)
    return pa.table([columns[field.name] for field in SAMPLES], schema=SAMPLES)


def bursts_of(table: pa.Table) -> Iterator[tuple[int, Burst]]:
    """Give back the bursts of a samples table, in its order, each with its number."""
    numbers = table.column("burst").to_pylist()
    ends = [k for k in range(1, len(numbers)) if numbers[k] != numbers[k - 1]] + [len(numbers)]
    starts = [0, *ends[:-1]] if numbers else []
    heads = table.take(pa.array(starts, pa.int64()))
    cells = _cells_of(heads)
    of_bursts = ("epoch", "round", "calls", "waits", "piece_bytes", "forked")
    singles = {name: heads.column(name).to_pylist() for name in of_bursts}
    columns = {name: table.column(name).to_pylist() for name in (*COUNTERS, *OPTIONAL)}
    for k, (start, end) in enumerate(zip(starts, ends, strict=False)):
        optional = {name: columns[name][start:end] for name in OPTIONAL}
        yield (
            numbers[start],
            Burst(
                cell=cells[k],
                **{name: [] if None in values else values for name, values in optional.items()},
                **{name: values[k] for name, values in singles.items()},
                **{name: columns[name][start:end] for name in COUNTERS},
            ),
        )


def figures_table(figures: Sequence[CellFigure]) -> pa.Table:
    """Lay figures out as rows."""
    columns = _cell_columns([figure.cell for figure in figures])
    for field in CELLS:
        if field.name in columns:
            continue
        if field.name.startswith("interval_"):
            part = field.name.removeprefix("interval_")
            values = [getattr(figure.interval, part) for figure in figures]
        elif field.name == "quality":
            values = [figure.quality.value for figure in figures]
        elif field.name.startswith("quantile_"):
            values = [[_part(quantile, field.name) for quantile in figure.quantiles] for figure in figures]
        elif field.name.startswith("warning"):
            part = {"warnings": "text", "warning_kinds": "kind", "warning_numbers": "numbers"}[field.name]
            values = [[getattr(warning, part) for warning in figure.warnings] for figure in figures]
        else:
            values = [getattr(figure, field.name) for figure in figures]
        columns[field.name] = pa.array(values, field.type)
    return pa.table([columns[field.name] for field in CELLS], schema=CELLS)


def _part(quantile: Quantile, column: str) -> float:
    """What one of the columns of quantiles holds."""
    if column == "quantile_shares":
        return quantile.share
    return float(getattr(quantile.estimate, column.removeprefix("quantile_").removesuffix("s")))


def figures_of(table: pa.Table) -> tuple[CellFigure, ...]:
    """Give back the figures of a cells table. Raises ValueError for an unknown quality or lists that do not fit."""
    figures = []
    parts = table.drop_columns([name for name, _ in _CELL_FIELDS])
    for cell, row in zip(_cells_of(table), parts.to_pylist(), strict=True):
        interval = Interval(
            low=row.pop("interval_low"),
            high=row.pop("interval_high"),
            level=row.pop("interval_level"),
            dominated_by=row.pop("interval_dominated_by"),
        )
        quality = Quality(row.pop("quality"))
        row |= {name: tuple(row[name]) for name in ("epoch_cycles", "epoch_ns", "epoch_numbers")}
        parts_of = ("shares", "values", "lows", "highs")
        estimates = zip(*(row.pop(f"quantile_{name}") for name in parts_of), strict=True)
        row["quantiles"] = tuple(Quantile(share, Estimate(*estimate)) for share, *estimate in estimates)
        columns = zip(row.pop("warnings"), row.pop("warning_kinds"), row.pop("warning_numbers"), strict=True)
        warnings = tuple(_warning(*warning) for warning in columns)
        figures.append(CellFigure(cell=cell, interval=interval, quality=quality, warnings=warnings, **row))
    return tuple(figures)


def _warning(text: str, kind: str, numbers: Sequence[float]) -> Warning:
    return Warning(Doubt(kind), text, tuple(numbers))


def copy_in(place: Path) -> bytes:
    """The copy of run.json that an older version gave a file; empty where there is none, or none that can be read."""
    try:
        return bytes((pq.read_metadata(place).metadata or {}).get(_COPY, b""))
    except (pa.ArrowException, OSError, ValueError, MemoryError):
        return b""


def read_table(
    place: Path, kind: str, address: str | None = None, filters: Any = None, by: str = ""
) -> pa.Table:
    """Read a Parquet file of `kind` (`samples` or `cells`), all of it, one cell's rows, or those of Arrow's `filters`.

    The column of words `by`, which an atlas has and a run has not, comes last. Raises StoreError for anything that is
    not such a file, columns of other types included.
    """
    check_file(place, "atlas" if filters else kind)
    schema = SAMPLES if kind == "samples" else CELLS
    whole = schema.append(pa.field(by, WORD)) if by else schema
    try:
        there = {*pq.read_schema(place).names}
        wanted = [name for name in whole.names if name in there or name not in _NEWER]
        table = pq.read_table(
            place, columns=wanted, filters=filters, partitioning=None, page_checksum_verification=True
        )
        table.validate(full=True)  # before anything computes on it: its codes may point anywhere
        for name in (name for name in whole.names if name in _NEWER and name not in there):
            values = [_NEWER[name]] * table.num_rows
            if name.startswith("warning_"):
                values = [_NEWER[name] * len(texts or ()) for texts in table.column("warnings").to_pylist()]
            column = pa.string() if name == "state" else whole.field(name).type
            table = table.append_column(name, pa.array(values, column))
        table = table.select(whole.names).cast(whole)
        if address is not None:
            table = table.filter(pa.array([name == address for name in _words(table.column("address"))]))
    except (pa.ArrowException, OSError, ValueError, KeyError, MemoryError) as error:
        raise damaged(place, error) from error
    for field in whole:
        column = table.column(field.name)
        holes = column.null_count
        chunks, inner = column.chunks, field.type
        while pa.types.is_list(inner):
            chunks, inner = [chunk.flatten() for chunk in chunks], inner.value_type
            holes += sum(chunk.null_count for chunk in chunks)
        if holes and field.name not in _MAY_BE_NULL:
            raise damaged(place, f"column {field.name} has holes")
    if kind == "samples" and table.num_rows and min(table.column("calls").to_pylist()) < 1:
        raise damaged(place, "a sample without calls")
    return table


def check_file(place: Path, kind: str) -> int:
    """Return the last sequence number a Parquet file knows of; reads its footer only.

    Raises StoreError when it is no such file or claims to hold more than a run can.
    """
    size = check_regular(place, _FILE_LIMIT)
    try:
        footer = pq.read_metadata(place)
        unpacked = sum(footer.row_group(k).total_byte_size for k in range(footer.num_row_groups))
        last_seq = int((footer.metadata or {}).get(_LAST_SEQ, b"0"))
    except (pa.ArrowException, OSError, ValueError, KeyError, MemoryError, OverflowError) as error:
        raise damaged(place, error) from error
    too_many = footer.num_rows > _ROWS_LIMIT[kind] or unpacked > _UNPACKED_LIMIT[kind]
    if too_many or footer.num_rows > 10_000 * max(size, 1):
        raise damaged(place, f"it claims {footer.num_rows} rows and {unpacked} bytes")
    return last_seq


def behind(rows: pa.Table, **words: str) -> pa.Table:
    """The rows behind columns of words, each with the same one in all rows."""
    codes = pa.array([0], pa.int32()).take(pa.array([0] * rows.num_rows, pa.int32()))
    for place, (name, word) in enumerate(words.items()):
        column = pa.DictionaryArray.from_arrays(codes, pa.array([word], pa.string()))
        rows = rows.add_column(place, pa.field(name, WORD), column)
    return rows


def _cell_columns(cells: Sequence[Cell]) -> dict[str, pa.Array]:
    columns: dict[str, pa.Array] = {}
    for name, kind in _CELL_FIELDS:
        values = [getattr(cell, name) for cell in cells]
        columns[name] = (
            pa.array(values, pa.string()).dictionary_encode() if kind is WORD else pa.array(values, kind)
        )
    return columns


def _cells_of(table: pa.Table) -> list[Cell]:
    """The cell of each row; equal cells are one object."""
    columns = [
        _words(table.column(name)) if kind is WORD else table.column(name).to_pylist()
        for name, kind in _CELL_FIELDS[1:]
    ]
    known: dict[tuple[Any, ...], Cell] = {}
    return [known.get(key) or known.setdefault(key, Cell(*key)) for key in zip(*columns, strict=True)]


def _words(column: pa.ChunkedArray) -> list[str]:
    """The texts of a dictionary column; by its codes, which is much faster than value by value."""
    texts: list[str] = []
    for chunk in column.chunks:
        words = chunk.dictionary.to_pylist()
        texts += [words[code] for code in chunk.indices.to_pylist()]
    return texts
