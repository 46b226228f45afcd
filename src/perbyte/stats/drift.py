"""Does an epoch still move? A trend over its samples, and how far neighbours resemble each other.

Only a trend of a size that matters is reported: with enough samples every trend is significant. And samples
of one burst are not independent witnesses: a core often runs a whole burst in one of two states (31.5 or 32.5
cycles, say) and the next one in the other. So where there are enough bursts, a burst is one witness. What
causes a trend (a compiler at work, a heap that fills) is not decided here.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from perbyte.stats.arrays import np
from perbyte.stats.estimate import midmean, rank_correlation, t_quantile
from perbyte.stats.samples import Floats

if TYPE_CHECKING:
    from numpy.typing import NDArray

TREND_SIZE = 0.005
_TREND_LEVEL = 0.999
_LEAST_SAMPLES = 12
_LEAST_BURSTS = 6


@dataclass(frozen=True, slots=True)
class Trend:
    """`change` from the first third to the last, relative to the first; `correlation` of ranks with time."""

    change: float
    correlation: float


def trend(values: Floats, burst: NDArray[np.int64] | None = None) -> Trend | None:
    """Return the trend of `values` (in the order of time), or None when there is none that matters.

    `burst` numbers the burst of each value, ascending; None: one burst. With six bursts or more their
    midmeans are tested; with fewer, what happens within them, each taken relative to its own midmean; fewer
    than 12 samples show nothing. There is a trend when the first and the last third differ by more than
    0.5 % and Spearman's rank correlation with time is beyond what chance gives in 999 of 1,000 cases
    (by Student's t; Kendall and Stuart 1973, 31.19).
    """
    if burst is None or not len(burst) or burst[0] == burst[-1]:
        return _tested(values, _LEAST_SAMPLES)
    starts = np.flatnonzero(np.diff(burst)) + 1
    parts = np.split(values, starts)
    centres = np.array([midmean(part) for part in parts])
    if len(parts) >= _LEAST_BURSTS:
        return _tested(centres, _LEAST_BURSTS)
    if not (centres > 0).all():
        return None
    position = np.concatenate([np.arange(len(part)) for part in parts])
    relative = np.concatenate([part / centre for part, centre in zip(parts, centres, strict=True)])
    return _tested(relative[np.argsort(position, kind="stable")], _LEAST_SAMPLES)


def _tested(values: Floats, least: int) -> Trend | None:
    n = len(values)
    if n < least:
        return None
    third = n // 3
    first, last = midmean(values[:third]), midmean(values[-third:])
    if first <= 0 or not math.isfinite(last) or abs(last / first - 1) <= TREND_SIZE:
        return None
    correlation = rank_correlation(values, np.arange(float(len(values))))
    if correlation * (last - first) <= 0:
        return None
    size = abs(correlation) * math.sqrt((n - 2) / max(1 - correlation**2, 1e-12))
    return Trend(last / first - 1, correlation) if size > t_quantile(_TREND_LEVEL, n - 2) else None


def autocorrelation(values: Floats) -> float:
    """Return the correlation of each value with the next one, in [-1, 1]; 0 for fewer than 4 values.

    Values are clipped to three quartile ranges around the median first, so that one outlier does not
    decide.
    """
    if len(values) < 4:
        return 0.0
    ordered = np.sort(values)
    n = len(values)
    middle = ordered[n // 2]
    reach = 3 * (ordered[3 * n // 4] - ordered[n // 4])
    kept = np.clip(values, middle - reach, middle + reach)
    centred = kept - kept.mean()
    power = float(centred @ centred)
    return float(centred[:-1] @ centred[1:]) / power if power else 0.0


def inflation(values: Floats) -> float:
    """Return by how much autocorrelation widens the standard error of a mean; at least 1.

    sqrt((1 + r) / (1 - r)) of a first-order process (e.g. Priestley 1981, 5.3.2), r kept within 0 and 0.95.
    """
    r = min(max(autocorrelation(values), 0.0), 0.95)
    return math.sqrt((1 + r) / (1 - r))
