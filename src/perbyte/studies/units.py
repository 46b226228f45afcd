"""The units that published figures come in, a closed list, and how today's figures are put into them.

Cycles per byte of another machine are comparable with ours as they are; throughputs and times are not corrected
for the clock, because the point of printing them side by side is how far machines have come. Megabits and
kilobytes are decimal, as in the sources.
"""

from __future__ import annotations

import enum

from perbyte.model import CellFigure
from perbyte.studies.estimates import Estimate
from perbyte.studies.model import PublishedFigure


class Unit(enum.StrEnum):
    """What a published figure is counted in; times cover all `calls` of the figure together."""

    CYCLES_PER_BYTE = "cycles/byte"
    KILOBYTES_PER_SECOND = "1000 bytes/s"
    MEGABITS_PER_SECOND = "Mbit/s"
    MILLISECONDS = "ms"
    SECONDS = "s"
    SECONDS_PER_OPERATION = "s/operation"
    OPERATIONS_PER_SECOND = "operations/s"
    RATIO = "ratio"

    @property
    def larger_is_faster(self) -> bool:
        """True for throughputs."""
        return self in (Unit.KILOBYTES_PER_SECOND, Unit.MEGABITS_PER_SECOND, Unit.OPERATIONS_PER_SECOND)


def published_ns(figure: PublishedFigure) -> float | None:
    """Nanoseconds per call that a published figure means; None for cycles, ratios and figures that are not there."""
    if figure.value is None or figure.value <= 0:
        return None
    match figure.unit:
        case Unit.KILOBYTES_PER_SECOND:
            return figure.size_bytes / (figure.value * 1e3) * 1e9
        case Unit.MEGABITS_PER_SECOND:
            return figure.size_bytes * 8 / (figure.value * 1e6) * 1e9
        case Unit.MILLISECONDS:
            return figure.value * 1e6 / figure.calls
        case Unit.SECONDS | Unit.SECONDS_PER_OPERATION:
            return figure.value * 1e9 / figure.calls
        case Unit.OPERATIONS_PER_SECOND:
            return 1e9 / figure.value
        case _:
            return None


def published_cycles_per_byte(figure: PublishedFigure, clock_hz: float | None) -> float | None:
    """Cycles per byte of a published figure: as printed, or from its time and the published clock.

    None without a clock, without data, or for ratios. Clocks of the time did not change by themselves; where
    they did, the study's notes say so.
    """
    if figure.unit == Unit.CYCLES_PER_BYTE:
        return figure.value
    ns = published_ns(figure)
    if ns is None or not clock_hz or not figure.size_bytes:
        return None
    return ns * clock_hz / 1e9 / figure.size_bytes


def today_in(unit: str, figure: CellFigure, *, size_bytes: int = 0, calls: int = 1) -> Estimate | None:
    """Today's figure in the unit of a published one, with its interval.

    `size_bytes` is the published size; where today's cell has another one, times are scaled by the bytes, which
    is right for long messages only. None where the unit cannot be had: cycles without a cycle source,
    throughput of a cell without data.
    """
    if unit == Unit.CYCLES_PER_BYTE:
        if figure.cycles_per_call is None or not figure.cell.size_bytes:
            return None
        size = figure.cell.size_bytes
        return Estimate(
            figure.cycles_per_call / size, figure.interval.low / size, figure.interval.high / size
        )
    ns = ns_per_call(figure)
    size = figure.cell.size_bytes
    scale = size_bytes / size if size_bytes and size else 1.0
    match unit:
        case Unit.KILOBYTES_PER_SECOND if size:
            return _inverse(ns, size * 1e6)
        case Unit.MEGABITS_PER_SECOND if size:
            return _inverse(ns, size * 8e3)
        case Unit.MILLISECONDS:
            return _scaled(ns, scale * calls / 1e6)
        case Unit.SECONDS | Unit.SECONDS_PER_OPERATION:
            return _scaled(ns, scale * calls / 1e9)
        case Unit.OPERATIONS_PER_SECOND:
            return _inverse(ns, 1e9)
        case _:
            return None


def ns_per_call(figure: CellFigure) -> Estimate:
    """Nanoseconds per call with an interval of the same relative width as the figure's own."""
    scale = figure.ns_per_call / figure.per_call if figure.per_call else 1.0
    return Estimate(figure.ns_per_call, figure.interval.low * scale, figure.interval.high * scale)


def _scaled(estimate: Estimate, factor: float) -> Estimate:
    return Estimate(estimate.value * factor, estimate.low * factor, estimate.high * factor)


def _inverse(estimate: Estimate, numerator: float) -> Estimate | None:
    if estimate.low <= 0:
        return None
    return Estimate(numerator / estimate.value, numerator / estimate.high, numerator / estimate.low)
