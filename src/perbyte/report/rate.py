"""What a data rate costs: as a listing, for programs, and in words."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from perbyte.model import CellFigure, Estimate
from perbyte.model.text import plain
from perbyte.report.grid import title_of
from perbyte.report.listing import Entry, Head, Listing, records
from perbyte.report.marks import marks_of
from perbyte.report.wording import interval_text, number, percent, size_label, value_text
from perbyte.stats.quantity import Demand, data_bytes, demands

BUSY_SHARE = 0.995  # of a core; from here on the answer is in cores
_MANY = ((1e6, " million"), (1e3, " thousand"))
_SCALES = ((1e9, "GB/s"), (1e6, "MB/s"), (1e3, "kB/s"), (1.0, "B/s"))
_COLUMNS = (
    Head(None, "", "address"),
    Head("algorithm"),
    Head("library"),
    Head("operation", once=True),
    Head("record", "n", once=True),
    Head("takes", "", "cores cores_low cores_high"),
    Head("ns a record", "n", "ns_per_record"),
    Head("cycles", "n", "cycles_per_record"),
    Head("records/s", "n", "records_per_second", once=True),
)
_LEFT_OUT = (
    "a core of this machine, at the clock rate of the measurement, doing nothing else; one call a record; "
    "neither system calls nor copying nor energy are in it"
)


def rate_listing(figures: Iterable[CellFigure], rate: float) -> Listing:
    """A row for each cell that has data, and what the figures leave out."""
    rows = [_row(demand) for demand in demands(figures, rate)]
    if not rows:
        return Listing("", (), (), ("no cell has data, so a rate says nothing of it",))
    return Listing(f"What {rate_text(rate)} takes", _COLUMNS, rows, (_LEFT_OUT,), lead=4)


def rate_json(figures: Sequence[CellFigure], rate: float) -> dict[str, Any]:
    """The same for programs: `bytes_per_second` and `cells`, each with its address; ends that nobody knows are None."""
    return {"bytes_per_second": rate, "cells": records(rate_listing(figures, rate))}


def _row(demand: Demand) -> tuple[Entry, ...]:
    cell, cycles, cores = demand.figure.cell, demand.record_cycles, demand.cores
    marks = "".join(marks_of(demand.figure))
    return (
        ("", cell.address),
        plain(title_of(cell), 60),
        plain(cell.runner, 40),
        plain(cell.operation, 24),
        size_label(data_bytes(cell)),
        (f"{share_text(cores)} {marks}".rstrip(), cores.value, cores.low, cores.high),
        (value_text(demand.record_ns), demand.record_ns.value),
        (value_text(cycles), cycles.value) if cycles else ("–", None),
        (_many(demand.records), demand.records),
    )


def share_text(cores: Estimate) -> str:
    """So much of a core, or so many cores; with the interval where its ends are other figures than the value's."""
    if cores.value < BUSY_SHARE:
        value, low, high = (
            percent(end) if math.isfinite(end) else "–" for end in (cores.value, cores.low, cores.high)
        )
        told = cores.known and not value == low == high
        return f"{value} of a core" + (f" ({low} to {high})" if told else "")
    text = f"{number(cores.value, cores.half_width if cores.known else 0.0)} cores"
    whole = math.ceil(cores.high if cores.known else cores.value)
    return f"{text} ({interval_text(cores)}), so {whole:,}"


def cores_text(cores: Estimate) -> str:
    """So many cores in two digits, for a card that has no room for an interval: `0.18 cores`."""
    value = cores.value
    places = max(0, 1 - math.floor(math.log10(value))) if value > 0 else 0
    return f"{round(value, places):,.{places}f} cores"


def rate_text(rate: float) -> str:
    """A rate in bytes a second, in the unit that suits it."""
    scale, name = next((entry for entry in _SCALES if rate >= entry[0]), _SCALES[-1])
    return f"{rate / scale:g} {name}"


def _many(count: float) -> str:
    scale, name = next((entry for entry in _MANY if count >= entry[0]), (1.0, ""))
    return f"{count / scale:.3g}{name}"
