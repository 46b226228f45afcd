"""The card that opens the page of an atlas: who is the fastest at each point that machines have in common."""

from __future__ import annotations

import math

from perbyte.atlas.overview import Overview, Point, PointCost, per
from perbyte.model import Estimate
from perbyte.model.text import plain
from perbyte.report.card import RATES, Card, Line, milliseconds, times_text
from perbyte.report.marks import marks_of_kinds
from perbyte.report.ranks import rank, value_in
from perbyte.report.rate import cores_text, rate_text
from perbyte.report.wording import number, size_label, width_text

MOST = 4  # answers on a card; the page lists the others
_NAMED = 3  # of those that are alike, or of whom it is not known


def atlas_card(overview: Overview) -> Card:
    """The answers at the first points; figures in doubt win nothing."""
    lines = [line for point in overview.points[:MOST] if (line := _line(overview, point))]
    left = len(overview.points) - len(lines)
    return Card(tuple(lines), (f"{left} more below.",) if lines and left > 0 else ())


def named(point: Point) -> str:
    """What is compared, in words; of what is signed no size, which costs nothing."""
    algorithm, operation, _, size = point
    what = f"{plain(algorithm, 40)} {plain(operation, 20)}"
    return f"{what} at {size_label(size)}" if per(point) == "byte" else what


def cost_text(cost: PointCost, value: float) -> str:
    """A value with the digits that its widest interval supports, that interval, and every mark of doubt."""
    marks = "".join(marks_of_kinds(cost.qualities, cost.doubts))
    if not math.isfinite(cost.width):
        return f"{number(value)} (interval not known){f' {marks}' if marks else ''}"
    half = value * cost.width
    return f"{number(value, half)} {width_text(Estimate(value, value - half, value + half))}{marks}"


def _line(overview: Overview, point: Point) -> Line | None:
    costs = [cost for (where, _, _), cost in overview.newest().items() if where == point]
    ranking = rank(costs)
    if ranking is None:
        return None
    field, best = ranking.field, ranking.best
    told = [f"{cost_text(best, value_in(best, field))} {field} per {per(point)}"]
    if not ranking.sure:
        told.append("every figure of it is in doubt")
    if ranking.near:
        told.append(f"{_who(overview, ranking.near[0])} may be as fast, but its figure is in doubt")
    if ranking.unseen:
        told.append("the audit did not see its work, and saw others'")
    if ranking.behind:
        told.append(
            f"the next, {_who(overview, ranking.behind[0][0])}, costs {times_text(ranking.behind[0][1])} as much"
        )
    names = " or ".join(dict.fromkeys(_who(overview, cost) for cost in ranking.ahead[:_NAMED]))
    return Line(named(point), ranking.sign, names, "; ".join(told), _price(best, point))


def _who(overview: Overview, cost: PointCost) -> str:
    library = f"{plain(cost.library, 40)} {plain(cost.version, 40)}".strip()
    return library if len(overview.models) == 1 else f"{library} on {plain(cost.machine, 60)}"


def _price(cost: PointCost, point: Point) -> str:
    wide = cost.width if math.isfinite(cost.width) else math.nan
    if per(point) == "call":
        return f"{milliseconds(Estimate(cost.ns, cost.ns * (1 - wide), cost.ns * (1 + wide)))} a call"
    first, *others = (
        f"{cores_text(Estimate(rate * cost.ns * 1e-9, math.nan, math.nan))} at {rate_text(rate)}"
        for rate in RATES
    )
    return ", ".join([first, *(text.replace(" cores", "") for text in others)])
