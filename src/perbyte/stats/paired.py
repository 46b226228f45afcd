"""What pairs of samples say about a difference between two classes: tests, and the difference with its interval.

The two samples of a pair are taken in an order that was drawn for it. Where the time does not depend on the class, each
draw could as well have fallen the other way, whatever the noise is like and however it drifts. So the signs of the
differences are fair coins, and tests on signs (Fisher 1935) hold without any word on the distribution of the samples.
Welch's test supposes independent samples, which times of a processor are not.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from perbyte.model.leak import Difference, PairFigures
from perbyte.stats.arrays import np
from perbyte.stats.estimate import ranks
from perbyte.stats.samples import Floats

QUANTILE = 1.959964  # of the normal distribution: intervals hold in 95 of 100 cases
_START, _WIDER, _STEPS = 6.0, 3.0, 60


def compare_pairs(
    first: Floats, second: Floats, moment: Sequence[int] | Floats, *, step: float, seed: int
) -> PairFigures:
    """Compare the samples of two classes, pair by pair.

    `moment` numbers the stretches in which the pairs were taken: distances are from the median of a stretch. `step` is
    one step of the counter in the unit of the samples: as much is spread over by draws from `seed`, so that ranks of
    readings in few steps have no ties and their middle moves with the mean. Raises ValueError without any pair.
    """
    if not len(first) or len(first) != len(second):
        raise ValueError("pairs of two samples are needed")
    draws = np.random.default_rng(seed)
    a = first + step * (draws.random(len(first)) - 0.5)
    b = second + step * (draws.random(len(second)) - 0.5)
    middle = _middles(a, b, np.asarray(moment))
    shift, distance = b - a, np.abs(b - middle) - np.abs(a - middle)
    return PairFigures(
        len(a),
        float(np.median(np.concatenate([first, second]))),
        difference(shift),
        difference(distance),
        sign_p(shift),
    )


def difference(apart: Floats) -> Difference:
    """Return the shift of `apart` by inverting Wilcoxon's test (Hodges and Lehmann 1963), with the interval."""

    def deviates(shift: float) -> float:
        return signed_rank(apart - shift)

    centre = float(np.median(apart))
    low, high = np.quantile(apart, (0.25, 0.75))
    unit = float(high - low) / math.sqrt(len(apart)) or float(np.ptp(apart)) / math.sqrt(len(apart))
    if not unit:
        return Difference(centre, centre, centre, normal_p(signed_rank(apart)))
    value, least, most = (_solve(deviates, goal, centre, unit) for goal in (0.0, QUANTILE, -QUANTILE))
    return Difference(value, least, most, normal_p(signed_rank(apart)))


def signed_rank(apart: Floats) -> float:
    """Return Wilcoxon's statistic (1945) in standard deviations; differences of 0 have no sign. Ties share ranks."""
    ranked = ranks(np.abs(apart))
    signs = np.sign(apart)
    spread = math.sqrt(float((ranked[signs != 0] ** 2).sum()))
    return float((signs * ranked).sum()) / spread if spread else 0.0


def sign_p(apart: Floats) -> float:
    """Return the two-sided p of the sign test; exact up to 1,000 differences other than 0, then normal."""
    above, below = int((apart > 0).sum()), int((apart < 0).sum())
    n, more = above + below, max(above, below)
    if n <= 1000:
        return min(1.0, float(2 * sum(math.comb(n, k) for k in range(more, n + 1)) / 2**n))
    return normal_p((2 * more - n - 1) / math.sqrt(n))


def holm(p: Sequence[float]) -> list[float]:
    """Return p-values so adjusted that all are right at once (Holm 1979)."""
    order = sorted(range(len(p)), key=lambda i: p[i])
    adjusted, worst = [1.0] * len(p), 0.0
    for place, i in enumerate(order):
        worst = max(worst, min(1.0, (len(p) - place) * p[i]))
        adjusted[i] = worst
    return adjusted


def normal_p(z: float) -> float:
    """Return how often a standard normal value lies further from 0 than `z`."""
    return math.erfc(abs(z) / math.sqrt(2))


def _middles(a: Floats, b: Floats, moment: Floats) -> Floats:
    """The median of both classes' samples of each stretch, for each pair. It does not know which class is which."""
    _, of = np.unique(moment, return_inverse=True)
    order = np.argsort(of, kind="stable")
    edges = np.flatnonzero(np.diff(of[order])) + 1
    middle = np.empty(len(a))
    for part in np.split(order, edges):
        middle[part] = np.median(np.concatenate([a[part], b[part]]))
    return middle


def _solve(falling: Callable[[float], float], goal: float, centre: float, unit: float) -> float:
    """Where a falling step function reaches `goal`: bracket it from `centre`, then halve, to a thousandth of `unit`."""
    width = _START * unit
    low, high = centre - width, centre + width
    for _ in range(_STEPS):
        if falling(low) >= goal:
            break
        low -= (width := width * _WIDER)
    for _ in range(_STEPS):
        if falling(high) <= goal:
            break
        high += (width := width * _WIDER)
    while high - low > unit * 1e-3:
        middle = (low + high) / 2
        if middle in (low, high):
            break
        if falling(middle) > goal:
            low = middle
        else:
            high = middle
    return (low + high) / 2
