"""A ratio of costs from many epochs, of which a few may be spoilt: Hodges and Lehmann's shift instead of a mean.

`compare` goes by Student's t, which suits the five epochs of an ordinary run. Where there are dozens, one epoch beside
a busy neighbour would widen that interval tenfold; ranks only notice that it is the farthest.
"""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np

from perbyte.model import CellFigure, Estimate, NoiseFloor
from perbyte.stats.compare import CYCLES, NS, Comparison, compare
from perbyte.stats.samples import Floats

LEAST = 8
"""Epochs of each side below which `compare` answers."""


def compare_many(
    a: CellFigure, b: CellFigure, noise: NoiseFloor | None = None, level: float = 0.95
) -> Comparison:
    """Compare the cost of a call of `b` with that of `a`, both of one run, by the ranks of their epochs.

    Where both have the same epochs these are pairs (interval of Wilcoxon's signed ranks, normal approximation), else
    two samples (that of the rank sum); both as in Hollander, Wolfe, Chicken, Nonparametric Statistical Methods, 2014,
    3.3 and 4.3. Never narrower than the noise floor. With fewer than LEAST epochs this is `compare`.
    """
    unit = CYCLES if a.epoch_cycles and b.epoch_cycles and a.cycle_source == b.cycle_source else NS
    values = [one.epoch_cycles if unit == CYCLES else one.epoch_ns for one in (a, b)]
    usual = compare(a, b, noise, level)
    if min(map(len, values)) < LEAST or min(map(min, values)) <= 0:
        return usual
    first, second = (np.log(np.asarray(one, dtype=np.float64)) for one in values)
    if a.epoch_numbers == b.epoch_numbers and len(first) == len(second):
        value, low, high = _paired(second - first, level)
    else:
        value, low, high = _unpaired(first, second, level)
    floor = math.log1p(noise.relative) if noise else 0.0
    by_floor = floor > max(value - low, high - value)
    low, high = min(low, value - floor), max(high, value + floor)
    ratio = Estimate(math.exp(value), math.exp(low), math.exp(high))
    reason = "the interval of the ratio covers 1" if low <= 0 <= high else "the interval excludes 1"
    return Comparison(ratio, "noise floor" if by_floor else "epochs", reason, unit)


def _paired(differences: Floats, level: float) -> tuple[float, float, float]:
    n = len(differences)
    first, second = np.triu_indices(n)
    walsh = np.sort((differences[first] + differences[second]) / 2)
    mean, spread = n * (n + 1) / 4, math.sqrt(n * (n + 1) * (2 * n + 1) / 24)
    return _between(walsh, mean - _normal_quantile(level) * spread)


def _unpaired(first: Floats, second: Floats, level: float) -> tuple[float, float, float]:
    shifts = np.sort(np.subtract.outer(second, first).ravel())
    m, n = len(first), len(second)
    mean, spread = m * n / 2, math.sqrt(m * n * (m + n + 1) / 12)
    return _between(shifts, mean - _normal_quantile(level) * spread)


def _between(values: Floats, rank: float) -> tuple[float, float, float]:
    """Median, and the values of this rank (from 1) from either end."""
    index = max(int(rank), 1) - 1
    return float(np.median(values)), float(values[index]), float(values[len(values) - 1 - index])


def _normal_quantile(level: float) -> float:
    return NormalDist().inv_cdf((1 + level) / 2)
