"""What a call costs by its size: setup, plus a part per message, plus a part per byte.

    cycles(n) = per_message + per_byte x n,   and setup where a `setup` cell was measured apart

Errors are relative, so the fit is weighted by 1/cycles^2 times what the intervals say; a line that fits 10 MB
must also fit 16 bytes. Caches bend the line: the residual says how far it is from being one. The model is not
forced through anything, and it does not extrapolate.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from perbyte.errors import UsageError
from perbyte.model import CellFigure, Interval, NoiseFloor
from perbyte.stats.arrays import np
from perbyte.stats.compare import floor_between
from perbyte.stats.estimate import t_quantile

# relative error at least, in a run without A/A pairs: layout moves figures by more than the samples say
_NARROWEST = 5e-4


@dataclass(frozen=True, slots=True)
class CostModel:
    """The fitted line, in `unit` (`cycles` or `ns`), over `sizes` (bytes).

    `worst_residual` is the largest |measured / model - 1|: above a few per cent the line does not describe
    the cell. `setup` is the figure of the setup cell, None without one.
    """

    per_message: float
    per_message_interval: Interval
    per_byte: float
    per_byte_interval: Interval
    worst_residual: float
    sizes: tuple[int, ...]
    unit: str
    setup: float | None = None

    def at(self, size_bytes: int) -> float:
        """Return the model's cost of one call of `size_bytes`."""
        return self.per_message + self.per_byte * size_bytes


def fit_cost(
    figures: Sequence[CellFigure],
    *,
    setup: CellFigure | None = None,
    noise: NoiseFloor | None = None,
    level: float = 0.95,
) -> CostModel | None:
    """Fit the figures of one operation at several sizes by weighted least squares.

    Intervals come from the covariance of the fit, widened by the square root of the reduced chi-square where
    that is above 1 (Birge 1932), with Student's t on sizes - 2 degrees of freedom. No figure counts as more
    exact than the run's `noise` floor. None for fewer than three different sizes. Raises UsageError when the
    figures are not of one operation.
    """
    if len({(figure.cell.row, figure.cell.state) for figure in figures}) > 1:
        raise UsageError(
            "a cost model is fitted to one operation at a time", hint="choose one cell at several sizes"
        )
    in_cycles = all(figure.cycles_per_call is not None for figure in figures)
    points = sorted(
        (f.cell.size_bytes, f.per_call if in_cycles else f.ns_per_call, _relative(f, noise)) for f in figures
    )
    points = [(size, cost, error) for size, cost, error in points if size > 0 and cost > 0]
    if len({size for size, _, _ in points}) < 3:
        return None
    sizes, costs, errors = (np.array(column, dtype=np.float64) for column in zip(*points, strict=True))
    weights = 1 / (costs * errors)
    design = np.stack((np.ones(len(sizes)), sizes), axis=1) * weights[:, None]
    scale = np.linalg.norm(design, axis=0)  # 1 and 10^7 side by side would cost the digits
    scaled = design / scale
    inverse = np.linalg.inv(scaled.T @ scaled)
    solution = inverse @ (scaled.T @ (costs * weights))
    residuals = scaled @ solution - costs * weights
    freedom = len(sizes) - 2
    widening = math.sqrt(max(1.0, float(residuals @ residuals) / freedom))
    halves = t_quantile(level, freedom) * widening * np.sqrt(np.diag(inverse)) / scale
    per_message, per_byte = (float(value) for value in solution / scale)
    model = per_message + per_byte * sizes
    return CostModel(
        per_message=per_message,
        per_message_interval=_around(per_message, float(halves[0]), level),
        per_byte=per_byte,
        per_byte_interval=_around(per_byte, float(halves[1]), level),
        worst_residual=float(np.max(np.abs(costs / model - 1))),
        sizes=tuple(int(size) for size in sizes),
        unit="cycles" if in_cycles else "ns",
        setup=None if setup is None else setup.cycles_per_call if in_cycles else setup.ns_per_call,
    )


def _relative(figure: CellFigure, noise: NoiseFloor | None) -> float:
    half, least = figure.relative_half_width, floor_between(noise, figure, figure) or _NARROWEST
    return max(half, least) if math.isfinite(half) else 1.0


def _around(value: float, half: float, level: float) -> Interval:
    return Interval(value - half, value + half, level, "epochs")
