"""A run in the formats of `perbyte export`."""

from __future__ import annotations

import json
from typing import Any

from perbyte import exchange
from perbyte.errors import UsageError
from perbyte.model import Run
from perbyte.report import export


def exported(run: Run, form: str) -> tuple[str, str]:
    """The text of a run in a format, and what is left out there. Raises UsageError where no figure fits."""
    match form:
        case "openssl-speed":
            return _table(run)
        case "csv":
            return export.to_csv(run), ""
        case "benchfmt":
            return exchange.to_benchfmt(run), ""
        case "bencher":
            document: Any = exchange.to_bencher(run)
        case "github-action-benchmark":
            document = exchange.to_action(run)
        case _:
            document = export.to_json(run)
    return json.dumps(document, indent=1, allow_nan=False) + "\n", ""


def _table(run: Run) -> tuple[str, str]:
    table, left_out = exchange.write_table(run), ""
    if not table.text:
        raise UsageError(
            "this run has no figure that a table of openssl speed can hold",
            hint="it holds: ciphers stream/1 (encrypt), hashes oneshot/1, MACs message/1, RSA and DSA pk/1",
        )
    if table.left_out:
        cells = f"{len(table.left_out)} cells"
        left_out = f"{cells} do not fit such a table and are left out: {table.left_out[0]} ..."
    return table.text, left_out
