"""Is one cell faster than another? A ratio with its interval, and a tie where nobody can tell.

Two thresholds have to be passed before a difference is claimed: the interval of the ratio must exclude 1, and
the ratio must be further from 1 than the A/A pairs of the run are. No p-value decides here. Ratios are
treated on a logarithmic scale, on which b/a and a/b are the same statement.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from perbyte.errors import UsageError
from perbyte.model import CellFigure, Interval, NoiseFloor, Quality
from perbyte.stats.interval import median_spread
from perbyte.stats.quantile import t_quantile
from perbyte.stats.samples import Floats


@dataclass(frozen=True, slots=True)
class Comparison:
    """`ratio` is b over a per call, so above 1 means that b is slower. `interval` is on the ratio.

    `tie`: no difference can be claimed; `reason` says why, or why one can. `unit` is `cycles` or `ns`.
    """

    ratio: float
    interval: Interval
    tie: bool
    reason: str
    unit: str


def compare(
    a: CellFigure,
    b: CellFigure,
    noise: NoiseFloor | None = None,
    level: float = 0.95,
    *,
    same_run: bool = True,
) -> Comparison:
    """Compare the cost of a call of `b` with that of `a`.

    In cycles where both have them from the same kind of source, else in nanoseconds. With `same_run` the
    epochs are pairs (they shared their sky and their buffer offsets): Student's t on the logarithms of their
    ratios. Otherwise Welch's interval on the logarithms of the epoch figures, and where there are fewer than
    two epochs the delta method on the figures' own intervals. Never narrower than what the samples allow.
    """
    unit = _unit((a, b))
    value_a, value_b = _value(a, unit), _value(b, unit)
    if not (0 < value_a < math.inf and 0 < value_b < math.inf):
        nothing = Interval(0.0, math.inf, level, "samples")
        return Comparison(
            math.nan, nothing, True, "a cost that is not positive and finite has no ratio", unit
        )
    logs_a, logs_b = _logs(a, unit), _logs(b, unit)
    within = math.hypot(*(f.relative_half_width for f in (a, b) if f.interval.dominated_by == "samples"), 0.0)
    if same_run and len(logs_a) == len(logs_b) >= 2:
        between = _paired(logs_b - logs_a, level)
    elif len(logs_a) >= 2 and len(logs_b) >= 2:
        between = _welch(logs_a, logs_b, level)
    else:
        between = math.hypot(a.relative_half_width, b.relative_half_width)
    half = max(between, within)
    ratio = value_b / value_a
    interval = Interval(
        low=ratio * math.exp(-half) if math.isfinite(half) else 0.0,
        high=ratio * math.exp(half) if half < 700 else math.inf,
        level=level,
        dominated_by="epochs" if between >= within else "samples",
    )
    tie, reason = _judge(ratio, interval, noise)
    return Comparison(ratio, interval, tie, reason + _remarks(a, b, unit), unit)


def rank(
    figures: Sequence[CellFigure],
    noise: NoiseFloor | None = None,
    level: float = 0.95,
    *,
    same_run: bool = True,
) -> list[tuple[CellFigure, ...]]:
    """Order figures into groups, fastest first; all of a group tie with the fastest of it.

    Raises UsageError when the contracts differ: such rows never rank together.
    """
    contracts = sorted({figure.cell.contract for figure in figures})
    if len(contracts) > 1:
        raise UsageError(
            f"cells of different contracts do not rank together: {', '.join(contracts)}",
            way_out="choose one contract",
        )
    unit = _unit(figures)
    left = sorted(figures, key=lambda figure: _value(figure, unit))
    groups: list[tuple[CellFigure, ...]] = []
    while left:
        first = left[0]
        group = [first] + [
            other for other in left[1:] if compare(first, other, noise, level, same_run=same_run).tie
        ]
        groups.append(tuple(group))
        left = [figure for figure in left if not any(figure is member for member in group)]
    return groups


def noise_floor(pairs: Iterable[tuple[CellFigure, CellFigure]]) -> NoiseFloor | None:
    """Return what A/A pairs show: the largest |ratio - 1| of identical cells; None without pairs.

    Pairs of good figures decide, where there are any: what an imprecise pair shows lies within its own intervals,
    which every comparison with it respects, and must not veil the differences of all other cells.
    """
    ratios: list[tuple[str, float]] = []
    good: list[float] = []
    for first, second in pairs:
        unit = _unit((first, second))
        a, b = _value(first, unit), _value(second, unit)
        if a > 0 and b > 0:
            ratios.append((replace(first.cell, twin=0).address, b / a))
            if first.quality is Quality.GOOD and second.quality is Quality.GOOD:
                good.append(b / a)
    if not ratios:
        return None
    decisive = good or [ratio for _, ratio in ratios]
    return NoiseFloor(relative=max(abs(ratio - 1) for ratio in decisive), pairs=tuple(ratios))


def _unit(figures: Sequence[CellFigure]) -> str:
    sources = {figure.cycle_source for figure in figures}
    has_all = all(figure.cycles_per_call is not None for figure in figures)
    return "cycles" if has_all and len(sources) == 1 else "ns"


def _value(figure: CellFigure, unit: str) -> float:
    return (
        figure.cycles_per_call
        if unit == "cycles" and figure.cycles_per_call is not None
        else figure.ns_per_call
    )


def _logs(figure: CellFigure, unit: str) -> Floats:
    values = np.asarray(figure.epoch_cycles if unit == "cycles" else figure.epoch_ns, dtype=np.float64)
    logs: Floats = (
        np.log(values) if len(values) and 0 < values.min() <= values.max() < math.inf else np.empty(0)
    )
    return logs


def _paired(differences: Floats, level: float) -> float:
    n = len(differences)
    return t_quantile(level, n - 1) * float(differences.std(ddof=1)) / math.sqrt(n) * median_spread(n)


def _welch(a: Floats, b: Floats, level: float) -> float:
    """Half-width of Welch's interval (1947), degrees of freedom rounded down, for medians of epochs."""
    part_a = float(a.var(ddof=1)) / len(a) * median_spread(len(a)) ** 2
    part_b = float(b.var(ddof=1)) / len(b) * median_spread(len(b)) ** 2
    spread = part_a + part_b
    if not spread:
        return 0.0
    df = spread**2 / (part_a**2 / (len(a) - 1) + part_b**2 / (len(b) - 1))
    return t_quantile(level, max(1, int(df))) * math.sqrt(spread)


def _judge(ratio: float, interval: Interval, noise: NoiseFloor | None) -> tuple[bool, str]:
    if interval.low <= 1 <= interval.high:
        return True, "the interval of the ratio covers 1"
    if noise and abs(ratio - 1) <= noise.relative:
        return True, f"the difference is within the noise floor of {100 * noise.relative:.2g} %"
    if noise:
        return False, f"the interval excludes 1 and the noise floor is {100 * noise.relative:.2g} %"
    return False, "the interval excludes 1; the run has no A/A pair to know its noise floor by"


def _remarks(a: CellFigure, b: CellFigure, unit: str) -> str:
    remarks = ""
    if unit == "ns":
        remarks += "; compared in nanoseconds, because there are no cycles of one kind"
    for figure in (a, b):
        if not figure.interval.known:
            remarks += f"; {figure.cell.address} has no interval"
        if figure.quality in (Quality.NOISY, Quality.UNSETTLED):
            remarks += f"; {figure.cell.address} is {figure.quality.value}"
    if a.cell.contract != b.cell.contract:
        remarks += f"; the calls differ: {a.cell.contract} and {b.cell.contract}"
    return remarks
