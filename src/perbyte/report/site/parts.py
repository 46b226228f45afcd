"""Cells, tables and sentences that several kinds of pages share.

Links are written from a page one directory below the top: `UP` leads there.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from perbyte.atlas.export import Stand
from perbyte.atlas.overview import PointCost
from perbyte.model import Estimate
from perbyte.model.text import plain
from perbyte.report.card import times_text
from perbyte.report.html import Block, legend, sorted_table
from perbyte.report.listing import Head, Item, Listing, columns
from perbyte.report.marks import Mark, marks_of_kinds
from perbyte.report.ranks import against, value_in
from perbyte.report.site import addresses
from perbyte.report.site.view import ALONE, Contest, Kind, SiteView, per_work
from perbyte.report.wording import number, size_label, width_text
from perbyte.stats.compare import CYCLES, Comparison

UP = "../"
_CLASSES = {"►": "fast", "=": "tie", "?": "open"}
SURE = {
    "►": "known to be the fastest",
    "=": "known to be alike",
    "?": "not known which is the fastest",
    ALONE: "measured alone",
}
_SHORT = {"►": "known", "=": "alike", "?": "not known"}
SIGNS = [("►", SURE["►"]), ("=", SURE["="]), ("?", SURE["?"])]


NONE = Item("–", look="none")


def factor_item(factor: float, wide: str = "") -> Item:
    """A factor as `×1.25`, with its range small behind it."""
    return Item(f"×{number(factor)}", value=factor, wide=wide)


def times_item(compared: Comparison, look: str = "") -> Item:
    """How many times as much something costs, with the interval small behind it."""
    times, _, interval = times_text(compared).partition(" ")
    return Item(times, value=compared.ratio.value, wide=interval.strip("()").replace(" to ", "–"), look=look)


def cost_item(standing: Stand, field: str = CYCLES, look: str = "", tip: str = "") -> Item:
    """A cost with the digits that its interval supports, its interval and its marks."""
    cost, value = standing.cost, value_in(standing.cost, field)
    if not math.isfinite(value):
        return NONE
    return Item(
        figure_text(value, cost.width),
        value=value,
        wide=width_of(cost),
        marks=marks_text(cost),
        look=look,
        tip=tip,
    )


def figure_text(value: float, width: float) -> str:
    """A cost with the digits that an interval of the relative half-width `width` supports."""
    return number(value, value * width if math.isfinite(width) else 0.0)


def width_of(cost: PointCost) -> str:
    """The width of a cost's interval in per cent; a dash where it is not known."""
    return width_text(Estimate(1.0, 1 - cost.width, 1 + cost.width)) if math.isfinite(cost.width) else "–"


def marked_text(value: float, cost: PointCost) -> str:
    """A cost with the width of its interval and its marks of doubt."""
    return f"{figure_text(value, cost.width)} {width_of(cost)}{marks_text(cost)}"


def marks_text(cost: PointCost) -> str:
    """The marks of doubt of a cost."""
    return "".join(marks_of_kinds(cost.qualities, cost.doubts))


def program(standing: Stand) -> str:
    """A runner with the version of its library; a version with more behind a comma is told whole on its page."""
    return f"{plain(standing.runner, 40)} {plain(standing.cost.version.partition(',')[0], 30)}".strip()


def program_item(standing: Stand, up: str = UP, look: str = "") -> Item:
    """A program as a link to its library."""
    return Item(program(standing), up + addresses.library(standing.cost.library), look=look)


def machine_item(view: SiteView, name: str, up: str = UP) -> Item:
    """A machine as a link, its processor told."""
    return Item(plain(name, 80), up + addresses.machine(name), tip=plain(view.runs[name][0].cpu_model, 120))


def ahead_text(contest: Contest) -> str:
    """Those that come first: several where they are alike or where it is not known."""
    first = [stand for stand in contest.stands if contest.sign(stand) or stand is contest.best]
    if contest.ranked.sign not in ("=", "?"):
        first = [contest.best]
    if len(first) == 1:
        return program(first[0])
    names = [plain(stand.runner, 40) for stand in sorted(first, key=lambda stand: stand is not contest.best)]
    if names[3:]:
        return f"{', '.join(names[:3])} or {len(names) - 3} more"
    return f"{', '.join(names[:-1])} or {names[-1]}"


