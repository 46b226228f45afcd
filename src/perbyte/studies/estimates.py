"""A value with its interval, and how two of them compare.

All judging in this room is interval arithmetic on positive costs: the interval of a ratio spans from the lowest
numerator over the highest denominator to the reverse. That is wider than a quadrature sum and therefore slower
to claim a difference; a verdict that flips with the next run is worth less than "cannot tell". The noise floor
of the run widens a ratio once more on both sides. Deliberately without knowledge of cells and claims.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value and the interval it lies in, `low` <= `value` <= `high`, all in one unit."""

    value: float
    low: float
    high: float

    def over(self, other: Estimate, *, floor: float = 0.0) -> Estimate:
        """The ratio self / other, its interval widened by the noise floor (relative, e.g. 0.002).

        Where the denominator's interval reaches zero or below, nothing can be said: the ratio is then
        unbounded on both sides.
        """
        if other.low <= 0 or self.low <= 0:
            value = self.value / other.value if other.value else math.inf
            return Estimate(value, 0.0, math.inf)
        return Estimate(
            self.value / other.value,
            self.low / other.high / (1 + floor),
            self.high / other.low * (1 + floor),
        )

    def log(self) -> Estimate:
        """The natural logarithm; of zero it is minus infinity."""
        return Estimate(log_of(self.value), log_of(self.low), log_of(self.high))

    def distance(self) -> Estimate:
        """How far a ratio is from 1, either way: |ln ratio|. The interval starts at 0 when it spans 1."""
        log = self.log()
        if log.low <= 0 <= log.high:
            return Estimate(abs(log.value), 0.0, max(-log.low, log.high))
        ends = sorted((abs(log.low), abs(log.high)))
        return Estimate(abs(log.value), ends[0], ends[1])

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


def geometric_mean(estimates: Iterable[Estimate]) -> Estimate:
    """The geometric mean of positive estimates; its ends are the means of their ends.

    Costs are averaged geometrically, so that a library that is slow at everything does not outweigh the rest.
    Raises ValueError when there are none.
    """
    parts = tuple(estimates)
    if not parts:
        raise ValueError("a mean needs at least one estimate")
    return Estimate(
        _mean_of_logs(part.value for part in parts),
        _mean_of_logs(part.low for part in parts),
        _mean_of_logs(part.high for part in parts),
    )


def arithmetic_mean(estimates: Iterable[Estimate]) -> Estimate:
    """The arithmetic mean; its ends are the means of their ends. Raises ValueError when there are none."""
    parts = tuple(estimates)
    if not parts:
        raise ValueError("a mean needs at least one estimate")
    count = len(parts)
    return Estimate(
        sum(part.value for part in parts) / count,
        sum(part.low for part in parts) / count,
        sum(part.high for part in parts) / count,
    )


def smallest(estimates: Iterable[Estimate]) -> Estimate:
    """The minimum of several estimates: the minimum of each end. Raises ValueError when there are none."""
    parts = tuple(estimates)
    return Estimate(
        min(part.value for part in parts), min(part.low for part in parts), min(part.high for part in parts)
    )


def largest(estimates: Iterable[Estimate]) -> Estimate:
    """The maximum of several estimates: the maximum of each end. Raises ValueError when there are none."""
    parts = tuple(estimates)
    return Estimate(
        max(part.value for part in parts), max(part.low for part in parts), max(part.high for part in parts)
    )


def log_of(value: float) -> float:
    """The natural logarithm; minus infinity for zero and below, so that a margin never raises."""
    if value <= 0:
        return -math.inf
    return math.inf if math.isinf(value) else math.log(value)


def _mean_of_logs(values: Iterable[float]) -> float:
    logs = [log_of(value) for value in values]
    mean = sum(logs) / len(logs)
    return 0.0 if mean == -math.inf else math.exp(mean)
