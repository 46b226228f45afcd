"""Quantiles of Student's t and the normal distribution without SciPy, which takes half a second to load.

Measuring asks for intervals all the time and must not wait for that. Only whole degrees of freedom are
offered, because then the distribution function is a finite sum.
"""

from __future__ import annotations

import math
from functools import lru_cache
from statistics import NormalDist

_MANY = 400  # degrees of freedom from which on the expansion around the normal is exact to 1e-10


def normal_quantile(probability: float) -> float:
    """Return the standard normal quantile; `probability` in (0, 1)."""
    return NormalDist().inv_cdf(probability)


@lru_cache(maxsize=4096)
def t_quantile(level: float, df: int) -> float:
    """Return t such that Student's t with `df` degrees of freedom lies in [-t, t] with probability `level`.

    Infinite for `df` below 1. Finite sums: Abramowitz and Stegun 26.7.3 and 26.7.4; for many degrees of
    freedom the expansion 26.7.5.
    """
    if df < 1:
        return math.inf
    if not 0 < level < 1:
        raise ValueError(f"a level lies between 0 and 1, not {level}")
    if df >= _MANY:
        return _expanded(normal_quantile(0.5 + level / 2), df)
    low, high = 0.0, 1.0
    while two_sided_t(high, df) < level:
        low, high = high, high * 2
    for _ in range(200):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (middle, high) if two_sided_t(middle, df) < level else (low, middle)
    return (low + high) / 2


def two_sided_t(t: float, df: int) -> float:
    """Return the probability that Student's t with `df` degrees of freedom lies in [-t, t]."""
    theta = math.atan(t / math.sqrt(df))
    sine, cosine = math.sin(theta), math.cos(theta)
    if df % 2 == 0:
        term = total = 1.0
        for k in range(1, df // 2):
            term *= (2 * k - 1) / (2 * k) * cosine**2
            total += term
        return sine * total
    if df == 1:
        return 2 * theta / math.pi
    term = total = cosine
    for k in range(1, (df - 1) // 2):
        term *= 2 * k / (2 * k + 1) * cosine**2
        total += term
    return 2 / math.pi * (theta + sine * total)


def _expanded(z: float, df: int) -> float:
    g1 = (z**3 + z) / 4
    g2 = (5 * z**5 + 16 * z**3 + 3 * z) / 96
    g3 = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
    return z + g1 / df + g2 / df**2 + g3 / df**3
