"""Which of several figures are the fastest, as far as a run can tell. Comparing is the business of `stats`."""

from __future__ import annotations

import math
from collections.abc import Sequence

from perbyte.model import CellFigure, NoiseFloor
from perbyte.stats.compare import compare


def fastest(rivals: Sequence[CellFigure], floor: NoiseFloor | None) -> tuple[CellFigure, ...]:
    """Give the fastest of `rivals` and all that tie with it, in their order: the first group of `stats.rank`.

    The groups behind the first are not worked out, since a table marks the fastest only. Rivals whose cost is
    not positive and finite cannot be ranked and are left out, and so are imported ones, whose intervals nobody
    knows; so are all where fewer than two can be.
    """
    in_time = any(figure.cycles_per_call is None for figure in rivals)
    known = [one for one in rivals if 0 < _cost(one, in_time) < math.inf and one.interval.known]
    if len(known) < 2:
        return ()
    best = min(known, key=lambda figure: _cost(figure, in_time))
    return tuple(figure for figure in known if figure is best or compare(best, figure, floor).tie)


def _cost(figure: CellFigure, in_time: bool) -> float:
    return figure.ns_per_call if in_time else figure.per_call
