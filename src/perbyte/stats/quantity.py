"""The units that a figure can be given in, ours and those of published figures, and the conversion into them.

Intervals of the model are on cycles per call (nanoseconds per call without a cycle source); here they are carried over
to each unit, which for throughput swaps their ends. Cycles per byte of another machine are comparable with ours as they
are; throughputs and times are not corrected for the clock, because the point of printing them side by side is how far
machines have come. Megabits and kilobytes are decimal, as in the sources; a
mebibyte is 2^20 bytes. Text of numbers is the report's business.
"""

from __future__ import annotations

import enum
import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from perbyte.model import Cell, CellFigure, Estimate
from perbyte.model.text import natural


class Unit(enum.StrEnum):
    """What a figure can be given in; the value is the name used on the command line and in data files."""

    CYCLES_PER_BYTE = "cycles/byte"
    MEGABYTES_PER_SECOND = "MB/s"
    GIGABYTES_PER_SECOND = "GB/s"
    NS_PER_CALL = "ns/call"
    CYCLES_PER_CALL = "cycles/call"
    CALLS_PER_SECOND = "calls/s"
    KILOBYTES_PER_SECOND = "1000 bytes/s"
    MEGABITS_PER_SECOND = "Mbit/s"
    GIGABITS_PER_SECOND = "Gbit/s"
    MEBIBYTES_PER_SECOND = "MiB/s"
    GIBIBYTES_PER_SECOND = "GiB/s"
    MICROSECONDS = "µs"
    MILLISECONDS = "ms"
    SECONDS = "s"
    SECONDS_PER_OPERATION = "s/operation"
    OPERATIONS_PER_SECOND = "operations/s"
    RATIO = "ratio"

    @property
    def in_words(self) -> str:
        """The unit in words, as a table's heading has it."""
        return _TITLES.get(self, self.value)

    @property
    def more_is_better(self) -> bool:
        """True for throughput and rates."""
        return self in BYTES_A_SECOND or self in (Unit.CALLS_PER_SECOND, Unit.OPERATIONS_PER_SECOND)

    @property
    def in_cycles(self) -> bool:
        """True where the clock rate has no part in it."""
        return self in (Unit.CYCLES_PER_BYTE, Unit.CYCLES_PER_CALL)


TABLE_UNITS = tuple(Unit)[:6]
"""The units that a page offers; a table in a terminal is given in any but a ratio."""
_TITLES = {
    Unit.CYCLES_PER_BYTE: "cycles per byte",
    Unit.MEGABYTES_PER_SECOND: "MB/s (10⁶ bytes per second)",
    Unit.GIGABYTES_PER_SECOND: "GB/s (10⁹ bytes per second)",
    Unit.NS_PER_CALL: "nanoseconds per call",
    Unit.CYCLES_PER_CALL: "cycles per call",
    Unit.CALLS_PER_SECOND: "calls (operations) per second",
    Unit.MEGABITS_PER_SECOND: "Mbit/s (10⁶ bits per second)",
    Unit.GIGABITS_PER_SECOND: "Gbit/s (10⁹ bits per second)",
    Unit.MEBIBYTES_PER_SECOND: "MiB/s (2²⁰ bytes per second)",
    Unit.GIBIBYTES_PER_SECOND: "GiB/s (2³⁰ bytes per second)",
    Unit.MICROSECONDS: "microseconds per call",
    Unit.MILLISECONDS: "milliseconds per call",
    Unit.SECONDS: "seconds per call",
}
# What a byte per nanosecond is in them.
BYTES_A_SECOND = {
    Unit.MEGABYTES_PER_SECOND: 1e3,
    Unit.GIGABYTES_PER_SECOND: 1.0,
    Unit.KILOBYTES_PER_SECOND: 1e6,
    Unit.MEGABITS_PER_SECOND: 8e3,
    Unit.GIGABITS_PER_SECOND: 8.0,
    Unit.MEBIBYTES_PER_SECOND: 1e9 / 2**20,
    Unit.GIBIBYTES_PER_SECOND: 1e9 / 2**30,
}
# What a nanosecond is in them, for all calls of a published figure together.
TIMES = {
    Unit.NS_PER_CALL: 1.0,
    Unit.MICROSECONDS: 1e-3,
    Unit.MILLISECONDS: 1e-6,
    Unit.SECONDS: 1e-9,
    Unit.SECONDS_PER_OPERATION: 1e-9,
}


