"""Cells, tables and sentences that several kinds of pages share.

Links are written from a page one directory below the top: `UP` leads there.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

from perbyte.atlas.export import RankedWork, Stand
from perbyte.atlas.index import RunRow
from perbyte.atlas.overview import PointCost
from perbyte.model.text import plain
from perbyte.report.document import Block, Card, Line, Listed, Terms
from perbyte.report.listing import Head, Item, Listing, columns
from perbyte.report.marks import AUDIT_SAW_OTHERS, CLASSES, FASTEST, SHORT, SURE, TIED, UNDECIDED
from perbyte.report.site import addresses
from perbyte.report.site.view import (
    Contest,
    Kind,
    SiteView,
    against,
    estimate_in,
    marks_text,
    meanings_of,
    per_work,
)
from perbyte.report.wording import number, size_label, times_text, value_text, width_text
from perbyte.stats.compare import CYCLES, NS, Comparison

UP = "../"
SIGNS = [(sign, meaning) for sign, meaning in SURE.items() if sign]
SIGNS_TEXT = f"{'; '.join(f'{sign} {meaning}' for sign, meaning in SIGNS)}."
NONE = Item("–", look="none")


def card(sign: str, winner: str, told: Iterable[str], cost: str = "") -> Card:
    """A card of one answer, with what is told of it as far as it is not empty."""
    return Card((Line("", sign, winner, "; ".join(filter(None, told)), cost),))


def sign_of(contests: Sequence[Contest]) -> str:
    """The sign that all contests have, by one winner: it means of several what it means of one."""
    signs = {contest.ranked.sign for contest in contests}
    agreed = FASTEST not in signs or len({contest.best.runner for contest in contests}) == 1
    return signs.pop() if len(signs) == 1 and agreed else ""


def factor_item(factor: float, wide: str = "") -> Item:
    """A factor as `×1.25`, with its range small behind it."""
    return Item(f"×{number(factor)}", value=factor, wide=wide)


def won_item(won: int, of: int) -> Item:
    """On how many of several something wins."""
    return Item(f"{won:,} of {of:,}", value=won)


def times_item(compared: Comparison, look: str = "") -> Item:
    """How many times as much something costs, with the interval small behind it."""
    times, _, interval = times_text(compared).partition(" ")
    return Item(times, value=compared.ratio.value, wide=interval.strip("()").replace(" to ", "–"), look=look)


def cost_item(cost: PointCost, field: str = CYCLES, look: str = "") -> Item:
    """A cost with the digits that its interval supports, its interval and its marks."""
    estimate = estimate_in(cost, field)
    if not math.isfinite(estimate.value):
        return NONE
    text, wide = value_text(estimate), width_text(estimate)
    return Item(text, value=estimate.value, wide=wide, marks=marks_text(cost), look=look)


def marked_text(cost: PointCost, field: str = CYCLES) -> str:
    """A cost with the width of its interval and its marks of doubt."""
    estimate = estimate_in(cost, field)
    return f"{value_text(estimate)} {width_text(estimate)}{marks_text(cost)}"


def program(stand: Stand) -> str:
    """A runner with the version of its library; a version with more behind a comma is told whole on its page."""
    return f"{plain(stand.runner, 40)} {plain(stand.cost.version.partition(',')[0], 30)}".strip()


def algorithm_item(view: SiteView, name: str, up: str = UP, tip: str = "") -> Item:
    """An algorithm as a link."""
    return Item(view.title(name), up + addresses.algorithm(name), tip=tip)


def program_item(stand: Stand, text: str = "", look: str = "") -> Item:
    """A program, or what is said instead of its name, as a link to its library."""
    return Item(text or program(stand), UP + addresses.library(stand.cost.library), look=look)


def machine_item(view: SiteView, name: str, up: str = UP) -> Item:
    """A machine as a link, its processor told."""
    return Item(plain(name, 80), up + addresses.machine(name), tip=plain(view.runs[name][0].cpu_model, 120))


def ahead_text(contest: Contest) -> str:
    """Those that come first: several where they are alike or where it is not known."""
    behind = [stand for stand in contest.stands if contest.sign(stand) and stand is not contest.best]
    if not behind or contest.ranked.sign not in (TIED, UNDECIDED):
        return program(contest.best)
    names = [plain(stand.runner, 40) for stand in (contest.best, *behind)]
    if names[3:]:
        return f"{', '.join(names[:3])} or {len(names) - 3} more"
    return f"{', '.join(names[:-1])} or {names[-1]}"


def next_items(contest: Contest) -> list[Item]:
    """Who is next, how many times as much it costs, and how sure the order is."""
    behind, ranked = contest.next, contest.ranked
    if not contest.stands[1:]:
        return [NONE, NONE, Item("alone", look="none", tip=SURE[""])]
    sure = SURE[ranked.sign]
    if not ranked.sure:
        sure = "every figure is in doubt"
    elif ranked.near:
        near = next(stand for stand in contest.stands if stand.cost is ranked.near[0])
        sure = f"{program(near)} may be as fast, its figure is in doubt"
    elif ranked.unseen:
        sure = AUDIT_SAW_OTHERS
    known = Item(f"{ranked.sign} {SHORT[ranked.sign]}", look=f"{CLASSES[ranked.sign]}-sure", tip=sure)
    if behind is None:
        return [NONE, NONE, known]
    times = times_item(against(ranked.best, behind.cost, ranked.field))
    return [program_item(behind), times, known]


def contest_heads(before: str, each: str = "") -> str:
    """The heads of `contest_items`, after others; `each` is what costs are per."""
    return (
        f"{before} | fastest | cycles{each}:n | ns{each}:n | next | costs × as much:n | how sure | measured"
    )


def contest_items(contest: Contest) -> list[Item]:
    """A contest's winner with factor and certainty, under `contest_heads`."""
    best = contest.best
    return [
        program_item(best, ahead_text(contest), "winner"),
        cost_item(best.cost),
        Item(number(best.cost.ns), value=best.cost.ns),
        *next_items(contest),
        run_item(best),
    ]


