"""What a data rate costs, as text and for programs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from rich.text import Text

from perbyte.model import CellFigure
from perbyte.model.text import json_ready, plain
from perbyte.report.demand import demands, rate_text, share_text
from perbyte.report.grid import title_of
from perbyte.report.marks import marks_of
from perbyte.report.text import columns_of, prose, to_text
from perbyte.report.wording import size_label, value_text
from perbyte.stats.quantity import data_bytes

_MANY = ((1e6, " million"), (1e3, " thousand"))


def render_rate(
    figures: Sequence[CellFigure], rate: float, *, width: int | None = None, colour: bool | None = None
) -> str:
    """Give the answer as text: a heading per operation and size, a line per cell, and what the figures leave out."""
    width = columns_of(width)
    demanded = demands(figures, rate)
    if not demanded:
        return "no cell has data, so a rate says nothing of it\n"
    lines: list[Text] = []
    labels = {demand: f"{title_of(demand.figure.cell)}, {demand.figure.cell.runner}" for demand in demanded}
    room = max(len(plain(label, 60)) for label in labels.values())
    heading = ""
    for demand in demanded:
        cell = demand.figure.cell
        text = (
            f"{rate_text(rate)} to {plain(cell.operation, 24)} in records of {size_label(data_bytes(cell))}: "
            f"{_many(demand.records)} records a second"
        )
        if text != heading:
            lines += [Text()] * bool(lines) + [Text(part.plain, style="bold") for part in prose(text, width)]
            heading = text
        label = f"  {plain(labels[demand], 60).ljust(room)}  "
        body = f"{share_text(demand.cores)}; a record {value_text(demand.record_ns)} ns"
        if demand.record_cycles:
            body += f", {value_text(demand.record_cycles)} cycles"
        marks = "".join(marks_of(demand.figure))
        line = f"{label}{body}{' ' + marks if marks else ''}"
        lines += [Text(line)] if len(line) <= width else prose(line.strip(), width)
    lines.append(Text())
    lines += prose(
        "a core of this machine, at the clock rate of the measurement, doing nothing else; one call a record; "
        "neither system calls nor copying nor energy are in it",
        width,
    )
    return to_text(lines, colour=colour)


def rate_json(figures: Iterable[CellFigure], rate: float) -> dict[str, Any]:
    """The same for programs: `bytes_per_second` and `cells`, each with its address; ends that nobody knows are None."""

    return {
        "bytes_per_second": rate,
        "cells": [
            {
                "address": demand.figure.cell.address,
                "records_per_second": demand.records,
                "ns_per_record": demand.record_ns.value,
                "cycles_per_record": demand.record_cycles.value if demand.record_cycles else None,
                "cores": demand.cores.value,
                "cores_low": json_ready(demand.cores.low),
                "cores_high": json_ready(demand.cores.high),
            }
            for demand in demands(figures, rate)
        ],
    }


def _many(count: float) -> str:
    scale, name = next((entry for entry in _MANY if count >= entry[0]), (1.0, ""))
    return f"{count / scale:.3g}{name}"