def next_items(contest: Contest) -> list[Item]:
    """Who is next, how many times as much it costs, and how sure the order is."""
    behind = contest.next
    if behind is None:
        return [NONE, NONE, Item("alone", look="none", tip=SURE[ALONE])]
    compared = against(contest.ranked.best, behind.cost, contest.ranked.field)
    sure = SURE[contest.ranked.sign]
    if not contest.ranked.sure:
        sure = "every figure is in doubt"
    elif contest.ranked.near:
        sure = f"{program_of(contest, contest.ranked.near[0])} may be as fast, its figure is in doubt"
    elif contest.ranked.unseen:
        sure = "the audit did not see its work, and saw others'"
    return [
        program_item(behind),
        times_item(compared),
        Item(
            f"{contest.ranked.sign} {_SHORT[contest.ranked.sign]}",
            look=f"{_CLASSES[contest.ranked.sign]}-sure",
            tip=sure,
        ),
    ]


def program_of(contest: Contest, cost: PointCost) -> str:
    """The program whose cost this is."""
    return next(program(stand) for stand in contest.stands if stand.cost is cost)


def contest_columns(before: str, each: str = "") -> tuple[Head, ...]:
    """Columns for `contest_items`, after others; `each` is what costs are per."""
    return columns(
        f"{before} | fastest | cycles{each}:n | ns{each}:n | next | costs × as much:n | how sure | measured"
    )


def contest_items(view: SiteView, contest: Contest) -> list[Item]:
    """A contest's winner with factor and certainty, under `contest_columns`."""
    best = contest.best
    names = ahead_text(contest)
    return [
        Item(names, UP + addresses.library(best.cost.library), look="winner"),
        cost_item(best),
        Item(number(best.cost.ns), value=best.cost.ns),
        *next_items(contest),
        run_item(view, best),
    ]


def run_item(view: SiteView, standing: Stand) -> Item:
    """The day of a figure, as a link to its run."""
    return Item(
        day(standing.cost.first),
        UP + addresses.machine(standing.machine) + f"#{run_anchor(standing.run)}",
        tip=plain(standing.run, 120),
    )


def run_anchor(key: str) -> str:
    """The place of a run on its machine's page."""
    return addresses.anchor("run", key.rpartition("@")[0])


def day(started_at: str) -> str:
    """The day a run began."""
    return plain(started_at, 40)[:10] or "–"


def figures_table(
    view: SiteView, kind: Kind, contests: Sequence[Contest], label: str, *, by_machine: bool
) -> list[Block]:
    """Every figure of one kind: a row a machine or algorithm and program, a column a size; the fastest are marked."""
    sizes = sorted({contest.work[3] for contest in contests})
    rows: dict[tuple[str, str], dict[int, tuple[Contest, Stand]]] = {}
    for contest in contests:
        for stand in contest.stands:
            key = (contest.machine if by_machine else contest.work[0], stand.runner)
            rows.setdefault(key, {})[contest.work[3]] = (contest, stand)
    listed = []
    for (name, _), cells in sorted(
        rows.items(), key=lambda row: (row[0][0], min(pair[0].factor(pair[1]) for pair in row[1].values()))
    ):
        stand = cells[max(cells)][1]
        head = (
            machine_item(view, name) if by_machine else Item(view.title(name), UP + addresses.algorithm(name))
        )
        listed.append([head, program_item(stand), *(_figure(cells.get(size)) for size in sizes)])
    heads = (
        *columns(f"{'machine' if by_machine else 'algorithm'} | program"),
        *(Head(size_label(size) if size else "a call", "n") for size in sizes),
    )
    used = {
        mark
        for contest in contests
        for stand in contest.stands
        for mark in marks_of_kinds(stand.cost.qualities, stand.cost.doubts)
    }
    meant = [(str(mark), mark.meaning) for mark in Mark if mark in used]
    return [sorted_table(Listing(label, heads, listed), "figures"), legend([*SIGNS, *meant])]


def _figure(figure: tuple[Contest, Stand] | None) -> Item:
    if figure is None:
        return NONE
    contest, stand = figure
    cycles = stand.cost.cycles is not None
    item = cost_item(stand, CYCLES if cycles else "ns", _CLASSES.get(contest.sign(stand), ""))
    return item if cycles else replace(item, text=f"{item.text} ns", value=None, tip="")


def quantile(ordered: Sequence[float], share: float) -> float:
    """The value below which `share` of sorted values lie, between neighbours."""
    place = share * (len(ordered) - 1)
    low = math.floor(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def shown_unit(contests: Sequence[Contest], field: str = CYCLES) -> str:
    """The unit of a work's costs, in words."""
    each = per_work(contests[0].work)
    return f"{'cycles' if field == CYCLES else 'nanoseconds'} per {each}"
