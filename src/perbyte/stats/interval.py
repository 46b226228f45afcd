"""Confidence intervals of a figure, from epochs and samples both, and of a ratio of costs.

Samples of one process are not independent witnesses: layout, heap and boost state are drawn once per epoch.
So the spread between epochs is what an interval must show, and the spread of samples is only a lower bound
to it: three epochs may agree by chance. The wider of the two is taken, and it is said which one it was. That
is conservative; the tests simulate it. Where forks made the epochs, each epoch is the mean of many layouts and
processor states, and the spread between epochs alone is enough (`forked_interval`,
ADR 47). What the other cells of the run say about the spread between epochs (`Spread`) keeps a cell whose few epochs
agree too well from being believed.

How far a ratio reaches, on a logarithmic scale, few epochs tell by Student's t on the ratios of pairs, or by Welch's
interval where there are no pairs, and many by the ranks of the same ratios (Hodges and Lehmann's shift). One epoch
beside a busy neighbour would widen an interval by Student's t tenfold; ranks only notice that it is the farthest.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from perbyte.model import Interval
from perbyte.stats.arrays import np
from perbyte.stats.estimate import lower_quartile, median, median_interval, normal_quantile, t_quantile
from perbyte.stats.samples import Floats

ORDERED_FROM = 9  # epochs; with fewer the order statistics of 95 % are the extremes or do not exist

# sqrt(n x variance of the median of n standard normal values): by how much the median of n epochs scatters
# more than their mean does. Integrated from the order-statistics density; a test integrates it again.
_MEDIAN_SPREAD = (1.0, 1.0, 1.16018, 1.09215, 1.19757, 1.13510, 1.21372, 1.15993, 1.22267)
_MEDIAN_SPREAD_LIMIT = math.sqrt(math.pi / 2)
# the same of the midmean, from two values on; simulated, and a test simulates it again
_MIDMEAN_SPREAD = (
    1.0,
    1.042,
    1.093,
    1.069,
    1.068,
    1.075,
    1.087,
    1.08,
    1.078,
    1.082,
    1.087,
    1.083,
    1.083,
    1.085,
    1.088,
)
MIDMEAN_SPREAD_LIMIT = 1.093

QUARTILE_FROM = 5  # epochs; with fewer the distances below cannot be told from so few values
# For n = 5 to 12 values: how many times the distance from their median down to their minimum the lower quartile of the
# population may lie below theirs, in 97.5 of 100 cases. Simulated for normal and for uniform values, the larger
# taken; a test simulates it again. From 13 on an order statistic says it without any assumption.
_QUARTILE_DEPTH = (2.64, 1.67, 1.34, 1.06, 0.93, 0.79, 0.71, 0.64)


def median_spread(n: int) -> float:
    """Return the standard error of the median of `n` normal values over that of their mean."""
    return _MEDIAN_SPREAD[n - 1] if n <= len(_MEDIAN_SPREAD) else _MEDIAN_SPREAD_LIMIT


def layout_spread(n: int) -> float:
    """Return by how much the median of `n` epochs scatters more than their mean does, at the worst of two shapes.

    What layouts do to a figure is not normally distributed; in a flat distribution the median of few values is a poorer
    witness than in a normal one. Uniform values: the variance of the median is 1 / 4(n + 2) for odd n and
    n / 4(n + 1)(n + 2) for even n, that of the mean 1 / 12n (moments of uniform order statistics, e.g. David and
    Nagaraja 2003, section 3.1).
    """
    uniform = math.sqrt(3 * n / (n + 2)) if n % 2 else math.sqrt(3 * n * n / ((n + 1) * (n + 2)))
    return max(median_spread(n), uniform)


def between_half_width(epoch_values: Sequence[float], level: float, spread: Spread | None = None) -> float:
    """Return the half-width that the spread between epochs gives their median; infinite below 2 epochs.

    Student's t on E - 1 degrees of freedom x sd / sqrt(E), widened by `layout_spread`; with `spread` the
    moderated t of Smyth (2004).
    """
    n = len(epoch_values)
    return spread_half_width(epoch_values, level, spread, layout_spread(n) if n else 1.0)


def within_half_width(epoch_half_widths: Sequence[float]) -> float:
    """Return the half-width that the samples give, from the half-widths of the epochs' own figures.

    Epochs whose half-width is infinite (too few samples) say nothing; without any other it is 0 when there
    are several epochs (the spread between them must then do) and infinite when there is one.
    """
    known = [width for width in epoch_half_widths if math.isfinite(width)]
    if not known:
        return 0.0 if len(epoch_half_widths) > 1 else math.inf
    mean_square = sum(width * width for width in known) / len(known)
    n = len(epoch_half_widths)
    return math.sqrt(mean_square / n) * median_spread(n)


def combined_interval(
    centre: float,
    epoch_values: Sequence[float],
    epoch_half_widths: Sequence[float],
    level: float,
    spread: Spread | None = None,
) -> Interval:
    """Return the interval around `centre` (the median of `epoch_values`), the wider of the two ways.

    With one epoch only the samples speak. From 9 epochs on the spread between them is given by their order
    statistics, which assume nothing: the effects of layouts are not normally distributed, and Student's t would
    let one unfavourable layout of nine widen the interval tenfold. Where nothing is known the interval is
    [0, infinity].
    """
    within = within_half_width(epoch_half_widths)
    if len(epoch_values) >= ORDERED_FROM:
        low, high = median_interval(np.asarray(epoch_values), level)
        by = "samples" if within > (high - low) / 2 else "epochs"
        return Interval(min(low, centre - within), max(high, centre + within), level=level, dominated_by=by)
    between = between_half_width(epoch_values, level, spread)
    dominated_by = "samples" if len(epoch_values) < 2 or within > between else "epochs"
    return _symmetric(centre, within if dominated_by == "samples" else between, level, dominated_by)


def _symmetric(centre: float, half: float, level: float, dominated_by: str) -> Interval:
    """The interval of a half-width; [0, infinity] where that is not known."""
    if not math.isfinite(half):
        return Interval(low=0.0, high=math.inf, level=level, dominated_by="samples")
    return Interval(low=centre - half, high=centre + half, level=level, dominated_by=dominated_by)


def midmean_spread(n: int) -> float:
    """Return the standard error of the midmean of `n` normal values over that of their mean."""
    place = max(n - 2, 0)
    return _MIDMEAN_SPREAD[place] if place < len(_MIDMEAN_SPREAD) else MIDMEAN_SPREAD_LIMIT


def forked_interval(
    centre: float,
    epoch_values: Sequence[float],
    epoch_resolutions: Sequence[float],
    level: float,
    spread: Spread | None = None,
) -> Interval:
    """Return the interval around `centre`, the midmean of epochs of which each is the mean of many forks.

    Student's t on E - 1 degrees of freedom x sd / sqrt(E) x `midmean_spread`, moderated by `spread`: means of many
    draws are nearly normal, whatever the draws are. Never narrower than the steps of the counter allow:
    `epoch_resolutions` are half-widths. Raises ValueError below 2 epochs.
    """
    n = len(epoch_values)
    if n < 2:
        raise ValueError("the spread between epochs needs two of them")
    between = spread_half_width(epoch_values, level, spread, midmean_spread(n))
    steps = math.sqrt(math.fsum(half * half for half in epoch_resolutions) / n / n)
    return _symmetric(centre, max(between, steps), level, "samples" if steps > between else "epochs")


def quartile_interval(epoch_values: Sequence[float], level: float) -> Interval:
    """Return the interval around the lower quartile of epochs whose calls no probe could watch.

    Upwards an order statistic, which needs no assumption and which one disturbed epoch of six does not move.
    Downwards, where disturbances have no part, the distance of the median to the minimum says how the
    undisturbed ones scatter. Below 5 epochs Student's t.
    """
    values = np.sort(np.asarray(epoch_values, dtype=float))
    n, centre = len(values), lower_quartile(values)
    if n < QUARTILE_FROM:
        return _symmetric(centre, between_half_width(epoch_values, level), level, "epochs")
    outside = (1 - level) / 2
    ranks = [rank for rank in range(n) if _fewer_below(n, rank + 1) >= 1 - outside]
    high = float(values[ranks[0] if ranks else -1])
    if n < QUARTILE_FROM + len(_QUARTILE_DEPTH):
        depth = _QUARTILE_DEPTH[n - QUARTILE_FROM] * normal_quantile(1 - outside) / normal_quantile(0.975)
        low = centre - depth * (median(values) - float(values[0]))
    else:
        below = [rank for rank in range(n) if _fewer_below(n, rank + 1) <= outside]
        low = float(values[max(below, default=0)])
    return Interval(min(low, centre), max(high, centre), level=level, dominated_by="epochs")


def _fewer_below(n: int, count: int) -> float:
    """The probability that fewer than `count` of `n` values lie below the lower quartile of their population."""
    return math.fsum(math.comb(n, k) * 0.25**k * 0.75 ** (n - k) for k in range(count))


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
        if not variance <= UNEXPLAINED * self.variance:
            return variance, freedom
        whole = self.freedom + freedom
        return (self.freedom * self.variance + freedom * variance) / whole, int(whole)


def find_spread(cells: Iterable[Sequence[float]]) -> Spread | None:
    """Return what `cells`, the epoch values of each, have in common; None where they are too few to tell.

    The logarithm of a sample variance on d degrees of freedom has the mean log s0^2 + psi(d/2) - log(d/2) and
    so on, from which s0^2 and d0 follow by moments (Smyth 2004, section 6.2).
    """
    variances = [(relative_variance(values), len(values) - 1) for values in cells]
    known = [(variance, freedom) for variance, freedom in variances if math.isfinite(variance)]
    middle = float(np.median([variance for variance, _ in known])) if known else 0.0
    if len(known) < LEAST_CELLS or middle <= 0:
        return None
    halves = [(max(variance, _SMALLEST * middle), freedom / 2) for variance, freedom in known]
    logs = np.array([math.log(variance) - digamma(half) + math.log(half) for variance, half in halves])
    excess = float(logs.var(ddof=1)) - math.fsum(trigamma(half) for _, half in halves) / len(halves)
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
    series = square * (1 / 12 - square * (1 / 120 - square * (1 / 252 - square / 240)))
    return total + math.log(x) - 0.5 / x - series


def trigamma(x: float) -> float:
    """The derivative of digamma for x > 0 (Abramowitz and Stegun 6.4.6 and 6.4.12)."""
    total = 0.0
    while x < 10:
        total += 1 / (x * x)
        x += 1
    square = 1 / (x * x)
    series = square / x * (1 / 6 - square * (1 / 30 - square * (1 / 42 - square / 30)))
    return total + 1 / x + square / 2 + series


def _inverse_trigamma(value: float) -> float:
    """The x at which trigamma is `value` > 0; it falls from infinity to 0."""
    low, high = 1e-6, 1e6
    for _ in range(200):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if trigamma(middle) > value else (low, middle)
    return math.sqrt(low * high)


def relative_variance(values: Sequence[float]) -> float:
    """The sample variance of epoch values over their squared mean; inf where it has none."""
    array = np.asarray(values, dtype=float)
    centre = abs(float(array.mean()))
    return float(array.var(ddof=1)) / centre**2 if centre > 0 and len(array) > 1 else math.inf


Reach = tuple[float, float]
"""Down and up from a value, both 0 or more."""


def reach_of_pairs(logs: Floats, value: float, level: float) -> Reach:
    """How far the ratio whose logarithm is `value` reaches, from the logarithms of the ratios of two pairs or more.

    From `ORDERED_FROM` pairs on the interval of Wilcoxon's signed ranks (Hollander, Wolfe, Chicken, Nonparametric
    Statistical Methods, 2014, 3.3, normal approximation), if so many can show `level` at all.
    """
    n = len(logs)
    if n < ORDERED_FROM or 2.0**-n > (1 - level) / 2:
        half = t_quantile(level, n - 1) * float(logs.std(ddof=1)) / math.sqrt(n) * median_spread(n)
        return half, half
    first, second = np.triu_indices(n)
    walsh = np.sort((logs[first] + logs[second]) / 2)
    mean, spread = n * (n + 1) / 4, math.sqrt(n * (n + 1) * (2 * n + 1) / 24)
    return _around(value, walsh, mean - normal_quantile(0.5 + level / 2) * spread)


def reach_of_two(a: Floats, b: Floats, value: float, level: float) -> Reach:
    """The same from the logarithms of two costs' epochs, two or more of each, that are no pairs.

    Welch (1947), degrees of freedom rounded down, for medians of epochs; from `ORDERED_FROM` epochs of each on the
    interval of the rank sum (the same book, 4.3).
    """
    m, n = len(a), len(b)
    if min(m, n) >= ORDERED_FROM:  # 2 / (18 over 9) is below any level that is asked for
        shifts = np.sort(np.subtract.outer(b, a).ravel())
        mean, spread = m * n / 2, math.sqrt(m * n * (m + n + 1) / 12)
        return _around(value, shifts, mean - normal_quantile(0.5 + level / 2) * spread)
    part_a = float(a.var(ddof=1)) / m * median_spread(m) ** 2
    part_b = float(b.var(ddof=1)) / n * median_spread(n) ** 2
    whole = part_a + part_b
    if not whole:
        return 0.0, 0.0
    df = whole**2 / (part_a**2 / (m - 1) + part_b**2 / (n - 1))
    half = t_quantile(level, max(1, int(df))) * math.sqrt(whole)
    return half, half


def _around(value: float, ordered: Floats, rank: float) -> Reach:
    """From `value` to the ordered ones of this rank (from 1) from either end."""
    index = max(int(rank), 1) - 1
    return max(0.0, value - float(ordered[index])), max(0.0, float(ordered[len(ordered) - 1 - index]) - value)
