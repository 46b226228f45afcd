"""Costs of an atlas on every page: their intervals and marks, who is the fastest, and how sure that is.

A figure in doubt wins nothing. Costs of different runs are never told apart by less than runs differ by.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from perbyte.atlas.overview import PointCost
from perbyte.model import Doubt, Estimate
from perbyte.report.marks import SIGNS, UNDECIDED, Mark, marks_of_kinds
from perbyte.stats.across import ACROSS_RUNS
from perbyte.stats.compare import CYCLES, NS, SHARED_CORE, UNSEEN, Answer, Comparison, compare_costs
from perbyte.stats.compare import Cost as Compared
from perbyte.stats.standing import lead_among

_UNSEEN = Doubt.UNCHAINED.value


@dataclass(frozen=True, slots=True)
class RankedCosts:
    """Who comes first. `ahead` begins with the cheapest; the others in it are not known to be dearer.

    `sign` is `►` where one is known to be the fastest, `=` where those ahead are known to be alike, `?` where neither
    is known, empty where nobody else was measured. `behind` are known to be dearer, each with its comparison to the
    cheapest. `near` are in doubt and may be as fast; `unseen` says that the audit saw others' work and not the best's;
    `sure` is False where every figure is in doubt. `field` is what was compared: `cycles` or `ns`.
    """

    field: str
    sign: str
    ahead: tuple[PointCost, ...]
    behind: tuple[tuple[PointCost, Comparison], ...]
    near: tuple[PointCost, ...]
    unseen: bool
    sure: bool

    @property
    def best(self) -> PointCost:
        """The cheapest that is not in doubt; the cheapest where all are."""
        return self.ahead[0]


def rank(costs: Sequence[PointCost]) -> RankedCosts | None:
    """Rank costs of one point, in cycles where all have them; None where there are none."""
    if not costs:
        return None
    field = CYCLES if all(cost.cycles for cost in costs) else NS
    ordered = sorted(costs, key=lambda cost: value_in(cost, field))
    sure = [cost for cost in ordered if not cost.doubted]
    if not sure:
        return RankedCosts(field, UNDECIDED, (ordered[0],), (), (), False, False)
    best = sure[0]
    comparisons = [(cost, against(best, cost, field)) for cost in sure[1:]]
    alike = [pair for pair in comparisons if pair[1].answer is not Answer.SLOWER]
    near = [
        cost
        for cost in ordered
        if cost.doubted and value_in(cost, field) < SHARED_CORE * value_in(best, field)
    ]
    seen = min((value_in(cost, field) for cost in ordered if _UNSEEN not in cost.doubts), default=0.0)
    unseen = _UNSEEN in best.doubts and 0 < seen < UNSEEN * value_in(best, field)
    sign = SIGNS[lead_among((compared for _, compared in alike), doubted=bool(near) or unseen)]
    behind = tuple(pair for pair in comparisons if pair[1].answer is Answer.SLOWER)
    ahead = (best, *(cost for cost, _ in alike))
    return RankedCosts(field, sign if len(ordered) > 1 else "", ahead, behind, tuple(near), unseen, True)


def against(a: PointCost, b: PointCost, field: str) -> Comparison:
    """How `b` compares with `a`, by their intervals and never closer than runs differ."""
    return compare_costs(_compared(a, field), _compared(b, field), ACROSS_RUNS)


def value_in(cost: PointCost, field: str) -> float:
    """The cost in `cycles` or `ns`; infinite where it has none."""
    return (cost.cycles if field == CYCLES else cost.ns) or math.inf


def estimate_in(cost: PointCost, field: str = CYCLES) -> Estimate:
    """The cost in `cycles` or `ns` with its interval, whose ends are NaN where nobody knows them."""
    value = value_in(cost, field)
    width = cost.width if math.isfinite(cost.width) else math.nan
    return Estimate(value, value * (1 - width), value * (1 + width))


def marks_text(cost: PointCost) -> str:
    """Every mark of doubt of a cost."""
    return "".join(marks_of_kinds(cost.qualities, cost.doubts))


def meanings_of(costs: Iterable[PointCost]) -> list[tuple[str, str]]:
    """The marks that occur among costs, each with its meaning."""
    used = {mark for cost in costs for mark in marks_of_kinds(cost.qualities, cost.doubts)}
    return [(str(mark), mark.meaning) for mark in Mark if mark in used]


def _compared(cost: PointCost, field: str) -> Compared:
    estimate = estimate_in(cost, field)
    return Compared(estimate if estimate.known else Estimate(estimate.value, 0.0, math.inf))
