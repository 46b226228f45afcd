"""The data of figures: one record per cell, with its text ready made, so that no figure formats by itself.

Names are cut and freed of control characters here; a figure that is not finite or has no cycles is left
out of charts in cycles, and `left_out` counts it, so that the chart can say so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from perbyte.model import CellFigure, Run
from perbyte.model.cell import FULL
from perbyte.report.units import number, percent, plain, size_label
from perbyte.report.views import Place, Table, marks_of, natural, tables
from perbyte.stats.quantity import Unit, read

Names = Mapping[tuple[str, str], str]
"""What a study calls an algorithm on a tier: (algorithm, cpu) -> `AES-NI`."""


@dataclass(frozen=True, slots=True)
class Points:
    """Records of one contract in one unit. `series`: algorithm names in order; `libraries`: runners."""

    contract: str
    unit: Unit
    records: tuple[dict[str, Any], ...]
    series: tuple[str, ...]
    libraries: tuple[str, ...]
    left_out: int

    @property
    def sizes(self) -> tuple[int, ...]:
        """The sizes that occur, in bytes, ascending."""
        return tuple(sorted({record["size_bytes"] for record in self.records}))

    @property
    def operations(self) -> tuple[str, ...]:
        """The operations that occur, in the order of the tables."""
        return tuple(dict.fromkeys(record["operation"] for record in self.records))


def gather(
    run: Run,
    *,
    unit: Unit | None = None,
    names: Names | None = None,
    laid_out: Sequence[Table] | None = None,
) -> tuple[Points, ...]:
    """Give the records of every contract of `run`, in the order of its tables.

    Who has laid the run out already passes its tables on.
    """
    return tuple(_of(table, names or {}) for table in laid_out or tables(run, unit))


def describe(figure: CellFigure, unit: Unit, name: str) -> str:
    """One line about a figure, for a tooltip and for a screen reader."""
    reading = read(figure, unit)
    size = f" {size_label(figure.cell.size_bytes)}" if figure.cell.size_bytes else ""
    text = f"{name} in {plain(figure.library, 40)} {plain(figure.library_version, 30)}".rstrip()
    text += f", {plain(figure.cell.operation, 24)}{size}: "
    if reading is None:
        return text + "no figure in this unit"
    half = reading.half_width
    if not figure.interval.known:
        return f"{text}{number(reading.value)} {unit.value} (interval not known), {figure.quality}"
    return (
        f"{text}{number(reading.value, half)} {unit.value} ({number(reading.low, half)} to "
        f"{number(reading.high, half)}, ±{percent(reading.relative)}), {figure.quality}"
    )


def _of(table: Table, names: Names) -> Points:
    records: list[dict[str, Any]] = []
    left_out = 0
    series: dict[str, None] = {}
    for row in table.rows:
        name = plain(names.get((row.algorithm, row.cpu), row.title), 40)
        for column, entry in zip(table.columns, row.entries, strict=True):
            figure = entry.figure
            if figure is None:
                continue
            reading = read(figure, table.unit)
            if reading is None or reading.value <= 0:
                left_out += 1
                continue
            series[name] = None
            marks = "".join(marks_of(figure))
            records.append(
                {
                    "series": name,
                    "algorithm": row.algorithm,
                    "tier": row.cpu,
                    "soft": row.cpu != FULL,
                    "library": plain(row.runner, 24),
                    "operation": plain(column.operation, 24),
                    "size_bytes": column.size_bytes,
                    "size": column.size,
                    "value": reading.value,
                    # A logarithmic axis has no room for what an interval reaches below zero.
                    "low": max(reading.low, reading.value * 1e-3) if figure.interval.known else reading.value,
                    "high": min(reading.high, reading.value * 1e3)
                    if figure.interval.known
                    else reading.value,
                    "text": number(reading.value, reading.half_width) + (f" {marks}" if marks else ""),
                    "first": entry.place is not Place.NONE,
                    "described": describe(figure, table.unit, name),
                }
            )
    libraries = sorted({record["library"] for record in records}, key=natural)
    return Points(table.contract, table.unit, tuple(records), tuple(series), tuple(libraries), left_out)