# What people write for them. Bits and bytes differ by the case of one letter, so that case counts where it decides.
_AS_WRITTEN = {
    Unit.CYCLES_PER_BYTE: r"cpb|c/b|cycles? ?(/|per) ?byte|cyc/b",
    Unit.CYCLES_PER_CALL: r"cycles?|cyc|cycles? ?(/|per) ?(call|op|operation)|c/op",
    Unit.NS_PER_CALL: r"ns|ns ?(/|per) ?(call|op|operation)",
    Unit.MICROSECONDS: r"[µμu]s|[µμu]s ?(/|per) ?(call|op|operation)",
    Unit.MILLISECONDS: r"ms|ms ?(/|per) ?(call|op|operation)",
    Unit.SECONDS: r"s|sec|seconds?",
    Unit.SECONDS_PER_OPERATION: r"s ?(/|per) ?(op|operation)",
    Unit.CALLS_PER_SECOND: r"(calls|op|ops) ?(/|per) ?s(ec|econd)?",
    Unit.OPERATIONS_PER_SECOND: r"operations ?(/|per) ?s(ec|econd)?",
    Unit.KILOBYTES_PER_SECOND: r"1000 bytes/s|k|kb/s|kbytes/s",
    Unit.MEGABYTES_PER_SECOND: r"mbytes?/s",
    Unit.GIGABYTES_PER_SECOND: r"gbytes?/s",
    Unit.MEGABITS_PER_SECOND: r"mbits?/s|mbits?ps",
    Unit.GIGABITS_PER_SECOND: r"gbits?/s|gbits?ps",
    Unit.MEBIBYTES_PER_SECOND: r"mib/s|mib ?per ?s(ec|econd)?",
    Unit.GIBIBYTES_PER_SECOND: r"gib/s|gib ?per ?s(ec|econd)?",
    Unit.RATIO: r"ratio",
}
_BY_CASE = {
    Unit.MEGABYTES_PER_SECOND: r"MB(/s(ec)?|ps)",
    Unit.GIGABYTES_PER_SECOND: r"GB(/s(ec)?|ps)",
    Unit.MEGABITS_PER_SECOND: r"Mb(/s(ec)?|ps)",
    Unit.GIGABITS_PER_SECOND: r"Gb(/s(ec)?|ps)",
}


def unit_named(text: str) -> Unit:
    """The unit that people write so: `cpb`, `Mbps`, `GB/s`, `ops/s`, `us`.

    Raises ValueError for what is none, and where the case leaves open whether bits or bytes are meant.
    """
    written = " ".join(text.split())
    for units, flags in ((_BY_CASE, 0), (_AS_WRITTEN, re.IGNORECASE)):
        for unit, ways in units.items():
            if re.fullmatch(ways, written, flags):
                return unit
    if open_ := re.fullmatch(r"([mg])b(?:/s(?:ec)?|ps)", written, re.IGNORECASE):
        prefix = open_[1].upper()
        raise ValueError(f"'{text}' may mean bits or bytes: {prefix}bit/s or {prefix}B/s?")
    raise ValueError(f"no unit '{text}'; there are {', '.join(Unit)}")


NO_DATA = ("pk/", "draw/", "password/", "handshake/", "context/", "peer/", "pem/", "raw/", "public", "sum/")
"""How contracts begin whose calls have no data that their cost grows with."""


def data_bytes(cell: Cell) -> int:
    """The bytes that a call works on; 0 where they are none of its cost: for what is signed, or a password."""
    return 0 if cell.contract.startswith(NO_DATA) or cell.operation == "verify" else cell.size_bytes


