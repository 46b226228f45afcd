"""Units a figure is given in, and text of numbers that shows no digit the interval does not support.

It converts and formats; which unit suits a table is decided in `views`. Intervals of the model are on cycles
per call (nanoseconds per call without a cycle source); here they are carried over to each unit, which for
throughput swaps their ends.
"""

from __future__ import annotations

import enum
import math
import unicodedata
from dataclasses import dataclass

from perbyte.errors import UsageError
from perbyte.model import Cell, CellFigure

MOST_DIGITS = 4
_SIZES = ((2**30, "GiB"), (10**9, "GB"), (2**20, "MiB"), (10**6, "MB"), (2**10, "KiB"))
_BIDI = set("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


class Unit(enum.StrEnum):
    """What a figure can be given in; the value is the name used on the command line."""

    CYCLES_PER_BYTE = "cycles/byte"
    MEGABYTES_PER_SECOND = "MB/s"
    NS_PER_CALL = "ns/call"
    CYCLES_PER_CALL = "cycles/call"
    CALLS_PER_SECOND = "calls/s"

    @property
    def in_words(self) -> str:
        """The unit in words, as a table's heading has it."""
        return _TITLES[self]

    @property
    def more_is_better(self) -> bool:
        """True for throughput and rates."""
        return self in (Unit.MEGABYTES_PER_SECOND, Unit.CALLS_PER_SECOND)


_TITLES = {
    Unit.CYCLES_PER_BYTE: "cycles per byte",
    Unit.MEGABYTES_PER_SECOND: "MB/s (10⁶ bytes per second)",
    Unit.NS_PER_CALL: "nanoseconds per call",
    Unit.CYCLES_PER_CALL: "cycles per call",
    Unit.CALLS_PER_SECOND: "calls (operations) per second",
}


@dataclass(frozen=True, slots=True)
class Reading:
    """A figure in one unit, with its interval in that unit (`low` <= `high`; both NaN where it is not known)."""

    value: float
    low: float
    high: float

    @property
    def half_width(self) -> float:
        """Half of the interval's width, same unit."""
        return (self.high - self.low) / 2

    @property
    def relative(self) -> float:
        """Half-width over the value; infinite for a value of zero."""
        return self.half_width / abs(self.value) if self.value else math.inf


def parse_unit(text: str) -> Unit:
    """Find a unit by its name, whatever the case. Raises UsageError for any other text."""
    for unit in Unit:
        if text.strip().lower() == unit.value.lower():
            return unit
    names = ", ".join(unit.value for unit in Unit)
    raise UsageError(f"no unit is called '{plain(text, 40)}'", way_out=f"one of: {names}")


def data_bytes(cell: Cell) -> int:
    """The bytes that a call works on; 0 where they are none of its cost: for what is signed, or a password."""
    return 0 if cell.contract.startswith(("pk/", "password/")) else cell.size_bytes


def read(figure: CellFigure, unit: Unit) -> Reading | None:
    """Give `figure` in `unit`; None where it has no such value (no cycle source, no data, not finite)."""
    low, high, per_call = figure.interval.low, figure.interval.high, figure.per_call
    if not figure.interval.known:
        low = high = math.nan
    elif not (math.isfinite(low) and math.isfinite(high)):
        return None
    if not (math.isfinite(per_call) and math.isfinite(figure.ns_per_call)):
        return None
    size = data_bytes(figure.cell)
    if unit in (Unit.CYCLES_PER_BYTE, Unit.CYCLES_PER_CALL):
        if figure.cycles_per_call is None or (unit is Unit.CYCLES_PER_BYTE and not size):
            return None
        by = size if unit is Unit.CYCLES_PER_BYTE else 1
        return Reading(figure.cycles_per_call / by, low / by, high / by)
    # The interval's unit is that of per_call; its relative width carries over to time.
    scale = figure.ns_per_call / per_call if per_call else 1.0
    if unit is Unit.NS_PER_CALL:
        return Reading(figure.ns_per_call, low * scale, high * scale)
    # MB/s is bytes a nanosecond times 1000; calls a second are calls a nanosecond times 1e9.
    amount = 1e9 if unit is Unit.CALLS_PER_SECOND else size * 1e3
    if not amount or figure.ns_per_call <= 0 or high * scale <= 0:
        return None
    # An interval that reaches zero time has no upper end as throughput.
    fastest = math.inf if low * scale <= 0 else amount / (low * scale)
    return Reading(amount / figure.ns_per_call, amount / (high * scale), fastest)


def number(value: float, half_width: float = 0.0) -> str:
    """Write `value` with the digits its interval supports, at most four significant ones.

    The last digit printed is that of the half-width's first digit (one digit of uncertainty; GUM 7.2.6 allows
    two at most). A value within ten half-widths of zero keeps one digit. Digits of the integer part that are
    not supported are written as zeros, and from 10,000 on in groups of three. Below 1 a fourth decimal is given
    only where three significant digits need it. What is not finite is written as a dash.
    """
    if not math.isfinite(value):
        return "–"
    order = math.floor(math.log10(abs(value))) if value else 0
    if not -6 <= order < 12:
        return f"{value:.{MOST_DIGITS - 1}e}"
    decimals = max(min(MOST_DIGITS - 1 - order, max(3, 2 - order)), 0)
    if half_width > 0:
        supported = -math.floor(math.log10(half_width)) if math.isfinite(half_width) else -order
        decimals = min(decimals, max(supported, -order) if half_width < 10 * abs(value) else supported)
    text = f"{round(value, decimals):{',' if order > 3 else ''}.{max(decimals, 0)}f}"
    return text[1:] if text.startswith("-") and not text.strip("-0.") else text


def three_digits(value: float) -> str:
    """Write a positive value with three significant digits, where no interval says how many: `0.677`, `15,300`."""
    decimals = 2 - math.floor(math.log10(value))
    return f"{round(value, decimals):,.{max(decimals, 0)}f}"


def percent(relative: float) -> str:
    """Write a relative width or difference as per cent with two significant digits at most: `0.02%`."""
    if not math.isfinite(relative):
        return "–"
    share = abs(relative) * 100
    if share >= 999.5:
        return ">999%"
    if share >= 9.95:
        return f"{share:.0f}%"
    if share >= 0.995:
        return f"{share:.1f}%"
    return "<0.01%" if 0 < share < 0.005 else f"{share:.2f}%"


def size_label(size_bytes: int) -> str:
    """Write a size so that it is exact: `16 B`, `1 KiB`, `10 MB` (10^7), `10 MiB` (10 x 2^20)."""
    for step, name in _SIZES:
        if size_bytes >= step and size_bytes % step == 0:
            return f"{size_bytes // step} {name}"
    return f"{size_bytes} B"


def sentence(text: str) -> str:
    """Begin with a capital letter; the rest stays as it is."""
    return text[:1].upper() + text[1:]


def remark(text: object, longest: int = 200) -> str:
    """A warning as people read it: made plain, with the signs that a log in ASCII spells out."""
    return plain(text, longest).replace("+-", "±").replace(" us", " µs")


def plain(text: object, longest: int = 200) -> str:
    """Make any string safe to print on one line.

    Control characters (ANSI escapes among them), line ends and characters that change the writing direction
    are left out or become a space; what is longer than `longest` is cut in the middle.
    """
    text = str(text)
    if len(text) <= longest and text.isascii() and text.isprintable() and "  " not in text:
        return text.strip()
    kept = "".join(
        " " if one in "\n\r\t\v\f\u0085\u2028\u2029" else one
        for one in text[: 20 * longest]
        if one in "\n\r\t\v\f\u0085\u2028\u2029"
        or (unicodedata.category(one) not in ("Cc", "Cs", "Cf", "Co", "Cn") and one not in _BIDI)
    )
    kept = " ".join(kept.split())
    if len(kept) <= longest:
        return kept
    tail = max(longest // 4, 1)
    return f"{kept[: longest - tail - 1]}…{kept[-tail:]}"
