"""Figures: what is said about a cell after it was measured, with its doubts."""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass

from perbyte.model.cell import Cell


class Quality(enum.StrEnum):
    """How far a figure can be trusted, best first."""

    GOOD = "good"
    IMPRECISE = "imprecise"
    LONG = "long"
    NOISY = "noisy"
    UNSETTLED = "unsettled"
    DOUBTED = "doubted"

    @property
    def meaning(self) -> str:
        """What it says of a figure, in one line."""
        return _MEANINGS[self]


_MEANINGS = {
    Quality.GOOD: "clean samples, precision reached",
    Quality.IMPRECISE: "clean samples, but the interval is wider than requested",
    Quality.LONG: "one call outlasts a sample, so the sample could not be kept short; "
    "where it outlasts ten, the lower quartile is given",
    Quality.NOISY: "too few clean samples: the figure comes from disturbed ones as well",
    Quality.UNSETTLED: "an epoch still showed a trend",
    Quality.DOUBTED: "the audit from outside does not vouch for it",
}


class Doubt(enum.StrEnum):
    """What a warning is about; the first four are what the qualities of the same name come from."""

    IMPRECISE = "imprecise"
    LONG = "long"
    NOISY = "noisy"
    UNSETTLED = "unsettled"
    PIECES = "pieces"
    WHOLE = "whole"
    NO_CYCLES = "no-cycles"
    NO_CALIBRATION = "no-calibration"
    NO_SAMPLE = "no-sample"
    NOISY_EPOCH = "noisy-epoch"
    CLEAN_SHARE = "clean-share"
    EPOCH_WITHOUT_CYCLES = "epoch-without-cycles"
    ONE_EPOCH = "one-epoch"
    FAILED_CALLS = "failed-calls"
    LAYOUT = "layout"
    CORES = "cores"
    TIER = "tier"
    PLAIN_CODE = "plain-code"
    NO_INTERVAL = "no-interval"
    AUDIT = "audit"
    UNCHAINED = "unchained"
    THREADS = "threads"
    SEVERAL_PROCESSES = "several-processes"
    TWO_WAYS = "two-ways"
    DRAWN = "drawn"
    VARIED = "varied"
    OLDER_RULES = "older-rules"
    OTHER = "other"  # of runs that were stored before warnings had a kind

    @classmethod
    def _missing_(cls, value: object) -> Doubt:
        """A kind that a newer version wrote is another one here."""
        return cls.OTHER


@dataclass(frozen=True, slots=True)
class Warning:
    """A doubt about a figure, with the numbers it speaks of; `text` is the sentence that people read."""

    kind: Doubt
    text: str
    numbers: tuple[float, ...] = ()

    def __str__(self) -> str:
        """The sentence."""
        return self.text


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value and the interval it lies in, `low` <= `value` <= `high`, all in one unit.

    Where nobody knows the interval, both ends are NaN, or 0 and infinity where only the sign is sure.
    """

    value: float
    low: float
    high: float

    @property
    def known(self) -> bool:
        """True where both ends are finite."""
        return math.isfinite(self.low) and math.isfinite(self.high)

    @property
    def half_width(self) -> float:
        """Half of the interval's width, same unit."""
        return (self.high - self.low) / 2

    @property
    def relative(self) -> float:
        """Half-width over the value, e.g. 0.0025 for 0.25 %; infinite for a value of zero."""
        return self.half_width / abs(self.value) if self.value else math.inf

    def scaled(self, factor: float = 1.0, *, per: float = 1.0) -> Estimate:
        """The estimate in another unit: value and ends times `factor`, over `per`. Neither is negative."""
        return Estimate(self.value * factor / per, self.low * factor / per, self.high * factor / per)

    def above(self, threshold: float) -> bool:
        """True when the whole interval lies above `threshold`."""
        return self.low > threshold

    def below(self, threshold: float) -> bool:
        """True when the whole interval lies below `threshold`."""
        return self.high < threshold

    def within(self, low: float, high: float) -> bool:
        """True when the whole interval lies between `low` and `high`, ends included."""
        return low <= self.low and self.high <= high

    def outside(self, low: float, high: float) -> bool:
        """True when no part of the interval lies between `low` and `high`."""
        return self.high < low or self.low > high


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
class Quantile:
    """What so great a `share` of calls does not exceed (0.5: the median), in the unit of the figure's `interval`.

    The ends of `estimate` are 0 and infinite where there were too few calls to tell.
    """

    share: float
    estimate: Estimate


@dataclass(frozen=True, slots=True)
class CellFigure:
    """The result of one cell. Cycles are core cycles; they are None where no cycle source can be trusted.

    `epoch_cycles` and `epoch_ns` are the epochs' own figures per call, in the order of the epochs: they are
    independent of each other, which samples within an epoch are not. `epoch_numbers` says which epochs these are (empty
    where that is not known): two cells of a run are compared by the epochs that both have. `interval` is on cycles per
    call, or on ns per call where cycles are None. Where calls vary at random (`Cell.drawn`), the figure is the median
    of single calls, `interval` is that of the median, `quantiles` tell the rest, and epochs have no figures. Where they
    vary with their messages (`stats.varying`), the figure is the mean, and epochs have none either. `forks`:
    how many bursts forks took, where these make the epochs; 0 elsewhere, and in runs that did not record it.
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
    warnings: tuple[Warning, ...] = ()
    epoch_numbers: tuple[int, ...] = ()
    quantiles: tuple[Quantile, ...] = ()
    forks: int = 0

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
    among the pairs of good figures, or among all where there is none. `others` is what it says of runners that were
    not measured twice: the same, but without a good pair no more than what the pairs differ by in the middle (None in
    runs that were stored before: the same). `earlier`: across runs, how many earlier ones it comes from.
    """

    relative: float
    pairs: tuple[tuple[str, float], ...]
    others: float | None = None
    earlier: int = 0
