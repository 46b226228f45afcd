"""What published figures mean in our units: nanoseconds per call and, with the machine's clock, cycles per byte."""

from __future__ import annotations

from perbyte.stats.quantity import Unit
from perbyte.studies.model import PublishedFigure


def published_ns(figure: PublishedFigure) -> float | None:
    """Nanoseconds per call that a published figure means; None for cycles, ratios and figures that are not there."""
    if figure.value is None:
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
