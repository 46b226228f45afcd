"""Turns a run into what an older version wrote: Parquet files of samples and figures, and no word of rules."""

from __future__ import annotations

import base64
import json
import zlib
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from perbyte.store.figures import read_figures
from perbyte.store.manifest import Manifest, entry_of_file, read_manifest, write_manifest
from perbyte.store.samples import copy_in, last_seq, read_columns
from perbyte.store.tables import figures_table, samples_table


def _write(place: Path, table: pa.Table, seq: int, copy: bytes) -> None:
    noted = table.replace_schema_metadata(
        {
            b"perbyte_last_seq": str(seq).encode(),
            b"perbyte_run": base64.b64encode(zlib.compress(copy)) if copy else b"",
        }
    )
    pq.write_table(noted, place, compression="zstd", write_page_checksum=True)


def make_older(place: Path) -> Path:
    for file in sorted(place.glob("samples-*.npz")):
        table = samples_table(read_columns(file))
        _write(file.with_suffix(".parquet"), table, last_seq(file), copy_in(file))
        file.unlink()
    figures = read_figures(place)
    _write(place / "cells.parquet", figures_table(figures.cells), figures.seq, b"")
    (place / "figures.json").unlink()
    content = json.loads((place / "run.json").read_text())
    del content["rules"], content["refused"]
    (place / "run.json").write_text(json.dumps(content, indent=1))
    known = read_manifest(place)
    files = [*place.glob("*.parquet"), place / "run.json"]
    listed = {file.name: entry_of_file(file) for file in files}
    write_manifest(place, Manifest(known.run_id, known.seq, known.complete, listed))
    return place
