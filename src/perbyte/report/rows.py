"""Rows of a query, for a terminal and as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import Any

from perbyte.model.text import inert, json_ready, plain
from perbyte.report.listing import Listing, from_records


def rows_csv(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """The rows under their names."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(names)
    writer.writerows((inert(json_ready(value)) for value in row) for row in rows)
    return out.getvalue()


def rows_listing(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> Listing:
    """The rows as a listing, whose last column is wrapped."""
    shown = [dict(zip(names, map(_text, row), strict=True)) for row in rows]
    return from_records(shown or [dict.fromkeys(names, "")], names[-1])


def _text(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return plain("; ".join(_text(element) for element in value), 300)
    return f"{value:.7g}" if isinstance(value, float) else "" if value is None else plain(value, 300)
