"""Run directories: every sample that was taken, the conditions it was taken under, and the figures.

A run is a directory that can be moved, mailed, merged and read again when the statistics improve:

    run.json            conditions, calibrations, failures, noise floor (schema version 1)
    samples-NNNN.parquet  all raw samples, a row each
    cells.parquet       one row per figure
    behaviour.json      what cells execute and use, where that was asked for; not in the manifest
    leak.json           whether their time depends on secrets, and pairs.parquet; likewise
    manifest.json       size and SHA-256 of each of these; manifest.json.sig its signature, where there is one
    journal.jsonl       what was measured since the last samples file; a kill of the process loses none of it

Nothing is loaded before it is used: Arrow and DuckDB take their time, and most commands need neither.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from perbyte.store.damage import FilesVerdict, Recovered, recover, verify
    from perbyte.store.leaks import leak_runs
    from perbyte.store.reader import bursts, open_run, stored_run
    from perbyte.store.signature import Signature, read_signature, sign
    from perbyte.store.sql import query
    from perbyte.store.state import RunSummary, latest, runs
    from perbyte.store.writer import RunWriter, merge

__all__ = [
    "FilesVerdict",
    "Recovered",
    "RunSummary",
    "RunWriter",
    "Signature",
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

_HOMES = {
    "Recovered": "damage",
    "Signature": "signature",
    "read_signature": "signature",
    "sign": "signature",
    "FilesVerdict": "damage",
    "recover": "damage",
    "verify": "damage",
    "RunSummary": "state",
    "RunWriter": "writer",
    "bursts": "reader",
    "latest": "state",
    "leak_runs": "leaks",
    "merge": "writer",
    "open_run": "reader",
    "query": "sql",
    "runs": "state",
    "stored_run": "reader",
    "unlike_manifest": "damage",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
