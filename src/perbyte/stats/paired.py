"""Tests on the differences of pairs, and the difference with its interval.

The two samples of a pair are taken in an order that was drawn for it. Where the time does not depend on the class, each
draw could as well have fallen the other way, whatever the noise is like and however it drifts. So the signs of the
differences are fair coins, and tests on signs (Fisher 1935) hold without any word on the distribution of the samples.
Welch's test supposes independent samples, which times of a processor are not. The intervals are widened by what the
sums of blocks of successive pairs vary more than those of independent pairs would (batch means; never narrowed).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from perbyte.model.leak import Difference
from perbyte.stats.arrays import np
from perbyte.stats.estimate import ranks
from perbyte.stats.samples import Floats

if TYPE_CHECKING:
    from numpy.typing import NDArray

QUANTILE = 1.959964  # of the normal distribution: intervals hold in 95 of 100 cases
BLOCKS, LEAST_BLOCK, LEAST_BLOCKS = (
    128,
    25,
    16,
)  # of successive pairs: how many, pairs of one, how few say nothing
_START, _WIDER, _STEPS = 6.0, 3.0, 60


def difference(apart: Floats) -> Difference:
    """Return the shift of `apart` by inverting Wilcoxon's test (Hodges and Lehmann 1963), with the interval.

    `apart` is in the order in which it was taken. The interval is widened where successive differences depend on each
    other; p needs no such care, since the signs are fair coins under the null.
    """

    def deviates(shift: float) -> float:
        return signed_rank(apart - shift)

    centre = float(np.median(apart))
    low, high = np.quantile(apart, (0.25, 0.75))
    unit = float(high - low) / math.sqrt(len(apart)) or float(np.ptp(apart)) / math.sqrt(len(apart))
    if not unit:
        return Difference(centre, centre, centre, normal_p(signed_rank(apart)))
    value = _solve(deviates, 0.0, centre, unit)
    far = QUANTILE * math.sqrt(dependence(_scores(apart - value)))
    least, most = (_solve(deviates, goal, centre, unit) for goal in (far, -far))
    return Difference(value, least, most, normal_p(signed_rank(apart)))


def dependence(scores: Floats) -> float:
    """How many times more the mean of `scores` varies than if they were independent; 1 or more.

    By the means of blocks of successive ones (Law and Kelton, "Simulation modeling and analysis"); 1 for few.
    """
    block = blocks_of(len(scores))
    count = int(block[-1]) + 1 if len(scores) else 0
    alone = float(scores.var())
    if count < LEAST_BLOCKS or not alone:
        return 1.0
    sizes = np.bincount(block)
    means = np.bincount(block, weights=scores) / sizes
    return max(1.0, float(means.var(ddof=1)) * float(sizes.mean()) / alone)


def blocks_of(pairs: int) -> NDArray[np.int64]:
    """The block of each of so many successive pairs."""
    count = max(1, min(BLOCKS, pairs // LEAST_BLOCK))
    return np.arange(pairs, dtype=np.int64) * count // max(pairs, 1)


def signed_rank(apart: Floats) -> float:
    """Return Wilcoxon's statistic (1945) in standard deviations; differences of 0 have no sign. Ties share ranks."""
    scores = _scores(apart)
    spread = math.sqrt(float((scores**2).sum()))
    return float(scores.sum()) / spread if spread else 0.0


def _scores(apart: Floats) -> Floats:
    return np.asarray(np.sign(apart) * ranks(np.abs(apart)))


def sign_p(apart: Floats) -> float:
    """Return the two-sided p of the sign test on differences other than 0."""
    return binomial_p(int((apart > 0).sum()), int((apart < 0).sum()))


def binomial_p(some: int, others: int) -> float:
    """Return the two-sided p of so many heads and tails of a fair coin; exact up to 1,000 throws, then normal."""
    n, more = some + others, max(some, others)
    if n <= 1000:
        ways = total = math.comb(n, more)
        for heads in range(more, n):
            ways = ways * (n - heads) // (heads + 1)
            total += ways
        return min(1.0, float(2 * total / 2**n))
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


def middles(a: Floats, b: Floats, moment: Floats) -> Floats:
    """The median of both classes' samples of each stretch, for each pair. It does not know which class is which."""
    _, of = np.unique(moment, return_inverse=True)
    order = np.argsort(of, kind="stable")
    edges = np.flatnonzero(np.diff(of[order])) + 1
    middle = np.empty(len(a))
    for part in np.split(order, edges):
        middle[part] = np.median(np.concatenate([a[part], b[part]]))
    return middle


def _solve(falling: Callable[[float], float], goal: float, centre: float, unit: float) -> float:
    """Where a falling step function reaches `goal`: bracket it from `centre`, then close in, to a thousandth of `unit`.

    By interpolation, each time a little beyond where it leads, so that both ends close in; every third time the bracket
    is halved, whatever the function is like.
    """
    width, least = _START * unit, unit * 1e-3
    low, high = centre - width, centre + width
    for _ in range(_STEPS):
        if (at_low := falling(low) - goal) >= 0:
            break
        low -= (width := width * _WIDER)
    for _ in range(_STEPS):
        if (at_high := falling(high) - goal) <= 0:
            break
        high += (width := width * _WIDER)
    for turn in itertools.count(1):
        if high - low <= least:
            break
        middle = (low + high) / 2
        if turn % 3 and at_low > at_high:
            beyond = 0.4 * least * (1 if at_low < -at_high else -1)
            middle = low + (high - low) * at_low / (at_low - at_high) + beyond
            middle = min(max(middle, low + 0.1 * least), high - 0.1 * least)
        if not low < middle < high:
            break
        if (at := falling(middle) - goal) > 0:
            low, at_low = middle, at
        else:
            high, at_high = middle, at
    return (low + high) / 2
