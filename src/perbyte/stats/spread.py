"""What all cells of a run tell about how far epochs of one cell lie apart.

Two or three epochs agree by luck now and then, and a run that stops at precision picks just those. All cells
of a run together know better what is likely: their variances are taken for draws from one distribution, whose location
and width are estimated, and each cell's own variance is drawn towards it (empirical Bayes; G. K. Smyth, "Linear
models and empirical Bayes methods for assessing differential expression", 2004, sections 3 and 6.2). A cell
whose variance that distribution does not explain, one with two modes for example, keeps its own.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from perbyte.stats.quantile import t_quantile

LEAST_CELLS = 8  # with fewer the width of their distribution is not known well enough
MOST_FREEDOM = 400.0  # what the distribution may be worth at the most
UNEXPLAINED = 4.0  # times the common variance: a cell above keeps its own (simulated; ADR 17)
_SMALLEST = 0.001  # of the median variance: what is smaller comes from the steps of a tick counter


@dataclass(frozen=True, slots=True)
class Spread:
    """The common relative variance of epochs, and how many degrees of freedom it is worth."""

    variance: float
    freedom: float

    def moderate(self, variance: float, freedom: int) -> tuple[float, int]:
        """Return a cell's relative variance and its degrees of freedom, drawn towards the common one.

        (d0 s0^2 + d s^2) / (d0 + d) on d0 + d degrees of freedom (rounded down): Smyth's posterior variance.
        """
        if variance > UNEXPLAINED * self.variance:
            return variance, freedom
        whole = self.freedom + freedom
        return (self.freedom * self.variance + freedom * variance) / whole, int(whole)


def find_spread(cells: Iterable[Sequence[float]]) -> Spread | None:
    """Return what `cells`, the epoch values of each, have in common; None where they are too few to tell.

    The logarithm of a sample variance on d degrees of freedom has the mean log s0^2 + psi(d/2) - log(d/2) and
    so on, from which s0^2 and d0 follow by moments (Smyth 2004, section 6.2).
    """
    found = [_relative_variance(values) for values in cells if len(values) > 1]
    known = [(variance, freedom) for variance, freedom in found if math.isfinite(variance)]
    middle = float(np.median([variance for variance, _ in known])) if known else 0.0
    if len(known) < LEAST_CELLS or middle <= 0:
        return None
    halves = [freedom / 2 for _, freedom in known]
    logs = np.array(
        [
            math.log(max(variance, _SMALLEST * middle)) - digamma(half) + math.log(half)
            for (variance, _), half in zip(known, halves, strict=True)
        ]
    )
    excess = float(logs.var(ddof=1)) - math.fsum(trigamma(half) for half in halves) / len(halves)
    freedom = min(2 * _inverse_trigamma(excess), MOST_FREEDOM) if excess > 0 else MOST_FREEDOM
    common = math.exp(float(logs.mean()) + digamma(freedom / 2) - math.log(freedom / 2))
    return Spread(common, freedom)


def spread_half_width(
    values: Sequence[float], level: float, spread: Spread | None, widening: float = 1.0
) -> float:
    """Return t x sd / sqrt(E) x `widening` of epoch values, moderated by `spread`; infinite below 2 epochs."""
    n = len(values)
    if n < 2:
        return math.inf
    variance, freedom = float(np.var(np.asarray(values), ddof=1)), n - 1
    centre = abs(float(np.mean(values)))
    if spread and centre > 0:
        relative, freedom = spread.moderate(variance / centre**2, freedom)
        variance = relative * centre**2
    return t_quantile(level, freedom) * math.sqrt(variance / n) * widening


def digamma(x: float) -> float:
    """The derivative of log gamma for x > 0 (Abramowitz and Stegun 6.3.5 and 6.3.18)."""
    total = 0.0
    while x < 10:
        total -= 1 / x
        x += 1
    square = 1 / (x * x)
    return (
        total
        + math.log(x)
        - 0.5 / x
        - square * (1 / 12 - square * (1 / 120 - square * (1 / 252 - square / 240)))
    )


def trigamma(x: float) -> float:
    """The derivative of digamma for x > 0 (Abramowitz and Stegun 6.4.6 and 6.4.12)."""
    total = 0.0
    while x < 10:
        total += 1 / (x * x)
        x += 1
    square = 1 / (x * x)
    return (
        total
        + 1 / x
        + square / 2
        + square / x * (1 / 6 - square * (1 / 30 - square * (1 / 42 - square / 30)))
    )


def _inverse_trigamma(value: float) -> float:
    """The x at which trigamma is `value` > 0; it falls from infinity to 0."""
    low, high = 1e-6, 1e6
    for _ in range(200):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if trigamma(middle) > value else (low, middle)
    return math.sqrt(low * high)


def _relative_variance(values: Sequence[float]) -> tuple[float, int]:
    array = np.asarray(values, dtype=float)
    centre = abs(float(array.mean()))
    variance = float(array.var(ddof=1)) / centre**2 if centre > 0 else math.inf
    return variance, len(values) - 1
