"""Figures: what is said about a cell after it was measured, with its doubts."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from perbyte.model.cell import Cell


class Quality(enum.StrEnum):
    """How far a figure can be trusted, best first."""

    GOOD = "good"  # clean samples, precision reached
    IMPRECISE = "imprecise"  # clean samples, but the interval is wider than asked for
    LONG = "long"  # one call outlasts the sample length, so it could not be kept short
    NOISY = "noisy"  # too few clean samples: the figure comes from disturbed ones as well
    UNSETTLED = "unsettled"  # an epoch still showed a trend (managed languages)


@dataclass(frozen=True, slots=True)
class Interval:
    """A confidence interval on cycles per call (or on a ratio, where it says so), `level` e.g. 0.95.

    `dominated_by` tells where the width comes from: `epochs` (spread between fresh processes) or `samples`;
    `unknown` (from 0 to infinity) where a figure was imported and nobody knows its spread.
    """

    low: float
    high: float
    level: float = 0.95
    dominated_by: str = "epochs"

    @property
    def known(self) -> bool:
        """False for an imported figure that came without an interval."""
        return self.dominated_by != "unknown"

    @property
    def half_width(self) -> float:
        """Half of the interval's width, same unit."""
        return (self.high - self.low) / 2


@dataclass(frozen=True, slots=True)
class CellFigure:
    """The result of one cell. Cycles are core cycles; they are None where no cycle source can be trusted.

    `epoch_cycles` and `epoch_ns` are the epochs' own figures per call, in the order of the epochs: they are
    independent of each other, which samples within an epoch are not. `interval` is on cycles per call, or on
    ns per call where cycles are None.
    """

    cell: Cell
    library: str
    library_version: str
    cycles_per_call: float | None
    ns_per_call: float
    interval: Interval
    samples: int
    clean_samples: int
    epochs: int
    epoch_cycles: tuple[float, ...]
    epoch_ns: tuple[float, ...]
    calls_per_sample: int
    quality: Quality
    cycle_source: str
    warnings: tuple[str, ...] = ()

    @property
    def cycles_per_byte(self) -> float | None:
        """Core cycles per byte of data; None without a cycle source or for cells without data."""
        if self.cycles_per_call is None or not self.cell.size_bytes:
            return None
        return self.cycles_per_call / self.cell.size_bytes

    @property
    def megabytes_per_second(self) -> float | None:
        """Throughput in 10^6 bytes per second at the clock rate of the measurement."""
        if not self.cell.size_bytes or self.ns_per_call <= 0:
            return None
        return self.cell.size_bytes / self.ns_per_call * 1e3

    @property
    def per_call(self) -> float:
        """Cycles per call, or nanoseconds per call where there are no cycles: the unit of `interval`."""
        return self.ns_per_call if self.cycles_per_call is None else self.cycles_per_call

    @property
    def relative_half_width(self) -> float:
        """Half-width of the interval over the figure, e.g. 0.0025 for 0.25 %."""
        return self.interval.half_width / abs(self.per_call) if self.per_call else float("inf")


@dataclass(frozen=True, slots=True)
class NoiseFloor:
    """What the A/A pairs of a run showed: below `relative` no difference between two cells is claimed.

    `pairs` holds (address, ratio) for each pair of identical cells; `relative` is the largest |ratio - 1|
    among the pairs of good figures, or among all where there is none.
    """

    relative: float
    pairs: tuple[tuple[str, float], ...]
