"""What a data rate costs: records a second, cost of a record, and how many cores of this kind it takes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from rich.text import Text

from perbyte.model import CellFigure, Estimate
from perbyte.model.text import plain
from perbyte.report.grid import natural, title_of
from perbyte.report.marks import marks_of
from perbyte.report.text import columns_of, prose, to_text
from perbyte.report.wording import interval_text, number, percent, size_label, value_text
from perbyte.stats.quantity import Unit, data_bytes, read

BUSY_SHARE = 0.995  # of a core; from here on the answer is in cores
_SCALES = ((1e9, "GB/s"), (1e6, "MB/s"), (1e3, "kB/s"), (1.0, "B/s"))
_MANY = ((1e6, " million"), (1e3, " thousand"))


@dataclass(frozen=True, slots=True)
class Demand:
    """What `rate` (bytes a second) asks of one cell; a record is the data of one call.

    `cores` are of the kind it was measured on, doing nothing else; `record_ns` and `record_cycles` what a record costs.
    """

    figure: CellFigure
    records: float
    record_ns: Estimate
    record_cycles: Estimate | None
    cores: Estimate


def demands(figures: Iterable[CellFigure], rate: float) -> tuple[Demand, ...]:
    """What `rate` asks of each of `figures` that has data, the least cores first within a size."""
    found = []
    for figure in figures:
        ns, size = read(figure, Unit.NS_PER_CALL), data_bytes(figure.cell)
        if ns is None or not size or ns.value <= 0 or not figure.cell.usual:
            continue
        records = rate / size
        busy = records * 1e-9
        cores = Estimate(ns.value * busy, ns.low * busy, ns.high * busy)
        found.append(Demand(figure, records, ns, read(figure, Unit.CYCLES_PER_CALL), cores))
    return tuple(
        sorted(found, key=lambda one: (natural(one.figure.cell.operation), one.records, one.cores.value))
    )


def render_rate(
    figures: Sequence[CellFigure], rate: float, *, width: int | None = None, colour: bool | None = None
) -> str:
    """Give the answer as text: a heading per operation and size, a line per cell, and what the figures leave out."""
    width = columns_of(width)
    found = demands(figures, rate)
    if not found:
        return "no cell has data, so a rate says nothing of it\n"
    lines: list[Text] = []
    labels = {one: f"{title_of(one.figure.cell)}, {one.figure.cell.runner}" for one in found}
    room = max(len(plain(label, 60)) for label in labels.values())
    heading = ""
    for one in found:
        cell = one.figure.cell
        said = (
            f"{rate_text(rate)} to {plain(cell.operation, 24)} in records of {size_label(data_bytes(cell))}: "
            f"{_many(one.records)} records a second"
        )
        if said != heading:
            lines += [Text()] * bool(lines) + [Text(part.plain, style="bold") for part in prose(said, width)]
            heading = said
        label = f"  {plain(labels[one], 60).ljust(room)}  "
        body = f"{share_text(one.cores)}; a record {value_text(one.record_ns)} ns"
        if one.record_cycles:
            body += f", {value_text(one.record_cycles)} cycles"
        marks = "".join(marks_of(one.figure))
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

    def ends(one: Estimate) -> list[float | None]:
        return [end if math.isfinite(end) else None for end in (one.low, one.high)]

    return {
        "bytes_per_second": rate,
        "cells": [
            {
                "address": one.figure.cell.address,
                "records_per_second": one.records,
                "ns_per_record": one.record_ns.value,
                "cycles_per_record": one.record_cycles.value if one.record_cycles else None,
                "cores": one.cores.value,
                "cores_low": ends(one.cores)[0],
                "cores_high": ends(one.cores)[1],
            }
            for one in demands(figures, rate)
        ],
    }


def share_text(cores: Estimate) -> str:
    """So much of a core, or so many cores."""
    if cores.value < BUSY_SHARE:
        value, low, high = (
            percent(end) if math.isfinite(end) else "–" for end in (cores.value, cores.low, cores.high)
        )
        return f"{value} of a core" + (f" ({low} to {high})" if cores.known and low != high else "")
    said = f"{number(cores.value, cores.half_width if cores.known else 0.0)} cores"
    whole = math.ceil(cores.high if cores.known else cores.value)
    return f"{said} ({interval_text(cores)}), so {whole:,}"


def rate_text(rate: float) -> str:
    """A rate in bytes a second, in the unit that suits it."""
    scale, name = next((one for one in _SCALES if rate >= one[0]), _SCALES[-1])
    return f"{rate / scale:g} {name}"


def _many(count: float) -> str:
    scale, name = next((one for one in _MANY if count >= one[0]), (1.0, ""))
    return f"{count / scale:.3g}{name}"
