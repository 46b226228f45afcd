"""Who is the fastest of rivals, who ties, and who may be: by what `stats.compare` says of each pair.

One answer for tables, cards, charts and pages. Who are rivals, the caller says.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Iterable, Sequence

from perbyte.model import CellFigure, Doubt, NoiseFloor, Quality
from perbyte.stats.compare import CYCLES, NS, UNSEEN, Answer, Comparison, compare, cost_of


class Lead(enum.StrEnum):
    """Where a cost stands among its rivals."""

    FASTEST = "fastest"  # alone, beyond doubt
    TIED = "tied"  # one of several that are known to be alike, and no other may be as fast
    UNKNOWN = "unknown"  # may be the fastest
    NONE = "none"  # costs more, or has no rival


def lead_among(others: Iterable[Comparison], *, doubted: bool = False) -> Lead:
    """Where the cheapest stands, by how those that may be as fast compare with it; `doubted`: for another reason."""
    ties = [comparison.tie for comparison in others]
    if doubted or not all(ties):
        return Lead.UNKNOWN
    return Lead.TIED if ties else Lead.FASTEST


def stand(
    rivals: Sequence[CellFigure], noise: NoiseFloor | None, *, precision: float = 0.0
) -> tuple[tuple[CellFigure, Lead], ...]:
    """Return those of `rivals` that are or may be the fastest, in their order; nobody else has a mark.

    May be as fast as the one of the lowest cost: nothing says that it costs more, neither the interval of the ratio nor
    the two costs with all that their doubts may explain (see `Comparison.direction`), or their own intervals overlap.
    If nobody may, the lowest is the fastest. If all who may are known to be alike, they tie. Else it is not known who
    of them is the fastest, and none is called so: one undecided rival is enough, because it may be faster than the
    others.

    Rivals of no positive and finite cost are left out, and imported ones, whose intervals nobody knows; so are all
    where fewer than two can be ranked. By work that nobody saw, or that is not audited, where others' is, nobody is the
    fastest: such a rival stands beside the lowest of the others. But work that nobody saw is the fastest where it costs
    less than others by more than a lie at the limit of the audit could make it (`UNSEEN`).
    """
    unit = NS if any(figure.cycles_per_call is None for figure in rivals) else CYCLES
    costs = [(cost_of(figure, unit).estimate, figure) for figure in rivals if figure.interval.known]
    known = [(cost, figure) for cost, figure in costs if 0 < cost.value < math.inf]
    if len(known) < 2:
        return ()
    seen = min((cost.value for cost, figure in known if vouched_for(figure)), default=math.inf)
    believed = [
        (cost, figure)
        for cost, figure in known
        if vouched_for(figure) or (figure.quality is not Quality.DOUBTED and UNSEEN * cost.value < seen)
    ]
    first, best = min(believed or known, key=lambda pair: pair[0].value)
    figures, others = [], []
    for cost, figure in known:
        if figure is best:
            figures.append(figure)
            continue
        comparison = compare(best, figure, noise, precision=precision)
        overlap = comparison.claimed and cost.low <= first.high
        if comparison.direction is not Answer.SLOWER or overlap:
            figures.append(figure)
            others.append(comparison)
    lead = lead_among(others)
    return tuple((figure, lead) for figure in figures)


def vouched_for(figure: CellFigure) -> bool:
    """Whether the audit saw the work of `figure` and has no doubt about it."""
    unseen = any(warning.kind is Doubt.UNCHAINED for warning in figure.warnings)
    return figure.quality is not Quality.DOUBTED and not unseen