def run_item(stand: Stand) -> Item:
    """The day of a figure, as a link to its run."""
    return Item(day(stand.cost.first), UP + run_address(stand.machine, stand.run), tip=plain(stand.run, 120))


def run_address(machine: str, key: str) -> str:
    """The place of a run on its machine's page, from the top of the site."""
    return f"{addresses.machine(machine)}#{run_anchor(key)}"


def run_anchor(key: str) -> str:
    """The name of a run's place within its machine's page."""
    return addresses.anchor("run", key.rpartition("@")[0])


def day(started_at: str) -> str:
    """The day a run began."""
    return plain(started_at, 40)[:10] or "–"


def minute(run: RunRow) -> str:
    """The minute in which a run began."""
    return plain(run.started_at, 40)[:16].replace("T", " ")


def libraries_text(run: RunRow) -> str:
    """The libraries of a run with their versions."""
    return ", ".join(plain(library, 60) for library in run.libraries)


def first_names(names: Sequence[str], most: int) -> str:
    """The first names, and how many more there are."""
    more = f" and {len(names) - most} more" if names[most:] else ""
    return ", ".join(names[:most]) + more


def figures_table(
    view: SiteView, kind: Kind, contests: Sequence[Contest], *, by_machine: bool
) -> list[Block]:
    """Every figure of one kind: a row a machine or algorithm and program, a column a size; the fastest are marked."""
    sizes = sorted({contest.work.size_bytes for contest in contests})
    rows: dict[tuple[str, str], dict[int, tuple[Contest, Stand]]] = {}
    for contest in contests:
        for stand in contest.stands:
            name = contest.machine if by_machine else contest.work.algorithm
            rows.setdefault((name, stand.runner), {})[contest.work.size_bytes] = (contest, stand)

    def place(row: tuple[tuple[str, str], dict[int, tuple[Contest, Stand]]]) -> tuple[str, float]:
        (name, _), cells = row
        return name, min(contest.factor(stand) for contest, stand in cells.values())

    listed = []
    for (name, _), cells in sorted(rows.items(), key=place):
        head = machine_item(view, name) if by_machine else algorithm_item(view, name)
        figures = [_figure(*cells[size]) if size in cells else NONE for size in sizes]
        listed.append([head, program_item(cells[max(cells)][1]), *figures])
    heads = (
        *columns("machine | program" if by_machine else "algorithm | program"),
        *(Head(size_label(size) if size else "a call", "n") for size in sizes),
    )
    meant = meanings_of(stand.cost for contest in contests for stand in contest.stands)
    label = f"Every figure of {kind.text}"
    return [
        Listed(Listing(label, heads, listed), "figures", sorts=True),
        Terms("legend", [*SIGNS, *meant]),
    ]


def _figure(contest: Contest, stand: Stand) -> Item:
    look = CLASSES[contest.sign(stand)]
    if stand.cost.cycles is not None:
        return cost_item(stand.cost, CYCLES, look)
    item = cost_item(stand.cost, NS, look)
    return replace(item, text=f"{item.text} ns", value=None)


def unit_text(work: RankedWork, field: str = CYCLES) -> str:
    """The unit of a work's costs, in words."""
    return f"{'cycles' if field == CYCLES else 'nanoseconds'} per {per_work(work)}"
