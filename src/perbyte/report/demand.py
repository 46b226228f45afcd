"""What a data rate asks of a cell: records a second, cost of a record, and how many cores of this kind it takes."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from perbyte.model import CellFigure, Estimate
from perbyte.report.grid import natural
from perbyte.report.wording import interval_text, number, percent
from perbyte.stats.quantity import Unit, data_bytes, read

BUSY_SHARE = 0.995  # of a core; from here on the answer is in cores
_SCALES = ((1e9, "GB/s"), (1e6, "MB/s"), (1e3, "kB/s"), (1.0, "B/s"))


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
    demanded = []
    for figure in figures:
        ns, size = read(figure, Unit.NS_PER_CALL), data_bytes(figure.cell)
        if ns is None or not size or ns.value <= 0 or not figure.cell.usual:
            continue
        records = rate / size
        busy = records * 1e-9
        cycles = read(figure, Unit.CYCLES_PER_CALL)
        demanded.append(Demand(figure, records, ns, cycles, ns.scaled(busy)))
    return tuple(
        sorted(
            demanded,
            key=lambda demand: (natural(demand.figure.cell.operation), demand.records, demand.cores.value),
        )
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
