"""Run directories: every sample that was taken, the conditions it was taken under, and the figures.

A run is a directory that can be moved, mailed, merged and read again when the statistics improve:

    run.json            conditions, calibrations, failures, noise floor (schema version 1)
    samples-NNNN.npz    all raw samples, as columns of small integers
    figures.json        the figures, and what they were computed from
    places.json         how costs depend on places in memory, where that was asked for
    behaviour.json      what cells execute and use, where that was asked for
    leak.json           whether their time depends on secrets, and pairs.parquet; likewise
    manifest.json       size and SHA-256 of each of these; manifest.json.sig its signature, where there is one
    journal.jsonl       what was measured since the last samples file; a kill of the process loses none of it

Nothing is loaded before it is used: Arrow and DuckDB take their time, and most commands need neither.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from perbyte.store.beside import leak_runs
    from perbyte.store.damage import recover, verify
    from perbyte.store.opening import unlike_manifest
    from perbyte.store.reader import bursts, open_run, stored_run
    from perbyte.store.signature import read_signature, sign
    from perbyte.store.sql import query
    from perbyte.store.state import latest, runs
    from perbyte.store.writer import RunWriter, merge

__all__ = [
    "RunWriter",
    "bursts",
    "latest",
    "leak_runs",
    "merge",
    "open_run",
    "query",
    "read_signature",
    "recover",
    "runs",
    "sign",
    "stored_run",
    "unlike_manifest",
    "verify",
]
_NAMES = {
    "beside": ("leak_runs",),
    "damage": ("recover", "verify"),
    "opening": ("unlike_manifest",),
    "reader": ("bursts", "open_run", "stored_run"),
    "signature": ("read_signature", "sign"),
    "sql": ("query",),
    "state": ("latest", "runs"),
    "writer": ("RunWriter", "merge"),
}


def __getattr__(name: str) -> Any:
    for module, names in _NAMES.items():
        if name in names:
            return getattr(import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
