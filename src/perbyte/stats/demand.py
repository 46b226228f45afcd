"""What a data rate asks of a cell: records a second, cost of a record, and how many cores of this kind it takes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from perbyte.model import CellFigure, Estimate
from perbyte.model.text import natural
from perbyte.stats.quantity import Unit, data_bytes, read


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