def read(figure: CellFigure, unit: str, *, size_bytes: int = 0, calls: int = 1) -> Estimate | None:
    """Return `figure` in `unit`; None where it has no such value (no cycle source, no data, not finite).

    The ends are NaN where the interval is not known. `size_bytes` and `calls` are those of a published figure:
    times, and cycles of a call, are scaled by the bytes, which is right for long messages only; times cover all
    its calls together.
    """
    low, high, per_call = figure.interval.low, figure.interval.high, figure.per_call
    if not figure.interval.known:
        low = high = math.nan
    elif not (math.isfinite(low) and math.isfinite(high)):
        return None
    if not (math.isfinite(per_call) and math.isfinite(figure.ns_per_call)):
        return None
    size = data_bytes(figure.cell)
    if unit in (Unit.CYCLES_PER_BYTE, Unit.CYCLES_PER_CALL):
        if figure.cycles_per_call is None or (unit == Unit.CYCLES_PER_BYTE and not size):
            return None
        by = size if unit == Unit.CYCLES_PER_BYTE else _calls_in(size, size_bytes)
        return Estimate(figure.cycles_per_call, low, high).scaled(per=by)
    # The interval's unit is that of per_call; its relative width carries over to time.
    scale = figure.ns_per_call / per_call if per_call else 1.0
    ns = Estimate(figure.ns_per_call, low * scale, high * scale)
    if unit in TIMES:
        return ns.scaled(TIMES[Unit(unit)] * calls / _calls_in(size, size_bytes))
    if unit in (Unit.CALLS_PER_SECOND, Unit.OPERATIONS_PER_SECOND):
        return inverse(ns, 1e9)
    return inverse(ns, size * BYTES_A_SECOND[Unit(unit)]) if unit in BYTES_A_SECOND else None


def _calls_in(measured_bytes: int, published_bytes: int) -> float:
    """How many calls of a published size a measured one is; 1 where either has no size."""
    return measured_bytes / published_bytes if measured_bytes and published_bytes else 1.0


def inverse(cost: Estimate, numerator: float) -> Estimate | None:
    """A rate from a cost; an interval that reaches zero time has no upper end as a rate."""
    if not numerator or cost.value <= 0 or cost.high <= 0:
        return None
    return Estimate(
        numerator / cost.value, numerator / cost.high, math.inf if cost.low <= 0 else numerator / cost.low
    )


def distance(ratio: Estimate) -> Estimate:
    """How far a ratio is from 1, either way: |ln ratio|. The interval starts at 0 when it spans 1."""
    value, low, high = log_of(ratio.value), log_of(ratio.low), log_of(ratio.high)
    if low <= 0 <= high:
        return Estimate(abs(value), 0.0, max(-low, high))
    return Estimate(abs(value), *sorted((abs(low), abs(high))))


def log_of(value: float) -> float:
    """The natural logarithm; minus infinity for zero and below, so that a margin never raises."""
    if value <= 0:
        return -math.inf
    return math.inf if math.isinf(value) else math.log(value)


def arithmetic_mean(estimates: Iterable[Estimate]) -> Estimate:
    """The arithmetic mean; its ends are the means of their ends. Raises ZeroDivisionError when there are none."""
    return by_ends(lambda ends: sum(ends) / len(ends), tuple(estimates))


def smallest(estimates: Iterable[Estimate]) -> Estimate:
    """The minimum of several estimates: the minimum of each end. Raises ValueError when there are none."""
    return by_ends(min, tuple(estimates))


def largest(estimates: Iterable[Estimate]) -> Estimate:
    """The maximum of several estimates: the maximum of each end. Raises ValueError when there are none."""
    return by_ends(max, tuple(estimates))


def by_ends(pick: Callable[[Sequence[float]], float], parts: Sequence[Estimate]) -> Estimate:
    """What `pick` makes of the values, of the lower ends and of the upper ends, in the order of `parts`."""
    return Estimate(
        pick([part.value for part in parts]),
        pick([part.low for part in parts]),
        pick([part.high for part in parts]),
    )


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


def geometric_mean(estimates: Sequence[Estimate]) -> Estimate:
    """The geometric mean of estimates; its ends are the means of their ends. Raises ValueError for none."""
    if not estimates:
        raise ValueError("a mean needs at least one estimate")
    return by_ends(mean_of_positive, estimates)


def mean_of_positive(values: Sequence[float]) -> float:
    """The geometric mean of numbers; 0 where one of them is not positive."""
    if min(values) <= 0:
        return 0.0
    return math.exp(sum(map(math.log, values)) / len(values))
