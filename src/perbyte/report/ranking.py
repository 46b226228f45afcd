"""Which of several figures are the fastest, as far as a run can tell. Judges nothing else."""

from __future__ import annotations

import math
from collections.abc import Sequence

from perbyte.model import CellFigure, NoiseFloor


def fastest(rivals: Sequence[CellFigure], floor: NoiseFloor | None) -> tuple[CellFigure, ...]:
    """Give the fastest of `rivals` and all that cannot be told from it, in their order.

    Two figures cannot be told apart when their intervals overlap or when their ratio differs from 1 by less
    than the run's noise floor. Rivals are compared in cycles per call where all of them have cycles, else in
    nanoseconds per call.
    """
    in_time = any(figure.cycles_per_call is None for figure in rivals)
    known = [figure for figure in rivals if math.isfinite(_range(figure, in_time)[1])]
    if not known:
        return ()
    best = min(known, key=lambda figure: _range(figure, in_time)[1])
    _, value, high = _range(best, in_time)
    limit = max(high, value * (1 + (floor.relative if floor else 0.0)))
    return tuple(figure for figure in known if figure is best or _range(figure, in_time)[0] <= limit)


def _range(figure: CellFigure, in_time: bool) -> tuple[float, float, float]:
    scale = figure.ns_per_call / figure.per_call if in_time and figure.per_call else 1.0
    low, high = figure.interval.low, figure.interval.high
    return low * scale, figure.per_call * scale, high * scale
